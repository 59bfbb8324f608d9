"""Callbacks that hear of added messages (ADR-0006 D4).

One rule: the write is committed before anyone is told, and a failing callback
never undoes it; nor does it fail when what it wrote cannot be read back
(:mod:`antiphon_client.stored_messages`). Every call that puts messages into a
branch tells each of its messages, in order, to each callback of one snapshot of
the branch's list.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import CoroutineType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar
from uuid import UUID

from antiphon_client.branch_operations import BranchOperations
from antiphon_client.messages import Message
from antiphon_client.records import Written
from antiphon_client.rpc import AsyncTransport, Steps, SyncTransport, async_method, sync_method
from antiphon_client.stored_messages import stored_messages

P = ParamSpec("P")
AddedT = TypeVar("AddedT", bound=Written | Message)

MessageCallback: TypeAlias = Callable[[Message], object]
"""Called with each added message as it is stored."""

AsyncMessageCallback: TypeAlias = Callable[[Message], Awaitable[object] | object]
"""As `MessageCallback`; an awaitable it returns is awaited."""

HOOKS_FAILED = "on_message_added hooks failed"

_ASYNC_CALLBACK = "{!r} is asynchronous: this branch cannot await it, use an AsyncBranch"


class ObservedHost(Protocol):
    """Owner of :func:`observed_method` methods."""

    on_message_added: list[MessageCallback]

    @property
    def _core(self) -> BranchOperations: ...

    @property
    def _transport(self) -> SyncTransport: ...


class AsyncObservedHost(Protocol):
    """Owner of :func:`async_observed_method` methods."""

    on_message_added: list[AsyncMessageCallback]

    @property
    def _core(self) -> BranchOperations: ...

    @property
    def _transport(self) -> AsyncTransport: ...


def observed_method(
    operation: Callable[Concatenate[BranchOperations, P], Steps[AddedT]],
) -> Callable[Concatenate[ObservedHost, P], AddedT]:
    """Make a blocking method that adds messages and then tells the branch's callbacks.

    It raises RuntimeError, with nothing sent, when one of them is asynchronous.
    """
    add = sync_method(operation)

    @functools.wraps(add)
    def method(self: ObservedHost, /, *args: P.args, **kwargs: P.kwargs) -> AddedT:
        callbacks = tuple(self.on_message_added)
        _refuse_asynchronous(callbacks)
        added = add(self, *args, **kwargs)
        if callbacks:
            _tell(callbacks, self._transport.run(_as_stored(self._core, added)))
        return added

    return method


def async_observed_method(
    operation: Callable[Concatenate[BranchOperations, P], Steps[AddedT]],
) -> Callable[Concatenate[AsyncObservedHost, P], Coroutine[Any, Any, AddedT]]:
    """Make an awaitable method that adds messages and then tells the branch's callbacks."""
    add = async_method(operation)

    @functools.wraps(add)
    async def method(self: AsyncObservedHost, /, *args: P.args, **kwargs: P.kwargs) -> AddedT:
        added = await add(self, *args, **kwargs)
        callbacks = tuple(self.on_message_added)
        if callbacks:
            await _tell_async(callbacks, await self._transport.run(_as_stored(self._core, added)))
        return added

    return method


def _refuse_asynchronous(callbacks: Sequence[MessageCallback]) -> None:
    for callback in callbacks:
        if _is_asynchronous(callback):
            raise RuntimeError(_ASYNC_CALLBACK.format(callback))


def _is_asynchronous(callback: object) -> bool:
    while isinstance(callback, functools.partial):
        callback = callback.func
    # The class is asked: a class given as the callback has no call of its own instances.
    called = getattr(type(callback), "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(callback) or inspect.iscoroutinefunction(called)


def _as_stored(core: BranchOperations, added: Written | Message) -> Steps[Sequence[Message]]:
    """Return the messages that a write added."""
    if isinstance(added, Message):
        return [added]

    def read(message_ids: Sequence[UUID], at_revision: int) -> Steps[Sequence[Message]]:
        # A snapshot, since the messages of one batch may exceed a single reply.
        snapshot = yield from core.snapshot(progression=message_ids, at_revision=at_revision)
        return snapshot.messages

    return (yield from stored_messages(added, read))


def _tell(callbacks: Sequence[MessageCallback], messages: Sequence[Message]) -> None:
    failures: list[BaseException] = []
    for message in messages:
        for callback in callbacks:
            try:
                _expect_done(callback, callback(message))
            except BaseException as error:  # every failure waits until all callbacks have been told
                failures.append(error)
    _raise(failures)


def _expect_done(callback: MessageCallback, outcome: object) -> None:
    """Refuse an outcome that would have to be awaited, which only a call could show."""
    if inspect.isawaitable(outcome):
        if isinstance(outcome, CoroutineType):
            outcome.close()
        raise RuntimeError(_ASYNC_CALLBACK.format(callback))


async def _tell_async(callbacks: Sequence[AsyncMessageCallback], messages: Sequence[Message]) -> None:
    failures: list[BaseException] = []
    for message in messages:
        for callback in callbacks:
            try:
                outcome = callback(message)
                if inspect.isawaitable(outcome):
                    await outcome
            except BaseException as error:  # as in _tell; a cancellation too is raised at the end
                failures.append(error)
    _raise(failures)


def _raise(failures: Sequence[BaseException]) -> None:
    if len(failures) == 1:
        raise failures[0]
    if failures:
        raise BaseExceptionGroup(HOOKS_FAILED, failures)
