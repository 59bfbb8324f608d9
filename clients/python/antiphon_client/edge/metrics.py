"""Request metrics of one server, in Prometheus' terms.

Recording is on the path of every call, so it is plain arithmetic on the event
loop; the client library's own counters, which lock, cost four times as much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import NamedTuple

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_BOUNDS = (*(str(bound) for bound in _BUCKETS), "+Inf")


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


class _Timing:
    """Durations of one method: how many fell into each bucket, and their sum in seconds."""

    __slots__ = ("counts", "total")

    def __init__(self) -> None:
        self.counts = [0] * len(_BOUNDS)
        self.total = 0.0


class RequestMetrics(Collector):
    """Counts and times calls by method and outcome.

    Every server has a registry of its own, so that two servers in one process
    do not share figures. Labels are bounded: methods come from the descriptors,
    outcomes are status code names.
    """

    def __init__(self) -> None:
        """Start from zero."""
        self._counts: dict[tuple[str, str], int] = {}
        self._timings: dict[str, _Timing] = {}
        self._figures: list[Figure] = []
        self.registry = CollectorRegistry()
        self.registry.register(self)

    def finished(self, method: str, code: str, seconds: float) -> None:
        """Record one finished call; event loop only."""
        key = (method, code)
        self._counts[key] = self._counts.get(key, 0) + 1
        timing = self._timings.get(method)
        if timing is None:
            timing = self._timings[method] = _Timing()
        timing.counts[bisect_left(_BUCKETS, seconds)] += 1
        timing.total += seconds

    def publish(self, *figures: Figure) -> None:
        """Publish figures; each is read whenever it is asked for."""
        self._figures += figures

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily | HistogramMetricFamily]:
        """Yield the figures, from any thread."""
        for name, help_text, read, is_count in self._figures.copy():
            family = CounterMetricFamily if is_count else GaugeMetricFamily
            yield family(name, help_text, value=read())
        requests = CounterMetricFamily("antiphon_requests", "Finished calls.", labels=("method", "code"))
        for labels, count in self._counts.copy().items():
            requests.add_metric(labels, count)
        yield requests
        seconds = HistogramMetricFamily(
            "antiphon_request_seconds", "Duration of calls in seconds.", labels=("method",)
        )
        for method, timing in self._timings.copy().items():
            buckets = list(zip(_BOUNDS, accumulate(timing.counts), strict=True))
            seconds.add_metric([method], buckets, timing.total)
        yield seconds
