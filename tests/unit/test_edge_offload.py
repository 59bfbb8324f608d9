"""Large work leaves the event loop; small work stays on it."""

from __future__ import annotations

import threading

import pytest

from antiphon_client.edge.call import Call, bind_call, current_call
from antiphon_client.edge.offload import INLINE_BYTES, run_weighted

pytestmark = pytest.mark.anyio


def where(note: str) -> tuple[int, str, str]:
    return threading.get_ident(), note, current_call().method


@pytest.mark.parametrize(("weight", "stays"), [(0, True), (INLINE_BYTES, True), (INLINE_BYTES + 1, False)])
async def test_weight_decides_the_thread_and_the_call_stays_known(weight: int, stays: bool) -> None:
    bind_call(Call("/service/Method"))
    thread, note, method = await run_weighted(weight, where, "n")
    assert (thread == threading.get_ident()) is stays
    assert (note, method) == ("n", "/service/Method")


async def test_a_failure_in_the_thread_is_raised_here() -> None:
    def fail() -> None:
        raise KeyError("k")

    with pytest.raises(KeyError):
        await run_weighted(INLINE_BYTES + 1, fail)
