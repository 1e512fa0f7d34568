"""GLM 4.5 to 5, Ling 3, Poolside and Laguna: keys and values in tags of their own.

    <tool_call>NAME
    <arg_key>KEY</arg_key>
    <arg_value>value</arg_value>
    </tool_call>

A call may have no arguments. A key without a value is left out. Name and key are trimmed, a value is verbatim. Text is
written without quotes; a value that is quoted nevertheless is the text inside, read as JSON where it is JSON. Hunyuan
has the same pairs in other tags:

    <tool_calls><tool_call>NAME<tool_sep> pairs </tool_call></tool_calls>      (4: without <tool_sep>)
"""

import re
from functools import partial
from typing import Final

from proxy.core import jsontext
from proxy.core.jsontext import BadJson
from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.tagged import TagGrammar

_NAME: Final = r"[^\s<>{}\[\]()\"'`\\]{1,200}"
_GAP: Final = r"(?:\s|\\n){0,64}"
_SUFFIX: Final = r"(?::[\w-]{1,40})?"
"""Hunyuan's tags can be given a suffix, to tell them from those in the text."""


_NO_BARE_QUOTE: Final = re.compile(r'(?s)"(?:[^\\"]|\\.)*+"')


def _unquoted(raw: str) -> str:
    if not (raw.startswith('"') and raw.endswith('"')):
        return raw
    try:
        inner = jsontext.loads(raw)
    except BadJson:
        return raw[1:-1] if _NO_BARE_QUOTE.fullmatch(raw) else raw
    return inner if isinstance(inner, str) else raw


def _grammar(call: str, *wrapper: str, suffix: str = "") -> TagGrammar:
    return TagGrammar(
        re.compile(
            "|".join(
                (
                    *wrapper,
                    call,
                    rf"(?P<called></tool_call{suffix}\s*>)",
                    rf"(?P<parameter><arg_key{suffix}>(?P<key>[^\n<]{{1,200}})</arg_key{suffix}>{_GAP}<arg_value{suffix}>)",
                    rf"(?P<keyless><arg_key{suffix}>[^\n<]{{0,200}}</arg_key{suffix}>"
                    rf"(?={_GAP}<(?:arg_key|/tool_call){suffix}>))",
                    rf"(?P<given></arg_value{suffix}>)",
                )
            )
        ),
        strict=bool(wrapper),
        strip=_unquoted,
        ends_values=True,
        begun=re.compile(
            rf"<(?:[^<>\n]{{0,256}}"
            rf"|tool_call{suffix}>{_GAP}(?:{_NAME})?(?:\\|<[\w:-]{{0,60}})?"
            rf"|arg_key{suffix}>[^\n]{{0,300}}(?:\n\s{{0,64}}(?:<[\w:-]{{0,60}})?)?)\Z"
        ),
    )


_GLM: Final = _grammar(rf"(?P<call><tool_call>{_GAP}(?P<name>{_NAME})(?=[\s<\\{{]))")
_HUNYUAN: Final = _grammar(
    rf"(?P<call><tool_call{_SUFFIX}>{_GAP}(?P<name>{_NAME})(?:{_GAP}<tool_sep{_SUFFIX}>|(?=[\s<])))",
    rf"(?P<opened><tool_calls{_SUFFIX}>)",
    rf"(?P<closed></tool_calls{_SUFFIX}>)",
    suffix=_SUFFIX,
)

FORMATS: Final = (
    Format(
        "glm",
        Tier.ALWAYS,
        ("<tool_call>",),
        partial(tagged.read, _GLM),
        ("</tool_call>",),
        leftovers=("</tool_call>", "</tool_calls>"),
    ),
    Format(
        "hunyuan",
        Tier.WRAPPED,
        ("<tool_calls>", "<tool_calls:"),
        partial(tagged.read, _HUNYUAN),
        ("</tool_calls>", "</tool_calls:"),
    ),
)
