"""The reference: PyYAML with the settings that define minimal YAML."""

from __future__ import annotations

from typing import Any

import yaml

STR_TAG = "tag:yaml.org,2002:str"


class _MinimalDumper(yaml.SafeDumper):
    """PyYAML's emitter written in Python.

    Not the libyaml one: the two differ in what they quote beyond ASCII, and
    the vectors were measured on this one.
    """

    def ignore_aliases(self, data: Any) -> bool:
        """Write equal objects out each time."""
        return True


def _represent_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar(STR_TAG, text, style="|" if "\n" in text else None)


_MinimalDumper.add_representer(str, _represent_text)


def prune(value: Any) -> Any:
    """Return the value without its empty parts, recursively.

    Empty are None, blank text, and containers with nothing left. The value
    itself is returned even when it is empty; it is never changed.
    """
    if isinstance(value, dict):
        pruned = ((key, prune(item)) for key, item in value.items())
        return {key: item for key, item in pruned if not _is_empty(item)}
    if isinstance(value, (list, tuple)):
        return [item for item in map(prune, value) if not _is_empty(item)]
    return value


def emit_pyyaml(value: Any) -> str:
    """Return the minimal YAML of a value as PyYAML writes it.

    Raises:
        yaml.YAMLError: PyYAML cannot represent the value.

    Cost: about 100 µs for a short instruction, 1 µs a character beyond.
    """
    text: str = yaml.dump(
        prune(value),
        Dumper=_MinimalDumper,
        default_flow_style=False,
        sort_keys=False,
        allow_unicode=True,
        width=float("inf"),
    )
    return text


def _is_empty(value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, (dict, list)) and not value
