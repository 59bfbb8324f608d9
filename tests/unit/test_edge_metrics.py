"""Request metrics."""

from __future__ import annotations

from prometheus_client import generate_latest

from antiphon_client.edge.metrics import Figure, RequestMetrics


def test_calls_are_counted_and_timed() -> None:
    metrics = RequestMetrics()
    for code, seconds in (("OK", 0.0004), ("OK", 0.0005), ("OK", 0.3), ("NOT_FOUND", 99.0)):
        metrics.finished("/a.B/C", code, seconds)
    metrics.finished("/a.B/D", "OK", 0.002)
    metrics.publish(
        Figure("antiphon_inflight_calls", "Calls being served.", lambda: 3),
        Figure("antiphon_hits", "Hits.", lambda: 4, is_count=True),
    )
    lines = generate_latest(metrics.registry).decode().splitlines()
    figures = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
    assert figures['antiphon_requests_total{code="OK",method="/a.B/C"}'] == "3.0"
    assert figures['antiphon_requests_total{code="NOT_FOUND",method="/a.B/C"}'] == "1.0"
    assert figures['antiphon_request_seconds_bucket{le="0.0005",method="/a.B/C"}'] == "2.0"
    assert figures['antiphon_request_seconds_bucket{le="0.25",method="/a.B/C"}'] == "2.0"
    assert figures['antiphon_request_seconds_bucket{le="0.5",method="/a.B/C"}'] == "3.0"
    assert figures['antiphon_request_seconds_bucket{le="+Inf",method="/a.B/C"}'] == "4.0"
    assert figures['antiphon_request_seconds_count{method="/a.B/C"}'] == "4.0"
    assert float(figures['antiphon_request_seconds_sum{method="/a.B/C"}']) == 0.0004 + 0.0005 + 0.3 + 99.0
    assert figures['antiphon_request_seconds_count{method="/a.B/D"}'] == "1.0"
    assert figures["antiphon_inflight_calls"] == "3.0"
    assert figures["antiphon_hits_total"] == "4.0"
    assert {"# TYPE antiphon_inflight_calls gauge", "# TYPE antiphon_hits_total counter"} <= set(lines)


def test_two_servers_do_not_share_figures() -> None:
    first, second = RequestMetrics(), RequestMetrics()
    first.finished("/a.B/C", "OK", 1)
    assert b"/a.B/C" not in generate_latest(second.registry)
