"""Whether the services can be reached: their sockets, their health, and the way from one to the other."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from uuid import uuid4

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from antiphon_client.channel import open_channel
from antiphon_client.compiler import CompilerClient
from antiphon_client.edge.addresses import AddressError, UnixAddress, parse_address
from antiphon_client.errors import AntiphonError, HistoryUnavailableError
from antiphon_client.findings import Finding, timed
from antiphon_client.messages import Instruction
from antiphon_client.status import HISTORY_DOMAIN
from antiphon_client.turn import TurnRequest

SECONDS = 3.0
"""How long each answer is waited for."""

_START = "start it; its log on standard error says why it ended"
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
    yield _health(service, address)


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
    try:
        with open_channel(address) as channel:
            answers: list[int] = []
            stub = health_pb2_grpc.HealthStub(channel)
            seconds = timed(lambda: answers.append(stub.Check(request, timeout=SECONDS).status))
    except grpc.RpcError as error:
        code = getattr(error, "code", lambda: grpc.StatusCode.UNKNOWN)().name
        if code == "NOT_FOUND":
            return Finding(
                check, "failure", f"{address} is another service", f"give another address with --{service}"
            )
        return Finding(check, "failure", f"{address} does not answer: {code}", _START)
    status = health_pb2.HealthCheckResponse.ServingStatus.Name(answers[0])
    if status != "SERVING":
        return Finding(check, "failure", f"{address} says {status}", "it is stopping; start it again")
    return Finding(check, "ok", f"{address} serves, answered in {seconds * 1000:.0f} ms")


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
    except AntiphonError as error:
        if error.domain == HISTORY_DOMAIN and error.code == "NOT_FOUND":
            return Finding(check, "ok", "the compiler reaches the history service")
        advice = "a refusal for want of credentials says nothing of the way itself"
        return Finding(check, "warning", f"cannot tell: {error.reason}: {error.message}", advice)
    return Finding(check, "warning", "cannot tell: the compiler answered for a branch that nobody made")
