"""How long a backend asks clients to wait."""

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from math import isnan

MAX_SECONDS = 120.0
"""Clients wait as long as the header says, some for ever; a longer wait should be an error now."""


def seconds(headers: Mapping[str, str]) -> float | None:
    """Reads `retry-after-ms` or `retry-after`. A date counts from the backend's own clock, or not at all."""
    lowered = {name.lower(): value for name, value in headers.items()}
    wait = _number(lowered.get("retry-after-ms"))
    if wait is not None:
        wait /= 1000
    else:
        wait = _number(lowered.get("retry-after"))
    if wait is None:
        until, now = _date(lowered.get("retry-after")), _date(lowered.get("date"))
        if until is None or now is None:
            return None
        wait = (until - now).total_seconds()
    return min(max(wait, 0.0), MAX_SECONDS)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return None if isnan(value) else value


def _date(text: str | None) -> datetime | None:
    try:
        date = parsedate_to_datetime(text or "")
    except (ValueError, OverflowError):  # the latter for numbers that no calendar has
        return None
    return date if date.tzinfo else None
