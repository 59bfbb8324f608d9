"""``python -m antiphon_gateway``: the gateway as a process of its own."""

from __future__ import annotations

import json
import logging
import socket
import sys

import uvicorn
from pydantic import ValidationError
from pydantic_settings import CliApp
from starlette.types import ASGIApp

from antiphon_gateway.app import build_app
from antiphon_gateway.settings import Settings

_USAGE_ERROR = 2


class ReadyServer(uvicorn.Server):
    """A server that says where it listens once it does: one line of JSON on standard output."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start listening, and say so."""
        await super().startup(sockets)
        host, port = self.servers[0].sockets[0].getsockname()[:2]
        address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        print(json.dumps({"address": address}), flush=True)


def serve(app: ASGIApp, host: str, port: int, *, log_level: str, grace_seconds: int) -> None:
    """Serve an application until SIGINT or SIGTERM."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        ws="none",
        log_level=log_level if log_level == "debug" else "warning",
        # Requests are logged by the gateway itself: without their headers, which may hold keys.
        access_log=False,
        timeout_graceful_shutdown=grace_seconds,
    )
    ReadyServer(config).run()


def main() -> None:
    """Read the settings and serve."""
    try:
        settings = CliApp.run(Settings)
    except ValidationError as error:
        for fault in error.errors(include_input=False, include_url=False):
            name = ".".join(map(str, fault["loc"])) or "settings"
            print(f"antiphon_gateway: {name}: {fault['msg']}", file=sys.stderr)
        sys.exit(_USAGE_ERROR)
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    # It logs addresses and every request twice over.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    serve(
        build_app(settings),
        settings.address.host,
        settings.address.port,
        log_level=settings.log_level,
        grace_seconds=settings.grace_seconds,
    )


if __name__ == "__main__":
    main()
