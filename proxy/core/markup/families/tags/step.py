"""Step 3, whose tags stand behind DeepSeek's tokens, and MiniCPM 5, whose functions have attributes.

    <｜tool_calls_begin｜>
    <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="NAME">
    <steptml:parameter name="KEY">value</steptml:parameter>
    </steptml:invoke><｜tool_call_end｜>
    <｜tool_calls_end｜>

    <function name="NAME"><param name="KEY">value</param></function>

MiniCPM may put a value into CDATA, and lose the blank of `<function name`.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.shapes import KEY, assigned, value
from proxy.core.markup.tagged import TagGrammar

_CDATA: Final = re.compile(r"\s*+<!\[CDATA\[(?P<text>.*)\]\]>\s*+", re.DOTALL)


def _plain(raw: str) -> str:
    wrapped = _CDATA.fullmatch(raw)
    return wrapped["text"] if wrapped else raw


_STEP: Final = TagGrammar(
    re.compile(
        r"(?P<opened><｜tool_calls_begin｜>)"
        r"|(?P<closed><｜tool_calls_end｜>)"
        r"|(?P<call><｜tool_call_begin｜>\s{0,64}function\s{0,64}<｜tool_sep｜>\s{0,64}"
        r"<steptml:invoke(?P<name>\s[^<>\n]{1,200})>)"
        r"|(?P<called></steptml:invoke>\s{0,64}<｜tool_call_end｜>)"
        r"|(?P<parameter><steptml:parameter(?P<key>\s[^<>\n]{1,200})>)"
        r"|(?P<given></steptml:parameter>)"
    ),
    strict=True,
    strip=tagged.one_newline,
    begun=re.compile(r"<(?:[^<>\n]{0,256}|(?:｜tool_call_begin｜>|/steptml:invoke>)[^{]{0,500})\Z"),
)
_ABOUT: Final = rf"{assigned(value()).whole}(?:{KEY.whole}{assigned(value()).whole}){{0,2}}"
_MINICPM: Final = TagGrammar(
    re.compile(
        rf"(?P<call><function\s{{0,8}}name(?P<name>{_ABOUT})>)"
        r"|(?P<called></function\s{0,8}>)"
        rf"|(?P<parameter><param(?:eter)?\s{{0,8}}name(?P<key>{_ABOUT})>)"
        r"|(?P<given></param(?:eter)?\s{0,8}>)"
    ),
    strict=True,
    strip=_plain,
)

FORMATS: Final = (
    Format(
        "step3",
        Tier.WRAPPED,
        ("<｜tool_calls_begin｜>",),
        partial(tagged.read, _STEP),
        ("<｜tool_calls_end｜>",),
    ),
    Format(
        "minicpm5",
        Tier.WRAPPED,
        ("<function name=", "<functionname="),
        partial(tagged.read, _MINICPM),
        ("</function>",),
    ),
)
