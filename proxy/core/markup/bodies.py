"""The reader shared by the formats whose calls are JSON between two markers.

It reads one object, several, or an array, whatever the markers. The function's name and arguments may stand under any
of the keys that models use for them; the arguments may be an object or the text of one. It forgives a code fence around
it all, and brackets too many, or one too few, right before the closer.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from proxy.core.jsontext import BadJson
from proxy.core.markup import jsonish, values
from proxy.core.markup.formats import MORE, Block, Recovered, Tools, Verdict, Waiting, waiting

_NAMES: Final = ("name", "tool_name", "function_name", "function", "tool")
_ARGUMENTS: Final = ("arguments", "parameters", "args", "tool_input", "input", "kwargs")
_OF_A_SCHEMA: Final = frozenset(
    (
        "type",
        "properties",
        "$ref",
        "required",
        "$schema",
        "$defs",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
    )
)
"""Keys that a schema has. Where the tool has no such parameter, they tell a declaration from a call."""
_BESIDE_A_SCHEMA: Final = ("description", "input_schema")
_ABOUT_THE_CALL: Final = frozenset(("id", "type", "index", "call_id", "tool_call_id"))
"""Keys beside the name that hold no arguments."""

_BLANK: Final = re.compile(r"\s*+")
_STRAY: Final = re.compile(r"[\s}\];,]*+")
_NAMED: Final = re.compile(
    rf"""\{{\s{{0,64}}["'](?:{"|".join(_NAMES)})["']\s{{0,8}}:\s{{0,8}}["']([^"'\\\n{{}}]{{1,200}})["']"""
)
_KEYED: Final = re.compile(r"""(?<![:\w])[\[{,]\s{0,64}["']([^"'\\\n{}]{1,200})["']\s{0,8}:\s{0,8}\{""")
"""Matches the name of a call in JSON that has not ended yet."""
_BEGINS: Final = re.compile(r"(?:\[[\s\[]*+)?(?:\Z|\{{1,2}\s*+(?:\Z|[\"'}]|[\w$-]{1,64}+\s*+(?:\Z|[:=])))")
"""Matches JSON that may hold objects, as far as it is there. What follows a bracket is prose otherwise."""
_FENCE: Final = re.compile(r"```(?:json|tool_call|tool_code)?[^\S\n]*\n?|`(?=[\[{])")
_FENCE_BEGUN: Final = re.compile(r"`{1,3}[a-z_]*\Z")
_FENCE_END: Final = re.compile(r"`{1,3}")
REPAIRED: Final = ("", "}")
"""Brackets that JSON may lack: the last one of an object. Where there are more, its arguments were cut."""


def begins(text: str, at: int) -> bool:
    """May JSON with calls begin here?"""
    return text.startswith(("{", "["), at) and _BEGINS.match(text, at) is not None


class Objects(Enum):
    """What the objects of a family are."""

    NAMED = "a name, mostly with arguments"
    WITH_ARGUMENTS = "a name and arguments, in whatever form"
    WHOLE = "a name and an object of arguments"
    KEYED = "a name → arguments"
    EITHER = "a name and arguments, or a declared name → arguments"


class OnlyDeclared(Exception):
    """Tools are declared here, and none is called."""


class Unended(Exception):
    """The text stopped before the block did: only more of it can tell."""


def behind(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Returns where the match at `at` ends, or `at` where there is none."""
    found = pattern.match(text, at)
    return found.end() if found else at


def after_blank(text: str, at: int) -> int:
    return behind(_BLANK, text, at)


def after_stray(text: str, at: int) -> int:
    """Skips the blanks, and the brackets that are too many."""
    return behind(_STRAY, text, at)


def object_text(text: str) -> str | None:
    """Returns the JSON object that the text is, or that the JSON string in it holds. None if it is neither."""
    try:
        value = jsonish.parse(text)
        if isinstance(value, str):
            value = jsonish.parse(value)
    except BadJson:
        return None
    return values.written(value) if isinstance(value, dict) else None


def calls_in(value: Any, tools: Tools, objects: Objects = Objects.NAMED) -> tuple[Recovered, ...]:
    """Returns the calls that a JSON value describes, and leaves out what is no call.

    Raises OnlyDeclared where a tool is only declared: all else that stands beside it is as well, however little it
    says."""
    found: list[Recovered] = []
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, dict):
            found += _keyed(entry, tools) if _is_keyed(entry, tools, objects) else _one(entry, tools, objects)
    return tuple(found)


def _is_keyed(entry: Mapping[str, Any], tools: Tools, objects: Objects) -> bool:
    """Does the object map name → arguments?"""
    if objects is not Objects.EITHER:
        return objects is Objects.KEYED
    return all(tools.declared(key) and isinstance(value, dict) for key, value in entry.items())


def _keyed(entry: Mapping[str, Any], tools: Tools) -> Iterator[Recovered]:
    for name, raw in entry.items():
        if (arguments := _arguments(raw, tools.schema(name))) is not None:
            yield Recovered(name, arguments)


def _one(entry: Mapping[str, Any], tools: Tools, objects: Objects) -> Iterator[Recovered]:
    if isinstance(inner := entry.get("function"), dict):
        entry = inner
    naming = next((key for key in _NAMES if isinstance(entry.get(key), str)), None)
    holding = next((key for key in _ARGUMENTS if key in entry), None)
    if naming is None:
        return
    arguments, schema = None, tools.schema(entry[naming])
    if objects is Objects.WHOLE and not (holding and isinstance(entry[holding], dict)):
        return
    if holding is None and objects is not Objects.WITH_ARGUMENTS:
        beside = {key: value for key, value in entry.items() if key != naming and key not in _ABOUT_THE_CALL}
        arguments = _beside(beside, schema)
    elif holding:
        if holding != "arguments" and _is_schema(entry[holding], entry, schema):
            raise OnlyDeclared
        arguments = _arguments(entry[holding], schema)
    if arguments is not None:
        yield Recovered(entry[naming], arguments)


def _is_schema(value: Any, entry: Mapping[str, Any], schema: values.Schema) -> bool:
    """Is a tool declared here and not called? Models quote the prompt that lists the tools."""
    if any(key in entry for key in _BESIDE_A_SCHEMA):
        return True
    return isinstance(value, dict) and bool((value.keys() & _OF_A_SCHEMA) - values.properties(schema).keys())


def _beside(fields: Mapping[str, Any], schema: values.Schema) -> str | None:
    """Returns keys that stand beside the name as arguments, if the tool has such parameters."""
    return values.written(fields) if not fields or values.fit(set(fields), schema) else None


def _arguments(raw: Any, schema: values.Schema) -> str | None:
    match raw:
        case dict():
            return values.written(raw)
        case None | "":
            return "{}"
        case str():
            return object_text(raw) or only_text(raw, schema)
        case _:
            return None


def only_text(text: str, schema: values.Schema) -> str | None:
    """Returns the argument of a tool that takes one text and nothing else, as the functions do that stand for custom
    tools."""
    match list(values.properties(schema).items()):
        case [(key, declared)] if "string" in values.admitted(declared, schema):
            return None if text.lstrip().startswith(("{", "[")) else values.written({key: text})
        case _:
            return None


def follows(text: str, at: int, literals: tuple[str, ...]) -> int | None:
    """Returns where the first of these literals that stands here ends."""
    return next((at + len(literal) for literal in literals if text.startswith(literal, at)), None)


def may_follow(text: str, at: int, literals: tuple[str, ...]) -> bool:
    """May the rest of the text still become one of these literals?"""
    return any(len(text) - at < len(literal) and literal.startswith(text[at:]) for literal in literals)


@dataclass(frozen=True, slots=True)
class Markers:
    """The markers around the JSON."""

    openers: tuple[str, ...]
    closers: tuple[str, ...] = ()
    """Without any, the block ends with its JSON."""
    strict: bool = True
    """Must a block have its closer? Otherwise the end of the text, or the next opener, does as well."""
    objects: Objects = Objects.NAMED
    inside: bool = False
    """Does the opener belong to the JSON?"""


def read(markers: Markers, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """Reads the block that begins at `at` with an opener."""
    unended: Verdict = None if ended else MORE
    opened = at if markers.inside else follows(text, at, markers.openers)
    if opened is None:  # a long opener, of which only the start was shown
        return unended
    position = at if markers.inside else after_blank(text, opened)
    if text.startswith("`", position):
        if _FENCE_BEGUN.match(text, position):
            return unended
        position = after_blank(text, behind(_FENCE, text, position))
    if position == len(text):
        return unended
    pieces: list[str] = []
    end, whole = position, True
    while whole and begins(text, position) and (markers.closers or not pieces):
        found = jsonish.scan(text, position)
        if found.missing and found.stop == len(text):
            keyed = markers.objects is Objects.KEYED
            return None if ended else going_on(text, at, position, tools, keyed=keyed)
        if found.missing not in REPAIRED:
            return None
        pieces.append(text[position : found.stop] + found.missing)
        whole, end = not found.missing, found.stop
        position = after_stray(text, end)
    if not markers.closers:
        return _bare(pieces, text, end, ended, markers, tools) if whole else None
    closed = follows(text, position, markers.closers)
    if not closed and pieces and (fence := _FENCE_END.match(text, position)):
        end = fence.end()
        position = after_stray(text, end)
        closed = follows(text, position, markers.closers)
    if closed:
        return _block(pieces, closed, markers, tools)
    if not ended and may_follow(text, position, (*markers.closers, *markers.openers)):
        return MORE
    at_end = position == len(text) or follows(text, position, markers.openers)
    return _block(pieces, end, markers, tools) if at_end and whole and not markers.strict else None


def going_on(text: str, at: int, start: int, tools: Tools, *, keyed: bool = False) -> Waiting:
    """Reads the names in JSON that has not ended. An object is one call, a list may hold more."""
    named = _KEYED if keyed else _NAMED
    if text.startswith("{", start) and not keyed:
        first = named.match(text, start)
        return waiting(tools, [first[1]] if first else [], len(text) - at)
    return waiting(tools, (found[1] for found in named.finditer(text, start)), len(text) - at, alone=False)


def _bare(pieces: list[str], text: str, end: int, ended: bool, markers: Markers, tools: Tools) -> Verdict:
    """Reads a block that ends with its JSON. If nothing marks its start either, it may be a piece of larger JSON."""
    if markers.inside:
        position = after_blank(text, end)
        if position == len(text) and not ended:
            return MORE
        if text.startswith(("}", "]", ",", ":"), position):
            return None
    return _block(pieces, end, markers, tools)


def _block(pieces: list[str], end: int, markers: Markers, tools: Tools) -> Block | None:
    calls: list[Recovered] = []
    for piece in pieces:
        try:
            calls += calls_in(jsonish.parse(piece), tools, markers.objects)
        except (BadJson, OnlyDeclared):
            return None
    return Block(end, tuple(calls)) if calls else None
