"""Response formats and tool schemas on their way to the wire."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any, Literal, Optional

import pytest
from pydantic import BaseModel, Field

from antiphon_client import Instruction, ResponseSchema, TurnRequest
from antiphon_client.json_text import JsonTextError
from antiphon_client.response_format import model_template, response_format_to_proto
from antiphon_client.turn import tool_schema_list, turn_to_proto


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


class Place(BaseModel):
    street: str
    number: int | None = None


class Node(BaseModel):
    name: str
    children: list[Node] = []


class Everything(BaseModel):
    """A model with one field of each shape."""

    text: str = Field(description="some text")
    renamed: int = Field(3, alias="other-name")
    place: Place
    places: list[Place] = []
    by_name: dict[str, Place] = {}
    maybe: Optional[Place] = None  # noqa: UP045 - both spellings of a union must read alike
    word: Literal["x", 2] = "x"
    colour: Colour = Colour.RED
    pair: tuple[int, ...] = ()
    anything: Any = None


def test_the_template_spells_out_lists_and_models() -> None:
    assert model_template(Everything) == {
        "text": "str",
        "other-name": "int",
        "place": {"street": "str", "number": "int | null"},
        "places": [{"street": "str", "number": "int | null"}],
        "by_name": "dict[str, Place]",
        "maybe": "Place | null",
        "word": '"x" | 2',
        "colour": '"red" | "blue"',
        "pair": "tuple[int, ...]",
        "anything": "Any",
    }


def test_a_model_that_holds_itself_ends() -> None:
    assert model_template(Node) == {"name": "str", "children": ["Node"]}


def test_a_class_and_its_instance_give_the_same_schema() -> None:
    by_class = response_format_to_proto(Place)
    assert by_class == response_format_to_proto(Place(street="s"))
    assert json.loads(by_class.schema.json_schema) == Place.model_json_schema()


def test_a_mapping_is_an_example_in_its_order() -> None:
    assert response_format_to_proto({"b": 1, "a": [2**70]}).example_json == f'{{"b":1,"a":[{2**70}]}}'


SCHEMA = {
    "$defs": {"place": {"type": "object", "properties": {"street": {"type": "string"}}}},
    "type": "object",
    "properties": {
        "place": {"$ref": "#/$defs/place"},
        "places": {"type": "array", "items": {"$ref": "#/$defs/place"}},
        "maybe": {"anyOf": [{"$ref": "#/$defs/place"}, {"type": "null"}]},
        "either": {"anyOf": [{"type": "string"}, {"type": "integer"}]},
        "both": {"type": ["string", "null"]},
        "word": {"enum": ["x", 2]},
        "one": {"const": True},
        "open": {},
        "any": True,
        "self": {"$ref": "#"},
        "elsewhere": {"$ref": "other.json#/x"},
        "twice": {"$ref": "#/properties/twice"},
    },
}


def test_a_schema_at_hand_goes_with_an_outline_made_of_it() -> None:
    sent = response_format_to_proto(ResponseSchema(SCHEMA)).schema
    assert json.loads(sent.json_schema) == SCHEMA
    assert json.loads(sent.template_json) == {
        "place": {"street": "string"},
        "places": [{"street": "string"}],
        "maybe": {"street": "string"},
        "either": "string | integer",
        "both": "string | null",
        "word": '"x" | 2',
        "one": "true",
        "open": "any",
        "any": "any",
        "self": "any",
        "elsewhere": "x",
        "twice": "twice",
    }
    assert response_format_to_proto(ResponseSchema({"type": "array"})).schema.template_json == "{}"


def test_a_template_of_one_s_own_stands_for_the_outline() -> None:
    sent = response_format_to_proto(ResponseSchema({"type": "object"}, template={"b": 1, "a": 2})).schema
    assert (sent.json_schema, sent.template_json) == ('{"type":"object"}', '{"b":1,"a":2}')
    for wrong in (ResponseSchema([]), ResponseSchema({}, template="x")):  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="are mappings"):
            response_format_to_proto(wrong)


def test_what_looks_like_a_schema_is_still_an_example() -> None:
    assert response_format_to_proto(SCHEMA).HasField("example_json")


@pytest.mark.parametrize("value", [[1], "text", int, 3])
def test_other_response_formats_are_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="a response format is"):
        response_format_to_proto(value)


def test_tool_schemas_flat_wrapped_and_single() -> None:
    one, two = {"name": "a"}, {"name": "b"}
    assert tool_schema_list([one, two]) == [one, two]
    assert tool_schema_list({"tools": [one, two]}) == [one, two]
    assert tool_schema_list({"tools": one}) == [one]
    assert tool_schema_list(one) == [one]
    assert tool_schema_list(()) == []


def test_structure_is_text_only() -> None:
    turn = TurnRequest(Instruction.create("q"), structure=Place)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="structure"):
        turn_to_proto(turn)
    assert turn_to_proto(TurnRequest(Instruction.create("q"), structure="yaml")).structure == "yaml"


def test_a_turn_takes_an_instruction_not_a_text() -> None:
    with pytest.raises(TypeError, match="an Instruction, not str"):
        turn_to_proto(TurnRequest("q"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a turn is a TurnRequest, as TurnRequest\(.*, not str"):
        turn_to_proto("q")  # type: ignore[arg-type]


def test_an_absent_progression_is_not_an_empty_one() -> None:
    assert not turn_to_proto(TurnRequest(Instruction.create("q"))).HasField("progression")
    assert turn_to_proto(TurnRequest(Instruction.create("q"), progression=())).HasField("progression")


def test_values_that_json_cannot_carry_are_refused() -> None:
    with pytest.raises(JsonTextError):
        turn_to_proto(TurnRequest(Instruction.create("q"), provider_kwargs={"x": float("nan")}))


def test_the_default_kwargs_are_read_only_and_the_request_is_untouched() -> None:
    instruction = Instruction.create("q")
    turn = TurnRequest(instruction)
    with pytest.raises(TypeError):
        turn.provider_kwargs["a"] = 1  # type: ignore[index]
    with pytest.raises(AttributeError):
        turn.structure = "x"  # type: ignore[misc]
    before = instruction.to_dict()
    turn_to_proto(turn)
    assert instruction.to_dict() == before
