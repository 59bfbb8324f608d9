"""The table of access rules: whole, and closed to what it does not know."""

from __future__ import annotations

from pathlib import Path

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import ServiceDescriptor

from antiphon_client.edge.access import READING, Need, Reach, Role, Rule, Rules
from antiphon_client.edge.gate import EVERYBODY, Gate
from antiphon_client.edge.tokens import TokenFile
from antiphon_client.errors import RoleNotAllowedError
from tests.support.tokens import SERVICES, TokensFile, bearer, methods

NO_IDEMPOTENCE = {"TrimHistory"}
"""Writes that carry no request id: safe to repeat as they are."""


def rules() -> Rules:
    return Rules(SERVICES)


def service_with(method: str) -> ServiceDescriptor:
    """Return a HistoryService that has one RPC more."""
    file = descriptor_pb2.FileDescriptorProto(name="later.proto", package="antiphon.history.v1")
    file.message_type.add(name="Nothing")
    service = file.service.add(name="HistoryService")
    for name in ("GetBranch", method):
        service.method.add(
            name=name, input_type=".antiphon.history.v1.Nothing", output_type=".antiphon.history.v1.Nothing"
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    found: ServiceDescriptor = pool.FindServiceByName("antiphon.history.v1.HistoryService")
    return found


def test_every_rpc_has_a_rule() -> None:
    known = rules()
    for service, method in methods():
        assert known.of(f"/{service.full_name}/{method.name}") is not None


def test_a_server_with_an_rpc_without_a_rule_does_not_start() -> None:
    with pytest.raises(LookupError, match=r"no access rule for .*HistoryService/PeekBranch"):
        Rules([service_with("PeekBranch")])


def test_rules_agree_with_the_shape_of_the_requests() -> None:
    known = rules()
    for service, method in methods():
        rule = known.of(f"/{service.full_name}/{method.name}")
        assert rule is not None
        fields = method.input_type.fields_by_name
        is_write = rule.need is Need.WRITE
        if service.name != "CompilerService" and not method.client_streaming:
            # What carries a request id changes something, and the other way round.
            assert is_write == ("request_id" in fields or method.name in NO_IDEMPOTENCE), method.name
        if not is_write and service.name == "HistoryService":
            expected = Reach.BRANCH if "branch_id" in fields else Reach.LISTING
            assert rule.reach is expected, method.name
            assert rule.reach is not Reach.LISTING or "external_key_prefix" in fields
        if not is_write and service.name == "ExchangeService":
            assert rule.reach is Reach.EXCHANGE


def test_infrastructure_has_rules_for_all_its_methods() -> None:
    known = rules()
    assert known.of("/grpc.health.v1.Health/Anything") == Rule(Need.NOTHING)
    assert known.of("/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo") == Rule(Need.READ)
    assert known.of("/grpc.channelz.v1.Channelz/GetServers") == Rule(Need.ADMIN)
    assert known.of("/somebody.Else/Method") is None
    assert {"GetBranch", "Receive", "Compile"} <= READING
    assert not {"AddMessages", "Pop", "Lease"} & READING


def test_a_method_without_a_rule_is_an_admins(tmp_path: Path) -> None:
    file = TokensFile(tmp_path)
    owner, admin = file.add("acme"), file.add("acme", admin=True)
    gate = Gate(rules(), TokenFile(file.path))
    with pytest.raises(RoleNotAllowedError):
        gate.admit("/somebody.Else/Method", bearer(owner))
    assert gate.admit("/somebody.Else/Method", bearer(admin)).role is Role.OWNER


def test_without_tokens_everybody_may_do_everything() -> None:
    gate = Gate(rules(), None)
    assert gate.admit("/somebody.Else/Method", ()) is EVERYBODY
    assert EVERYBODY.tenant_id == ""
