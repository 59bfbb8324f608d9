"""The size limits of the contract, in one place.

Source: the wire contract, §Limits. Services may be configured with other
values; an error about a limit names the attribute and its value.
"""

from __future__ import annotations

from dataclasses import dataclass

_MIB = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """Upper bounds, each inclusive.

    The unary limits sit below gRPC's default of 4 MiB, so that a client with
    that default meets a reasoned error instead of a bare transport error.

    Attributes:
        message_bytes: One encoded message.
        request_bytes: One encoded request.
        batch_messages: Messages in one write.
        page_messages: Messages in one page of a list.
        reply_bytes: One encoded unary reply.
        page_bytes: Encoded messages in one page; the page ends before it
            passes this, except that it always holds one message.
        frame_bytes: One frame of a stream, except that a frame may always
            hold one message.
        snapshot_batch_messages: Messages in one snapshot frame.
        import_bytes: One file of ImportBranch, all of its chunks. It is stored in
            one transaction, during which other writes wait.
        branch_metadata_bytes: A branch's metadata, in UTF-8; so small that a
            snapshot's header, which holds it beside the system record, stays
            below gRPC's default too.
        snapshot_bytes: What one compilation may read of a branch.
        assembly_bytes: The deltas of one AssembleResponse.
        external_key_bytes: A branch's external key, in UTF-8.
    """

    message_bytes: int = 3 * _MIB
    request_bytes: int = 7 * _MIB // 2
    batch_messages: int = 1000
    page_messages: int = 1000
    reply_bytes: int = 7 * _MIB // 2
    page_bytes: int = 3 * _MIB
    frame_bytes: int = _MIB
    snapshot_batch_messages: int = 512
    import_bytes: int = 256 * _MIB
    branch_metadata_bytes: int = _MIB // 2
    snapshot_bytes: int = 256 * _MIB
    assembly_bytes: int = 64 * _MIB
    external_key_bytes: int = 512


DEFAULT_LIMITS = Limits()
"""The documented defaults."""
