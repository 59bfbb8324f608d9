"""A mailbox beside message brokers: 64 messages sent, received and acknowledged, batch after batch.

The brokers are Debian's (`make bench-brokers`), each a process of its own with its
files on the same disk as ours, driven by its Python client from a process in the
environment of `make bench-peers`. Everybody receives and acknowledges a batch in one
call each; ours sends a message a call, 64 calls under way at once. Redis is measured
with the same, and with its 64 commands in one pipeline.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from antiphon.history.v1 import exchange_service_pb2 as pb
from antiphon.history.v1.exchange_service_pb2_grpc import ExchangeServiceStub
from antiphon.message.v1.message_pb2 import Address, GenericContent, Message
from antiphon_client.ids import new_id, new_ordered_id
from antiphon_client.json_text import dump_json_text
from tests.bench.compile import PEER_PYTHON
from tests.bench.conversation import conversation
from tests.bench.load import TIMEOUT
from tests.bench.peers.measuring import digest_of_texts
from tests.bench.report import Absent, Row
from tests.bench.servers import START_SECONDS, Servers
from tests.bench.sides import Side, running_side

BATCH = 64
REPEATS = 5
"""Batches of a round."""
EXCHANGE = "bench"
_PATH = os.pathsep.join([os.environ.get("PATH", os.defpath), "/usr/sbin"])
"""Debian puts servers where not every user's PATH looks."""
WORK = f"mailbox send + receive + ack, batch {BATCH}"


@dataclass(frozen=True, slots=True)
class Broker:
    """A message broker.

    Attributes:
        name: What a row calls it.
        program: Its server, a Debian package of the same name.
        arguments: Makes the server's arguments from its folder and its address.
        module: The program that measures it.
        forms: What that program measures, and what a row says of it.
        target: The ratio of our rate to its; None where it promises less than we do.
    """

    name: str
    program: str
    arguments: Callable[[Path, str], list[str]]
    module: str
    forms: dict[str, str]
    target: float | None


def _redis_arguments(folder: Path, address: str) -> list[str]:
    durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
    return ["--port", "0", "--unixsocket", address, *durable, "--dir", str(folder)]


def _nats_arguments(folder: Path, address: str) -> list[str]:
    host, port = address.split(":")
    return ["--addr", host, "--port", port, "--jetstream", "--store_dir", str(folder)]


BROKERS = (
    Broker(
        "Redis streams, AOF always",
        "redis-server",
        _redis_arguments,
        "tests.bench.peers.redis_streams",
        {"commands": "64 commands at once", "pipeline": "one pipeline"},
        1.0,
    ),
    # It answers before its file is synced, which it does every two minutes.
    Broker(
        "NATS JetStream, file",
        "nats-server",
        _nats_arguments,
        "tests.bench.peers.nats_jetstream",
        {"publishes": "not synced"},
        None,
    ),
)


async def measure(
    servers: Servers, *, rounds: int, say: Callable[[str], None]
) -> AsyncIterator[Row | Absent]:
    """Sends, receives and acknowledges beside each broker that is installed, in turns."""
    texts = [dump_json_text(record) for record in conversation(BATCH, tools=True)]
    ours = await mailbox(servers, texts)
    for broker in BROKERS:
        missing = _missing(broker)
        if missing:
            yield Absent(WORK, broker.name, missing)
            continue
        say(f"mailbox: {broker.name}, {rounds} rounds")
        with _serving(broker, servers.folder) as address, running_side(PEER_PYTHON, broker.module) as side:
            said = await side.begin({"address": address, "texts": texts, "repeats": REPEATS})
            if said != {digest_of_texts(await ours())}:
                raise RuntimeError(f"{broker.name} and ours receive different things")
            own = []
            for _ in range(rounds):
                begin = time.perf_counter()
                for _ in range(REPEATS):
                    await ours()
                own.append(time.perf_counter() - begin)
                await side.round()
        for row in _rows(broker, own, side):
            yield row


def _rows(broker: Broker, own: list[float], side: Side) -> Iterator[Row]:
    for form, said in broker.forms.items():
        theirs = side.seconds(form)
        yield Row(
            work=WORK,
            ours=BATCH * REPEATS / median(own),
            unit="messages/s",
            beside=f"{broker.name}, {said}",
            theirs=BATCH * REPEATS / median(theirs),
            beside_unit="messages/s",
            ratio=median(other / mine for mine, other in zip(own, theirs, strict=True)),
            target=broker.target,
        )


def _missing(broker: Broker) -> str:
    if shutil.which(broker.program, path=_PATH) is None:
        return f"there is no {broker.program} (make bench-brokers)"
    return "" if PEER_PYTHON.exists() else "its client is not installed (make bench-peers)"


async def mailbox(servers: Servers, texts: list[str]) -> Callable[[], Awaitable[list[str]]]:
    """Registers two owners; returns what takes one batch from the one to the other."""
    stub = ExchangeServiceStub(servers.history)
    sender, recipient = new_id(), new_id()
    for owner in (sender, recipient):
        settings = pb.ExchangeSettings(delivery=pb.DELIVERY_MODE_AT_SEND)
        request = pb.RegisterOwnerRequest(
            exchange_id=EXCHANGE, owner_id=owner, settings=settings, request_id=new_ordered_id()
        )
        await stub.RegisterOwner(request, timeout=TIMEOUT)
    letters = [
        Message(
            generic=GenericContent(value_json=text),
            sender=Address(member_id=sender),
            recipient=Address(member_id=recipient),
        )
        for text in texts
    ]

    async def send(letter: Message) -> None:
        request = pb.SendRequest(exchange_id=EXCHANGE, message=letter, request_id=new_ordered_id())
        await stub.Send(request, timeout=TIMEOUT)

    async def batch() -> list[str]:
        await asyncio.gather(*map(send, letters))
        request = pb.LeaseRequest(
            exchange_id=EXCHANGE, owner_id=recipient, max_messages=BATCH, request_id=new_ordered_id()
        )
        leased: pb.LeaseResponse = await stub.Lease(request, timeout=TIMEOUT)
        acknowledge = pb.AcknowledgeRequest(
            exchange_id=EXCHANGE,
            owner_id=recipient,
            lease_ids=[delivery.lease_id for delivery in leased.deliveries],
            request_id=new_ordered_id(),
        )
        await stub.Acknowledge(acknowledge, timeout=TIMEOUT)
        return sorted(delivery.delivery.message.generic.value_json for delivery in leased.deliveries)

    return batch


@contextlib.contextmanager
def _serving(broker: Broker, folder: Path) -> Iterator[str]:
    """Runs a broker on the disk of the servers' folder; gives its address."""
    with tempfile.TemporaryDirectory(dir=folder) as data, tempfile.TemporaryDirectory() as sockets:
        address = f"{sockets}/redis.sock" if broker.program == "redis-server" else _free_address()
        command = [shutil.which(broker.program, path=_PATH) or broker.program]
        with (Path(sockets) / "log").open("w+") as log:
            process = subprocess.Popen(
                [*command, *broker.arguments(Path(data), address)], stdout=log, stderr=log
            )
            try:
                _wait_for(address, process)
                yield address
            finally:
                process.terminate()
                process.wait()


def _free_address() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{probe.getsockname()[1]}"


def _wait_for(address: str, process: subprocess.Popen[bytes]) -> None:
    """Waits until a broker lets one connect."""
    host, colon, port = address.partition(":")
    family, target = (socket.AF_INET, (host, int(port))) if colon else (socket.AF_UNIX, address)
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        with socket.socket(family) as probe, contextlib.suppress(OSError):
            probe.connect(target)
            return
        time.sleep(0.05)
    raise RuntimeError(f"a broker did not start: {process.args!r}")
