"""Callbacks that hear of added messages (ADR-0006 D4).

One rule: the write is committed before anyone is told, and a failing callback
never undoes it. Every call that puts messages into a branch tells each of its
messages, in order, to each callback of one snapshot of the branch's list.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from types import CoroutineType
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from antiphon_client.branch_operations import BranchOperations
from antiphon_client.messages import Message
from antiphon_client.records import Written
from antiphon_client.rpc import AsyncMethod, AsyncTransport, Steps, SyncMethod, SyncTransport

P = ParamSpec("P")
AddedT = TypeVar("AddedT", bound=Written | Message)

MessageCallback: TypeAlias = Callable[[Message], object]
"""Called with each added message as it is stored."""

AsyncMessageCallback: TypeAlias = Callable[[Message], Awaitable[object] | object]
"""As `MessageCallback`; an awaitable it returns is awaited."""

HOOKS_FAILED = "on_message_added hooks failed"

_ASYNC_CALLBACK = "{!r} is asynchronous: this branch cannot await it, use an AsyncBranch"


class ObservedHost(Protocol):
    """Owner of `ObservedMethod` attributes."""

    on_message_added: list[MessageCallback]

    @property
    def _core(self) -> BranchOperations: ...

    @property
    def _transport(self) -> SyncTransport: ...


class AsyncObservedHost(Protocol):
    """Owner of `AsyncObservedMethod` attributes."""

    on_message_added: list[AsyncMessageCallback]

    @property
    def _core(self) -> BranchOperations: ...

    @property
    def _transport(self) -> AsyncTransport: ...


class ObservedMethod(Generic[P, AddedT]):
    """A blocking method that adds messages and then tells the branch's callbacks.

    It raises RuntimeError, with nothing sent, when one of them is asynchronous.
    """

    def __init__(self, operation: Callable[Concatenate[BranchOperations, P], Steps[AddedT]]) -> None:
        self._method = SyncMethod(operation)
        self.__doc__ = operation.__doc__
        self.__name__ = operation.__name__

    @overload
    def __get__(self, instance: None, owner: type) -> ObservedMethod[P, AddedT]: ...

    @overload
    def __get__(self, instance: ObservedHost, owner: type) -> Callable[P, AddedT]: ...

    def __get__(
        self, instance: ObservedHost | None, owner: type
    ) -> ObservedMethod[P, AddedT] | Callable[P, AddedT]:
        """Bind the method to a branch."""
        if instance is None:
            return self
        add = self._method.__get__(instance, owner)

        @functools.wraps(add)
        def method(*args: P.args, **kwargs: P.kwargs) -> AddedT:
            callbacks = tuple(instance.on_message_added)
            _refuse_asynchronous(callbacks)
            added = add(*args, **kwargs)
            if callbacks:
                _tell(callbacks, instance._transport.run(_as_stored(instance._core, added)))
            return added

        return method


class AsyncObservedMethod(Generic[P, AddedT]):
    """An awaitable method that adds messages and then tells the branch's callbacks."""

    def __init__(self, operation: Callable[Concatenate[BranchOperations, P], Steps[AddedT]]) -> None:
        self._method = AsyncMethod(operation)
        self.__doc__ = operation.__doc__
        self.__name__ = operation.__name__

    @overload
    def __get__(self, instance: None, owner: type) -> AsyncObservedMethod[P, AddedT]: ...

    @overload
    def __get__(
        self, instance: AsyncObservedHost, owner: type
    ) -> Callable[P, Coroutine[Any, Any, AddedT]]: ...

    def __get__(
        self, instance: AsyncObservedHost | None, owner: type
    ) -> AsyncObservedMethod[P, AddedT] | Callable[P, Coroutine[Any, Any, AddedT]]:
        """Bind the method to a branch."""
        if instance is None:
            return self
        add = self._method.__get__(instance, owner)

        @functools.wraps(add)
        async def method(*args: P.args, **kwargs: P.kwargs) -> AddedT:
            added = await add(*args, **kwargs)
            callbacks = tuple(instance.on_message_added)
            if callbacks:
                await _tell_async(callbacks, await instance._transport.run(_as_stored(instance._core, added)))
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
    """Read the messages that a write added, as it left them."""
    if isinstance(added, Message):
        return [added]
    # A snapshot, since the messages of one batch may exceed a single reply.
    snapshot = yield from core.snapshot(progression=added.message_ids, at_revision=added.revision)
    return snapshot.messages


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
