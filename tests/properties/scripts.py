"""Replies as a model means them, the bytes in which some backend would send each, and what must come of it.

A `Script` is drawn together with its `Dialect`; only combinations are drawn in which the calls can be told apart, so
the expected reply follows from the script alone and shares no rule with the code that reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain, groupby, pairwise
from typing import Any, Literal

from hypothesis import strategies as st

from proxy.core import jsontext
from proxy.core.events import Ending, PartEnded, PartKind
from proxy.core.model import Call, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName
from tests.support.replies import DONE

# ── what a model says ──


@dataclass(frozen=True)
class Said:
    kind: PartKind
    pieces: tuple[str, ...]


@dataclass(frozen=True)
class Called:
    id: str | None
    name: str
    arguments: str
    pieces: tuple[str, ...]
    """The arguments as they are sent; some pieces may be empty."""


@dataclass(frozen=True)
class Dialect:
    """How a backend says which call a fragment belongs to."""

    index: Literal["own", "zero", "none"] = "own"
    ids: Literal["once", "each", "fresh", "none"] = "once"
    """Only at first, in each fragment, another one in each fragment, or never."""
    names: Literal["once", "each", "pieces", "late"] = "once"
    interleaves: bool = False


DIALECTS = [
    *(Dialect("own", ids, "once", mix) for ids in ("once", "each", "fresh", "none") for mix in (False, True)),
    *(Dialect("own", ids, "each", mix) for ids in ("once", "each", "none") for mix in (False, True)),
    *(Dialect("own", ids, names) for ids in ("once", "each", "none") for names in ("pieces", "late")),
    *(Dialect(index, "once", names) for index in ("zero", "none") for names in ("once", "pieces")),
    *(
        Dialect(index, "each", names, mix)
        for index in ("zero", "none")
        for names in ("once", "each")
        for mix in (False, True)
    ),
    *(Dialect(index, "none", "once") for index in ("zero", "none")),
]


@dataclass(frozen=True)
class Syntax:
    """How its events look on the wire."""

    line_end: bytes = b"\n"
    space: bytes = b" "
    comment: bytes = b""
    """Between any two events."""
    two_lines: bool = False
    """Does the data of each event come in two lines?"""
    mark: bytes = b""
    role_first: bool = True
    nulls: bool = False
    """Does each delta carry what it does not say, as null?"""


@dataclass(frozen=True)
class Script:
    segments: tuple[Said | tuple[Called, ...], ...]
    dialect: Dialect
    finish: str | None
    end: bytes
    """`[DONE]`, an error, or nothing."""
    usage: Literal["no", "after", "within", "always"]
    syntax: Syntax
    shuffle: tuple[int, ...]
    """Whose turn it is where calls interleave."""

    @property
    def calls(self) -> list[Called]:
        return [call for segment in self.segments if isinstance(segment, tuple) for call in segment]


# ── what must come of it ──

TOLD = {
    "stop": Ending.COMPLETED,
    "tool_calls": Ending.COMPLETED,
    "length": Ending.MAX_TOKENS,
    "content_filter": Ending.FILTERED,
}
PROSE = {PartKind.TEXT: Text, PartKind.REASONING: Reasoning, PartKind.REFUSAL: Refusal}
CUSTOM = "apply_patch"
ERROR = b'data: {"error":{"message":"Overheated.","type":"server_error"}}\n\n'


def expected_parts(script: Script) -> list[ReplyPart]:
    parts: list[ReplyPart] = []
    flat = [
        part
        for segment in script.segments
        for part in (segment if isinstance(segment, tuple) else (segment,))
    ]
    for kind, group in groupby(flat, key=lambda part: part.kind if isinstance(part, Said) else None):
        if kind is None:
            parts += (_expected_call(call) for call in group)
        else:
            parts.append(PROSE[kind]("".join(piece for said in group for piece in said.pieces)))
    return parts


def _expected_call(call: Called) -> Call:
    custom = call.name == CUSTOM
    text = jsontext.loads(call.arguments)["input"] if custom else call.arguments or "{}"
    return Call(call.id or "", ToolName(call.name), ToolKind.CUSTOM if custom else ToolKind.FUNCTION, text)


def expected(script: Script) -> tuple[list[PartEnded], Ending]:
    parts = expected_parts(script)
    answered = any(not isinstance(part, Reasoning) for part in parts)
    proved = script.finish is not None or (script.end == DONE and bool(parts))
    if script.end == ERROR or not proved:
        return _cut(parts), Ending.FAILED
    ending = TOLD[script.finish or "stop"]
    if ending is Ending.COMPLETED:
        enough = answered or (
            bool(parts) and script.finish is not None
        )  # V21: thoughts alone, if it says it is done
        return [PartEnded(part, True) for part in parts], ending if enough else Ending.FAILED
    whole_call = bool(parts) and isinstance(parts[-1], Call)
    return ([PartEnded(part, True) for part in parts] if whole_call else _cut(parts)), ending


def _cut(parts: list[ReplyPart]) -> list[PartEnded]:
    """The last part was still open."""
    return [PartEnded(part, number < len(parts)) for number, part in enumerate(parts, 1)]


def comparable(parts: Sequence[PartEnded], script: Script) -> list[PartEnded]:
    """Ids that had to be made up are as good as any, and what is seen of half a custom call is not promised."""
    said = {call.id for call in script.calls}
    return [_comparable(ended, said) for ended in parts]


def _comparable(ended: PartEnded, said: set[str | None]) -> PartEnded:
    call = ended.part
    if isinstance(call, Call) and call.call_id not in said:
        call = replace(call, call_id="")
    if isinstance(call, Call) and call.kind is ToolKind.CUSTOM and not ended.complete:
        call = replace(call, arguments="")
    return replace(ended, part=call)


# ── what a backend sends ──


def fragments(call: Called, index: int, dialect: Dialect) -> list[dict[str, Any]]:
    """The entries of `tool_calls` in which one call comes."""
    pieces = list(call.pieces)
    names: list[str | None] = [None] * len(pieces)
    match dialect.names:
        case "once":
            names[0] = call.name
        case "each":
            names = [call.name] * len(pieces)
        case "late":
            names[-1] = call.name
        case "pieces":
            middle = len(call.name) // 2
            pieces = ["", "", *pieces]
            names = [call.name[:middle], call.name[middle:], *names]
    entries = []
    for number, (name, arguments) in enumerate(zip(names, pieces, strict=True)):
        entry: dict[str, Any] = {"function": {"arguments": arguments} | ({"name": name} if name else {})}
        if dialect.index != "none":
            entry["index"] = index if dialect.index == "own" else 0
        if dialect.ids == "each" or (dialect.ids in ("once", "fresh") and number == 0):
            entry["id"] = call.id
        elif dialect.ids == "fresh":
            entry["id"] = f"{call.id}-{number}"
        entries.append(entry)
    return entries


def interleaved(queues: list[list[dict[str, Any]]], turns: Sequence[int]) -> list[dict[str, Any]]:
    """Calls begin in order; between that they take turns, and what is left then follows."""
    mixed: list[dict[str, Any]] = []
    begun = 0
    for turn in (0, *turns):
        if turn == 0 and begun < len(queues):
            mixed.append(queues[begun].pop(0))
            begun += 1
        elif queue := queues[turn % begun]:
            mixed.append(queue.pop(0))
    return [*mixed, *chain(*queues)]


def chunks(script: Script) -> list[dict[str, Any]]:
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}] if script.syntax.role_first else []
    member = {PartKind.TEXT: "content", PartKind.REASONING: "reasoning_content", PartKind.REFUSAL: "refusal"}
    index = 0
    for segment in script.segments:
        if isinstance(segment, Said):
            deltas += ({member[segment.kind]: piece} for piece in segment.pieces)
            continue
        queues = [fragments(call, index + number, script.dialect) for number, call in enumerate(segment)]
        index += len(segment)
        entries = interleaved(queues, script.shuffle if script.dialect.interleaves else ())
        deltas += ({"tool_calls": [entry]} for entry in entries)
    if script.syntax.nulls:
        nothing = dict.fromkeys(("content", "refusal", "reasoning_content", "tool_calls", "function_call"))
        deltas = [nothing | delta for delta in deltas]
    made = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if script.finish is not None:
        made.append({"choices": [{"index": 0, "delta": {}, "finish_reason": script.finish}]})
    return _with_usage(made, script.usage)


USAGE = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}


def _with_usage(made: list[dict[str, Any]], usage: str) -> list[dict[str, Any]]:
    match usage:
        case "after":
            return [*made, {"choices": [], "usage": USAGE}]
        case "within":
            return [*made[:-1], *({**chunk, "usage": USAGE} for chunk in made[-1:])]
        case "always":
            return [{**chunk, "usage": USAGE} for chunk in made]
    return made


def wire(script: Script) -> bytes:
    syntax = script.syntax
    start = b"data:" + syntax.space
    between = b",\n" + start if syntax.two_lines else b","
    events = [
        start + b'{"id":"c"' + between + jsontext.dumps(chunk)[1:] + b"\n\n" for chunk in chunks(script)
    ]
    whole = syntax.comment.join([b"", *events, script.end])
    return syntax.mark + whole.replace(b"\n", syntax.line_end)


def body(script: Script) -> bytes:
    """The same as one JSON object, for a script whose parts stand in the order that such an object has."""
    message: dict[str, Any] = {"role": "assistant", "content": None}
    for part in expected_parts(script):
        match part:
            case Reasoning(text):
                message["reasoning_content"] = text
            case Text(text):
                message["content"] = text
    if script.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in script.calls
        ]
    choice = {"index": 0, "message": message, "finish_reason": script.finish}
    usage = {} if script.usage == "no" else {"usage": USAGE}
    return jsontext.dumps({"id": "c", "object": "chat.completion", "choices": [choice], **usage})


# ── strategies ──

pieces_of_text = st.lists(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8), min_size=1, max_size=4
)
letters = st.text('ab \n"\\é😀{}', max_size=12)
objects = st.dictionaries(
    letters, st.one_of(letters, st.integers(-9, 9), st.none(), st.lists(letters, max_size=2)), max_size=3
)


@st.composite
def said(draw: st.DrawFn, kind: PartKind) -> Said:
    """Begins with a visible character: how blanks and tags at the start are read is a matter of its own."""
    first, *rest = draw(pieces_of_text)
    return Said(kind, (f"A{first}", *rest))


@st.composite
def called(draw: st.DrawFn, number: int, dialect: Dialect) -> Called:
    names = ["get_weather", "get_time", CUSTOM, *(["lookup"] if not dialect.interleaves else [])]
    name = draw(st.sampled_from(names))
    value = {"input": draw(letters)} if name == CUSTOM else draw(objects)
    arguments = jsontext.compact(value)
    at = sorted(draw(st.lists(st.integers(1, len(arguments) - 1), max_size=4)))
    pieces = [arguments[a:b] for a, b in pairwise([0, *at, len(arguments)]) if a < b]
    if dialect.ids != "none" and dialect.names == "once" and draw(st.booleans()):
        pieces.insert(0, "")
    return Called(None if dialect.ids == "none" else f"call_{number}", name, arguments, tuple(pieces))


@st.composite
def scripts(draw: st.DrawFn, canonical: bool = False) -> Script:
    """`canonical`: reasoning, text, calls, in this order, as one JSON object would have them; and well ended."""
    dialect = draw(st.sampled_from(DIALECTS))
    segments: list[Said | tuple[Called, ...]] = []
    number = 0
    if canonical:
        shapes = [kind for kind in (PartKind.REASONING, PartKind.TEXT, PartKind.CALL) if draw(st.booleans())]
    else:
        shapes = draw(
            st.lists(st.sampled_from([*PROSE, PartKind.TEXT, PartKind.CALL, PartKind.CALL]), max_size=5)
        )
    for shape in shapes:
        if shape is PartKind.CALL:
            count = draw(st.integers(1, 3))
            segments.append(tuple(draw(called(number + place, dialect)) for place in range(count)))
            number += count
        else:
            segments.append(draw(said(shape)))
    return Script(
        segments=tuple(segments),
        dialect=dialect,
        finish=draw(
            st.sampled_from(
                ["stop", "tool_calls"]
                if canonical
                else ["stop", "tool_calls", "length", "content_filter", None]
            )
        ),
        end=draw(st.sampled_from([DONE, b""] if canonical else [DONE, DONE, b"", ERROR])),
        usage=draw(st.sampled_from(["no", "after", "within", "always"])),
        syntax=draw(syntaxes),
        shuffle=tuple(draw(st.lists(st.integers(0, 5), max_size=30))),
    )


syntaxes = st.builds(
    Syntax,
    line_end=st.sampled_from([b"\n", b"\r\n", b"\r"]),
    space=st.sampled_from([b" ", b""]),
    comment=st.sampled_from([b"", b": ping\n\n", b"\n\n", b"id: 1\nretry: 5\n\n"]),
    two_lines=st.booleans(),
    mark=st.sampled_from([b"", b"\xef\xbb\xbf", b"\r\n"]),
    role_first=st.booleans(),
    nulls=st.booleans(),
)
