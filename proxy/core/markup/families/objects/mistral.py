"""Mistral: a token and JSON, with no token at the end but that of the turn, `</s>`.

    [TOOL_CALLS] [{"name": NAME, "arguments": {...}}, ...]                  (older; sometimes followed by [/TOOL_CALLS])
    [TOOL_CALLS]NAME[ARGS]{json}   [TOOL_CALLS]NAME{json}                   (newer; once for each call)

The newer form may have `[CALL_ID]...` before the arguments. At the end of the text a tool that
needs no arguments may have none, [TOOL_CALLS]NAME. Exactly one JSON value is read; text may follow it.
"""

import re
from typing import Any, Final

from proxy.core.jsontext import BadJson
from proxy.core.markup import bodies, jsonish, values
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting

_OPENERS: Final = ("[TOOL_CALLS]", "[TOOL_CALL]")
_CLOSERS: Final = ("[/TOOL_CALLS]", "[/TOOL_CALL]", "</s>")
_NAME: Final = re.compile(
    r"(?P<name>[^\s\[\]{}()<>\"'`,;]{1,200})\s{0,8}(?:\[CALL_ID\][\w-]{0,64}\s{0,8})?(?:\[ARGS\]\s{0,8})?(?=\{)"
)
_ALONE: Final = re.compile(r"(?P<name>[^\s\[\]{}()<>\"'`,;]{1,200})\s{0,8}(?P<end>(?:\[ARGS\])?)\s*+")
_NAME_BEGUN: Final = re.compile(
    r"[^\s\[\]{}()<>\"'`,;]{0,200}\s{0,8}(?:\[(?:[A-Z_]{0,7}|CALL_ID\][\w-]{0,64}\s{0,8}(?:\[[A-Z]{0,4}\]?\s{0,8})?|ARGS\]\s{0,8}))?\Z"
)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    start = bodies.after_blank(text, bodies.follows(text, at, _OPENERS) or at)
    named = _NAME.match(text, start)
    value_at = named.end() if named else start
    if not bodies.begins(text, value_at):
        if ended:
            return _without_arguments(text, bodies.follows(text, at, _OPENERS) or at, tools)
        return MORE if _NAME_BEGUN.match(text, value_at) else None
    found = jsonish.scan(text, value_at)
    if found.missing:
        if ended or found.stop < len(text):
            return None
        if named is None:
            return bodies.going_on(text, at, value_at, tools)
        return waiting(tools, [named["name"]], len(text) - at)
    try:
        value = jsonish.parse(text[value_at : found.stop])
        calls = _calls(named["name"] if named else None, value, tools)
    except (BadJson, bodies.OnlyDeclared):
        return None
    if not calls:
        return None
    after = bodies.after_blank(text, found.stop)
    if not ended and (after == len(text) or bodies.may_follow(text, after, _CLOSERS)):
        return MORE
    return Block(bodies.follows(text, after, _CLOSERS) or found.stop, calls)


def _without_arguments(text: str, start: int, tools: Tools) -> Block | None:
    """Reads the name of a tool that needs no arguments, at the end of the text."""
    alone = _ALONE.fullmatch(text, start)
    if not alone or alone["name"] not in tools.schemas or values.required(tools.schemas[alone["name"]]):
        return None
    return Block(alone.end("end"), (Recovered(alone["name"], "{}"),))


def _calls(name: str | None, value: Any, tools: Tools) -> tuple[Recovered, ...]:
    if name is None:
        return bodies.calls_in(value, tools)
    arguments = values.written(value) if isinstance(value, dict) else None
    return (Recovered(name, arguments),) if arguments is not None else ()


FORMATS: Final = (Format("mistral", Tier.ALWAYS, _OPENERS, _read, ("}", "]"), leftovers=_CLOSERS),)
