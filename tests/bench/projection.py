"""The projection of a history on a provider's request, in-process, beside that of other packages.

All are given the same conversation with a tool call in every round, each in its own
form, and make a request that says the same; that is checked. Once from what is
stored, texts or bytes, once from ready objects: the package's own messages, and our
neutral turns. Ours yields the text of the request's body, theirs the objects that
are written as that text afterwards. Ours from what is stored is a whole NATIVE
compilation, its digest included; ready turns have that behind them.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from tests.bench.compile import PEER_PYTHON
from tests.bench.conversation import QUESTION, Record, conversation, record_id
from tests.bench.report import Row
from tests.bench.sides import Side, running_side

SIZE = 1_000
TARGET = 1.0
OURS = "tests.bench.projecting"
_FORMS = ("stored", "ready")


@dataclass(frozen=True, slots=True)
class Peer:
    """A package, the program that measures it, and the provider that it writes for."""

    name: str
    module: str
    provider: str
    target: str


PEERS = (
    Peer("langchain-core", "tests.bench.peers.langchain_core_messages", "OpenAI", "openai.chat"),
    Peer("Pydantic AI", "tests.bench.peers.pydantic_ai_messages", "OpenAI", "openai.chat"),
    Peer("LiteLLM", "tests.bench.peers.litellm_messages", "Anthropic", "anthropic.messages"),
)


async def measure(*, rounds: int, say: Callable[[str], None]) -> AsyncIterator[Row]:
    """Projects 1,000 messages, all sides in turns, in CPU time."""
    say(f"projection: {rounds} rounds")
    with contextlib.ExitStack() as stack:
        sides: dict[str, Side] = {}
        said: dict[str, str] = {}
        job: dict[str, object] = {"records": records(SIZE), "question": QUESTION}
        for peer in PEERS:
            for python, module in ((sys.executable, OURS), (str(PEER_PYTHON), peer.module)):
                name = f"{module} {peer.target}"
                if name in sides:
                    continue
                side = stack.enter_context(running_side(python, module))
                said |= dict.fromkeys(await side.begin({**job, "target": peer.target}), name)
                sides[name] = side
        if len(said) > 1:
            raise RuntimeError(f"requests say different things: {', '.join(said.values())}")
        for _ in range(rounds):
            for side in sides.values():
                await side.round()
    for peer in PEERS:
        for form in _FORMS:
            yield _row(peer, form, sides[f"{OURS} {peer.target}"], sides[f"{peer.module} {peer.target}"])


def records(size: int) -> list[Record]:
    """The conversation, its records with their ids and results with that of their call."""
    made = conversation(size, tools=True)
    for index, record in enumerate(made):
        record["id"] = record_id(index)
        if record["kind"] == "action_response":
            record["call_id"] = record_id(index - 1)
    return made


def _row(peer: Peer, form: str, ours: Side, theirs: Side) -> Row:
    mine, other = ours.median(form), theirs.median(form)
    return Row(
        work=f"project {SIZE:,} messages, {form}, to {peer.provider}",
        ours=mine,
        unit="ms",
        beside=peer.name,
        theirs=other,
        beside_unit="ms",
        ratio=mine / other,
        target=TARGET,
        bound="at most",
        detail=f"{ours.median('records'):.3g} ms compiled from decoded records" if form == "ready" else "",
    )
