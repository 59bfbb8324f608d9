"""Logs of the programs: JSON lines."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator

import pytest

from antiphon_client.edge.logs import configure_logs, get_logger


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """Take over the process's logs and give them back."""
    root, ours = logging.getLogger(), logging.getLogger("antiphon")
    handlers, level, our_level = root.handlers[:], root.level, ours.level
    yield io.StringIO()
    root.handlers[:] = handlers
    root.setLevel(level)
    ours.setLevel(our_level)


def test_own_and_foreign_records_are_json_lines_at_their_levels(stream: io.StringIO) -> None:
    configure_logs("info", stream)
    log = get_logger("part")
    log.info("happened", branch_id="b", code="OK")
    log.debug("unseen")
    logging.getLogger("grpc.library").warning("watch %s", "out")
    logging.getLogger("grpc.library").info("unseen")
    try:
        try:
            raise KeyError("contents")
        except KeyError as exc:
            raise ValueError("more contents") from exc
    except ValueError as exc:
        log.error("defect", exc_info=exc)
    first, second, third = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first.pop("timestamp").endswith("Z")
    assert first == {
        "event": "happened",
        "branch_id": "b",
        "code": "OK",
        "level": "info",
        "logger": "antiphon.part",
    }
    assert (second["event"], second["logger"], second["level"]) == ("watch out", "grpc.library", "warning")
    assert third["event"] == "defect"
    assert third["exception"].splitlines()[-1] == "builtins.ValueError"
    assert "builtins.KeyError\nwhich led to:\n" in third["exception"]
    assert "test_edge_logs.py" in third["exception"]


def test_an_exceptions_text_stays_out_of_the_log(stream: io.StringIO) -> None:
    """It may quote what a user wrote."""
    configure_logs("info", stream)
    secret = "a user's words"
    failures = ExceptionGroup(secret, [ValueError(secret), RuntimeError(secret)])
    for cause in (ValueError(secret), failures):
        try:
            raise cause
        except Exception:
            get_logger("part").exception("defect")
            logging.getLogger("other").exception("broke")
    assert secret not in stream.getvalue()
    assert stream.getvalue().count("builtins.RuntimeError") == 2


def test_debug_shows_more(stream: io.StringIO) -> None:
    configure_logs("debug", stream)
    get_logger("part").debug("seen")
    assert json.loads(stream.getvalue())["event"] == "seen"
