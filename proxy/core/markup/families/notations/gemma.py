"""Gemma 4 and FunctionGemma: an object without quotes, whose texts stand between two tokens.

    <|tool_call>call:NAME{key:<|"|>text<|"|>,n:1,on:true,list:[<|"|>a<|"|>]}<tool_call|>
    <start_function_call>call:NAME{key:<escape>text<escape>,n:1}<end_function_call>

FunctionGemma loses its opener from the second call on; Gemma 4 behind a thought, and the first token of a text. The
object itself shows that it is whole, so at the end of the text it needs no closer. A token that ends the turn or begins
the tool's answer does as well. FunctionGemma puts numbers between the tokens too, so there the schema decides; and it
decides what a word without quotes is.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from proxy.core.jsontext import BadJson
from proxy.core.markup import bodies, jsonish, values
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, Waiting, waiting
from proxy.core.markup.jsonish import Notation
from proxy.core.markup.values import Unknown

_NAME: Final = re.compile(r"(?::?\s?call\s?:\s?|:)?(?P<name>[\w./-][\w.:/-]{0,199})\s{0,8}(?=\{)")
_NAME_BEGUN: Final = re.compile(r"(?::?\s?call\s?:?\s?)?[\w.:/-]{0,200}\s{0,8}\Z")
_BETWEEN: Final = re.compile(r"[\s,;]*+")


@dataclass(frozen=True, slots=True)
class _Form:
    opener: str
    closers: tuple[str, ...]
    notation: Notation
    typed: bool
    """Do the tokens stand around whatever is not a list or an object?"""
    reopener: str = ""
    """What the model begins its next call with, where it forgets the opener."""
    first: tuple[str, ...] = ()
    """What it begins a reply with, where it forgets the opener. Then one of the tokens has to be in the call."""


_GEMMA: Final = _Form(
    "<|tool_call>",
    ("<tool_call|>", "<turn|>", "<|tool_response>"),
    jsonish.notation(quote='<|"|>', bare_text=True),
    False,
    first=("call:",),
)
_FUNCTION_GEMMA: Final = _Form(
    "<start_function_call>",
    ("<end_function_call>", "<start_function_response>", "<end_of_turn>"),
    jsonish.notation(quote="<escape>", bare_text=True),
    True,
    "call:",
)


def _read(form: _Form, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    opened = bodies.follows(text, at, (form.opener,))
    block = _section(form, text, opened or at, at, ended, tools)
    if (
        opened is None
        and isinstance(block, Block)
        and (form.notation.quote or "") not in text[at : block.end]
    ):
        return None
    while form.reopener and isinstance(block, Block):
        start = bodies.after_blank(text, block.end)
        if not ended and bodies.may_follow(text, start, (form.reopener,)):
            return MORE
        more = (
            _section(form, text, start, at, ended, tools) if text.startswith(form.reopener, start) else None
        )
        if not isinstance(more, Block):
            return more or block
        block = Block(more.end, block.calls + more.calls)
    return block


def _section(form: _Form, text: str, start: int, at: int, ended: bool, tools: Tools) -> Verdict:
    """Reads the calls up to a closer."""
    position = bodies.after_blank(text, start)
    calls: list[Recovered] = []
    named: re.Match[str] | None = None
    whole = position
    while named := _NAME.match(text, position):
        found = jsonish.scan(text, named.end(), form.notation)
        if found.missing:
            return (
                _waiting(calls, named["name"], text, at, tools)
                if found.stop == len(text) and not ended
                else None
            )
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
    return MORE if may_go_on and not ended else None


def _waiting(calls: list[Recovered], name: str, text: str, at: int, tools: Tools) -> Waiting:
    return waiting(tools, [*(call.name for call in calls), name], len(text) - at)


def _arguments(form: _Form, name: str, written: str, tools: Tools) -> str | None:
    try:
        raw: Any = jsonish.parse(written, form.notation)
    except BadJson:
        return None
    schema = tools.schema(name)
    return values.written(_typed(form, raw, schema, schema)) if isinstance(raw, dict) else None


def _typed(form: _Form, raw: Any, declared: Any, root: values.Schema) -> Any:
    """Gives every word without quotes the type that the schema declares for its place."""
    match raw:
        case {jsonish.BARE: str(word)}:
            return values.convert(word, declared, root) if values.admitted(declared, root) else _plain(word)
        case dict():
            known = values.properties(declared) if isinstance(declared, Mapping) else {}
            return {key: _typed(form, value, known.get(key), root) for key, value in raw.items()}
        case list():
            items = declared.get("items") if isinstance(declared, Mapping) else None
            return [_typed(form, value, items, root) for value in raw]
        case str() if form.typed:
            return values.convert(raw, declared, root, Unknown.JSON)
        case _:
            return raw


def _plain(word: str) -> Any:
    """Reads a word of which nothing is declared."""
    try:
        return jsonish.parse(word)
    except BadJson:
        return word


FORMATS: Final = tuple(
    Format(
        name,
        Tier.WRAPPED,
        (form.opener,),
        partial(_read, form),
        form.closers,
        first=form.first,
        leftovers=form.closers[:1],
    )
    for name, form in (("gemma4", _GEMMA), ("functiongemma", _FUNCTION_GEMMA))
)
