"""A recording without a word of what was said: every letter is another one, every digit a 1.

All lengths stay, in characters and in bytes, and so does what makes a reply what it is: JSON, markup, the names of
tools and of their parameters, values that a schema lists, ids, roles and other words of the protocols. So it replays to
events of the same kinds, with texts of the same lengths.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Self

from proxy.core import jsontext
from proxy.core.recorded.lines import END
from proxy.core.recorded.recording import Passed, RecordedAttempt, Recording

KEPT_VALUES = frozenset(
    {
        "$ref", "blockReason", "call_id", "call_ids", "code", "detail", "effort", "event", "finishReason",
        "finish_reason", "format", "id", "include", "item_id", "mime_type", "mode", "model", "object", "pattern",
        "previous_response_id", "reason", "role", "service_tier", "status", "stop_reason", "store", "tool_call_id",
        "tool_choice", "tool_use_id", "truncation", "type", "verbosity",
    }
)  # fmt: skip
"""Members whose values are words of a protocol, or ids, if they look like one."""

OPAQUE = frozenset({"args", "functionResponse", "metadata", "result"})
"""Members whose names are content too, as those of arguments are."""
INDEXES = ("index", "output_index")
"""Members that tell which of several things goes on."""
OPAQUE_OBJECTS = frozenset({"input", "output", "arguments"})
"""Members that are opaque where they are objects."""

WORDS = frozenset(
    {
        "AVAILABLE_TOOLS", "DONE", "DSML", "TOOL_CALLS", "TOOL_RESULTS", "action", "additionalProperties",
        "allOf", "antml", "any", "anyOf", "application", "arg_key", "arg_value", "args", "arguments", "array",
        "assistant", "audio", "auto", "base64", "begin", "boolean", "call", "calls", "channel", "code",
        "commentary", "const", "constrain", "content", "data", "default", "description", "end", "endoftext",
        "enum", "eom_id", "eot_id", "error", "event", "false", "final", "function", "function_call",
        "function_calls", "function_results", "functions", "gif", "http", "https", "id", "im_end", "im_start",
        "image", "index", "inner", "input", "integer", "invoke", "items", "jpeg", "json", "key", "maximum",
        "message", "minimax", "minimum", "mp3", "name", "none", "not", "null", "number", "object", "oneOf",
        "output", "parameter", "parameters", "pdf", "png", "properties", "property", "python_tag", "recipient",
        "required", "response", "result", "section", "sep", "start", "strict", "string", "tag", "think",
        "thinking", "thought", "title", "to", "tool", "tool_call", "tool_calls", "tool_code", "tool_name",
        "tool_outputs", "tool_response", "true", "type", "wav", "webp",
    }
)  # fmt: skip
"""Words of schemas and of markup. They are kept wherever they stand."""

_PROTOCOL = re.compile(r"[\w.:/+*#$-]{0,8192}")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"?|[{}\[\]:,]|\n|[^"{}\[\]:,\n]+', re.DOTALL)
_UNIT = re.compile(r"\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL)
_WORD = re.compile(r"(?<!\w)\d[\d.]*(?:[eE][+-]?\d+)?(?!\w)|\w+")
_NUMBER = re.compile(r"\d[\d.]*(?:[eE][+-]?\d+)?")
_DIGIT = re.compile(r"\d")
_LINE = re.compile(r"\s*(?:data|event|id|retry)\s*")

Units = Sequence[str]
"""A text of JSON in pieces that each stand for one character. Without escapes that is the text itself."""


def masked(recording: Recording) -> Recording:
    body = recording.request.body
    masker = Masker(body or b"", *(attempt.body for attempt in recording.attempts))
    request = recording.request
    known = request.conditions.known
    if known is not None:
        known = replace(
            known,
            history=masker.bytes(known.history),
            items={name: masker.bytes(data) for name, data in known.items.items()},
        )
    verdicts = [
        replace(verdict, message=masker.text(verdict.message), path=masker.text(verdict.path))
        for verdict in request.conditions.verdicts
    ]
    conditions = replace(request.conditions, known=known, verdicts=verdicts)
    return replace(
        recording,
        content="masked",
        request=replace(request, body=None if body is None else masker.bytes(body), conditions=conditions),
        attempts=[_attempt(attempt, masker) for attempt in recording.attempts],
        frames=masker.passed(recording.frames),
        end=_end(recording, masker),
    )


def _attempt(attempt: RecordedAttempt, masker: "Masker") -> RecordedAttempt:
    failure = attempt.failure
    if failure is not None:
        failure = replace(failure, message=masker.text(failure.message), details={})
    return replace(
        attempt,
        body=masker.bytes(attempt.body),
        reads=masker.passed(attempt.reads),
        failure=failure,
        told=True,
    )


def _end(recording: Recording, masker: "Masker") -> Any:
    end, fault = recording.end, recording.end.fault
    if fault is not None:
        fault = replace(fault, message=masker.text(fault.message), details={})
    answer = None if end.answer is None else masker.bytes(end.answer)
    warnings = [masker.text(warning) for warning in end.warnings]
    return END.validate_python(replace(end, fault=fault, answer=answer, warnings=warnings))


class Masker:
    def __init__(self, *bodies: bytes) -> None:
        """`bodies`: of the request, whose tools have names, and of what became of it, where they may have others."""
        names = (name for body in bodies for name in _names(body))
        self._words = WORDS.union(*map(_WORD.findall, names))

    def text(self, text: str) -> str:
        return _WORD.sub(self._other, text)

    def _other(self, found: re.Match[str]) -> str:
        word = found[0]
        if word in self._words:
            return word
        return _DIGIT.sub("1", word) if _NUMBER.fullmatch(word) else word.translate(_OTHERS)

    def bytes(self, data: bytes) -> bytes:
        return self._masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")

    def passed(self, passed: Iterable[Passed]) -> list[Passed]:
        """Cut where they were: nothing has another length."""
        pieces = list(passed)
        data = self.bytes(b"".join(piece for _, piece in pieces))
        kept, start = [], 0
        for at, piece in pieces:
            kept.append((at, data[start : start + len(piece)]))
            start += len(piece)
        return kept

    def _masked(self, text: str) -> str:
        """Texts of the same member are masked as one: a name may come in many pieces."""
        tokens = _TOKEN.findall(text)
        said: dict[str, list[int]] = {}
        for at, name in _said(tokens):
            if (
                tokens[at].strip('"') not in self._words
            ):  # else a name that is told whole would join its neighbours
                said.setdefault(name, []).append(at)
        for places in said.values():
            self._mask(tokens, places)
        return "".join(tokens)

    def _mask(self, tokens: list[str], places: list[int]) -> None:
        pieces = [_Piece.of(tokens[at]) for at in places]
        other = self.text("".join(_letters(piece.inside) for piece in pieces))
        start = 0
        for at, (opened, inside, closed) in zip(places, pieces, strict=True):
            end = start + len(inside)
            tokens[at] = opened + _put(inside, other[start:end]) + closed
            start = end


def _said(tokens: list[str]) -> Iterator[tuple[int, str]]:
    """Yields the tokens that say something, each with a name that it shares with those that it goes on from: they
    belong to the same member in events of the same type, behind the same index, and have the same rank among such
    members of their event."""
    stack: list[tuple[str, str, bool]] = []
    """The open objects and lists: which of the two, the member that it belongs to, and whether all in it is content."""
    member, line, index, kind = "", "", "", ""
    times: dict[str, int] = {}
    for at, token in enumerate(tokens):
        opaque = bool(stack) and stack[-1][2]
        in_object = bool(stack) and stack[-1][0] == "{"
        if token in ("{", "["):
            hides = opaque or member in OPAQUE or (token == "{" and in_object and member in OPAQUE_OBJECTS)
            stack.append((token, member, hides))
        elif token in ("}", "]"):
            member = stack.pop()[1] if stack else ""
            if not stack:
                times.clear()
                index = kind = ""
        elif token.startswith('"'):
            if in_object and _next(tokens, at) == ":":
                member = token.strip('"')
                if opaque:
                    yield at, f"@{at}"
            elif opaque or member not in KEPT_VALUES or not _PROTOCOL.fullmatch(token.strip('"')):
                name = f"{kind} {index} {member}"
                times[name] = times.get(name, 0) + 1
                yield at, f"{name} {times[name]}"
            elif member == "type" and len(stack) == 1:
                kind = token
        elif token == "\n":
            line = ""
        elif stack:
            if opaque:
                yield at, f"@{at}"
            elif member in INDEXES and token.strip().isdigit():
                index = token
        elif not line and _LINE.fullmatch(token):
            line = token.strip()
        elif line != "event":
            yield at, f"@{at}"


def _next(tokens: list[str], at: int) -> str:
    """What follows, but for blanks."""
    return next((token for token in tokens[at + 1 : at + 3] if token.strip()), "")


class _Piece(NamedTuple):
    """A token, between the quotation marks that it may have."""

    opened: str
    inside: Units
    closed: str

    @classmethod
    def of(cls, token: str) -> Self:
        units: Units = _UNIT.findall(token) if "\\" in token else token
        opened = '"' if units[0] == '"' else ""
        closed = '"' if opened and len(units) > 1 and units[-1] == '"' else ""
        return cls(opened, units[len(opened) : len(units) - len(closed)], closed)


def _letters(units: Units) -> str:
    return units if isinstance(units, str) else "".join(map(_letter, units))


def _put(units: Units, letters: str) -> str:
    """The letters in the form of the units, of which each is as long as it was."""
    return letters if isinstance(units, str) else "".join(map(_written, units, letters))


def _letter(unit: str) -> str:
    """What a unit of a JSON text stands for, as far as it matters: other escapes are no letters."""
    if len(unit) == 6:
        return chr(int(unit[2:], 16))
    return unit if len(unit) == 1 else " "


def _written(unit: str, letter: str) -> str:
    if len(unit) == 1:
        return letter
    return f"\\u{ord(letter):04x}" if len(unit) == 6 and ord(letter) < 0x10000 else unit


class _Others(dict[int, str]):
    """Maps each letter to another one of as many bytes."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        if letter.isascii():
            return (
                "1" if letter.isdigit() else "X" if letter.isupper() else "x" if letter.isalpha() else letter
            )
        if letter < "\u0800":
            return "é"
        return "字" if letter < "\U00010000" else "𐐨"


_OTHERS = _Others()


def _names(body: bytes) -> Iterator[str]:
    """The names of tools, of their parameters, and the values that a schema lists."""
    try:
        asked = jsontext.strict(body)
    except ValueError:
        return
    for tools in ("tools", "functions", "tool_choice", "function_call", "response_format", "text"):
        if isinstance(asked, dict):
            yield from _named(asked.get(tools))


def _named(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in value.items():
                if name == "properties" and isinstance(inner, dict):
                    yield from inner
                elif (name == "name" and isinstance(inner, str)) or (
                    name == "const" and isinstance(inner, str)
                ):
                    yield inner
                elif name in ("enum", "required") and isinstance(inner, list):
                    yield from (each for each in inner if isinstance(each, str))
                yield from _named(inner)
        case list():
            for inner in value:
                yield from _named(inner)
        case _:
            return
