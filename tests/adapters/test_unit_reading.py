"""Reading records as things: what is read in quick ways says the same as what is read in slow ones."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest

from antiphon.message.v1 import message_pb2 as pb
from antiphon_client.adapters.held_things import HeldThings
from antiphon_client.adapters.unit_reading import read_units, value_of_record
from antiphon_client.adapters.units import UnitWriter

ALIKE: list[dict[str, Any]] = [
    {"held": "a"},
    {"held": "b", "n": 1},
    {"n": 1, "held": "c"},
    {"other": {"held": None}, "held": "d"},
    {"held": "e", "other": {"held": None}},
    {"held": "\x00 and \"held\":null and ,\"at\":[[", "text": '"held":null'},
    {"told": "f", "held": None},
]  # fmt: skip


def unit(item: dict[str, Any]) -> list[pb.Message]:
    writer = UnitWriter()
    name = "told" if "told" in item else "held"
    writer.response(item[name], name)
    return writer.finish("test", item)


def bare(text: str, metadata: str = "") -> pb.Message:
    record = pb.Message(metadata_json=metadata)
    record.instruction.instruction = text
    return record


def said(record: pb.Message, kind: str | None, entry: str | None) -> tuple[str, str | None]:
    return record.instruction.instruction, entry


@pytest.mark.parametrize("chosen", list(itertools.product(range(len(ALIKE)), repeat=2)))
def test_things_with_one_place_are_read_each_by_its_own_entry(chosen: tuple[int, ...]) -> None:
    items = [ALIKE[index] for index in (*chosen, *chosen)]
    found = read_units([record for item in items for record in unit(item)], "test", said)
    assert found.values() == json.loads(found.text()) == items
    assert str(found.values()) == str(items)


def test_things_keep_their_places_among_records_without_an_entry() -> None:
    records = [bare("a"), *unit({"held": "b"}), bare("c"), *unit({"held": "d"})]
    assert read_units(records, "test", said).values() == [
        ("a", None),
        {"held": "b"},
        ("c", None),
        {"held": "d"},
    ]
    assert read_units(records, "test", lambda *_: None).values() == [{"held": "b"}, {"held": "d"}]
    assert read_units(records, "test", lambda *_: None).text() == '[{"held":"b"},{"held":"d"}]'


@pytest.mark.parametrize(
    ("metadata", "entry"),
    [
        ("", None),
        ("{}", None),
        ('{"test":"id"}', "id"),
        ('{"test":""}', ""),
        ('{"test":"a\\"b"}', 'a"b'),
        ('{"test":"\\u0041\\\\"}', "A\\"),
        ('{"test":"id","mine":"}"}', "id"),
        ('{"mine":"x","test":"id"}', "id"),
        ('{"test": "id"}', "id"),
        ('{"test":"id"} ', "id"),
        ('{"test2":"id"}', None),
        ('{"mine":"id"}', None),
        ('{"mine":1000}', None),
        ('{"mine":{"test":"id"}}', None),
    ],
)
def test_an_entry_that_is_a_text_is_found_however_it_is_spelled(metadata: str, entry: str | None) -> None:
    record, other = bare("a", metadata), bare("b", '{"test":"other"}')
    assert read_units([record], "test", said).values() == [("a", entry)]
    # Among others that are texts too, which are looked at together.
    assert read_units([other, record, other], "test", said).values() == [
        ("b", "other"),
        ("a", entry),
        ("b", "other"),
    ]


@pytest.mark.parametrize(
    "text",
    ['"a"', '""', '"a\\"b"', '"\\u0041"', ' "a"', '"a" ', '"é\U0001f600"', "null", "7", '["a","b"]', "{}"],
)
def test_the_value_of_an_outcome_is_what_its_json_says(text: str) -> None:
    record = pb.Message()
    record.action_response.output_json = text
    assert value_of_record(record) == json.loads(text)


def test_a_record_without_a_value_has_none() -> None:
    assert value_of_record(bare('"a"')) is None


def test_things_are_held_from_the_second_reading_on() -> None:
    asked: list[str] = []

    def usual(record: pb.Message, kind: str | None, entry: str | None) -> list[str]:
        asked.append(record.instruction.instruction)
        return [record.instruction.instruction]

    held, records = HeldThings(), [bare("a"), bare("b")]
    for expected in (2, 4, 4, 4):
        found = held.values(records, "test", usual)
        assert found == [["a"], ["b"]]
        assert len(asked) == expected
        found[0].append("changed by its reader")
    longer = [*records, bare("c")]
    assert held.values(longer, "test", usual) == [["a"], ["b"], ["c"]]
    assert asked[4:] == ["c"]
    assert held.values([bare("d")], "test", usual) == [["d"]]
    assert held.size > 0
