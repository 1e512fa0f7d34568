"""Calls whose parameters are elements named by their keys.

Anthropic's oldest prompts:

    <function_calls><invoke><tool_name>NAME</tool_name><parameters><KEY>value</KEY></parameters></invoke></function_calls>

Cline and Roo, optional because anything can be such an element:

    <NAME><KEY>value</KEY></NAME>        or <NAME>{json}</NAME>

A value is verbatim, and ends with the closer of its key if another element or the closer of the call follows.
"""

import re
from typing import Final

from proxy.core.markup import bodies, jsonish, tagged, values
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting
from proxy.core.markup.values import Pair

_KEY: Final = re.compile(r"<(?P<key>[^\W\d][\w.-]{0,99})>")
_BEGUN: Final = re.compile(r"(?:<[^<>\n]{0,200})?\Z")
_INVOKE: Final = re.compile(
    r"\s*+<invoke>\s{0,64}<tool_name>\s{0,64}(?P<name>[^\s<>]{1,200})\s{0,64}</tool_name>\s{0,64}<parameters>"
)
_INVOKE_BEGUN: Final = re.compile(
    r"\s*+(?:<[^<>\n]{0,20})?\Z|\s*+<invoke>\s{0,64}(?:<[^<>\n]{0,20})?\Z"
    r"|\s*+<invoke>\s{0,64}<tool_name>\s{0,64}[^\s<>]{0,200}\s{0,64}(?:</?[a-z_]{0,10}>?\s{0,64}(?:<[a-z]{0,10})?)?\Z"
)
_WRAPPER, _WRAPPER_END = "<function_calls>", "</function_calls>"


def _next(text: str, at: int, ended: bool) -> int:
    start = bodies.after_blank(text, at)
    if _BEGUN.match(text, start):
        raise bodies.Unended
    return start


def _pairs(text: str, at: int, closer: str, ended: bool) -> tuple[list[Pair], int] | None:
    """Returns the elements up to the closer, and where that ends."""
    pairs = []
    position = _next(text, at, ended)
    while not text.startswith(closer, position):
        if not (key := _KEY.match(text, position)):
            return None
        end = tail = key.end()
        while True:
            end = text.find(f"</{key['key']}>", tail)
            if end < 0:
                raise bodies.Unended
            tail = end + len(key["key"]) + 3
            position = _next(text, tail, ended)
            if text.startswith(closer, position) or _KEY.match(text, position):
                break
        pairs.append(Pair(key["key"], tagged.one_newline(text[key.end() : end])))
    return pairs, position + len(closer)


def _read_invokes(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    calls: list[Recovered] = []
    names: list[str] = []
    position = at + len(_WRAPPER)
    try:
        while invoke := _INVOKE.match(text, position):
            names.append(invoke["name"])
            if not (found := _pairs(text, invoke.end(), "</parameters>", ended)):
                return None
            pairs, position = found
            position = _next(text, position, ended)
            schema = tools.schema(invoke["name"])
            arguments = values.arguments(pairs, schema)
            if not text.startswith("</invoke>", position) or arguments is None:
                return None
            calls.append(Recovered(invoke["name"], arguments))
            position += len("</invoke>")
    except bodies.Unended:
        return None if ended else waiting(tools, names, len(text) - at, alone=False)
    after = bodies.after_blank(text, position)
    if calls and text.startswith(_WRAPPER_END, after):
        return Block(after + len(_WRAPPER_END), tuple(calls))
    return MORE if not ended and _INVOKE_BEGUN.match(text, position) else None


def _read_element(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    unended: Verdict = None if ended else MORE
    tag = _KEY.match(text, at)
    if not tag:
        return unended if any(f"<{name}>".startswith(text[at:]) for name in tools.schemas) else None
    name = tag["key"]
    if name not in tools.schemas:
        return None
    closer, schema = f"</{name}>", tools.schemas[name]
    try:
        start = _next(text, tag.end(), ended)
        if text.startswith("{", start):
            return _json_element(name, text, start, closer, ended)
        found = _pairs(text, start, closer, ended)
    except bodies.Unended:
        return unended
    if not found or not {pair.key for pair in found[0]}.issubset(values.properties(schema)):
        return None
    arguments = values.arguments(found[0], schema)
    return None if arguments is None else Block(found[1], (Recovered(name, arguments),))


def _json_element(name: str, text: str, start: int, closer: str, ended: bool) -> Verdict:
    value = jsonish.scan(text, start)
    if value.missing:
        if value.stop == len(text):
            raise bodies.Unended
        return None
    position = _next(text, value.stop, ended)
    arguments = bodies.object_text(text[start : value.stop])
    if arguments is None or not text.startswith(closer, position):
        return None
    return Block(position + len(closer), (Recovered(name, arguments),))


FORMATS: Final = (
    Format(
        "anthropic-oldest",
        Tier.WRAPPED,
        (_WRAPPER,),
        _read_invokes,
        (_WRAPPER_END,),
        leftovers=(_WRAPPER_END,),
    ),
    Format("element", Tier.OPTIONAL, ("<",), _read_element, (">",)),
)
