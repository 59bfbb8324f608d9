"""Request metrics of one server, in Prometheus' terms.

Recording is on the path of every call, so it is plain arithmetic on the event
loop; the client library's own counters, which lock, cost four times as much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol, TypeAlias

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)

Family: TypeAlias = CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily


class Published(Protocol):
    """What a server publishes beside the figures of its calls."""

    def families(self) -> Iterator[Family]:
        """Yield the figures as they are now, from any thread; quick, as a scrape waits for them."""
        ...


class Figure(NamedTuple):
    """A figure that a server publishes beside those of its calls.

    Attributes:
        name: Its name; a count's is given without ``_total``.
        help_text: What it is, in words.
        read: Returns it, from any thread.
        is_count: Whether it only ever grows.
    """

    name: str
    help_text: str
    read: Callable[[], float]
    is_count: bool = False

    def families(self) -> Iterator[Family]:
        """Yield it."""
        family = CounterMetricFamily if self.is_count else GaugeMetricFamily
        yield family(self.name, self.help_text, value=self.read())


class LabelledFigure(NamedTuple):
    """A figure with a value for each of a few sets of label values.

    Attributes:
        name: Its name.
        help_text: What it is, in words.
        labels: The labels' names.
        read: Returns the values by the labels' values, from any thread. These come from a
            set that does not grow with what a service is used for.
    """

    name: str
    help_text: str
    labels: Sequence[str]
    read: Callable[[], Mapping[tuple[str, ...], float]]

    def families(self) -> Iterator[Family]:
        """Yield it."""
        family = GaugeMetricFamily(self.name, self.help_text, labels=self.labels)
        for values, value in self.read().items():
            family.add_metric(values, value)
        yield family


class Buckets:
    """Values counted by the bucket they fall into, and their sum.

    Written by one thread at a time.
    """

    __slots__ = ("_bounds", "_counts", "_total")

    def __init__(self, bounds: Sequence[float]) -> None:
        """Count nothing yet; a bucket takes what is at most its bound, the last one all that is larger."""
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def add_to(self, family: HistogramMetricFamily, labels: Sequence[str] = ()) -> None:
        """Put the counts into a family."""
        bounds = (*map(str, self._bounds), "+Inf")
        buckets = list(zip(bounds, accumulate(self._counts.copy()), strict=True))
        family.add_metric(labels, buckets, self._total)


class RequestMetrics(Collector):
    """Counts and times calls by method and outcome.

    Every server has a registry of its own, so that two servers in one process
    do not share figures. Labels are bounded: methods come from the descriptors,
    outcomes are status code names.
    """

    def __init__(self) -> None:
        """Start from zero."""
        self._counts: dict[tuple[str, str], int] = {}
        self._timings: dict[str, Buckets] = {}
        self._published: list[Published] = []
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def finished(self, method: str, code: str, seconds: float) -> None:
        """Record one finished call; event loop only."""
        key = (method, code)
        self._counts[key] = self._counts.get(key, 0) + 1
        timing = self._timings.get(method)
        if timing is None:
            timing = self._timings[method] = Buckets(_BUCKETS)
        timing.observe(seconds)

    def publish(self, *figures: Published) -> None:
        """Publish figures; each is read whenever it is asked for."""
        self._published += figures

    def collect(self) -> Iterator[Family]:
        """Yield the figures, from any thread."""
        for published in self._published.copy():
            yield from published.families()
        requests = CounterMetricFamily("antiphon_requests", "Finished calls.", labels=("method", "code"))
        for labels, count in self._counts.copy().items():
            requests.add_metric(labels, count)
        yield requests
        seconds = HistogramMetricFamily(
            "antiphon_request_seconds", "Duration of calls in seconds.", labels=("method",)
        )
        for method, timing in self._timings.copy().items():
            timing.add_to(seconds, [method])
        yield seconds
