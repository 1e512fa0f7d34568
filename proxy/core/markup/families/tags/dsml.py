"""DeepSeek 3.2 and 4: DSML. With D for the word DSML between two full-width bars:

    <D function_calls>                                (4: tool_calls)
    <D invoke name="NAME">
    <D parameter name="KEY" string="true|false">value</D parameter>
    </D invoke>
    </D function_calls>

without the blanks after D. GigaChat 3.5 writes the same with GCML. The wrapper is often missing, at either end; the
bars come doubled, joined to one character or in ASCII. `string="false"` says that the value is JSON, where the schema
does not say it better. An invoke may be closed in itself, hold one JSON object instead of parameters, or one parameter
`arguments` that is all of them.
A gateway that has parsed the calls can leave a piece of the opening tag behind, and a model may spoil the tag and then
write it, or a call, once more.

A server that takes special tokens out of the text leaves tags as others have them. Their attribute `string` tells them
from those, so some parameter has to have it, and a call without parameters is none.
"""

import re
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import MORE, Block, Format, Tier, Tools, Verdict
from proxy.core.markup.shapes import KEY, attributes, value
from proxy.core.markup.tagged import TagGrammar
from proxy.core.markup.values import Unknown

_D: Final = r"\s?[｜|‖]{1,2}\s?(?:DSML|GCML)\s?[｜|‖]{1,2}\s?"
_SECTION: Final = r"(?:function_calls|tool_calls|tool_call|calls|tool_?\w{0,8}|function_?\w{0,8})\s?"
"""Any word that begins like one: models spell it as they like."""
_TAG_END: Final = r"(?:>|(?=[\n<]))"
_ABOUT: Final = attributes(KEY, value())

_TYPED: Final = re.compile(r"<parameter\s[^<>\n]{1,200}\sstring\s?=\s?[\"'](?:true|false)[\"']")


def _marks(word: str) -> re.Pattern[str]:
    return re.compile(
        rf"(?P<opened><{word}{_SECTION}>)"
        rf"|(?P<closed></{word}{_SECTION}>|<[｜|]end[▁_]of[▁_]sentence[｜|]>)"
        rf"|(?P<call><{word}invoke(?P<name>{_ABOUT.whole}){_TAG_END})"
        rf"|(?P<called></{word}invoke\s?>)"
        rf"|(?P<parameter><{word}parameter(?P<key>{_ABOUT.whole}){_TAG_END})"
        rf"|(?P<given></{word}parameter\s?>)"
    )


_NAMES: Final = ("function_calls>", "tool_calls>", "tool_call>", "calls>", "invoke>", "parameter>")
_BEGUN: Final = re.compile(
    r"</?\s?(?:[｜|‖]{1,2}\s?(?:D|DS|DSM|G|GC|GCM|(?:DSML|GCML)\s?[｜|‖]{0,2}\s?"
    rf"(?:{'|'.join(word[:size] for word in _NAMES for size in range(len(word), -1, -1))}"
    rf"|tool_?\w{{0,8}}\s?|function_?\w{{0,8}}\s?|(?:invoke|parameter){_ABOUT.begun})?)?)?\Z"
    r"|<[｜|][a-z▁_]{0,15}[｜|]?\Z"
)
_DANGLING: Final = re.compile(rf"<{_D}(?:{_SECTION}>?\s*(?:</{_D}(?:{_SECTION}>?)?\s*)?)?\Z")
_SPOILT: Final = rf"<{_D}(?:tool|function|call)[^<>\n]{{0,40}}"
_SPOILED: Final = re.compile(rf"{_SPOILT}(?:<tool_calls)?>?[ \t]{{0,8}}\n\s{{0,64}}(?=<{_D})")
_SPOILED_BEGUN: Final = re.compile(
    rf"{_SPOILT}(?:<[tool_cas]{{0,10}})?>?[ \t]{{0,8}}"
    r"(?:\n\s{0,64}(?:<[｜|‖]{0,2}[DGSCML]{0,4}[｜|‖]{0,2})?)?\Z"
)
_EMPTY: Final = re.compile(rf"<{_D}{_SECTION}>\s{{0,64}}</{_D}{_SECTION}>")


def _unknown(about: str) -> Unknown:
    return Unknown.JSON if tagged.attributes(about).get("string") == "false" else Unknown.TEXT


_GRAMMAR: Final = TagGrammar(_marks(_D), begun=_BEGUN, unknown=_unknown, holds=True)
_BARE: Final = TagGrammar(_marks(""), unknown=_unknown, holds=True)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    if empty := _EMPTY.match(text, at):
        return Block(empty.end(), ())
    verdict = tagged.read(_GRAMMAR, text, at, ended, tools)
    if verdict is None and (spoiled := _SPOILED.match(text, at)):
        return tagged.read(_GRAMMAR, text, spoiled.end(), ended, tools)
    if verdict is None and not ended and _SPOILED_BEGUN.match(text, at):
        return MORE
    if verdict is None and ended and _DANGLING.match(text, at):
        return Block(len(text), ())
    return verdict


def _read_bare(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    verdict = tagged.read(_BARE, text, at, ended, tools)
    return verdict if not isinstance(verdict, Block) or _TYPED.search(text, at, verdict.end) else None


FORMATS: Final = (
    Format(
        "deepseek-dsml",
        Tier.ALWAYS,
        (*(f"<{bars}DSML{bars}" for bars in ("｜", "｜｜", "‖", "|", "||")), "<｜GCML｜"),
        _read,
        ("function_calls>", "tool_calls>", "invoke>", "/>"),
        leftovers=("</｜DSML｜function_calls>", "</｜DSML｜tool_calls>", "</｜DSML｜ calls>"),
        native=True,
    ),
    Format(
        "deepseek-stripped",
        Tier.WRAPPED,
        ("<invoke name=", "<tool_calls>"),
        _read_bare,
        ("tool_calls>", "invoke>"),
    ),
)
