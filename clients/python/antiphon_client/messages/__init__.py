"""The messages of a conversation: typed model, validation and rendering.

`Message` and its subclasses are what an application writes and reads;
`to_proto` and `from_proto` carry them over the wire without loss. The rules of
the wire form are in `antiphon_client.messages.validation`, the texts a model
sees in `antiphon_client.messages.rendering`.
"""

import warnings
from typing import TYPE_CHECKING

from antiphon_client._lazy import export_names, load_export

if TYPE_CHECKING:
    from antiphon_client.messages._exports import *  # noqa: F403 - they are listed there

    RoledMessage = Message  # noqa: F405


def __getattr__(name: str) -> object:
    if name != "RoledMessage":
        return load_export(__name__, name)
    warnings.warn(
        "RoledMessage is an old name of Message and goes with version 1.0", DeprecationWarning, stacklevel=2
    )
    return load_export(__name__, "Message")


def __dir__() -> list[str]:
    return export_names(__name__)
