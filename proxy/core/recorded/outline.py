"""Events of a stream as people compare them: pieces of one text joined, and nothing that only counts pieces."""

from collections.abc import Iterable
from typing import Any

from proxy.core import jsontext

Json = Any

PASSING = ("sequence_number", "obfuscation")
"""Members that depend on how a text was cut."""


def events_of(frames: Iterable[bytes]) -> list[Json]:
    """The data of each event; what is no JSON stands as text."""
    return [_parsed(data) for frame in frames for data in _data(frame)]


def _data(frame: bytes) -> list[bytes]:
    if not frame.endswith(b"\n\n"):
        return [frame]
    blocks = frame.split(b"\n\n")[:-1]
    lines = [line for block in blocks for line in block.split(b"\n")]
    return [line[len(b"data: ") :] for line in lines if line.startswith(b"data: ")]


def _parsed(data: bytes) -> Json:
    try:
        return jsontext.strict(data)
    except ValueError:
        return data.decode("utf-8", "replace")


def outline(frames: Iterable[bytes]) -> list[Json]:
    lines: list[Json] = []
    for event in events_of(frames):
        line = (
            {name: value for name, value in event.items() if name not in PASSING}
            if isinstance(event, dict)
            else event
        )
        if lines and (joined := _joined(lines[-1], line)) is not None:
            lines[-1] = joined
        else:
            lines.append(line)
    return lines


def _joined(before: Json, line: Json) -> Json | None:
    """One event for two that tell pieces of the same text; None if these do not."""
    if not (isinstance(before, dict) and isinstance(line, dict) and before.keys() == line.keys()):
        return None
    return _delta(before, line) if "delta" in line else _chunk(before, line)


def _delta(before: Json, line: Json) -> Json | None:
    """Of the Responses API."""
    differing = {name for name in line if before[name] != line[name]} - {"delta", "logprobs"}
    if differing or not (isinstance(before["delta"], str) and isinstance(line["delta"], str)):
        return None
    joined = before | {"delta": before["delta"] + line["delta"]}
    if isinstance(before.get("logprobs"), list) and isinstance(line.get("logprobs"), list):
        joined["logprobs"] = before["logprobs"] + line["logprobs"]
    return joined


def _chunk(before: Json, line: Json) -> Json | None:
    """Merges two chunks of the Chat API if they differ only in text that goes on."""
    match before.get("choices"), line.get("choices"):
        case [{"delta": dict(first)} as told], [{"delta": dict(second)} as more] if (
            told.keys() == more.keys() and first.keys() == second.keys() and first
        ):
            pass
        case _:
            return None
    delta = _merged(first, second)
    rest = {name: value for name, value in told.items() if name != "delta"}
    if delta is None or rest != {name: value for name, value in more.items() if name != "delta"}:
        return None
    return before | {"choices": [rest | {"delta": delta}]}


TEXTS = ("content", "reasoning_content", "reasoning", "refusal", "arguments")


def _merged(first: Json, second: Json) -> Json | None:
    """Two pieces of the same, put together; None if they are of different things."""
    match first, second:
        case dict(), dict() if first.keys() == second.keys():
            merged = {name: _member(name, first[name], second[name]) for name in first}
            return None if None in merged.values() else merged
        case [one], [other]:
            merged_one = _merged(one, other)
            return None if merged_one is None else [merged_one]
        case _:
            return first if first == second else None


def _member(name: str, first: Json, second: Json) -> Json | None:
    if name in TEXTS and isinstance(first, str) and isinstance(second, str):
        return first + second
    return _merged(first, second)
