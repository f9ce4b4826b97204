"""Numbers of a run, as values. Pure."""

from collections.abc import Sequence
from typing import Any


def percentiles(values: Sequence[float]) -> dict[str, float | None]:
    """`{p50, p99}` of *values*, nearest rank, one decimal; None without any."""
    ordered = sorted(values)
    if not ordered:
        return {"p50": None, "p99": None}
    return {
        name: round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 1)
        for name, share in (("p50", 0.5), ("p99", 0.99))
    }


def table(found: dict[str, Any]) -> str:
    """The figures for people, with the floor and the ratio to it beside."""
    floor = found["floor"]

    def line(name: str, value: Any, beside: Any = "") -> str:
        return f"{name:<28} {value!s:>12} {beside!s:>12}"

    def pair(values: dict[str, Any]) -> str:
        return f"{values['p50']} / {values['p99']}"

    lines = [line("", "layby", "floor")]
    for name in ("parks_per_s", "resumes_per_s"):
        lines.append(line(name, found[name], floor[name]))
    lines.append(line("wake_ms p50 / p99", pair(found["wake_ms"]), pair(floor["wake_ms"])))
    lines.append(line(f"with {found['parked']} parked", pair(found["wake_parked_ms"])))
    for name in ("bytes_per_parked", "worker_rss_mb", "worker_rss_parked_mb", "worker_connections"):
        lines.append(line(name, found[name]))
    return "\n".join(lines)
