"""Response formats: examples, and schemas with templates made from pydantic models.

A dictionary is an example of the answer. A pydantic model class, or an instance
of one (which stands for its class), becomes its JSON Schema with a template: an
outline of the answer whose leaves name the types, lists and nested models
spelled out (ADR-0006 D2, ADR-0007 D1).
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from enum import Enum
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from antiphon.compiler.v1 import compiler_service_pb2 as pb
from antiphon_client.json_text import dump_json_text

ResponseFormat: TypeAlias = type[BaseModel] | BaseModel | Mapping[str, Any]
"""What a caller may ask an answer to look like."""


def response_format_to_proto(value: ResponseFormat) -> pb.ResponseFormat:
    """Return the wire form of a response format.

    Raises:
        TypeError: It is neither a mapping nor a pydantic model class or instance.
        JsonTextError: It holds a value that JSON cannot carry.
    """
    model = type(value) if isinstance(value, BaseModel) else value
    if isinstance(model, type) and issubclass(model, BaseModel):
        schema = pb.ResponseSchema(
            json_schema=dump_json_text(model.model_json_schema()),
            template_json=dump_json_text(model_template(model)),
        )
        return pb.ResponseFormat(schema=schema)
    if isinstance(model, Mapping):
        return pb.ResponseFormat(example_json=dump_json_text(dict(model)))
    raise TypeError(f"a response format is a mapping or a pydantic model, not {type(value).__name__}")


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
