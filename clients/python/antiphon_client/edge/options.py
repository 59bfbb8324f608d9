"""The command line of a service: flags over environment over defaults."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from antiphon_client.edge.settings import ALL_LIMITS, EdgeSettings, unknown_variables

SettingsT = TypeVar("SettingsT", bound=EdgeSettings)

_FAULTS = {
    "literal_error": "must be one of: {expected}",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
    "unexpected_keyword_argument": "is no limit",
    "bool_parsing": "must be true or false",
    "greater_than": "must be more than {gt:g}",
    "greater_than_equal": "must be {ge:g} or more",
    "less_than_equal": "must be {le:,.0f} at most",
}
"""What is wrong with a setting, by pydantic's name for it; its own texts are for programmers."""


class OptionParser(argparse.ArgumentParser):
    """An argument parser whose errors are one line; it knows the flags both services share."""

    def __init__(
        self, *, prog: str, description: str, epilog: str, limits: Sequence[str] = ALL_LIMITS
    ) -> None:
        """Set up the shared flags; the service adds its own.

        Args:
            prog: Name of the program.
            description: What it is, in a sentence.
            epilog: Its examples.
            limits: Names of the limits that concern it.
        """
        super().__init__(
            prog=prog,
            description=description,
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
        )
        add = self.add_argument
        self._limits = tuple(limits)
        add("--listen", metavar="ADDRESS", help="unix:PATH or HOST:PORT (loopback, unless there is TLS)")
        add("--insecure", action="store_true", help="allow addresses beyond this machine without TLS")
        add(
            "--tls-cert", metavar="FILE", help="the server's certificate chain, PEM; read again when replaced"
        )
        add("--tls-key", metavar="FILE", help="its private key, PEM")
        add("--tls-client-ca", metavar="FILE", help="roots of clients' certificates: every client needs one")
        add("--tokens", metavar="FILE", help="bearer tokens that callers need (antiphon token new)")
        add("--log-level", metavar="LEVEL", help="debug, info (default), warning or error")
        add("--grace-seconds", metavar="S", help="time for calls in flight after a stop is asked (10)")
        add("--slow-call-seconds", metavar="S", help="log calls that take this long or longer (1)")
        add("--metrics-listen", metavar="HOST:PORT", help="serve Prometheus metrics there (off)")
        add("--tracing", metavar="WHERE", help="spans of calls: off (default), otlp or log")
        add("--inflight-calls", metavar="N", help="calls served at once; more are OVERLOADED (1024)")
        add("--inflight-bytes", metavar="N", help="their bytes; more are OVERLOADED (256 MiB)")
        add("--inflight-watches", metavar="N", help="watches served at once, beside the calls (1024)")
        add("--client-streams", metavar="N", help="open streams of one caller; more are OVERLOADED (512)")
        add("--ready-bytes", metavar="N", help="memory for caches that is fetched at the start (64 MiB)")
        add(
            "--limit",
            metavar="NAME=N",
            action="append",
            type=self._limit,
            help=f"a size limit, repeatable: {', '.join(self._limits)}",
        )
        add("--print-config", action="store_true", help="print the settings as JSON and exit")

    def error(self, message: str) -> Any:
        """Print one line and exit with code 2."""
        sys.stderr.write(f"{self.prog}: {message}\n")
        raise SystemExit(2)

    def settings(self, make: type[SettingsT], arguments: Sequence[str] | None = None) -> SettingsT:
        """Read the settings, or exit: with 0 after ``--help`` or ``--print-config``, with 2 on a wrong one.

        Of each environment variable that has the settings' prefix and is none of them, a line on
        standard error tells.

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
        for name in unknown_variables(make, self._limits, os.environ):
            sys.stderr.write(f"{self.prog}: warning: {name} is no setting of this program; it is ignored\n")
        if print_config:
            sys.stdout.write(settings.model_dump_json(indent=2) + "\n")
            raise SystemExit(0)
        return settings

    def _limit(self, text: str) -> tuple[str, str]:
        name, separator, value = text.partition("=")
        if not separator or name not in self._limits:
            raise argparse.ArgumentTypeError(f"{text!r} is not NAME=N with one of {', '.join(self._limits)}")
        return name, value


def _first_error(error: Mapping[str, Any]) -> str:
    """Put a validation error into one line that names the flag."""
    location = [str(part) for part in error["loc"]]
    text = _FAULTS.get(error["type"], str(error["msg"]).removeprefix("Value error, "))
    text = text.format(**_context(error)) if error["type"] in _FAULTS else text
    if not location:
        return text
    if location[0] == "limits":
        return " ".join(["--limit", *location[1:2]]) + f": {text}"
    return f"--{location[0].replace('_', '-')}: {text}"


def _context(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return what pydantic knows about a fault; of choices, their names alone."""
    known: dict[str, Any] = error.get("ctx", {})
    return {
        name: value.replace("'", "").replace(" or ", ", ") if name == "expected" else value
        for name, value in known.items()
    }
