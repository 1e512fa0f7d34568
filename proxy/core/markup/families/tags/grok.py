"""Grok: an element with a namespace of its own, without a wrapper.

    <xai:function_call name="NAME">
    <parameter name="KEY">value</parameter>
    </xai:function_call>

A value is plain text, and nothing is escaped. The closer often ends with junk or without its `>`, the last closer of a
value may be missing, and the closer itself behind a whole value at the end of the text.
"""

import re
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Block, Format, Tier, Tools, Verdict
from proxy.core.markup.shapes import any_tag, attributes, begun, literal, sequence, signs, value
from proxy.core.markup.tagged import TagGrammar

_CLOSER: Final = "</xai:function_call"
_JUNK: Final = "[\"'?]"
_NAME: Final = attributes(literal("name"), value())
_GRAMMAR: Final = TagGrammar(
    re.compile(
        rf"(?P<call><xai:function_call(?P<name>{_NAME.whole})(?:>|(?=[\n<])))"
        rf"|(?P<called>{_CLOSER}(?:{_JUNK}{{0,2}}>|{_JUNK}{{2}}(?=[^>])|{_JUNK}?(?=[^\"'?>])))"
        rf"|(?P<parameter><parameter(?P<key>{_NAME.whole})(?:>|(?=[\n<])))"
        r"|(?P<given></parameter\s{0,8}>)"
    ),
    strip=tagged.paired_newlines,
    begun=begun(any_tag(value()), sequence(literal(_CLOSER), signs(_JUNK, 2, 0), literal(">"))),
    unmistakable=True,
)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    verdict = tagged.read(_GRAMMAR, text + ("\n" if ended else ""), at, ended, tools)
    if isinstance(verdict, Block):
        return Block(min(verdict.end, len(text)), verdict.calls, verdict.doubtful)
    return verdict


FORMATS: Final = (
    Format(
        "grok",
        Tier.WRAPPED,
        ("<xai:function_call",),
        _read,
        (_CLOSER,),
        leftovers=(f"{_CLOSER}>", f'{_CLOSER}">', f"{_CLOSER}'>", f"{_CLOSER}?>", f"{_CLOSER}?"),
    ),
)
