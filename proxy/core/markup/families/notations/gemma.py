"""Gemma 4 and FunctionGemma: an object without quotes, whose texts stand between two tokens.

    <|tool_call>call:NAME{key:<|"|>text<|"|>,n:1,on:true,list:[<|"|>a<|"|>]}<tool_call|>
    <start_function_call>call:NAME{key:<escape>text<escape>,n:1}<end_function_call>

The object itself shows that it is whole, so at the end of the text it needs no closer. A token that ends the turn or
begins the tool's answer does as well. FunctionGemma puts numbers between the tokens too, so there the schema decides.
"""

import re
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from proxy.core.jsontext import BadJson
from proxy.core.markup import bodies, jsonish, values
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict
from proxy.core.markup.jsonish import Notation
from proxy.core.markup.values import Unknown

_NAME: Final = re.compile(r"(?::?\s?call\s?:\s?)?(?P<name>[\w.:/-]{1,200})\s{0,8}(?=\{)")
_NAME_BEGUN: Final = re.compile(r"(?::?\s?call\s?:?\s?)?[\w.:/-]{0,200}\s{0,8}\Z")
_BETWEEN: Final = re.compile(r"[\s,;]*+")


@dataclass(frozen=True, slots=True)
class _Form:
    opener: str
    closers: tuple[str, ...]
    notation: Notation
    typed: bool
    """Do the tokens stand around whatever is not a list or an object?"""


_GEMMA: Final = _Form(
    "<|tool_call>",
    ("<tool_call|>", "<turn|>", "<|tool_response>"),
    jsonish.notation(quote='<|"|>', bare_text=True),
    False,
)
_FUNCTION_GEMMA: Final = _Form(
    "<start_function_call>",
    ("<end_function_call>", "<start_function_response>", "<end_of_turn>"),
    jsonish.notation(quote="<escape>", bare_text=True),
    True,
)


def _read(form: _Form, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    unended: Verdict = None if ended else MORE
    position = bodies.after_blank(text, at + len(form.opener))
    calls: list[Recovered] = []
    whole = position
    while named := _NAME.match(text, position):
        found = jsonish.scan(text, named.end(), form.notation)
        if found.missing:
            return unended if found.stop == len(text) else None
        arguments = _arguments(form, named["name"], text[named.end() : found.stop], tools)
        if arguments is None:
            return None
        calls.append(Recovered(named["name"], arguments))
        whole = found.stop
        position = bodies.behind(_BETWEEN, text, whole)
    if calls and (closed := bodies.follows(text, position, form.closers)):
        behind = bodies.after_blank(text, closed)
        if not ended and bodies.may_follow(text, behind, form.closers[1:]):
            return MORE
        return Block(bodies.follows(text, behind, form.closers[1:]) or closed, tuple(calls))
    if calls and ended and position == len(text):
        return Block(whole, tuple(calls))
    may_go_on = _NAME_BEGUN.match(text, position) or bodies.may_follow(text, position, form.closers)
    return unended if may_go_on else None


def _arguments(form: _Form, name: str, written: str, tools: Tools) -> str | None:
    try:
        raw: Any = jsonish.parse(written, form.notation)
    except BadJson:
        return None
    if form.typed:
        schema = tools.schema(name)
        known = values.properties(schema)
        raw = {
            key: values.convert(value, known.get(key), schema, Unknown.JSON)
            if isinstance(value, str)
            else value
            for key, value in raw.items()
        }
    return values.written(raw)


FORMATS: Final = tuple(
    Format(name, Tier.WRAPPED, (form.opener,), partial(_read, form), form.closers)
    for name, form in (("gemma4", _GEMMA), ("functiongemma", _FUNCTION_GEMMA))
)
