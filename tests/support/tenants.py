"""One tenant's world, and a request of every RPC that names what is in it."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import Any

from google.protobuf.message import Message

from antiphon.compiler.v1 import compiler_service_pb2 as compiler
from antiphon.compiler.v1 import provider_pb2 as provider
from antiphon.compiler.v1 import target_pb2 as target
from antiphon.history.v1 import exchange_service_pb2 as exchange
from antiphon.history.v1 import history_service_pb2 as history
from antiphon.message.v1 import message_pb2 as message
from antiphon_client.edge.tokens import NewToken
from antiphon_client.ids import new_id
from tests.support.history import call_action, instruction
from tests.support.secured import Secured


@dataclass(frozen=True, slots=True)
class Names:
    """What a request can name.

    Attributes:
        branch: A branch's id.
        incarnation: Its incarnation.
        external_key: Its external key.
        first: The id of its first message, an instruction.
        action: The id of an action request in it that is unanswered.
        exchange: An exchange's id.
        owner: An owner there that has mail.
        sender: Another, who sent it.
        lease: A lease on a message of that mail.
        dead_letter: A dead letter there.
        request_id: The request id of a write that was made.
    """

    branch: str
    incarnation: str
    external_key: str
    first: str
    action: str
    exchange: str
    owner: str
    sender: str
    lease: str
    dead_letter: str
    request_id: str

    def all(self) -> tuple[str, ...]:
        """Return the names."""
        return astuple(self)


def names_of_nothing(number: int = 0) -> Names:
    """Return names that nobody has."""
    ids = [new_id() for _ in range(8)]
    return Names(
        ids[0], ids[1], f"nobodys/{number}", ids[2], ids[3], f"nobodys-{number}",
        ids[4], ids[5], ids[6], ids[7], new_id(),
    )  # fmt: skip


def _mail(sender: str, recipient: str) -> message.Message:
    mail = message.Message(id=new_id())
    mail.generic.value_json = '"mail"'
    mail.sender.member_id, mail.recipient.member_id = sender, recipient
    return mail


async def settle(services: Secured, token: NewToken) -> Names:
    """Make a tenant's world: a branch, and an exchange with mail, a lease and a dead letter."""
    names = names_of_nothing()
    names = Names(
        names.branch, "", "support/1", names.first, names.action, "desk", names.owner, names.sender, "", "",
        names.request_id,
    )  # fmt: skip
    made = await services.call(
        token,
        history.CreateBranchRequest(
            branch_id=names.branch, external_key=names.external_key, request_id=names.request_id
        ),
    )
    first, action = instruction(1, "the tenant's own words"), call_action(2)
    first.id, action.id = names.first, names.action
    await services.call(token, history.AddMessagesRequest(branch_id=names.branch, messages=[first, action]))
    for owner in (names.owner, names.sender):
        await services.call(token, exchange.RegisterOwnerRequest(exchange_id=names.exchange, owner_id=owner))
    for _ in range(3):
        mail = _mail(names.sender, names.owner)
        await services.call(token, exchange.SendRequest(exchange_id=names.exchange, message=mail))
    passing = new_id()
    await services.call(token, exchange.RegisterOwnerRequest(exchange_id=names.exchange, owner_id=passing))
    await services.call(
        token, exchange.SendRequest(exchange_id=names.exchange, message=_mail(names.sender, passing))
    )
    await services.call(token, exchange.CollectAllRequest(exchange_id=names.exchange))
    await services.call(token, exchange.UnregisterOwnerRequest(exchange_id=names.exchange, owner_id=passing))
    leased = await services.call(
        token,
        exchange.LeaseRequest(exchange_id=names.exchange, owner_id=names.owner, visibility_seconds=3600),
    )
    dead = await services.call(token, exchange.ListDeadLettersRequest(exchange_id=names.exchange))
    return Names(
        names.branch, made.branch.incarnation, names.external_key, names.first, names.action, names.exchange,
        names.owner, names.sender, leased.deliveries[0].lease_id, dead.dead_letters[0].dead_letter_id,
        names.request_id,
    )  # fmt: skip


def requests(names: Names) -> dict[str, list[Message]]:
    """Return a request of every RPC, by its name; one in parts for those that take it so."""
    branch, request_id = names.branch, names.request_id
    added = instruction(9)
    added.id = names.first
    mailbox: dict[str, Any] = {"exchange_id": names.exchange, "owner_id": names.owner}
    content = message.SummaryContent(text="in short", first_id=names.first, last_id=names.action)
    source = compiler.BranchRef(branch_id=branch)
    compiled = compiler.CompileRequest(
        branch=source,
        profile=compiler.PROFILE_FOLDED,
        instruction=message.Message(instruction=added.instruction),
    )
    made: list[Message] = [
        history.CreateBranchRequest(branch_id=branch, external_key=names.external_key, request_id=request_id),
        history.GetBranchRequest(branch_id=branch),
        history.ListBranchesRequest(external_key_prefix=names.external_key),
        history.UpdateBranchRequest(branch_id=branch, metadata_json='{"a":1}', request_id=request_id),
        history.DeleteBranchRequest(branch_id=branch, purge=True, request_id=request_id),
        history.TrimHistoryRequest(branch_id=branch, before_revision=2),
        history.ForkBranchRequest(
            source_branch_id=branch, ids=history.FORK_IDS_KEEP, branch_id=new_id(), request_id=request_id
        ),
        history.WatchBranchRequest(branch_id=branch, after_revision=1, incarnation=names.incarnation),
        history.ExportBranchRequest(branch_id=branch),
        history.AddMessagesRequest(branch_id=branch, messages=[added], request_id=request_id),
        history.RespondToActionRequest(
            branch_id=branch, action_request_id=names.action, output_json="1", request_id=request_id
        ),
        history.SetSystemRequest(
            branch_id=branch, system=message.SystemContent(system_message="x"), request_id=request_id
        ),
        history.RemoveMessagesRequest(branch_id=branch, message_ids=[names.first], request_id=request_id),
        history.MoveMessageRequest(branch_id=branch, message_id=names.action, index=0, request_id=request_id),
        history.ClearMessagesRequest(branch_id=branch, request_id=request_id),
        history.GetMessagesRequest(branch_id=branch, message_ids=[names.first]),
        history.ListMessagesRequest(branch_id=branch),
        history.SelectViewRequest(branch_id=branch, message_ids=[names.first], request_id=request_id),
        history.ClearViewRequest(branch_id=branch, request_id=request_id),
        history.ReadSnapshotRequest(branch_id=branch, since_revision=1, since_incarnation=names.incarnation),
        history.CommitCompactionRequest(
            branch_id=branch, summary=content, planned_revision=2, request_id=request_id
        ),
        exchange.RegisterOwnerRequest(**mailbox, request_id=request_id),
        exchange.UnregisterOwnerRequest(**mailbox, request_id=request_id),
        exchange.ListOwnersRequest(exchange_id=names.exchange),
        exchange.SendRequest(
            exchange_id=names.exchange,
            message=_mail(names.sender, names.owner),
            request_id=request_id,
        ),
        exchange.CollectRequest(**mailbox, request_id=request_id),
        exchange.CollectAllRequest(exchange_id=names.exchange, request_id=request_id),
        exchange.ReceiveRequest(**mailbox),
        exchange.PopRequest(**mailbox, sender_id=names.sender, request_id=request_id),
        exchange.LeaseRequest(**mailbox, request_id=request_id),
        exchange.AcknowledgeRequest(**mailbox, lease_ids=[names.lease], request_id=request_id),
        exchange.RejectRequest(**mailbox, lease_ids=[names.lease], request_id=request_id),
        exchange.ListDeadLettersRequest(exchange_id=names.exchange),
        exchange.RedriveDeadLetterRequest(
            exchange_id=names.exchange, dead_letter_id=names.dead_letter, request_id=request_id
        ),
        exchange.WatchInboxRequest(**mailbox),
        compiled,
        compiler.StreamCompileRequest(request=compiled),
        compiler.PlanWindowRequest(branch=source, budget_tokens=1000, instruction=compiled.instruction),
        compiler.PlanCompactionRequest(branch=source, keep_messages=1),
        target.ListTargetsRequest(),
        provider.ParseResponseRequest(
            target="ollama.chat", payload_json='{"message":{"content":"hi"},"done":true}'
        ),
    ]
    by_name: dict[str, list[Message]] = {type(each).__name__.removesuffix("Request"): [each] for each in made}
    by_name["AssembleResponse"] = [
        provider.AssembleResponseRequest(options=provider.AssembleOptions(target="ollama.chat"))
    ]
    return by_name


def branch_file(exported: list[Any], branch_id: str, external_key: str) -> list[Message]:
    """Return the request, in parts, that imports an exported branch under other names."""
    head = history.ImportHead(branch_id=branch_id, external_key=external_key, request_id=new_id())
    parts: list[Message] = [history.ImportBranchRequest(head=head)]
    return [*parts, *(history.ImportBranchRequest(data=each.data) for each in exported)]
