"""The command line of a service: flags over environment over defaults."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from pydantic import ValidationError

from antiphon_client.edge.settings import EdgeSettings
from antiphon_client.limits import Limits

SettingsT = TypeVar("SettingsT", bound=EdgeSettings)

_LIMIT_NAMES = tuple(field.name for field in fields(Limits))


class OptionParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line; it knows the flags both services share."""

    def __init__(self, *, prog: str, description: str, epilog: str) -> None:
        """Set up the shared flags; the service adds its own."""
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
        )
        add = self.add_argument
        add("--listen", metavar="ADDRESS", help="unix:PATH or HOST:PORT (loopback)")
        add("--insecure", action="store_true", help="allow addresses beyond this machine without TLS")
        add("--log-level", metavar="LEVEL", help="debug, info (default), warning or error")
        add("--grace-seconds", metavar="S", help="time for calls in flight after a stop is asked (10)")
        add("--slow-call-seconds", metavar="S", help="log calls that take this long or longer (1)")
        add("--metrics-listen", metavar="HOST:PORT", help="serve Prometheus metrics there (off)")
        add("--inflight-calls", metavar="N", help="calls served at once; more are OVERLOADED (1024)")
        add("--inflight-bytes", metavar="N", help="their request bytes; more are OVERLOADED (256 MiB)")
        add("--inflight-watches", metavar="N", help="watches served at once, beside the calls (1024)")
        add(
            "--limit",
            metavar="NAME=N",
            action="append",
            type=_limit,
            help=f"a size limit, repeatable: {', '.join(_LIMIT_NAMES)}",
        )
        add("--print-config", action="store_true", help="print the settings as JSON and exit")

    def error(self, message: str) -> Any:
        """Print one line and exit with code 2."""
        sys.stderr.write(f"{self.prog}: {message}\n")
        raise SystemExit(2)

    def settings(self, make: Callable[..., SettingsT], arguments: Sequence[str] | None = None) -> SettingsT:
        """Read the settings, or exit: with 0 after ``--help`` or ``--print-config``, with 2 on a wrong one.

        Args:
            make: The settings class; it reads the environment for what no flag gives.
            arguments: The command line; ``sys.argv`` when None.
        """
        given = vars(self.parse_args(arguments))
        print_config = given.pop("print_config", False)
        if "limit" in given:
            given["limits"] = dict(given.pop("limit"))
        try:
            settings = make(**given)
        except ValidationError as exc:
            self.error(_first_error(exc.errors()[0]))
        if print_config:
            sys.stdout.write(settings.model_dump_json(indent=2) + "\n")
            raise SystemExit(0)
        return settings


def _limit(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator or name not in _LIMIT_NAMES:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N with one of {', '.join(_LIMIT_NAMES)}")
    return name, value


def _first_error(error: Mapping[str, Any]) -> str:
    """Put a validation error into one line that names the flag."""
    location = [str(part) for part in error["loc"]]
    text = str(error["msg"]).removeprefix("Value error, ")
    if not location:
        return text
    if location[0] == "limits":
        return " ".join(["--limit", *location[1:2]]) + f": {text}"
    return f"--{location[0].replace('_', '-')}: {text}"
