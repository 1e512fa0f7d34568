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
from proxy.core.markup.shapes import KEY, assigned, begun, literal, named, sequence, signs, value
from proxy.core.markup.tagged import TagGrammar

_CDATA: Final = re.compile(r"\s*+<!\[CDATA\[(?P<text>.*)\]\]>\s*+", re.DOTALL)


def _plain(raw: str) -> str:
    wrapped = _CDATA.fullmatch(raw)
    return wrapped["text"] if wrapped else raw


_GAP: Final = signs(r"\s", 64, 0)
_ATTRIBUTES: Final = sequence(signs(r"\s", 1), signs(r"[^<>\n]", 200))
_OPENED, _CLOSED = literal("<｜tool_calls_begin｜>"), literal("<｜tool_calls_end｜>")
_CALL: Final = sequence(
    literal("<｜tool_call_begin｜>"), _GAP, literal("function"), _GAP, literal("<｜tool_sep｜>"), _GAP,
    literal("<steptml:invoke"), named("name", _ATTRIBUTES), literal(">"),
)  # fmt: skip
_CALLED: Final = sequence(literal("</steptml:invoke>"), _GAP, literal("<｜tool_call_end｜>"))
_PARAMETER: Final = sequence(literal("<steptml:parameter"), named("key", _ATTRIBUTES), literal(">"))
_GIVEN: Final = literal("</steptml:parameter>")
_STEP: Final = TagGrammar(
    re.compile(
        rf"(?P<opened>{_OPENED.whole})|(?P<closed>{_CLOSED.whole})|(?P<call>{_CALL.whole})"
        rf"|(?P<called>{_CALLED.whole})|(?P<parameter>{_PARAMETER.whole})|(?P<given>{_GIVEN.whole})"
    ),
    strict=True,
    strip=tagged.one_newline,
    begun=begun(_OPENED, _CLOSED, _CALL, _CALLED, _PARAMETER, _GIVEN),
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
        leftovers=("<｜tool_calls_end｜>",),
    ),
    Format(
        "minicpm5",
        Tier.WRAPPED,
        ("<function name=", "<functionname="),
        partial(tagged.read, _MINICPM),
        ("</function>",),
        leftovers=("</function>",),
    ),
)
