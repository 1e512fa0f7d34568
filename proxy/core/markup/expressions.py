"""The reader shared by the formats that write calls as Python does: `[f(a=1, b='x'), g()]`.

Nothing is evaluated. An argument list is read as an object whose keys stand before `=` instead of `:`.
"""

import re
from dataclasses import dataclass
from typing import Final

from proxy.core.jsontext import BadJson
from proxy.core.markup import bodies, jsonish, values
from proxy.core.markup.bodies import Markers
from proxy.core.markup.formats import Block, Recovered, Tools, Verdict, waiting

_CALL: Final = re.compile(r"(?P<name>[^\W\d][\w.-]{0,200})\s{0,8}(?=\()")
_NAME_BEGUN: Final = re.compile(r"(?:[^\W\d][\w.-]{0,200}\s{0,8})?\Z")
_BETWEEN: Final = re.compile(r"[\s,;]*+")
_JSON: Final = re.compile(r"\[?\s*+\{")


@dataclass(frozen=True, slots=True)
class ListGrammar:
    openers: tuple[str, ...]
    closers: tuple[str, ...] = ()
    """Without any, the list needs its brackets, and ends with them."""
    echoes: bool = False
    """Does the model repeat the list and its closer?"""


def read(grammar: ListGrammar, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    start = (
        bodies.after_blank(text, bodies.follows(text, at, grammar.openers) or at) if grammar.closers else at
    )
    if grammar.closers and _JSON.match(text, start):
        markers = Markers(grammar.openers, grammar.closers, strict=not text.startswith("[", start))
        return bodies.read(markers, text, at, ended, tools)
    names: list[str] = []
    try:
        block = _block(grammar, text, start, ended, names)
        return _with_echo(grammar, text, start, block, ended) if block and grammar.echoes else block
    except bodies.Unended:
        return None if ended else waiting(tools, names, len(text) - at, alone=False)


def _block(grammar: ListGrammar, text: str, start: int, ended: bool, names: list[str]) -> Block | None:
    """Adds to `names` those of the calls so far, with the one that is being read."""
    bracketed = text.startswith("[", start)
    position = bodies.after_blank(text, start + bracketed)
    calls: list[Recovered] = []
    while call := _CALL.match(text, position):
        names.append(_name(call))
        found = jsonish.scan(text, call.end(), jsonish.PYTHON)
        if found.missing:
            if found.stop == len(text):
                raise bodies.Unended
            return None
        if (one := _recovered(names[-1], text[call.end() + 1 : found.stop - 1])) is not None:
            calls.append(one)
        position = bodies.behind(_BETWEEN, text, found.stop)
    if _NAME_BEGUN.match(text, position):
        raise bodies.Unended
    if bracketed:
        if not text.startswith("]", position):
            return None
        position += 1
    if not grammar.closers:
        return Block(position, tuple(calls)) if calls and bracketed else None
    position = bodies.after_blank(text, position)
    if closed := bodies.follows(text, position, grammar.closers):
        return Block(closed, tuple(calls)) if calls else None
    if not ended and bodies.may_follow(text, position, grammar.closers):
        raise bodies.Unended
    return Block(position, tuple(calls)) if calls and bracketed and position == len(text) else None


def _with_echo(grammar: ListGrammar, text: str, start: int, block: Block, ended: bool) -> Block:
    """Takes the same list and closer once more, if they follow."""
    echo, behind = text[start : block.end], bodies.after_blank(text, block.end)
    if text.startswith(echo, behind) and echo.endswith(grammar.closers):
        return Block(behind + len(echo), block.calls)
    if not ended and echo.startswith(text[behind:]):
        raise bodies.Unended
    return block


def _name(call: re.Match[str]) -> str:
    return call["name"].removesuffix(".call")


def _recovered(name: str, inside: str) -> Recovered | None:
    try:
        value = jsonish.parse(f"{{{inside}}}", jsonish.PYTHON)
    except BadJson:
        return None
    arguments = values.written(value) if isinstance(value, dict) else None
    return Recovered(name, arguments) if arguments is not None else None
