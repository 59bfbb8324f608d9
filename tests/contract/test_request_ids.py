"""Every RPC that takes a request id is safe to send again, on the real service over every store."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.message import Message as ProtoMessage

from antiphon.history.v1 import exchange_service_pb2 as exchange_pb
from antiphon.history.v1 import history_service_pb2 as pb
from tests.support.exchange import letter
from tests.support.history import CLEAR_STORES, instruction, summary, system, uuid_of
from tests.support.service_scenes import BRANCH, EXCHANGE, METHODS, Furnished, furnished, repeatable_methods

pytestmark = pytest.mark.anyio

FIRST_ID = uuid_of(0xF1)

AT: dict[str, Any] = {"branch_id": BRANCH}
OF: dict[str, Any] = {"exchange_id": EXCHANGE}
OWNER: dict[str, Any] = {"exchange_id": EXCHANGE, "owner_id": uuid_of(2)}

Request = ProtoMessage | Sequence[ProtoMessage]


def import_of(service: Furnished, **head: Any) -> list[pb.ImportBranchRequest]:
    """Return an import of the branch's file, in two chunks."""
    half = len(service.file) // 2
    return [
        pb.ImportBranchRequest(head=pb.ImportHead(request_id=FIRST_ID, **head)),
        *(pb.ImportBranchRequest(data=chunk) for chunk in (service.file[:half], service.file[half:])),
    ]


SCENES: dict[str, tuple[Callable[[Furnished], Request], dict[str, Any]]] = {
    "CreateBranch": (lambda _: pb.CreateBranchRequest(external_key="new"), {"external_key": "other"}),
    "UpdateBranch": (
        lambda _: pb.UpdateBranchRequest(metadata_json='{"a":1}', **AT),
        {"metadata_json": "{}"},
    ),
    "DeleteBranch": (lambda _: pb.DeleteBranchRequest(**AT), {"purge": True}),
    "ForkBranch": (lambda _: pb.ForkBranchRequest(source_branch_id=BRANCH), {"ids": pb.FORK_IDS_NEW}),
    "ImportBranch": (import_of, {"external_key": "other"}),
    "AddMessages": (
        lambda _: pb.AddMessagesRequest(messages=[instruction(6), made_by_the_server()], **AT),
        {"allow_unresolved": True},
    ),
    "RespondToAction": (
        lambda _: pb.RespondToActionRequest(action_request_id=uuid_of(3), output_json="1", **AT),
        {"output_json": "2"},
    ),
    "SetSystem": (lambda _: pb.SetSystemRequest(system=system(0).system, **AT), {"metadata_json": "{}"}),
    "RemoveMessages": (
        lambda _: pb.RemoveMessagesRequest(message_ids=[uuid_of(1)], **AT),
        {"message_ids": [uuid_of(2)]},
    ),
    "MoveMessage": (lambda _: pb.MoveMessageRequest(message_id=uuid_of(1), index=3, **AT), {"index": 2}),
    "ClearMessages": (lambda _: pb.ClearMessagesRequest(**AT), {"expected_revision": 3}),
    "SelectView": (
        lambda _: pb.SelectViewRequest(message_ids=[uuid_of(2)], **AT),
        {"message_ids": [uuid_of(4)]},
    ),
    "ClearView": (lambda _: pb.ClearViewRequest(**AT), {"expected_revision": 3}),
    "CommitCompaction": (
        lambda _: pb.CommitCompactionRequest(
            summary=summary(0, 1, 2).summary, view_message_ids=[uuid_of(4)], **AT
        ),
        {"view_message_ids": [uuid_of(5)]},
    ),
    "RegisterOwner": (
        lambda _: exchange_pb.RegisterOwnerRequest(owner_id=uuid_of(7), **OF),
        {"owner_id": uuid_of(8)},
    ),
    "UnregisterOwner": (
        lambda _: exchange_pb.UnregisterOwnerRequest(queued_mail=exchange_pb.QUEUED_MAIL_RETURN, **OWNER),
        {"owner_id": uuid_of(3)},
    ),
    "Send": (
        lambda _: exchange_pb.SendRequest(message=letter(1, 3, 40), **OF),
        {"message": letter(1, 3, 41)},
    ),
    "Collect": (
        lambda _: exchange_pb.CollectRequest(owner_id=uuid_of(1), **OF),
        {"owner_id": uuid_of(2)},
    ),
    "CollectAll": (lambda _: exchange_pb.CollectAllRequest(**OF), {"exchange_id": "another"}),
    "Pop": (
        lambda _: exchange_pb.PopRequest(sender_id=uuid_of(1), **OWNER),
        {"sender_id": uuid_of(3)},
    ),
    "Lease": (lambda _: exchange_pb.LeaseRequest(max_messages=1, **OWNER), {"max_messages": 2}),
    "Acknowledge": (
        lambda service: exchange_pb.AcknowledgeRequest(lease_ids=[service.lease_id], **OWNER),
        {"lease_ids": [uuid_of(77)]},
    ),
    "Reject": (
        lambda service: exchange_pb.RejectRequest(lease_ids=[service.lease_id], **OWNER),
        {"lease_ids": [uuid_of(77)]},
    ),
    "RedriveDeadLetter": (
        lambda service: exchange_pb.RedriveDeadLetterRequest(
            dead_letter_id=service.dead_letter_id, recipient_id=uuid_of(3), **OF
        ),
        {"recipient_id": uuid_of(2)},
    ),
}
"""For each RPC: a request that changes what can be seen, and what makes another request of it."""


def made_by_the_server() -> Any:
    """Return a message whose id the server makes: only the first answer can tell it again."""
    message = instruction(0, "without an id")
    message.ClearField("id")
    return message


def with_id(request: Request, request_id: str) -> Any:
    """Return a copy of a request under an id."""
    if not isinstance(request, ProtoMessage):
        head, *rest = request
        return [changed(head, head={"request_id": request_id}), *rest]
    return changed(request, request_id=request_id)


def other_than(request: Request, fields: dict[str, Any]) -> Any:
    """Return another request under the same id."""
    if not isinstance(request, ProtoMessage):
        head, *rest = request
        return [changed(head, head=fields), *rest]
    return changed(request, **fields)


def changed(request: Any, **fields: Any) -> Any:
    """Return a copy with fields replaced; a dictionary changes the message that a field holds."""
    copy = type(request)()
    copy.CopyFrom(request)
    for name, value in fields.items():
        if isinstance(value, dict):
            getattr(copy, name).CopyFrom(changed(getattr(copy, name), **value))
        else:
            copy.ClearField(name)
            copy.MergeFrom(type(copy)(**{name: value}))
    return copy


@pytest.fixture(params=CLEAR_STORES)
async def service(
    anyio_backend: object, request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[Furnished]:
    """A furnished service over each store in turn."""
    async with furnished(request.param, tmp_path) as service:
        yield service


def test_every_rpc_with_a_request_id_has_a_scene() -> None:
    assert SCENES.keys() == set(repeatable_methods())


@pytest.mark.parametrize("name", SCENES)
def test_an_answer_tells_whether_it_is_the_first_one_again(name: str) -> None:
    replayed = METHODS[name].output_type.fields_by_name["replayed"]
    assert replayed.type == replayed.TYPE_BOOL


@pytest.mark.parametrize("name", SCENES)
async def test_sent_again_it_answers_the_same_and_is_done_once(service: Furnished, name: str) -> None:
    make, _ = SCENES[name]
    request = with_id(make(service), FIRST_ID)
    before = await service.everything()

    first = await service.call(name, request)
    after = await service.everything()
    second = await service.call(name, request)

    assert after != before
    assert not first.replayed
    assert second.replayed
    assert changed(second, replayed=False) == first
    assert await service.everything() == after


@pytest.mark.parametrize("name", SCENES)
async def test_another_request_under_its_id_is_refused_and_changes_nothing(
    service: Furnished, name: str
) -> None:
    make, others = SCENES[name]
    request = with_id(make(service), FIRST_ID)
    first = await service.call(name, request)
    after = await service.everything()

    other = other_than(request, others)
    assert other != request
    error = await service.refusal(name, other)

    assert (error.reason, error.code) == ("REQUEST_ID_REUSED", "ALREADY_EXISTS")
    assert await service.everything() == after
    assert changed(await service.call(name, request), replayed=False) == first


async def test_an_id_that_is_no_uuid_is_refused_everywhere(service: Furnished) -> None:
    before = await service.everything()
    for name, (make, _) in SCENES.items():
        error = await service.refusal(name, with_id(make(service), FIRST_ID.replace("f1", "F1")))
        fields = [violation.field.rpartition(".")[2] for violation in error.violations]
        assert (error.reason, fields) == ("FIELD_INVALID", ["request_id"]), name
    assert await service.everything() == before
