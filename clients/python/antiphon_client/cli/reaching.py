"""Whether the services can be reached: their sockets, their health, and the way from one to the other.

Calls are made as the other commands make them: over TLS and with a token where these are given. No finding
holds a token or what is in a key's file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from uuid import uuid4

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon_client.channel import open_channel
from antiphon_client.compiler import CompilerClient
from antiphon_client.credentials import credentials_for
from antiphon_client.edge.addresses import AddressError, TcpAddress, UnixAddress, parse_address
from antiphon_client.errors import (
    AntiphonError,
    BranchNotFoundError,
    CredentialsMissingError,
    HistoryUnavailableError,
    RoleNotAllowedError,
)
from antiphon_client.files import UnusableFileError
from antiphon_client.findings import Finding, timed
from antiphon_client.history import HistoryClient
from antiphon_client.messages import Instruction
from antiphon_client.status import HISTORY_DOMAIN
from antiphon_client.turn import TurnRequest

SECONDS = 3.0
"""How long each answer is waited for."""

_START = "start it; its log on standard error says why it ended"
_WITHOUT_TLS = f"{_START}; if it speaks TLS, give its roots: antiphon --tls-ca FILE doctor"
_WITH_TLS = (
    f"{_START}; if it runs, its certificate is not by the roots given, it asks for one (--tls-cert,"
    " --tls-key), or it speaks no TLS"
)
_SHOWN_NONE = "give one: antiphon --token-file FILE doctor, or ANTIPHON_TOKEN_FILE"
_SHOWN_UNKNOWN = "it has expired, was taken out, or never was in the service's file of tokens"
_SERVICES = {
    "history": "antiphon.history.v1.HistoryService",
    "compiler": "antiphon.compiler.v1.CompilerService",
}


def service_findings(service: str, address: str) -> Iterator[Finding]:
    """Look at a service's socket and ask for its health."""
    try:
        parsed = parse_address(address)
    except AddressError as error:
        yield Finding(f"{service}.address", "failure", str(error), f"give another address with --{service}")
        return
    if isinstance(parsed, UnixAddress):
        finding = _socket(service, parsed.path)
        yield finding
        if finding.level == "failure":
            return
    try:
        yield _health(service, address)
    except (AddressError, UnusableFileError) as error:
        advice = "look at --token-file, --tls-ca, --tls-cert and --tls-key, or at ANTIPHON_... of these names"
        yield Finding(f"{service}.credentials", "failure", str(error), advice)


def _socket(service: str, path: str) -> Finding:
    check = f"{service}.socket"
    try:
        found = os.stat(path)
    except OSError as error:
        return Finding(check, "failure", f"{path}: {error.strerror}", _START)
    if not stat.S_ISSOCK(found.st_mode):
        return Finding(check, "failure", f"{path} is no socket", f"give another address with --{service}")
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        advice = "chmod 600 it: whoever may write to it may call the service"
        return Finding(check, "warning", f"{path} has mode {mode:04o}", advice)
    return Finding(check, "ok", f"{path}, mode {mode:04o}")


def _health(service: str, address: str) -> Finding:
    check = f"{service}.health"
    request = health_pb2.HealthCheckRequest(service=_SERVICES[service])
    tls = credentials_for(address, None, None).tls
    try:
        # Health needs no token.
        with open_channel(address, tls=tls) as channel:
            answers: list[int] = []
            stub = health_pb2_grpc.HealthStub(channel)
            seconds = timed(lambda: answers.append(stub.Check(request, timeout=SECONDS).status))
    except grpc.RpcError as error:
        code = getattr(error, "code", lambda: grpc.StatusCode.UNKNOWN)().name
        if code == "NOT_FOUND":
            return Finding(
                check, "failure", f"{address} is another service", f"give another address with --{service}"
            )
        on_network = isinstance(parse_address(address), TcpAddress)
        advice = (_WITH_TLS if tls else _WITHOUT_TLS) if on_network else _START
        return Finding(check, "failure", f"{address} does not answer: {code}", advice)
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answers[0])
    if status != "SERVING":
        return Finding(check, "failure", f"{address} says {status}", "it is stopping; start it again")
    return Finding(check, "ok", f"{address} serves, answered in {seconds * 1000:.0f} ms")


def access_finding(history: str) -> Finding:
    """Ask the history service for a branch that nobody made; its answer shows whether it lets callers in."""
    check = "history.access"
    token = _token_words(history)
    try:
        with HistoryClient(history, timeout=SECONDS) as client:
            client.get_branch(uuid4())
    except BranchNotFoundError:
        return Finding(check, "ok", f"calls {token} are let in")
    except RoleNotAllowedError as error:
        return Finding(
            check, "ok", f"calls {token} are let in, with the role {error.metadata.get('role', '')}"
        )
    except CredentialsMissingError:
        return _not_let_in(check, "the history service", history)
    except AntiphonError as error:
        return Finding(check, "failure", f"a call {token} fails: {error.reason}: {error.message}", _START)
    return Finding(check, "warning", "cannot tell: it answered for a branch that nobody made")


def way_finding(compiler: str) -> Finding:
    """Ask the compiler for a branch that nobody made; the history service's answer shows the way to it."""
    check = "compiler.history"
    turn = TurnRequest(instruction=Instruction.create("."))
    try:
        with CompilerClient(compiler, timeout=SECONDS) as client:
            client.compile(uuid4(), turn)
    except HistoryUnavailableError as error:
        advice = "start the history service, or give the compiler its address with --history"
        return Finding(check, "failure", f"the compiler does not reach it: {error.message}", advice)
    except CredentialsMissingError as error:
        if error.domain == HISTORY_DOMAIN:
            text = "the compiler reaches the history service, which does not let in whom the compiler does"
            return Finding(check, "failure", text, "give both services the same file of tokens")
        return _not_let_in(check, "the compiler", compiler)
    except AntiphonError as error:
        if error.domain == HISTORY_DOMAIN and error.code in ("NOT_FOUND", "PERMISSION_DENIED"):
            return Finding(check, "ok", "the compiler reaches the history service")
        advice = "a refusal for want of rights says nothing of the way itself"
        return Finding(check, "warning", f"cannot tell: {error.reason}: {error.message}", advice)
    return Finding(check, "warning", "cannot tell: the compiler answered for a branch that nobody made")


def _token_words(address: str) -> str:
    return "without a token" if credentials_for(address, None, None).token is None else "with the token given"


def _not_let_in(check: str, service: str, address: str) -> Finding:
    if credentials_for(address, None, None).token is None:
        return Finding(check, "warning", f"cannot tell: {service} wants a token", _SHOWN_NONE)
    return Finding(check, "failure", f"{service} does not know the token given", _SHOWN_UNKNOWN)
