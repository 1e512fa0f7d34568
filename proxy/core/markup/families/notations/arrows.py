"""MiniMax 2.5 and 2.7 and what imitates them: a list of flags, or of arrows, in brackets.

    [TOOL_CALL]
    {tool => "NAME", args => {
      --KEY "value"
      --KEY 5
      --KEY
    }}
    [/TOOL_CALL]

An arrow may be a colon or a sign of equality, and the flags may be keys with arrows. A flag without a value is true.
The same brackets may hold `invoke` elements, and JSON, which is read where Mistral's is.
"""

import re
from functools import partial
from typing import Any, Final

from proxy.core.jsontext import BadJson
from proxy.core.markup import bodies, jsonish, tagged, values
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting
from proxy.core.markup.shapes import (
    any_tag,
    attributes,
    begun,
    blanks,
    either,
    literal,
    maybe,
    named,
    sequence,
    shape,
    signs,
    value,
)
from proxy.core.markup.tagged import TagGrammar
from proxy.core.markup.values import Unknown

_OPENERS: Final = ("[TOOL_CALL]", "[TOOL_CALLS]")
_CLOSERS: Final = ("[/TOOL_CALL]", "[/TOOL_CALLS]")
_MARK: Final = maybe(literal('"'))
_ARROW: Final = either(literal("=>"), literal(":"), literal("="))
_HEAD: Final = shape(
    literal("{"), blanks(64), _MARK, literal("tool"), _MARK, blanks(8), _ARROW, blanks(8),
    literal('"'), named("name", signs(r'[^"\\\n]', 200)), literal('"'), blanks(64),
)  # fmt: skip
_ARGS: Final = shape(
    maybe(literal(",")), blanks(64), _MARK, literal("args"), _MARK, blanks(8), _ARROW, blanks(64), literal("{")
)  # fmt: skip
_END: Final = shape(maybe(literal(",")), blanks(64), literal("}"))
_BETWEEN: Final = re.compile(r"[\s,]*+")
_KEY: Final = re.compile(
    r"(?:--(?P<flag>[\w.-]{1,200})|\"(?P<quoted>[^\"\\\n]{1,200})\"|(?P<bare>[A-Za-z_][\w.-]{0,199}))(?=[^\w.-])"
)
_KEY_BEGUN: Final = re.compile(r"(?:-{1,2}[\w.-]{0,200}|\"[^\"\\\n]{0,200}\"?|[A-Za-z_][\w.-]{0,199})?\Z")
_IS: Final = re.compile(r"\s{0,8}(?:=>|:|=(?=[^>]))\s{0,64}")
_IS_BEGUN: Final = re.compile(r"\s{0,8}(?:=|(?:=>|:)\s{0,64})?\Z")
_STRING: Final = re.compile(r"(?s)\"(?:[^\"\\]|\\.)*+\"|'(?:[^'\\]|\\.)*+'")
_STRING_BEGUN: Final = re.compile(r"(?s)(?:\"(?:[^\"\\]|\\.)*+|'(?:[^'\\]|\\.)*+)\\?\Z")
_WORD: Final = re.compile(r"(?:-?\d[\d.eE+-]{0,60}|true|false|null|None|True|False)(?=[\s,}\]])")
_WORD_BEGUN: Final = re.compile(r"[-\d.eE+a-zA-Z]{0,64}\Z")
_NAMED: Final = attributes(literal("name"), value())
_INVOKES: Final = TagGrammar(
    re.compile(
        r"(?P<opened>\[TOOL_CALLS?\])|(?P<closed>\[/TOOL_CALLS?\])"
        rf"|(?P<call><invoke(?P<name>{_NAMED.whole})(?:>|(?=[\n<])))|(?P<called></invoke\s{{0,8}}>)"
        rf"|(?P<parameter><parameter(?P<key>{_NAMED.whole})(?:>|(?=[\n<])))|(?P<given></parameter\s{{0,8}}>)"
    ),
    strict=True,
    may_stay_open=True,
    strip=tagged.paired_newlines,
    begun=begun(any_tag(value()), sequence(literal("["), signs("[/A-Z_]", 12, 0))),
)


class _NoBlock(Exception):
    """The text contradicts the notation."""


class _Reader:
    """Reads the arguments, up to their bracket."""

    def __init__(self, text: str, at: int, schema: values.Schema) -> None:
        self._text = text
        self._at = at
        self._schema = schema

    def arguments(self) -> tuple[dict[str, Any], int]:
        found: dict[str, Any] = {}
        known = values.properties(self._schema)
        while True:
            self._at = bodies.behind(_BETWEEN, self._text, self._at)
            if self._text.startswith("}", self._at):
                return found, self._at + 1
            key = self._match(_KEY, _KEY_BEGUN)
            name = key["flag"] or key["quoted"] or key["bare"]
            found[name] = self._value(known.get(name), flag=key["flag"] is not None)

    def _value(self, declared: Any, *, flag: bool) -> Any:
        if flag:
            self._at = bodies.after_blank(self._text, self._at)
            if self._text.startswith(("--", "}"), self._at):
                return True
        else:
            self._match(_IS, _IS_BEGUN)
        if self._text.startswith(('"', "'"), self._at):
            text = jsonish.parse(self._match(_STRING, _STRING_BEGUN)[0])
            return values.convert(text, declared, self._schema)
        if self._text.startswith(("{", "["), self._at):
            return self._nested()
        return values.convert(self._match(_WORD, _WORD_BEGUN)[0], declared, self._schema, Unknown.JSON)

    def _nested(self) -> Any:
        found = jsonish.scan(self._text, self._at)
        if found.missing:
            raise bodies.Unended if found.stop == len(self._text) else _NoBlock
        value = jsonish.parse(self._text[self._at : found.stop])
        self._at = found.stop
        return value

    def _match(self, whole: re.Pattern[str], begun: re.Pattern[str]) -> re.Match[str]:
        found = whole.match(self._text, self._at)
        if found is None:
            raise bodies.Unended if begun.match(self._text, self._at) else _NoBlock
        self._at = found.end()
        return found


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    start = bodies.after_blank(text, bodies.follows(text, at, _OPENERS) or at)
    head = _HEAD.whole.match(text, start)
    if head is None:
        return MORE if not ended and _HEAD.begun.match(text, start) else None
    try:
        return _block(text, head, ended, tools)
    except (_NoBlock, BadJson):
        return None
    except bodies.Unended:
        return None if ended else waiting(tools, [head["name"]], len(text) - at)


def _block(text: str, head: re.Match[str], ended: bool, tools: Tools) -> Block | None:
    arguments: dict[str, Any] = {}
    position = head.end()
    if args := _ARGS.whole.match(text, position):
        arguments, position = _Reader(text, args.end(), tools.schema(head["name"])).arguments()
    position = bodies.after_blank(text, position)
    end = _END.whole.match(text, position)
    if end is None:
        begun = _END.begun.match(text, position) or (not args and _ARGS.begun.match(text, position))
        raise bodies.Unended if begun else _NoBlock
    after = bodies.after_blank(text, end.end())
    written = values.written(arguments)
    if written is None:
        return None
    call = Recovered(head["name"], written)
    if closed := bodies.follows(text, after, _CLOSERS):
        return Block(closed, (call,))
    if not ended and bodies.may_follow(text, after, _CLOSERS):
        raise bodies.Unended
    return Block(end.end(), (call,)) if after == len(text) else None


FORMATS: Final = (
    Format("arrows", Tier.WRAPPED, _OPENERS, _read, _CLOSERS, leftovers=_CLOSERS),
    Format(
        "arrows-invoke", Tier.WRAPPED, _OPENERS, partial(tagged.read, _INVOKES), _CLOSERS, leftovers=_CLOSERS
    ),
)
