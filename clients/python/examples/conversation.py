"""A conversation that two programs share: append, watch, compile, meet another writer, watch on.

Run it against a running pair, whose addresses are in the environment:

    ANTIPHON_HISTORY_ADDRESS=127.0.0.1:7411 ANTIPHON_COMPILER_ADDRESS=127.0.0.1:7412 python conversation.py
"""

from contextlib import closing

from antiphon_client import (
    AssistantResponse,
    Branch,
    Change,
    CompilerClient,
    HistoryClient,
    Instruction,
    System,
    TurnRequest,
    WatchToken,
)
from antiphon_client.errors import RevisionConflictError


def messages(count: int) -> str:
    """Return the count with its noun."""
    return f"{count} message" if count == 1 else f"{count} messages"


def watch_until(branch: Branch, after: WatchToken | int, revision: int) -> Change:
    """Read a watch up to a revision's change, and cut it there."""
    with closing(branch.watch(after=after)) as changes:
        return next(change for change in changes if change.revision == revision)


def tell(change: Change) -> str:
    """Return what a change brought, in words."""
    added = sum(operation.name == "added" for operation in change.operations)
    return f"revision {change.revision} added {messages(added)}"


with HistoryClient() as history, CompilerClient() as compiler:
    branch = Branch.create(history)
    created = branch.record().revision
    print(f"created a branch at revision {created}")

    written = branch.add(
        [
            System.create("You are a gardener."),
            Instruction.create("When do I plant tulips?"),
            AssistantResponse.create("In autumn, before the first frost."),
        ]
    )
    print(f"appended {messages(len(written.placements))}: revision {written.revision}")

    seen = watch_until(branch, 0, written.revision)
    print(f"watch: {tell(seen)}")

    question = Instruction.create("And how deep?")
    turn = TurnRequest(instruction=question)
    compiled = compiler.compile(branch, turn, profile="native", target="openai.chat")
    print(f"compiled {messages(len(compiled.request.provider_messages))}, digest {compiled.messages_digest}")

    try:
        branch.add(question, expected_revision=created)
    except RevisionConflictError as error:
        print(f"refused: {error.reason}, expected {error.expected_revision}, actual {error.actual_revision}")
    written = branch.add(question, expected_revision=branch.record().revision)
    print(f"appended {messages(len(written.placements))}: revision {written.revision}")

    after = watch_until(branch, seen.token, written.revision)
    print(f"watch, resumed after revision {seen.revision}: {tell(after)}")
