"""Request metrics of one server, in Prometheus' terms."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_BUCKETS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class RequestMetrics:
    """Counts and times calls by method and outcome.

    Every server has a registry of its own, so that two servers in one process
    do not share figures. Labels are bounded: methods come from the descriptors,
    outcomes are status code names.
    """

    def __init__(self) -> None:
        """Start from zero."""
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "antiphon_requests", "Finished calls.", ("method", "code"), registry=self.registry
        )
        self._seconds = Histogram(
            "antiphon_request_seconds",
            "Duration of calls in seconds.",
            ("method",),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._counters: dict[tuple[str, str], Counter] = {}
        self._timers: dict[str, Histogram] = {}

    def finished(self, method: str, code: str, seconds: float) -> None:
        """Record one finished call."""
        counter = self._counters.get((method, code))
        if counter is None:
            counter = self._counters[method, code] = self._requests.labels(method, code)
        timer = self._timers.get(method)
        if timer is None:
            timer = self._timers[method] = self._seconds.labels(method)
        counter.inc()
        timer.observe(seconds)

    def gauge(self, name: str, help_text: str, read: Callable[[], float]) -> None:
        """Publish a figure that ``read`` returns whenever it is asked for."""
        Gauge(name, help_text, registry=self.registry).set_function(read)
