"""The providers' APIs whose responses are read, by the names that ListTargets gives."""

from __future__ import annotations

from typing import Final

OPENAI_CHAT: Final = "openai.chat"
OPENAI_RESPONSES: Final = "openai.responses"
ANTHROPIC: Final = "anthropic.messages"
GEMINI: Final = "gemini.generate_content"
OLLAMA: Final = "ollama.chat"

PROVIDERS: Final[dict[str, str]] = {
    OPENAI_CHAT: "openai",
    OPENAI_RESPONSES: "openai",
    ANTHROPIC: "anthropic",
    GEMINI: "gemini",
    OLLAMA: "ollama",
}
"""Target to the issuer of its signatures and opaque parts."""

UNORDERED: Final = frozenset({OPENAI_CHAT, OLLAMA})
"""Targets whose answers have text and calls side by side, in no order of each other."""
