"""Takes keys out of a recording, wherever they stand: in bodies, in errors that quote them, and across two reads.

A key that a model or a backend spells out over many events is in no single piece of the bytes. It is found in what the
pieces come to; then the recording keeps nothing of what was said.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from proxy.core.masking.redact import MASK
from proxy.core.masking.secrets import Secrets
from proxy.core.recorded.lines import END, REQUEST
from proxy.core.recorded.outline import events_of
from proxy.core.recorded.recording import Passed, RecordedAttempt, Recording

_LIKE_A_KEY = re.compile(
    r"\b(?:(?:sk|pk|rk|gsk|csk|fw|xai|nvapi|pplx|tgp|gh[opsu])[-_][A-Za-z0-9_*-]{8,}|hf_[A-Za-z0-9_]{20,}"
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
    """Without keys; and without anything that was said, where a key is spelled out over many pieces."""
    attempts = [_attempt(attempt, keys) for attempt in recording.attempts]
    frames = _passed(recording.frames, keys)
    if _are_spelled_out(frames, keys) or any(_are_spelled_out(attempt.reads, keys) for attempt in attempts):
        attempts = [replace(attempt, body=b"", reads=[]) for attempt in attempts]
        request = replace(recording.request, body=None)
        end = replace(recording.end, answer=None)
        recording = replace(recording, request=request, end=end, cut=True)
        frames = []
    body = recording.request.body
    request = replace(recording.request, body=None if body is None else _hidden(body, keys))
    answer = recording.end.answer
    end = replace(recording.end, answer=None if answer is None else _hidden(answer, keys))
    return replace(
        recording,
        request=_everywhere(REQUEST, request, keys),
        attempts=attempts,
        frames=frames,
        end=_everywhere(END, end, keys),
    )


def _attempt(attempt: RecordedAttempt, keys: Keys) -> RecordedAttempt:
    reads = _passed(attempt.reads, keys)
    told = replace(attempt, reads=[], body=_hidden(attempt.body, keys))
    profile = _told(attempt.profile, keys)
    failure = attempt.failure
    if failure is not None:
        failure = replace(failure, message=_text(failure.message, keys), details=_told(failure.details, keys))
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
    return adapter.validate_python(_told(adapter.dump_python(value, mode="json"), keys))


def _told(value: Any, keys: Keys) -> Any:
    match value:
        case str():
            return _text(value, keys)
        case dict():
            return {_text(str(name), keys): _told(inner, keys) for name, inner in value.items()}
        case list() | tuple():
            return [_told(inner, keys) for inner in value]
        case _:
            return value


def _text(text: str, keys: Keys) -> str:
    for start, end in reversed(keys.spans(text)):
        text = text[:start] + MASK + text[end:]
    return text


def _hidden(data: bytes, keys: Keys) -> bytes:
    return _text(data.decode("latin-1"), keys).encode("latin-1")


def _passed(passed: Sequence[Passed], keys: Keys) -> list[Passed]:
    """Hides keys that may stand across two pieces: the mask is in the first of them."""
    pieces = [data.decode("latin-1") for _, data in passed]
    spans = keys.spans("".join(pieces))
    if not spans:
        return list(passed)
    kept: list[Passed] = []
    start = 0
    for (at, _), piece in zip(passed, pieces, strict=True):
        kept.append((at, _without(piece, start, spans).encode("latin-1")))
        start += len(piece)
    return kept


def _without(piece: str, start: int, spans: Spans) -> str:
    """`start`: where the piece begins in the text that the spans are of."""
    for first, last in reversed(spans):
        begin, end = max(first - start, 0), min(last - start, len(piece))
        if begin < end:
            piece = piece[:begin] + (MASK if first >= start else "") + piece[end:]
    return piece


def _are_spelled_out(passed: Iterable[Passed], keys: Keys) -> bool:
    joined: dict[str, list[str]] = {}
    for event in events_of(data for _, data in passed):
        _collect(event, "", lambda path, text: joined.setdefault(path, []).append(text))
    return bool(keys.known("\0".join("".join(texts) for texts in joined.values())))


def _collect(value: Any, path: str, take: Callable[[str, str], None]) -> None:
    """Every text, by the names that lead to it."""
    match value:
        case str():
            take(path, value)
        case dict():
            for name, inner in value.items():
                _collect(inner, f"{path}.{name}", take)
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
