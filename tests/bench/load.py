"""The load generator: closed loops of callers over raw bytes, the same for us and for the floor."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

import grpc

TIMEOUT = 60.0
"""Deadline of every call, in seconds."""


@dataclass(frozen=True, slots=True)
class Load:
    """What a load was answered with.

    Attributes:
        calls: How many calls were answered.
        rate: Calls a second.
        p50: Median time of a call, in milliseconds.
        p99: The time that 99 % of the calls stayed below, in milliseconds.
    """

    calls: int
    rate: float
    p50: float
    p99: float


async def closed_loops(
    channel: grpc.aio.Channel,
    method: str,
    make_request: Callable[[int], Callable[[], bytes]],
    *,
    callers: int,
    seconds: float,
) -> Load:
    """Lets ``callers`` call ``method`` one call after the other for ``seconds``.

    Args:
        channel: The one channel that all callers share.
        method: Full name of a unary RPC.
        make_request: Gives each caller, by its number, what makes its next request.
        callers: How many calls are under way at any time.
        seconds: How long new calls are begun.

    Raises:
        grpc.aio.AioRpcError: A call failed; a benchmark of failures means nothing.
    """
    call: grpc.aio.UnaryUnaryMultiCallable[bytes, bytes] = channel.unary_unary(method)
    times: list[float] = []
    begin = time.perf_counter()
    end = begin + seconds

    async def caller(number: int) -> None:
        next_request = make_request(number)
        now = time.perf_counter()
        while now < end:
            await call(next_request(), timeout=TIMEOUT)
            done = time.perf_counter()
            times.append(done - now)
            now = done

    await asyncio.gather(*(caller(number) for number in range(callers)))
    elapsed = time.perf_counter() - begin
    times.sort()
    return Load(
        calls=len(times),
        rate=len(times) / elapsed,
        p50=statistics.median(times) * 1e3,
        p99=times[int(len(times) * 0.99)] * 1e3,
    )


async def read_stream(channel: grpc.aio.Channel, method: str, request: bytes) -> AsyncIterator[bytes]:
    """Yields the frames of a server stream as they come."""
    call: grpc.aio.UnaryStreamMultiCallable[bytes, bytes] = channel.unary_stream(method)
    async for frame in call(request, timeout=TIMEOUT):
        yield frame
