"""PLaMo 3. With W for any of its words, each token is `<|plamo:W:plamo|>`:

    begin_tool_requests
    begin_tool_request begin_tool_name NAME end_tool_name
    begin_tool_arguments <|plamo:constrain|>json<|plamo:msg|>{json} end_tool_arguments end_tool_request
    end_tool_requests

The outer tokens, the constraint and the last token of a request may be missing.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import sections
from proxy.core.markup.formats import Format, Tier


def _token(word: str) -> str:
    return rf"<\|plamo:{word}:plamo\|>"


_GAP: Final = r"\s{0,64}"
_GRAMMAR: Final = sections.SectionGrammar(
    opened=re.compile(_token("begin_tool_requests")),
    call=re.compile(_token("begin_tool_request")),
    separator=re.compile(_token("begin_tool_name")),
    prelude=re.compile(
        rf"{_GAP}(?P<label>[^\s<>{{}}]{{1,200}}){_GAP}{_token('end_tool_name')}{_GAP}{_token('begin_tool_arguments')}"
        rf"{_GAP}(?:<\|plamo:constrain\|>json{_GAP})?<\|plamo:msg\|>"
    ),
    called=re.compile(rf"{_token('end_tool_arguments')}(?:{_GAP}{_token('end_tool_request')})?"),
    closed=re.compile(_token("end_tool_requests")),
    prelude_begun=re.compile(
        rf"{_GAP}[^\s<>{{}}]{{0,200}}{_GAP}"
        rf"(?:<\|?[a-z:_|]{{0,30}}|{_token('end_tool_name')}{_GAP}"
        rf"(?:<\|?[a-z:_|]{{0,40}}|{_token('begin_tool_arguments')}{_GAP}"
        rf"(?:<\|?[a-z:_|]{{0,20}}|<\|plamo:constrain\|>[json]{{0,4}}{_GAP}(?:<\|?[a-z:|]{{0,12}})?)?)?)?\Z"
    ),
)

FORMATS: Final = (
    Format(
        "plamo",
        Tier.ALWAYS,
        tuple(f"<|plamo:begin_tool_{word}:plamo|>" for word in ("requests", "request")),
        partial(sections.read, _GRAMMAR),
        tuple(f"end_tool_{word}:plamo|>" for word in ("arguments", "request", "requests")),
        leftovers=tuple(f"<|plamo:end_tool_{word}:plamo|>" for word in ("arguments", "request", "requests")),
        native=True,
    ),
)
