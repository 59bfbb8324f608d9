"""The model's provider, as far as HTTP goes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Self

import httpx

from antiphon_client.json_text import JsonTextError, parse_json_text
from antiphon_gateway.errors import GatewayError
from antiphon_gateway.settings import ANTHROPIC_MESSAGES, Settings, Target

_CONNECT_SECONDS: Final = 10.0
_ANTHROPIC_VERSION: Final = "2023-06-01"
_WORDS: Final = 2000
"""Most characters that are passed on of an upstream's words about an error."""


class Upstream:
    """Calls the provider; a context manager, inside its event loop."""

    def __init__(self, settings: Settings) -> None:
        self.target: Target = settings.target
        self._key = settings.upstream_key.get_secret_value()
        self._client = httpx.AsyncClient(
            base_url=settings.upstream_url,
            headers=self._login(),
            timeout=httpx.Timeout(settings.upstream_timeout_seconds, connect=_CONNECT_SECONDS),
            # An answer may take minutes, and no other conversation waits for it.
            limits=httpx.Limits(max_connections=None),
        )

    async def __aenter__(self) -> Self:
        """Return the upstream itself."""
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Close its connections."""
        await self._client.aclose()

    async def ask(self, request_json: str) -> httpx.Response:
        """Send a request as it is spelled; return the answer, whose body is still to be read.

        Raises:
            GatewayError: The upstream refuses (with its status), cannot be reached (502) or is silent (504).
        """
        path = "/messages" if self.target == ANTHROPIC_MESSAGES else "/chat/completions"
        headers = {"content-type": "application/json"}
        request = self._client.build_request("POST", path, content=request_json.encode(), headers=headers)
        return await self._send(request)

    async def models(self) -> list[dict[str, Any]]:
        """Return the upstream's list of models, in OpenAI's form; raises as :meth:`ask`."""
        response = await self._send(self._client.build_request("GET", "/models"))
        with translated_errors():
            listed = _json(await response.aread())
        data = listed.get("data") if isinstance(listed, Mapping) else None
        return [_model(entry) for entry in data or () if isinstance(entry, Mapping)]

    async def _send(self, request: httpx.Request) -> httpx.Response:
        with translated_errors():
            response = await self._client.send(request, stream=True)
            if response.status_code == httpx.codes.OK:
                return response
            try:
                body = await response.aread()
            finally:
                await response.aclose()
        raise self._refusal(response, body)

    def _refusal(self, response: httpx.Response, body: bytes) -> GatewayError:
        said = _json(body)
        error = said.get("error") if isinstance(said, Mapping) else None
        error = error if isinstance(error, Mapping) else {}
        words = error.get("message")
        if not isinstance(words, str):
            words = body.decode("utf-8", "replace").strip() or f"the upstream answers {response.status_code}"
        code = error.get("code") or error.get("type")
        # Anything but an error in answer to this request is no answer of the API's.
        status = response.status_code if response.is_error else 502
        return GatewayError(
            status,
            code if isinstance(code, str) else "UPSTREAM_ERROR",
            self._without_key(words)[:_WORDS],
            param=error.get("param") if isinstance(error.get("param"), str) else None,
            retry_after=response.headers.get("retry-after"),
        )

    def _without_key(self, words: str) -> str:
        return words.replace(self._key, "[key]") if self._key else words

    def _login(self) -> dict[str, str]:
        if self.target == ANTHROPIC_MESSAGES:
            version = {"anthropic-version": _ANTHROPIC_VERSION}
            return version | ({"x-api-key": self._key} if self._key else {})
        return {"authorization": f"Bearer {self._key}"} if self._key else {}


@contextmanager
def translated_errors() -> Iterator[None]:
    """Let failures of the connection to the upstream be the gateway's errors."""
    try:
        yield
    except httpx.TimeoutException:
        raise GatewayError(504, "UPSTREAM_TIMEOUT", "the upstream does not answer in time") from None
    except httpx.RequestError as error:
        message = f"the connection to the upstream failed: {type(error).__name__}"
        raise GatewayError(502, "UPSTREAM_UNREACHABLE", message) from None


def _json(body: bytes) -> Any:
    try:
        return parse_json_text(body.decode("utf-8"))
    except (UnicodeDecodeError, JsonTextError):
        return None


def _model(entry: Mapping[str, Any]) -> dict[str, Any]:
    created = entry.get("created")
    return {
        "id": entry.get("id"),
        "object": "model",
        "created": created if isinstance(created, int) else 0,
        "owned_by": entry.get("owned_by", "upstream"),
    }
