"""Structured logs: one JSON object a line, ids and codes, never contents.

Loggers end in the standard library's ``logging``, so that a program which embeds
a server keeps control of its logs; ``configure_logs`` is for the programs of this
distribution.
"""

from __future__ import annotations

import logging
import sys
from typing import TextIO, cast

import structlog

LOGGER_NAME = "antiphon"

_SHARED: list[structlog.typing.Processor] = [
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
]


def get_logger(name: str) -> structlog.stdlib.BoundLogger:
    """Return the logger ``antiphon.<name>``."""
    logger = structlog.wrap_logger(
        logging.getLogger(f"{LOGGER_NAME}.{name}"),
        processors=[
            structlog.stdlib.filter_by_level,
            *_SHARED,
            structlog.processors.format_exc_info,
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
        foreign_pre_chain=[*_SHARED, structlog.processors.format_exc_info],
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
