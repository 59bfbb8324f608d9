"""Spliced bytes are what the protobuf library would have written."""

from __future__ import annotations

import pytest

from antiphon.history.v1.history_service_pb2 import AddMessagesResponse, SnapshotBatch
from antiphon_client.splicing import FIELD_OVERHEAD, FieldPrefixes, true_field

LENGTHS = [0, 1, 127, 128, 16_383, 16_384, 2**21 - 1, 2**21]


@pytest.mark.parametrize("length", LENGTHS)
def test_a_field_of_any_length(length: int) -> None:
    prefixes = FieldPrefixes(SnapshotBatch.DESCRIPTOR, "messages")
    value = b"v" * length
    assert prefixes[length] + value == SnapshotBatch(messages=[value]).SerializeToString()
    assert len(prefixes[length]) <= FIELD_OVERHEAD


def test_a_repeated_field_and_a_value_in_pieces() -> None:
    prefixes = FieldPrefixes(SnapshotBatch.DESCRIPTOR, "messages")
    values = [b"", b"one", b"two" * 100]
    assert b"".join(prefixes.parts(values)) == SnapshotBatch(messages=values).SerializeToString()
    assert prefixes.enclose(values) == SnapshotBatch(messages=[b"".join(values)]).SerializeToString()


def test_prefixes_are_bounded_in_number_and_right_after_that() -> None:
    prefixes = FieldPrefixes(SnapshotBatch.DESCRIPTOR, "messages")
    seen = [prefixes[length] for length in range(20_000)]
    assert len(prefixes) < 20_000
    assert [prefixes[length] for length in range(20_000)] == seen


def test_a_flag_after_an_encoded_message() -> None:
    encoded = AddMessagesResponse().SerializeToString() + true_field(
        AddMessagesResponse.DESCRIPTOR, "replayed"
    )
    assert AddMessagesResponse.FromString(encoded) == AddMessagesResponse(replayed=True)
