"""Calling a model with a compiled turn, whole or as a stream (ADR-0007 D5).

Both ways compile once, in the same way, and hand the model the same arguments;
they differ in what they add for the call's execution alone. Neither records
anything: what may be recorded is the compiled request's instruction.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar, Unpack

from antiphon_client.compile_sources import Source
from antiphon_client.targets import CompileOptions
from antiphon_client.turn import Compilation, TurnRequest

T = TypeVar("T")

_LATE = "the model's answer is not whole at its deadline"


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """What a model was asked, and what it answered."""

    compilation: Compilation
    answer: T


@dataclass(frozen=True, slots=True)
class _Watch(Generic[T]):
    """What is done with the pieces of a streamed answer.

    Attributes:
        ends_at: When the stream must have ended, on the monotonic clock; None for never.
        persist: Called with each piece before it is handed on.
    """

    ends_at: float | None
    persist: Callable[[T], object] | None


@dataclass(frozen=True, slots=True)
class ModelStream(Generic[T]):
    """What a model was asked, and its answer as it arrives; iterate it once.

    What the model streams from is closed when the iteration ends, however it does.
    """

    compilation: Compilation
    _pieces: Iterable[T] = field(repr=False)
    _watch: _Watch[T] = field(repr=False)

    def __iter__(self) -> Iterator[T]:
        """Yield the pieces.

        Raises:
            TimeoutError: A piece arrived past the deadline.
        """
        try:
            for piece in self._pieces:
                if self._watch.ends_at is not None and time.monotonic() > self._watch.ends_at:
                    raise TimeoutError(_LATE)
                if self._watch.persist is not None:
                    self._watch.persist(piece)
                yield piece
        finally:
            close = getattr(self._pieces, "close", None)
            if close is not None:
                close()


@dataclass(frozen=True, slots=True)
class AsyncModelStream(Generic[T]):
    """As :class:`ModelStream`, for asyncio."""

    compilation: Compilation
    _pieces: AsyncIterable[T] = field(repr=False)
    _watch: _Watch[T] = field(repr=False)

    async def __aiter__(self) -> AsyncIterator[T]:
        """Yield the pieces.

        Raises:
            TimeoutError: The deadline passed while waiting for a piece.
        """
        pieces = aiter(self._pieces)
        try:
            while True:
                try:
                    async with _until(self._watch.ends_at):
                        piece = await anext(pieces)
                except StopAsyncIteration:
                    return
                if self._watch.persist is not None:
                    kept = self._watch.persist(piece)
                    if isinstance(kept, Awaitable):
                        await kept
                yield piece
        finally:
            # A generator has the one, a provider's stream the other.
            close = getattr(self._pieces, "aclose", None) or getattr(self._pieces, "close", None)
            if close is not None:
                closing = close()
                if isinstance(closing, Awaitable):
                    await closing


def model_arguments(compilation: Compilation) -> dict[str, Any]:
    """Return the keyword arguments that a model is called with, the caller's own.

    With a target, the keys of the provider's request; else ``messages`` and the
    turn's keyword arguments.
    """
    request = compilation.provider_request
    if request is not None:
        return request
    compiled = compilation.request
    return {"messages": compiled.provider_messages, **copy.deepcopy(dict(compiled.provider_kwargs))}


class _Compiler(Protocol):
    """A blocking client of the compiler service."""

    @property
    def compile(self) -> Callable[..., Compilation]: ...


class _AsyncCompiler(Protocol):
    """An asyncio client of the compiler service."""

    @property
    def compile(self) -> Callable[..., Coroutine[Any, Any, Compilation]]: ...


class SyncModelCalls:
    """Calling a model over a blocking client of the compiler service."""

    def chat(
        self: _Compiler,
        source: Source,
        turn: TurnRequest,
        invoke: Callable[..., T],
        **how: Unpack[CompileOptions],
    ) -> ModelAnswer[T]:
        """Compile a turn once and call a model with it once.

        Args:
            source: As in :meth:`compile`.
            turn: The turn.
            invoke: Called with the model's keyword arguments (:func:`model_arguments`).
            how: Further arguments of :meth:`compile`.

        Raises:
            AntiphonError: As :meth:`compile`; the model is not called then.
        """
        compilation = self.compile(source, turn, **how)
        return ModelAnswer(compilation, invoke(**model_arguments(compilation)))

    def run(
        self: _Compiler,
        source: Source,
        turn: TurnRequest,
        stream: Callable[..., Iterable[T]],
        *,
        resume: Any = None,
        deadline: float | None = None,
        persist: Callable[[T], object] | None = None,
        **how: Unpack[CompileOptions],
    ) -> ModelStream[T]:
        """Compile a turn once and have a model stream its answer.

        Args:
            source: As in :meth:`compile`.
            turn: The turn.
            stream: Called with the same arguments as ``invoke`` of :meth:`chat`, and
                ``stream=True``.
            resume: Where to resume, given to ``stream`` as ``resume``; None: it is not.
            deadline: Seconds the answer may take, looked at as each piece arrives.
            persist: Called with each piece before it is handed on.
            how: Further arguments of :meth:`compile`.

        Raises:
            AntiphonError: As :meth:`compile`; the model is not called then.
            ValueError: The turn's keyword arguments hold ``stream`` or ``resume``.
        """
        compilation = self.compile(source, turn, **how)
        pieces = stream(**_streaming_arguments(compilation, resume))
        return ModelStream(compilation, pieces, _Watch(_end(deadline), persist))


class AsyncModelCalls:
    """Calling a model over an asyncio client of the compiler service."""

    async def chat(
        self: _AsyncCompiler,
        source: Source,
        turn: TurnRequest,
        invoke: Callable[..., Awaitable[T]],
        **how: Unpack[CompileOptions],
    ) -> ModelAnswer[T]:
        """Compile a turn once and call a model with it once; as :meth:`CompilerClient.chat`."""
        compilation = await self.compile(source, turn, **how)
        return ModelAnswer(compilation, await invoke(**model_arguments(compilation)))

    async def run(
        self: _AsyncCompiler,
        source: Source,
        turn: TurnRequest,
        stream: Callable[..., AsyncIterable[T] | Awaitable[AsyncIterable[T]]],
        *,
        resume: Any = None,
        deadline: float | None = None,
        persist: Callable[[T], object] | None = None,
        **how: Unpack[CompileOptions],
    ) -> AsyncModelStream[T]:
        """Compile a turn once and have a model stream its answer.

        As :meth:`CompilerClient.run`; the deadline ends the waiting for a piece,
        and what ``stream`` and ``persist`` return may be awaited.
        """
        compilation = await self.compile(source, turn, **how)
        ends_at = _end(deadline)
        async with _until(ends_at):
            begun = stream(**_streaming_arguments(compilation, resume))
            pieces = begun if isinstance(begun, AsyncIterable) else await begun
        return AsyncModelStream(compilation, pieces, _Watch(ends_at, persist))


def _streaming_arguments(compilation: Compilation, resume: Any) -> dict[str, Any]:
    arguments = model_arguments(compilation)
    execution = {"stream": True} | ({} if resume is None else {"resume": resume})
    taken = execution.keys() & arguments.keys()
    if taken:
        raise ValueError(f"provider_kwargs must not contain what run adds: {', '.join(sorted(taken))}")
    return arguments | execution


def _end(deadline: float | None) -> float | None:
    return None if deadline is None else time.monotonic() + deadline


@asynccontextmanager
async def _until(ends_at: float | None) -> AsyncIterator[None]:
    limit = asyncio.timeout(None if ends_at is None else ends_at - time.monotonic())
    try:
        async with limit:
            yield
    except TimeoutError:
        if limit.expired():
            raise TimeoutError(_LATE) from None
        raise
