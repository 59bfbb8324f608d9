"""Structured logs: one JSON object a line, ids and codes, never contents.

Loggers end in the standard library's ``logging``, so that a program which embeds
a server keeps control of its logs; ``configure_logs`` is for the programs of this
distribution.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from typing import TextIO, cast

import structlog

LOGGER_NAME = "antiphon"

_SHARED: list[structlog.typing.Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def _format_cause(
    _logger: object, _method: str, event: structlog.typing.EventDict
) -> structlog.typing.EventDict:
    """Put an exception's type and place into the record; not its text, which may quote contents."""
    cause = event.pop("exc_info", None)
    if cause is True:
        cause = sys.exc_info()[1]
    if isinstance(cause, tuple):
        cause = cause[1]
    if isinstance(cause, BaseException):
        event["exception"] = "".join(_cause_lines(cause)).rstrip()
    return event


def _cause_lines(cause: BaseException) -> Iterator[str]:
    earlier = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)
    if earlier is not None:
        yield from _cause_lines(earlier)
        yield "which led to:\n"
    yield from traceback.format_tb(cause.__traceback__)
    yield f"{type(cause).__module__}.{type(cause).__qualname__}\n"
    if isinstance(cause, BaseExceptionGroup):
        for member in cause.exceptions:
            yield "of which one:\n"
            yield from _cause_lines(member)


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger ``antiphon.<name>``."""
    logger = structlog.wrap_logger(
        logging.getLogger(f"{LOGGER_NAME}.{name}"),
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            _format_cause,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        wrapper_class=structlog.stdlib.BoundLogger,
    )
    return cast("structlog.stdlib.BoundLogger", logger.bind())


def configure_logs(level: str, stream: TextIO | None = None) -> None:
    """Send every log record of the process to ``stream`` as JSON lines.

    Args:
        level: Lowest level of our own records: debug, info, warning or error.
            Other libraries' records appear from warning on.
        stream: Where to; standard error when None.
    """
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*_SHARED, _format_cause],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(),
        ],
    )
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(LOGGER_NAME).setLevel(level.upper())
