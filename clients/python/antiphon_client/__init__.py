"""The Python SDK of Antiphon: typed messages, branches, turn compilation.

Blocking and asyncio clients have the same methods::

    with HistoryClient("unix:/tmp/history.sock") as history:
        branch = Branch.create(history, external_key="support-42")
        branch.add_message(instruction="Where is my parcel?")

Errors are in :mod:`antiphon_client.errors`, one class for each reason; OpenAI
chat conversations go in and out by :mod:`antiphon_client.openai_chat`.
"""

# What is imported here comes before the command line can meet a Ctrl-C, so nothing is: not even
# the module that has this constant for every type checker.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from antiphon_client._exports import *  # noqa: F403 - they are listed there

__version__: str
"""The installed distribution's version."""


def __getattr__(name: str) -> object:
    if name == "__version__":
        return _version()
    from antiphon_client._lazy import load_export

    return load_export(__name__, name)


def __dir__() -> list[str]:
    from antiphon_client._lazy import export_names

    return ["__version__", *export_names(__name__)]


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("antiphon")
    except metadata.PackageNotFoundError:
        return "0+unknown"  # run from a checkout that is not installed
