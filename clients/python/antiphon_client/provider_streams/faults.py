"""The verdict on a response: whether it is whole, and what went wrong where it is not.

==============================================  ===============  ==================
what happened                                   verdict          messages
==============================================  ===============  ==================
the end, no fault                               none             all
a fault, nothing said                           FAILED           error
neither an end nor a fault                      NO_TERMINAL      error
a call's arguments cut                          TRUNCATED_CALL   error
a fault, something said, the end after it       ADVISORY         all
a fault, something said, nothing after it       PARTIAL          what was said
==============================================  ===============  ==================

The first row that fits counts. Reasoning alone is nothing said, and so is a
call that was cut.
"""

from __future__ import annotations

from typing import Final

from antiphon.compiler.v1 import provider_pb2 as pb
from antiphon.compiler.v1.provider_pb2 import ResponseFault, ResponseFaultKind
from antiphon_client.errors import StreamIncompleteError
from antiphon_client.provider_streams.call_arguments import Arguments, read_arguments
from antiphon_client.provider_streams.reducer import ReducedCall, Reduction

_CAUSES: Final[dict[ResponseFaultKind.ValueType, str]] = {
    pb.RESPONSE_FAULT_KIND_NO_TERMINAL: "no_terminal",
    pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL: "truncated_call",
    pb.RESPONSE_FAULT_KIND_FAILED: "provider_fault",
}
"""The verdicts that are errors, and the cause that STREAM_INCOMPLETE names."""

_NOT_ENDED = "it had not ended"

NO_TERMINAL_DETAIL = "the stream ended before the provider said that it was complete"

_CUTTING = frozenset({pb.STOP_REASON_MAX_TOKENS, pb.STOP_REASON_REFUSAL})
"""Reasons for stopping that may cut what came last."""


def is_error(fault: ResponseFault | None) -> bool:
    """Tell whether a verdict is an error unless the caller keeps what there is."""
    return fault is not None and fault.kind in _CAUSES


def incomplete_error(fault: ResponseFault) -> StreamIncompleteError:
    """Return the error that a verdict is; only for one that `is_error`."""
    return StreamIncompleteError.of(_CAUSES[fault.kind], fault.detail)


def cut_reason(call: ReducedCall, reduction: Reduction) -> str | None:
    """Return why a call's arguments are not known to be whole; None where they are."""
    if not call.start.name:
        return "it has no name"
    if call.has_late_arguments:
        return "more of its arguments came after its end"
    if _stopped_within(call, reduction):
        return "the answer was cut at its end"
    is_settled = call.has_ended or call.is_complete
    if call.start.is_free_text:
        return None if is_settled else _NOT_ENDED
    arguments = read_arguments(call.arguments)
    if arguments.problem is not None:
        return arguments.problem
    # The text of an object proves that it is whole; nothing or another value may be a beginning.
    return None if is_settled or _is_object(arguments) else _NOT_ENDED


def verdict(reduction: Reduction, cut: list[tuple[ReducedCall, str]]) -> ResponseFault | None:
    """Return what went wrong, as the module's table has it; None for nothing.

    Args:
        reduction: The response.
        cut: Its calls that were cut, each with the reason.
    """
    error = reduction.error
    said = reduction.text or reduction.refusal or len(cut) < len(reduction.calls)
    if error is not None and not said:
        return ResponseFault(kind=pb.RESPONSE_FAULT_KIND_FAILED, detail=error)
    if error is None and reduction.done is None:
        return ResponseFault(kind=pb.RESPONSE_FAULT_KIND_NO_TERMINAL, detail=NO_TERMINAL_DETAIL)
    if cut:
        call, reason = cut[0]
        detail = f"{call.start.name}: {reason}"
        return ResponseFault(kind=pb.RESPONSE_FAULT_KIND_TRUNCATED_CALL, detail=detail)
    if error is None:
        return None
    ended = reduction.is_done_after_error
    kind = pb.RESPONSE_FAULT_KIND_ADVISORY if ended else pb.RESPONSE_FAULT_KIND_PARTIAL
    return ResponseFault(kind=kind, detail=error)


def _stopped_within(call: ReducedCall, reduction: Reduction) -> bool:
    """Tell whether the answer reached its limit while it wrote this call.

    A provider that streams pieces ends the call's block all the same, and may
    show what it has as an object: only arguments that it gives whole are safe.
    """
    done = reduction.done
    is_last = bool(reduction.parts) and reduction.parts[-1] is call
    return done is not None and done.stop_reason in _CUTTING and is_last and not call.is_complete


def _is_object(arguments: Arguments) -> bool:
    return arguments.object_json != ""
