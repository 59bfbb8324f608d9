"""Lists read page by page, as iterators."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from antiphon_client.rpc import AsyncTransport, Steps, SyncTransport

T = TypeVar("T")
ItemT = TypeVar("ItemT", covariant=True)


class Page(Protocol[ItemT]):
    """One page of a list."""

    @property
    def items(self) -> Sequence[ItemT]:
        """The page's items, in order."""

    @property
    def next_page_token(self) -> str:
        """The token of the next page; empty on the last."""


def iterate(transport: SyncTransport, page_at: Callable[[str], Steps[Page[T]]]) -> Iterator[T]:
    """Yield every item of a list, reading a page when the one before is used up."""
    token = ""  # nosec B105: a page's
    while True:
        page = transport.run(page_at(token))
        yield from page.items
        token = page.next_page_token
        if not token:
            return


async def iterate_async(
    transport: AsyncTransport, page_at: Callable[[str], Steps[Page[T]]]
) -> AsyncIterator[T]:
    """Yield every item of a list, as :func:`iterate` does."""
    token = ""  # nosec B105: a page's
    while True:
        page = await transport.run(page_at(token))
        for item in page.items:
            yield item
        token = page.next_page_token
        if not token:
            return
