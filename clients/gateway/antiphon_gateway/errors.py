"""Errors as OpenAI's API says them: a status, and a body with message, type, param and code."""

from __future__ import annotations

from typing import Any, Final

from starlette.responses import JSONResponse

from antiphon_client.errors import AntiphonError

_STATUS_OF_CODE: Final = {
    "INVALID_ARGUMENT": 400,
    "FAILED_PRECONDITION": 400,
    "OUT_OF_RANGE": 400,
    "NOT_FOUND": 404,
    "ABORTED": 409,
    "ALREADY_EXISTS": 409,
    "RESOURCE_EXHAUSTED": 503,
    "UNAVAILABLE": 503,
    "DEADLINE_EXCEEDED": 504,
}
_STATUS_OF_REASON: Final = {"SIZE_LIMIT_EXCEEDED": 413}
_TYPE_OF_STATUS: Final = {409: "conflict_error", 502: "upstream_error", 504: "timeout_error"}
_SERVER_ERROR: Final = 500


class GatewayError(Exception):
    """A request that is not answered.

    Attributes:
        status: The HTTP status.
        code: The reason, a word for programs: Antiphon's own reasons are among them.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        should_retry: bool | None = None,
        retry_after: str | None = None,
    ) -> None:
        """Make an error.

        Args:
            status: The HTTP status.
            code: The reason.
            message: What happened, in words.
            param: The part of the request at fault.
            should_retry: What OpenAI's clients are told beside the status, which
                alone makes them repeat 408, 409, 429 and everything from 500 on.
            retry_after: Seconds or a date, as HTTP spells it.
        """
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.should_retry = should_retry
        self.retry_after = retry_after

    @property
    def body(self) -> dict[str, Any]:
        """The body, also the data of the event that ends a broken stream."""
        kind = "invalid_request_error" if self.status < _SERVER_ERROR else "server_error"
        error = {
            "message": self.message,
            "type": _TYPE_OF_STATUS.get(self.status, kind),
            "param": self.param,
            "code": self.code,
        }
        return {"error": error}

    @property
    def headers(self) -> dict[str, str]:
        """The headers that say when to try again."""
        headers: dict[str, str] = {}
        if self.should_retry is not None:
            headers["x-should-retry"] = str(self.should_retry).lower()
        if self.retry_after is not None:
            headers["retry-after"] = self.retry_after
        return headers

    def response(self) -> JSONResponse:
        """Return the error as a response."""
        return JSONResponse(self.body, self.status, headers=self.headers)


def invalid(message: str, *, param: str | None = None, code: str = "INVALID_REQUEST") -> GatewayError:
    """Make the error of a request that must be corrected."""
    return GatewayError(400, code, message, param=param)


def of_antiphon(error: AntiphonError) -> GatewayError:
    """Return what a service refused as an error of the gateway, its reason kept."""
    status = _STATUS_OF_REASON.get(error.reason) or _STATUS_OF_CODE.get(error.code, _SERVER_ERROR)
    retry_after = None if error.retry_after is None else f"{error.retry_after:g}"
    return GatewayError(status, error.reason, error.message, retry_after=retry_after)
