"""What a refusal teaches: a table for each language, `text → change of the profile`.

Before the client has seen a byte, a request that was refused in words of this table is sent once more, as the changed
profile has it. The caller keeps what lasts for that backend and model, see `backends.learned`, and uses no row twice
for one request. So a URL keeps working when a vendor changes its API, and the proxy learns an unknown server by using
it.

Two things are never kept. What is refused of *this* request (a value, a schema, a picture's address, thoughts that do
not fit) says nothing of the next: such rows are not `lasting`. And words that the client may have made the backend say
prove nothing: see `echoes`. A change uses only the part of the refusal that has matched.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple

from proxy.core.dialects.reading.echoes import Echoes, Source
from proxy.core.dialects.reading.error_body import MAX_WORDS
from proxy.core.profile import BackendProfile

NO_REPLAY: dict[str, Any] = {"replay": "none", "replay_by_evidence": False}
"""Fields of a profile whose backend wants no thoughts back, whatever its replies show."""

DOUBTS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "format_evidence": ("format_by_evidence", {"format_with_tools": False}),
    "evidence": ("replay_by_evidence", NO_REPLAY),
}
"""What a refusal may put in doubt because the proxy did it without knowing better: the field of the profile that says
so, and what is done from then on. What costs least stands first."""

MAX_MATCHES = 8
"""Limits the matches of one row in one refusal: strict servers complain of several fields at once, and echoes may stand
before them."""


@dataclass(frozen=True, slots=True)
class Lesson:
    row: str
    profile: BackendProfile
    lasting: bool = True
    """Is it true of the model, or only of this request?"""
    kept: BackendProfile | None = None
    """What lasts, where the lesson itself does not."""


ProfileChange = Callable[[BackendProfile, re.Match[str]], BackendProfile]
"""Gets the profile and what matched; gives back an equal profile if there is nothing to change."""


class Row(NamedTuple):
    name: str
    pattern: re.Pattern[str]
    change: ProfileChange
    lasting: bool = True
    each: bool = False
    """May it match several times, each time saying something else?"""
    kept: ProfileChange | None = None
    """What lasts, where the row itself does not."""


def learn(
    rows: Sequence[Row],
    profile: BackendProfile,
    message: str,
    learned: Collection[str] = (),
    body: bytes = b"{}",
) -> Lesson | None:
    """Finds the first row, apart from those `learned` before, that matches the refusal and changes something.

    `body` is what was refused.
    """
    message = message[:MAX_WORDS]
    echoes = Echoes(body, message)
    for row in rows:
        if row.name in learned:
            continue
        changed, lasting, kept = profile, row.lasting, None
        for is_own, match in _matches(row, message, echoes):
            following = row.change(changed, match)
            if following != changed:
                changed, lasting = following, lasting and is_own
                if row.kept and is_own:
                    kept = row.kept(profile, match)
                if not row.each:
                    break
        if changed != profile:
            return Lesson(row.name, changed, lasting, kept)
    return None


def without_evidence(profile: BackendProfile, learned: Collection[str] = ()) -> Lesson | None:
    """What the proxy sends only because nobody knows better, or a reply seemed to show that it is wanted, can be the
    reason of any refusal, in whatever words. So the request is sent once more without it, and the lesson stays if that
    helps."""
    for name, (nobody_knows, instead) in DOUBTS.items():
        changed = replace(profile, **instead)
        if name not in learned and getattr(profile, nobody_knows) and changed != profile:
            return Lesson(name, changed)
    return None


def _matches(row: Row, message: str, echoes: Echoes) -> list[tuple[bool, re.Match[str]]]:
    """Finds what in the refusal the backend has said itself, at least in part; first what is all its own."""
    found = [
        (source is Source.BACKEND, match)
        for match in islice(row.pattern.finditer(message), MAX_MATCHES)
        if (source := echoes.source(match)) is not Source.CLIENT
    ]
    return sorted(found, key=lambda each: not each[0])


def advice(message: str) -> str | None:
    """Says what the operator has to do, where no change of the request can help."""
    return next((words for pattern, words in _ADVICE if pattern.search(message[:MAX_WORDS])), None)


# ── the words of a table ───────────────────────────────────────────────────────────────────────────────────────


def says(pattern: str) -> re.Pattern[str]:
    """Compiles a pattern. A backend may repeat a whole prompt, or be hostile: no gap and no number in a pattern is
    without a limit."""
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


def setting(**changes: Any) -> ProfileChange:
    return lambda profile, _: replace(profile, **changes)


def _fewer_tools(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """Keeps at least one tool: backends that take none say so in other words."""
    return replace(profile, max_tools=min(profile.max_tools, max(1, int(match["most"]))))


FEWER_TOOLS = Row(
    "max_tools",
    says(
        r"tools\b.{0,80}(?:maximum number of items is|array too long.{0,80}maximum length) (?P<most>\d{1,6})"
    ),
    _fewer_tools,
)
"""OpenAI's words, in both of its languages."""

WORTHWHILE = 4096
"""Tokens of an answer. A conversation that leaves less has outgrown its window, unless the window is small itself."""
SMALL_WINDOW = 32_768
"""Tokens. In a window that is no larger, half is left to the conversation from then on."""


def _what_fits(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    """Lowers our own limit, which filled the window beyond what the conversation left (V34). A client's limit is not
    changed."""
    window = int(match["window"])
    room = window - int(match["input"])
    return replace(profile, length_default=room) if room >= min(WORTHWHILE, window // 8) else profile


def _half_of_it(profile: BackendProfile, match: re.Match[str]) -> BackendProfile:
    window = int(match["window"])
    return replace(profile, length_default=window // 2) if window <= SMALL_WINDOW else profile


LIMIT_ROWS = tuple(
    Row("room", says(pattern), _what_fits, lasting=False, kept=_half_of_it)
    for pattern in (
        r"exceed context limit: (?P<input>\d{1,9}) \+ \d{1,9} > (?P<window>\d{1,9})",
        r"maximum context length (?:is|of) (?P<window>\d{1,9}) tokens.{0,200}?(?P<input>\d{1,9}) "
        r"(?:tokens )?(?:in|from) the (?:input )?messages",
        r"maximum context length (?:is|of) (?P<window>\d{1,9}) tokens and your request has "
        r"(?P<input>\d{1,9}) input tokens",
        r"must be <= (?P<window>\d{1,9})\. Given: (?P<input>\d{1,9}) `inputs`",
    )
)
"""The rows for every dialect in which the proxy sends a limit where the client sets none. They know the words of
vendors, vLLM, SGLang and TGI."""

_FORM = (
    r"(?:response[_ ]?format|response mime type|json[ _](?:mode|schema|object|response)|structured output"
    r"|\bgrammar\b)"
)
_TOOL = r"(?:\btool|\bfunction[ _]call)"
_BOTH = (
    r"(?:\bcombin|\btogether|\bsame time|\bsimultaneous|incompatible|exclusive|\bwith\b|alongside|\bwhen\b)"
)
FORMAT_BESIDE_TOOLS = says(
    "|".join(
        form.format(one=one, other=other, both=_BOTH)
        for one, other in ((_FORM, _TOOL), (_TOOL, _FORM))
        for form in (
            r"{one}[^.]{{0,60}}{both}[^.]{{0,30}}{other}",
            r"{one}[^.]{{0,30}} and [^.]{{0,20}}{other}[^.]{{0,40}}{both}",
        )
    )
)
"""Says that an answer cannot have a form where there are tools."""

_ADVICE = (
    (
        says(r"requires --enable-auto-tool-choice|--tool-call-parser"),
        "start the server with --enable-auto-tool-choice and a --tool-call-parser for this model",
    ),
    (says(r"does not support tools"), "this model cannot call tools; choose one that can"),
)
