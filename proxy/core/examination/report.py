"""The findings for people and for machines."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proxy.core.examination.findings import ReportRow, Standing

SIGNS = {
    Standing.SAME: "ok",
    Standing.FACT: "",
    Standing.BETTER: "BETTER",
    Standing.WORSE: "WORSE",
    Standing.UNKNOWN: "?",
}
NAME, SEEN, ASSUMED, SIGN = 33, 52, 24, 6
"""Widths of the columns, in characters."""


def table(rows: Sequence[ReportRow]) -> Iterator[str]:
    """Yields the lines of a table that fits 120 columns."""
    yield _line("", "seen", "assumed", "").rstrip()
    for row in rows:
        seen = textwrap.wrap(row.seen, SEEN) or [""]
        assumed = textwrap.wrap(row.assumed, ASSUMED) or [""]
        for index in range(max(len(seen), len(assumed))):
            first = index == 0
            yield _line(
                row.name if first else "",
                seen[index] if index < len(seen) else "",
                assumed[index] if index < len(assumed) else "",
                SIGNS[row.standing] if first else "",
            ).rstrip()
        if row.remark:
            for line in textwrap.wrap(row.remark, SEEN + ASSUMED):
                yield f"{'':{NAME}} → {line}"


def _line(name: str, seen: str, assumed: str, sign: str) -> str:
    return f"{sign:{SIGN}} {name:{NAME}} {seen:{SEEN}} {assumed:{ASSUMED}}"


def plain(value: Any) -> Any:
    """Returns the value of a profile's field as files hold it. TOML has no null, which also nobody needs to say."""
    if isinstance(value, frozenset):
        return sorted(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items() if inner is not None}
    return value


def as_data(row: ReportRow) -> dict[str, Any]:
    return {
        "aspect": row.name,
        "seen": row.seen,
        "assumed": row.assumed,
        "standing": row.standing.value,
        "overrides": {name: plain(value) for name, value in row.overrides.items()},
        "remark": row.remark,
    }


def summary(rows: Sequence[ReportRow]) -> str:
    counts = {standing: sum(row.standing is standing for row in rows) for standing in Standing}
    words = [f"{counts[Standing.SAME]} as assumed"]
    for standing in (Standing.WORSE, Standing.BETTER):
        if counts[standing]:
            names = ", ".join(row.name for row in rows if row.standing is standing)
            words.append(f"{counts[standing]} {standing} ({names})")
    if counts[Standing.UNKNOWN]:
        words.append(f"{counts[Standing.UNKNOWN]} unknown")
    return "; ".join(words)
