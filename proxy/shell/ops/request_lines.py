"""One request as one line for people: when, who was asked, what it cost, how it ended, and what was mended on the way.

Every text has been masked and escaped before it comes here: no name of a model can move the cursor. It is cut here, so
that a line stays one.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from proxy.shell.ops.metrics import CLIENT_GONE

LONGEST_NAME, LONGEST_WORDS = 60, 200
DIM, RED, GREEN, YELLOW = "2", "31", "32", "33"
ENDINGS: Final[Mapping[str, tuple[str, str]]] = {
    "completed": ("completed", GREEN),
    "max_tokens": ("cut at the limit of tokens", YELLOW),
    "filtered": ("stopped by a content filter", YELLOW),
    "failed": ("failed", RED),
}
COUNTS: Final[Mapping[str, str]] = {
    "over_limits": "beyond the tenant's limits for tools",
    "strict_in_parallel": "strict tools beside parallel calls",
    "tools_not_allowed": "not on the tenant's list of tools",
    "results_cut": "tool outputs shortened",
}
"""Facts that are remarks, too."""

Fields = Mapping[str, Any]
Remarks = Callable[[Fields], Iterator[str]]
"""What was strange about a request, in words."""


class RequestLines:
    """`remarks`: finds the words for what the line has counted."""

    def __init__(self, remarks: Remarks, *, colors: bool, arrow: str) -> None:
        self._remarks = remarks
        self._colors = colors
        self._arrow = arrow

    def line(self, fields: Fields) -> str:
        parts = [
            self._painted(str(fields["timestamp"]), DIM),
            *self._asked(fields),
            *_cost(fields),
            *_times(fields),
            self._end(fields),
        ]
        remarks = [*self._remarks(fields), *_counted(fields)]
        mended = self._painted(f"  ({'; '.join(remarks)})", DIM) if remarks else ""
        return "  ".join(parts) + mended

    def _asked(self, fields: Fields) -> Iterator[str]:
        model = _cut(fields.get("model", "-"), LONGEST_NAME)
        backend, theirs = fields.get("backend"), fields.get("backend_model")
        if backend is None:
            yield model
        else:
            other = f"/{_cut(theirs, LONGEST_NAME)}" if theirs not in (None, fields.get("model")) else ""
            again = f" ({fields['attempts']} attempts)" if fields.get("attempts", 1) > 1 else ""
            yield f"{model} {self._arrow} {_cut(backend, LONGEST_NAME)}{other}{again}"

    def _end(self, fields: Fields) -> str:
        if fields.get("status") == CLIENT_GONE:
            return self._painted("the client left", YELLOW)
        if "fault" in fields:
            return self._painted(_fault(fields), RED)
        words, color = ENDINGS.get(fields.get("ending", ""), ("answered", GREEN))
        calls = fields.get("calls", 0)
        return self._painted(words + (f", {_many(calls, 'call')}" if calls else ""), color)

    def _painted(self, text: str, color: str) -> str:
        return f"\x1b[{color}m{text}\x1b[0m" if self._colors else text


def _cost(fields: Fields) -> Iterator[str]:
    if "input_tokens" in fields or "output_tokens" in fields:
        cached = f" ({fields['cached_tokens']} cached)" if fields.get("cached_tokens") else ""
        yield f"{fields.get('input_tokens', '?')} in{cached}, {fields.get('output_tokens', '?')} out"


def _times(fields: Fields) -> Iterator[str]:
    if "ms_first_text" in fields:
        yield f"first word {_seconds(fields['ms_first_text'])}"
    if "ms_total" in fields:
        yield f"{_seconds(fields['ms_total'])} in all"


def _fault(fields: Fields) -> str:
    what = f"{fields.get('status', '')} {fields.get('code') or fields['fault']}".strip()
    place = f" at {_cut(fields['param'], LONGEST_NAME)}" if fields.get("param") else ""
    error, cause = (_cut(fields.get(name, ""), LONGEST_WORDS) for name in ("error", "cause"))
    words = f": {error} ({cause})" if error and cause else f": {error or cause}" if error or cause else ""
    return f"{what}{place}{words} [{fields.get('request_id', '-')}]"


def _counted(fields: Fields) -> Iterator[str]:
    for name, words in COUNTS.items():
        if count := fields.get(name):
            yield f"{count} × {words}"


def _seconds(milliseconds: float) -> str:
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    return f"{milliseconds / 1000:.1f} s"


def _many(count: int, word: str) -> str:
    return f"{count} {word}{'s' * (count != 1)}"


def _cut(text: Any, most: int) -> str:
    """On one line, whatever it says."""
    said = " ".join(str(text).split())
    return said if len(said) <= most else f"{said[: most - 1]}…"
