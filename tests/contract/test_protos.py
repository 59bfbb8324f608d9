"""The contract's own rules, checked on the protos: what buf's lint does not know of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import grpc_tools
import pytest
from google.protobuf import descriptor_pb2
from grpc_tools import protoc

from antiphon.compiler.v1 import compiler_service_pb2_grpc
from antiphon.history.v1 import history_service_pb2_grpc
from antiphon_client.errors import BY_REASON
from compiler_service.servicer import CompilerServicer
from history_service.servicer import HistoryServicer

PROTOS = Path(__file__).resolve().parents[2] / "protos"

# Field numbers of descriptor.proto, from which paths of comments are made.
MESSAGES, ENUMS, SERVICES = 4, 5, 6
FIELDS, ONEOFS, NESTED_MESSAGES, NESTED_ENUMS = 2, 8, 3, 4
VALUES = METHODS = 2

GUARDED_WRITES = {
    "UpdateBranch",
    "DeleteBranch",
    "AddMessages",
    "RespondToAction",
    "SetSystem",
    "RemoveMessages",
    "MoveMessage",
    "ClearMessages",
    "SelectView",
    "ClearView",
    "CommitCompaction",
}
BRANCH_READS = {"GetBranch", "GetMessages", "ListMessages", "ReadSnapshot", "ExportBranch"}
UNGUARDED = {"CreateBranch", "ListBranches", "TrimHistory", "ForkBranch", "WatchBranch", "ImportBranch"}

CONTRACT = {
    "antiphon.message.v1.Message": "id created_at role sender recipient channel metadata_json status "
    "content(system instruction assistant_response action_request action_response summary "
    "generic)",
    "antiphon.message.v1.Address": "state(unset broadcast member_id role name)",
    "antiphon.message.v1.SystemContent": "system_message system_datetime",
    "antiphon.message.v1.InstructionContent": "instruction guidance_value(guidance guidance_json) "
    "prompt_context_json plain_content images image_detail blocks",
    "antiphon.message.v1.AssistantResponseContent": "assistant_response blocks",
    "antiphon.message.v1.ActionRequestContent": "function arguments_json arguments_text action_response_id "
    "provider_call_id thought_signature",
    "antiphon.message.v1.ActionResponseContent": "function arguments_json output_json error "
    "action_request_id provider_call_id state blocks",
    "antiphon.message.v1.SummaryContent": "text first_id last_id summary_ref",
    "antiphon.message.v1.GenericContent": "value_json",
    "antiphon.message.v1.ContentBlock": "block(text json thinking tool_call image opaque)",
    "antiphon.message.v1.Image": "mime_type source(data url) detail",
    "antiphon.history.v1.CreateBranchRequest": "branch_id external_key parent_branch_id metadata_json "
    "request_id",
    "antiphon.history.v1.AddMessagesRequest": "branch_id messages allow_unresolved expected_revision "
    "request_id",
    "antiphon.history.v1.AddMessagesResponse": "revision placements replayed",
    "antiphon.history.v1.RespondToActionRequest": "branch_id action_request_id message_id "
    "outcome(output_json error) state blocks metadata_json expected_revision request_id",
    "antiphon.history.v1.ReadSnapshotResponse": "frame(header order batch footer delta joined)",
    "antiphon.compiler.v1.CompileRequest": "source(branch snapshot) profile instruction progression "
    "tool_schemas_json response_format structure context_blocks provider_kwargs_json target target_options "
    "token_counter",
    "antiphon.compiler.v1.CompileResponse": "instruction messages provider_kwargs_json history_revision "
    "incarnation messages_digest report provider_request_json request_digest capability_version system_text "
    "tokens action_names",
    "antiphon.compiler.v1.CompiledMessage": "role content(text parts)",
    "antiphon.compiler.v1.StreamCompileResponse": "frame(message_start text_chunk part_chunk message_end "
    "result request_chunk)",
    "antiphon.history.v1.CommitCompactionRequest": "branch_id summary message_id metadata_json "
    "view_message_ids planned_revision expected_revision request_id",
    "antiphon.compiler.v1.PlanWindowRequest": "source(branch snapshot) progression budget_tokens "
    "token_counter pinned_message_ids instruction tool_schemas_json",
    "antiphon.compiler.v1.PlanCompactionRequest": "source(branch snapshot) progression keep_tokens "
    "keep_messages token_counter pinned_message_ids",
}
"""Fields that the contract names, by message; those of a oneof stand in its parentheses."""


@dataclass(frozen=True)
class Element:
    """One declaration with its comment."""

    name: str
    kind: str
    proto: Any
    comment: str


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[descriptor_pb2.FileDescriptorProto]:
    names = sorted(path.relative_to(PROTOS).as_posix() for path in PROTOS.rglob("*.proto"))
    output = tmp_path_factory.mktemp("protos") / "protos.binpb"
    well_known = Path(grpc_tools.__file__).parent / "_proto"
    arguments = ["protoc", f"-I{PROTOS}", f"-I{well_known}", "--include_source_info"]
    assert protoc.main([*arguments, f"--descriptor_set_out={output}", *names]) == 0
    return list(descriptor_pb2.FileDescriptorSet.FromString(output.read_bytes()).file)


@pytest.fixture(scope="module")
def elements(files: list[descriptor_pb2.FileDescriptorProto]) -> list[Element]:
    return [element for file in files for element in _elements(file)]


@pytest.fixture(scope="module")
def messages(elements: list[Element]) -> dict[str, descriptor_pb2.DescriptorProto]:
    return {element.name: element.proto for element in elements if element.kind == "message"}


@pytest.fixture(scope="module")
def methods(elements: list[Element]) -> dict[str, descriptor_pb2.MethodDescriptorProto]:
    return {element.name: element.proto for element in elements if element.kind == "rpc"}


def _elements(file: descriptor_pb2.FileDescriptorProto) -> Iterator[Element]:
    comments = {tuple(place.path): place.leading_comments.strip() for place in file.source_code_info.location}

    def walk(kind: str, found: Any, path: tuple[int, ...], scope: str) -> Iterator[Element]:
        for index, proto in enumerate(found):
            at = (*path, index)
            name = f"{scope}.{proto.name}"
            yield Element(name, kind, proto, comments.get(at, ""))
            if kind == "message":
                yield from walk("field", proto.field, (*at, FIELDS), name)
                # proto3's `optional` makes a oneof of its own, which nobody wrote.
                written = [
                    oneof
                    for number, oneof in enumerate(proto.oneof_decl)
                    if not any(f.proto3_optional and f.oneof_index == number for f in proto.field)
                ]
                yield from walk("oneof", written, (*at, ONEOFS), name)
                yield from walk("message", proto.nested_type, (*at, NESTED_MESSAGES), name)
                yield from walk("enum", proto.enum_type, (*at, NESTED_ENUMS), name)
            elif kind == "enum":
                yield from walk("value", proto.value, (*at, VALUES), name)
            elif kind == "service":
                yield from walk("rpc", proto.method, (*at, METHODS), name)

    yield from walk("message", file.message_type, (MESSAGES,), file.package)
    yield from walk("enum", file.enum_type, (ENUMS,), file.package)
    yield from walk("service", file.service, (SERVICES,), file.package)


def test_everything_declared_is_commented(elements: list[Element]) -> None:
    assert len(elements) > 200
    assert [element.name for element in elements if not element.comment] == []


def test_files_declare_the_options_of_every_language(
    files: list[descriptor_pb2.FileDescriptorProto],
) -> None:
    for file in files:
        directory, _, _ = file.name.rpartition("/")
        assert file.package == directory.replace("/", ".")
        assert file.options.go_package.startswith(f"{directory};")
        assert file.options.java_multiple_files
        assert file.options.java_package == file.package
        assert file.options.ruby_package == "::".join(part.capitalize() for part in file.package.split("."))


def test_no_maps_since_their_bytes_differ_per_process(
    messages: dict[str, descriptor_pb2.DescriptorProto],
) -> None:
    assert [name for name, message in messages.items() if message.options.map_entry] == []


def test_json_travels_as_text(elements: list[Element]) -> None:
    fields = [element for element in elements if element.kind == "field"]
    json_fields = [element for element in fields if element.name.endswith("_json")]
    assert len(json_fields) > 10
    assert [e.name for e in json_fields if e.proto.type != e.proto.TYPE_STRING] == []
    assert [e.name for e in fields if e.proto.type_name.startswith(".google.protobuf.Struct")] == []


@pytest.mark.parametrize("name", CONTRACT)
def test_messages_have_the_fields_of_the_contract(
    messages: dict[str, descriptor_pb2.DescriptorProto], name: str
) -> None:
    assert _shape(messages[name]) == CONTRACT[name].split()


def _shape(message: descriptor_pb2.DescriptorProto) -> list[str]:
    """Names of the fields as `CONTRACT` writes them, split at blanks."""
    words: list[str] = []
    last_oneof = None
    for field in message.field:
        oneof = None
        if field.HasField("oneof_index") and not field.proto3_optional:
            oneof = message.oneof_decl[field.oneof_index].name
        if last_oneof and oneof != last_oneof:
            words[-1] += ")"
        words.append(f"{oneof}({field.name}" if oneof and oneof != last_oneof else field.name)
        last_oneof = oneof
    if last_oneof:
        words[-1] += ")"
    return words


def test_a_message_starts_with_its_id(messages: dict[str, descriptor_pb2.DescriptorProto]) -> None:
    first = messages["antiphon.message.v1.Message"].field[0]
    assert (first.name, first.number, first.type) == ("id", 1, first.TYPE_STRING)


def test_every_history_rpc_is_a_guarded_write_a_read_or_known(
    methods: dict[str, descriptor_pb2.MethodDescriptorProto],
) -> None:
    names = {
        name.rpartition(".")[2] for name in methods if name.startswith("antiphon.history.v1.HistoryService.")
    }
    assert names == GUARDED_WRITES | BRANCH_READS | UNGUARDED


@pytest.mark.parametrize("name", sorted(GUARDED_WRITES | {"CreateBranch", "ForkBranch"}))
def test_writes_can_be_sent_again(messages: dict[str, descriptor_pb2.DescriptorProto], name: str) -> None:
    request = {field.name: field for field in messages[f"antiphon.history.v1.{name}Request"].field}
    response = {field.name: field for field in messages[f"antiphon.history.v1.{name}Response"].field}
    assert request["request_id"].type == request["request_id"].TYPE_STRING
    assert response["replayed"].type == response["replayed"].TYPE_BOOL
    if name in GUARDED_WRITES:
        guard = request["expected_revision"]
        assert guard.proto3_optional
        assert guard.type == guard.TYPE_INT64
        assert response["revision"].type == guard.TYPE_INT64


@pytest.mark.parametrize("name", sorted(BRANCH_READS))
def test_branch_reads_take_a_revision(messages: dict[str, descriptor_pb2.DescriptorProto], name: str) -> None:
    fields = {field.name: field for field in messages[f"antiphon.history.v1.{name}Request"].field}
    assert fields["at_revision"].proto3_optional
    assert fields["at_revision"].type == fields["at_revision"].TYPE_INT64


@pytest.mark.parametrize(
    ("servicer", "generated"),
    [
        (HistoryServicer, history_service_pb2_grpc.HistoryServiceServicer),
        (CompilerServicer, compiler_service_pb2_grpc.CompilerServiceServicer),
    ],
)
def test_every_declared_rpc_is_implemented(servicer: type, generated: type) -> None:
    declared = [name for name in vars(generated) if not name.startswith("_")]
    assert declared
    missing = [n for n in declared if getattr(servicer, n, None) in (None, getattr(generated, n))]
    assert missing == []


def _reasons(elements: list[Element]) -> Iterator[tuple[str, str, str]]:
    """Package, reason and comment of every entry of both registries but the zero value."""
    for element in elements:
        if element.kind == "value" and ".ErrorReason." in element.name and element.proto.number != 0:
            reason = element.proto.name.removeprefix("ERROR_REASON_")
            yield element.name.partition(".ErrorReason.")[0], reason, " ".join(element.comment.split())


def test_registries_and_error_classes_agree(elements: list[Element]) -> None:
    assert {reason for _, reason, _ in _reasons(elements)} == set(BY_REASON)


def test_comments_of_reasons_open_with_their_status_code(elements: list[Element]) -> None:
    codes = {code.name for code in grpc.StatusCode}
    for package, reason, comment in _reasons(elements):
        code = re.match(r"[A-Z_]+", comment)
        assert code, f"{package} {reason}"
        assert code[0] in codes - {"OK", "UNKNOWN"}
        assert code[0] == BY_REASON[reason].code, f"{package} {reason}"


def test_comments_of_reasons_promise_retry_info_where_the_class_has_it(elements: list[Element]) -> None:
    for package, reason, comment in _reasons(elements):
        promised = "with RetryInfo" in comment
        assert promised == (BY_REASON[reason].default_retry_after is not None), f"{package} {reason}"


def test_comments_name_only_what_exists(elements: list[Element]) -> None:
    known = {code.name for code in grpc.StatusCode} | set(BY_REASON)
    known |= {"ERROR_REASON_"}
    for element in elements:
        if element.kind == "value":
            name, prefix = element.proto.name, _enum_prefix(element.name)
            known |= {name, name.removeprefix(prefix)}
    named = {word for element in elements for word in re.findall(r"\b[A-Z]+(?:_[A-Z]+)+_?", element.comment)}
    assert named - known == set()


def _enum_prefix(value_name: str) -> str:
    enum = value_name.split(".")[-2]
    return re.sub(r"(?<!^)(?=[A-Z])", "_", enum).upper() + "_"


def test_every_rpc_says_its_errors_or_cost(elements: list[Element]) -> None:
    rpcs = [element for element in elements if element.kind == "rpc"]
    assert [e.name for e in rpcs if "cost" not in e.comment.lower()] == []
