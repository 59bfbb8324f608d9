"""Response formats: examples, and schemas with templates.

A dictionary is an example of the answer, whatever it looks like. A pydantic
model class, or an instance of one (which stands for its class), becomes its
JSON Schema with a template: an outline of the answer whose leaves name the
types, lists and nested models spelled out (ADR-0006 D2, ADR-0007 D1). A JSON
Schema that is at hand is a `ResponseSchema`.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon_client.json_text import dump_json_text
from antiphon_client.schema_outline import schema_outline


@dataclass(frozen=True, slots=True)
class ResponseSchema:
    """A JSON Schema of the answer.

    Attributes:
        json_schema: The schema.
        template: An outline of the answer, for the profile folded, which shows a model
            both; None makes one of the schema. It is not validated against the schema.
    """

    json_schema: Mapping[str, Any]
    template: Mapping[str, Any] | None = None


ResponseFormat: TypeAlias = type[BaseModel] | BaseModel | ResponseSchema | Mapping[str, Any]
"""What a caller may ask an answer to look like."""


def response_format_to_proto(value: ResponseFormat) -> pb.ResponseFormat:
    """Return the wire form of a response format.

    Raises:
        TypeError: It is no mapping, no pydantic model class or instance, and no `ResponseSchema`
            of mappings.
        JsonTextError: It holds a value that JSON cannot carry.
    """
    model = type(value) if isinstance(value, BaseModel) else value
    if isinstance(model, type) and issubclass(model, BaseModel):
        return _schema(model.model_json_schema(), model_template(model))
    if isinstance(model, ResponseSchema):
        template = model.template
        if not (isinstance(model.json_schema, Mapping) and isinstance(template, Mapping | None)):
            raise TypeError("a response schema and its template are mappings")
        return _schema(model.json_schema, schema_outline(model.json_schema) if template is None else template)
    if isinstance(model, Mapping):
        return pb.ResponseFormat(example_json=dump_json_text(dict(model)))
    raise TypeError(
        f"a response format is a mapping, a ResponseSchema or a pydantic model, not {type(value).__name__}"
    )


def resembles_schema(example: Mapping[str, Any]) -> bool:
    """Tell whether what is given as an example looks like a JSON Schema."""
    return "$schema" in example or (
        isinstance(example.get("type"), str) and isinstance(example.get("properties"), Mapping)
    )


def _schema(json_schema: Mapping[str, Any], template: Mapping[str, Any]) -> pb.ResponseFormat:
    return pb.ResponseFormat(
        schema=pb.ResponseSchema(
            json_schema=dump_json_text(dict(json_schema)), template_json=dump_json_text(dict(template))
        )
    )


def model_template(model: type[BaseModel]) -> dict[str, Any]:
    """Return the outline of a model: each field, under its alias, with what goes there."""
    return _model_outline(model, ())


def _model_outline(model: type[BaseModel], outer: tuple[type, ...]) -> dict[str, Any]:
    return {
        _key(name, info): _outline(info.annotation, (*outer, model))
        for name, info in model.model_fields.items()
    }


def _key(name: str, info: FieldInfo) -> str:
    return info.validation_alias if isinstance(info.validation_alias, str) else info.alias or name


def _outline(annotation: Any, outer: tuple[type, ...]) -> Any:
    if _is_model(annotation) and annotation not in outer:
        return _model_outline(annotation, outer)
    if get_origin(annotation) in (list, set, frozenset):
        return [_outline(argument, outer) for argument in get_args(annotation)]
    return _type_name(annotation)


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _type_name(annotation: Any) -> str:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation is None or annotation is types.NoneType:
        return "null"
    if origin in (Union, types.UnionType):
        return " | ".join(_type_name(argument) for argument in arguments)
    if origin is Literal:
        return " | ".join(_literal_name(argument) for argument in arguments)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " | ".join(_literal_name(member) for member in annotation)
    if origin is not None and hasattr(origin, "__name__"):
        return f"{origin.__name__}[{', '.join('...' if a is ... else _type_name(a) for a in arguments)}]"
    name = getattr(annotation, "__name__", None)
    return name if isinstance(name, str) else str(annotation)


def _literal_name(value: Any) -> str:
    return dump_json_text(value.value if isinstance(value, Enum) else value)
