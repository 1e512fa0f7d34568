"""GLM 4.5 to 5, Ling 3, Poolside and Laguna: keys and values in tags of their own.

    <tool_call>NAME
    <arg_key>KEY</arg_key>
    <arg_value>value</arg_value>
    </tool_call>

A call may have no arguments, or one object, then often behind a `>`, or as Step-Audio writes it, with the word
`function` on a line before the name. A key without a value is left out. Name and key
are trimmed, a value is verbatim. Text is written without quotes; a value that is quoted nevertheless is the text
inside, read as JSON where it is JSON. Hunyuan has the same pairs in other tags:

    <tool_calls><tool_call>NAME<tool_sep> pairs </tool_call></tool_calls>      (4: without <tool_sep>)

IQuest writes `iquest_tool_call` around them, or `iquestcoder_tool_call`. K2 Horizon has a prefix for every tag, and may
write a type or JSON:

    <ifm|tool_call>NAME
    <ifm|arg_key>KEY</ifm|arg_key><ifm|arg_type>TYPE</ifm|arg_type><ifm|arg_value>value</ifm|arg_value>
    </ifm|tool_call>
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
_KIND: Final = r"(?:function\n)?"
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


def _grammar(
    call: str, *wrapper: str, tag: str = "tool_call", prefix: str = "", suffix: str = "", between: str = ""
) -> TagGrammar:
    """`between` matches what may stand between a key and its value, besides blanks."""
    key, value = rf"{prefix}arg_key{suffix}", rf"{prefix}arg_value{suffix}"
    line = r"[^\n]{0,160}" if between else r"\s{0,64}(?:<[\w:|-]{0,60})?"
    return TagGrammar(
        re.compile(
            "|".join(
                (
                    *wrapper,
                    call,
                    rf"(?P<called></{tag}{suffix}\s*>)",
                    rf"(?P<parameter><{key}>(?P<key>[^\n<]{{1,200}})</{key}>{_GAP}{between}<{value}>)",
                    rf"(?P<keyless><{key}>[^\n<]{{0,200}}</{key}>(?={_GAP}<(?:{key}|/{tag}{suffix})>))",
                    rf"(?P<given></{value}>)",
                    rf"(?P<stray>(?:</{key}>{_GAP}|<{key}>[^\n<]{{1,200}}{_GAP}|(?<=\n))<{value}>)",
                )
            )
        ),
        strict=bool(wrapper),
        strip=_unquoted,
        ends_values=True,
        begun=re.compile(
            r"<(?:[\w/:|-]{0,80}\s{0,8}"
            rf"|{tag}{suffix}>{_GAP}{_KIND}(?:{_NAME}>?)?(?:\\|<[\w:|-]{{0,60}})?"
            rf"|{key}>[^\n]{{0,300}}(?:\n{line}){{0,2}})\Z"
        ),
    )


def _call(tag: str) -> str:
    return rf"(?P<call><{tag}>{_GAP}{_KIND}(?P<name>(?!function\n){_NAME})>?(?=[\s<\\{{]))"


_GLM: Final = _grammar(_call("tool_call"))
_IQUEST: Final = _grammar(_call("iquest(?:coder)?_tool_call"), tag="iquest(?:coder)?_tool_call")
_IFM: Final = _grammar(
    _call(r"ifm\|tool_call"),
    tag=r"ifm\|tool_call",
    prefix=r"ifm\|",
    between=rf"(?:<ifm\|arg_type>[^<>\n]{{0,60}}</ifm\|arg_type>{_GAP})?",
)
_HUNYUAN: Final = _grammar(
    rf"(?P<call><tool_call{_SUFFIX}>{_GAP}(?P<name>{_NAME})(?:{_GAP}<tool_sep{_SUFFIX}>|(?=[\s<])))",
    rf"(?P<opened><tool_calls{_SUFFIX}>)",
    rf"(?P<closed></tool_calls{_SUFFIX}>)",
    suffix=_SUFFIX,
)

_IQUEST_CLOSERS: Final = ("</iquest_tool_call>", "</iquestcoder_tool_call>")

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
        "iquest",
        Tier.ALWAYS,
        ("<iquest_tool_call>", "<iquestcoder_tool_call>"),
        partial(tagged.read, _IQUEST),
        _IQUEST_CLOSERS,
        leftovers=_IQUEST_CLOSERS,
    ),
    Format(
        "ifm",
        Tier.ALWAYS,
        ("<ifm|tool_call>",),
        partial(tagged.read, _IFM),
        ("</ifm|tool_call>",),
        leftovers=("</ifm|tool_call>",),
    ),
    Format(
        "hunyuan",
        Tier.WRAPPED,
        ("<tool_calls>", "<tool_calls:"),
        partial(tagged.read, _HUNYUAN),
        ("</tool_calls>", "</tool_calls:"),
        leftovers=("</tool_calls>",),
    ),
)
