"""The command line ``antiphon``."""

from antiphon_client.cli.app import app, main

__all__ = ["app", "main"]
