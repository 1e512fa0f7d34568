"""Takes keys out of a recording, wherever they stand: in bodies, in errors that quote them, and across two reads.

A key that a model or a backend spells out over many events is in no single piece of the bytes. It is found in what the
pieces come to, and each of its letters becomes an x. Where that is not possible, because the pieces are written in a
form that is not known here, the recording keeps nothing of what was said.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from proxy.core.masking.redact import BEFORE_A_KEY, MASK
from proxy.core.masking.secrets import Secrets
from proxy.core.recorded.lines import END, REQUEST
from proxy.core.recorded.masking import INDEXES, Masker
from proxy.core.recorded.outline import events_of
from proxy.core.recorded.recording import Passed, RecordedAttempt, Recording

_LIKE_A_KEY = re.compile(
    BEFORE_A_KEY
    + r"(?:(?:sk|pk|rk|gsk|csk|fw|xai|nvapi|pplx|tgp|gh[opsu])[-_][A-Za-z0-9_*-]{8,}|hf_[A-Za-z0-9_]{20,}"
    r"|AIza[A-Za-z0-9_-]{10,})"
)
"""Keys by the prefixes that vendors use, in characters that JSON leaves as they are."""

Spans = list[tuple[int, int]]


class Keys:
    """Finds keys: those that are known, and what looks like one."""

    def __init__(self, *secrets: Secrets) -> None:
        self._secrets = secrets

    def spans(self, text: str) -> Spans:
        found = [each.span() for each in _LIKE_A_KEY.finditer(text)] + self.known(text)
        return _united(_with_escapes(text, span) for span in found)

    def known(self, text: str) -> Spans:
        return [span for secrets in self._secrets for span in secrets.spans(text)]


def without_keys(recording: Recording, keys: Keys) -> Recording:
    for less in (_as_it_is, partial(_covered, keys=keys)):
        hidden = _hidden_in_pieces(less(recording), keys)
        if not _spells_one_out(hidden, keys):
            return hidden
    return _hidden_in_pieces(_without_words(recording), keys)


def _as_it_is(recording: Recording) -> Recording:
    return recording


def _covered(recording: Recording, keys: Keys) -> Recording:
    """All that was said with an x for each letter of a key. So all lengths stay, and it replays to the same events."""
    cover = _Cover(keys)
    body, answer = recording.request.body, recording.end.answer
    attempts = [
        replace(attempt, body=cover.bytes(attempt.body), reads=cover.passed(attempt.reads))
        for attempt in recording.attempts
    ]
    return replace(
        recording,
        request=replace(recording.request, body=None if body is None else cover.bytes(body)),
        attempts=attempts,
        frames=cover.passed(recording.frames),
        end=replace(recording.end, answer=None if answer is None else cover.bytes(answer)),
        covered=True,
    )


class _Cover(Masker):
    """Masks keys alone, in texts that may be told in many pieces."""

    def __init__(self, keys: Keys) -> None:
        super().__init__(b"")
        self._words = frozenset()
        self._keys = keys

    def text(self, text: str) -> str:
        return _with_others(text, self._keys.spans(text), lambda size: "x" * size)


def _without_words(recording: Recording) -> Recording:
    attempts = [replace(attempt, body=b"", reads=[]) for attempt in recording.attempts]
    request, end = replace(recording.request, body=None), replace(recording.end, answer=None)
    return replace(recording, request=request, attempts=attempts, frames=[], end=end, cut=True, covered=False)


def _hidden_in_pieces(recording: Recording, keys: Keys) -> Recording:
    """Without the keys that stand in the bytes as they are."""
    body = recording.request.body
    request = replace(recording.request, body=None if body is None else _hidden(body, keys))
    answer = recording.end.answer
    end = replace(recording.end, answer=None if answer is None else _hidden(answer, keys))
    return replace(
        recording,
        request=_everywhere(REQUEST, request, keys),
        attempts=[_attempt(attempt, keys) for attempt in recording.attempts],
        frames=_passed(recording.frames, keys),
        end=_everywhere(END, end, keys),
    )


def _spells_one_out(recording: Recording, keys: Keys) -> bool:
    streams = [recording.frames, *(attempt.reads for attempt in recording.attempts)]
    return any(_are_spelled_out(passed, keys) for passed in streams)


def _attempt(attempt: RecordedAttempt, keys: Keys) -> RecordedAttempt:
    reads = _passed(attempt.reads, keys)
    told = replace(attempt, reads=[], body=_hidden(attempt.body, keys))
    profile = _value(attempt.profile, keys)
    failure = attempt.failure
    if failure is not None:
        failure = replace(
            failure, message=_text(failure.message, keys), details=_value(failure.details, keys)
        )
    headers = {name: _text(value, keys) for name, value in attempt.headers.items()}
    answer_headers = {name: _text(value, keys) for name, value in attempt.answer_headers.items()}
    return replace(
        told,
        reads=reads,
        profile=profile,
        failure=failure,
        url=_text(attempt.url, keys),
        headers=headers,
        answer_headers=answer_headers,
    )


def _everywhere(adapter: Any, value: Any, keys: Keys) -> Any:
    """Hides keys in all texts of something that can be told as JSON."""
    told = adapter.dump_python(value, mode="json")
    hidden = _value(told, keys)
    return value if hidden is told else adapter.validate_python(hidden)


def _value(value: Any, keys: Keys) -> Any:
    """Nearly always there is none: to look at all texts at once costs a tenth of looking at each."""
    texts: list[str] = []
    _gather(value, texts)
    return _each_value(value, keys) if keys.spans("\0".join(texts)) else value


def _gather(value: Any, texts: list[str]) -> None:
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, dict):
        texts += map(str, value)
        for inner in value.values():
            _gather(inner, texts)
    elif isinstance(value, list | tuple):
        for inner in value:
            _gather(inner, texts)


def _each_value(value: Any, keys: Keys) -> Any:
    match value:
        case str():
            return _text(value, keys)
        case dict():
            return {_text(str(name), keys): _each_value(inner, keys) for name, inner in value.items()}
        case list() | tuple():
            return [_each_value(inner, keys) for inner in value]
        case _:
            return value


def _text(text: str, keys: Keys) -> str:
    return _with_others(text, keys.spans(text), lambda size: MASK)


def _with_others(text: str, spans: Spans, other: Callable[[int], str]) -> str:
    """The text with something else for each span: there may be many of them in a long text."""
    pieces, done = [], 0
    for start, end in spans:
        pieces += [text[done:start], other(end - start)]
        done = end
    return "".join([*pieces, text[done:]])


def _hidden(data: bytes, keys: Keys) -> bytes:
    return _text(data.decode("latin-1"), keys).encode("latin-1")


def _passed(passed: Sequence[Passed], keys: Keys) -> list[Passed]:
    """Hides keys that may stand across two pieces: the mask is in the first of them."""
    pieces = [data.decode("latin-1") for _, data in passed]
    spans = keys.spans("".join(pieces))
    if not spans:
        return list(passed)
    ends = [end for _, end in spans]
    kept: list[Passed] = []
    start = 0
    for (at, _), piece in zip(passed, pieces, strict=True):
        first, behind = bisect_right(ends, start), bisect_left(spans, (start + len(piece), 0))
        kept.append((at, _without(piece, start, spans[first:behind]).encode("latin-1")))
        start += len(piece)
    return kept


def _without(piece: str, start: int, spans: Spans) -> str:
    """`start`: where the piece begins in the text that the spans are of. All of them stand in it, at least in part."""
    kept, done = [], 0
    for first, last in spans:
        kept += [piece[done : max(first - start, 0)], MASK if first >= start else ""]
        done = last - start
    return "".join([*kept, piece[done:]])


def _are_spelled_out(passed: Iterable[Passed], keys: Keys) -> bool:
    joined: dict[str, list[str]] = {}
    for event in events_of(data for _, data in passed):
        _collect(event, "", lambda path, text: joined.setdefault(path, []).append(text))
    return bool(keys.spans("\0".join("".join(texts) for texts in joined.values())))


def _collect(value: Any, path: str, take: Callable[[str, str], None]) -> None:
    """Every text, by the names that lead to it, and by the type and the number of what it is a part of: pieces of
    several calls come by turns, and some are told twice."""
    match value:
        case str():
            take(path, value)
        case dict():
            number = next((value[name] for name in INDEXES if isinstance(value.get(name), int)), "")
            for name, inner in value.items():
                _collect(inner, f"{path}{value.get('type', '')}{number}.{name}", take)
        case list():
            for inner in value:
                _collect(inner, path, take)
        case _:
            pass


def _with_escapes(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A span that begins or ends within an escape of JSON has all of it."""
    start, end = span
    if _slashes_before(text, start) % 2:
        start -= 1
    if _slashes_before(text, end) % 2:
        end += 1
    return start, end


def _slashes_before(text: str, at: int) -> int:
    count = 0
    while at - count > 0 and text[at - count - 1] == "\\":
        count += 1
    return count


def _united(spans: Iterable[tuple[int, int]]) -> Spans:
    united: Spans = []
    for start, end in sorted(spans):
        if united and start <= united[-1][1]:
            united[-1] = united[-1][0], max(end, united[-1][1])
        else:
            united.append((start, end))
    return united
