"""A recording as a file: one JSON object in each line, in the order in which things happened.

The first line says what the file is. Bytes stand in it as text where they are text, so it can be read, searched and
attached to a report as it is. Characters that a terminal obeys, or that hide a text, stand in it as escapes.
"""

from collections.abc import Iterator
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from proxy.core import jsontext
from proxy.core.masking.unseen import visible
from proxy.core.recorded.blobs import blob
from proxy.core.recorded.recording import (
    VERSION,
    Passed,
    RecordedAttempt,
    RecordedEnd,
    RecordedRequest,
    Recording,
)

MAGIC = "responses-proxy recording"

NO_RECORDING = "This is no recording of responses-proxy: its first line does not say so."

MAX_DEPTH = 64
"""Levels of nesting. Bodies are texts here, whatever is in them."""

REQUEST, ATTEMPT, END = TypeAdapter(RecordedRequest), TypeAdapter(RecordedAttempt), TypeAdapter(RecordedEnd)
PASSED: TypeAdapter[Passed] = TypeAdapter(Passed)


Shape = TypeVar("Shape")


class BadRecording(ValueError):
    """The file is no recording, or none that can be read here. Says which line, and why."""


# ── writing ──


def written(recording: Recording) -> bytes:
    first = {
        "recording": MAGIC, "version": VERSION, "proxy": recording.proxy, "content": recording.content,
        "cut": recording.cut, "covered": recording.covered,
    }  # fmt: skip
    timed = sorted(_timed(recording), key=lambda each: each[0])
    lines = [
        first,
        {"request": REQUEST.dump_python(recording.request, mode="json")},
        *(line for _, line in timed),
        {"end": END.dump_python(recording.end, mode="json")},
    ]
    return b"".join(visible(jsontext.compact(line)).encode() + b"\n" for line in lines)


def _timed(recording: Recording) -> Iterator[tuple[float, dict[str, Any]]]:
    """Attempts and what passed, each with its time."""
    for number, attempt in enumerate(recording.attempts):
        told = ATTEMPT.dump_python(attempt, mode="json")
        del told["reads"]
        yield attempt.began, {"attempt": told}
        for at, data in attempt.reads:
            yield at, {"read": number, "at": round(at, 6), **blob(data)}
    for at, data in recording.frames:
        yield at, {"frame": True, "at": round(at, 6), **blob(data)}


# ── reading ──


def read(data: bytes) -> Recording:
    """Raises BadRecording."""
    lines = data.split(b"\n")
    try:
        first = _line(lines[0], 1)
    except BadRecording as error:
        raise BadRecording(f"{NO_RECORDING} {error}") from None
    if first.get("recording") != MAGIC:
        raise BadRecording(NO_RECORDING)
    if first.get("version") != VERSION:
        raise BadRecording(
            f"This recording has version {first.get('version')!r} of the format; this proxy reads version {VERSION}."
        )
    request: RecordedRequest | None = None
    end: RecordedEnd | None = None
    attempts: list[RecordedAttempt] = []
    frames: list[Passed] = []
    for number, text in enumerate(lines[1:], 2):
        if not text.strip():
            continue
        match line := _line(text, number):
            case {"request": dict(fields)}:
                request = _valid(REQUEST, fields, number)
            case {"attempt": dict(fields)}:
                attempts.append(_valid(ATTEMPT, fields, number))
            case {"read": int(of)} if 0 <= of < len(attempts):
                attempts[of].reads.append(_passed(line, number))
            case {"frame": _}:
                frames.append(_passed(line, number))
            case {"end": dict(fields)}:
                end = _valid(END, fields, number)
            case _:
                raise BadRecording(f"Line {number} is none that a recording has.")
    if request is None or end is None:
        missing = "request" if request is None else "end"
        raise BadRecording(
            f"The recording has no line '{missing}': it was cut off, or not written to its end."
        )
    return Recording(
        proxy=str(first.get("proxy")),
        content="masked" if first.get("content") == "masked" else "keep",
        cut=bool(first.get("cut")),
        request=request,
        attempts=attempts,
        frames=frames,
        end=end,
        covered=bool(first.get("covered")),
    )


def _line(text: bytes, number: int) -> dict[str, Any]:
    try:
        line = jsontext.strict(text)
    except ValueError as error:
        raise BadRecording(f"Line {number} is not JSON: {error}.") from None
    if not isinstance(line, dict):
        raise BadRecording(f"Line {number} is no JSON object.")
    if jsontext.deeper_than(line, MAX_DEPTH):
        raise BadRecording(f"Line {number} is nested deeper than {MAX_DEPTH} levels.")
    return line


def _passed(line: dict[str, Any], number: int) -> Passed:
    return _valid(PASSED, (line.get("at"), line), number)


def _valid(adapter: TypeAdapter[Shape], value: Any, number: int) -> Shape:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise BadRecording(f"Line {number}: {where}: {first['msg']}.") from None
