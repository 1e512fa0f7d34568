"""Solar Open 2: tokens around a name, and around each key and its value.

    <|tool_call:start|>NAME
    <|tool_arg:start|>KEY<|tool_arg:value|>value<|tool_arg:end|>
    <|tool_call:end|>

The last token of a value or of a call may be missing. A value is verbatim.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.tagged import TagGrammar

_GRAMMAR: Final = TagGrammar(
    re.compile(
        r"(?P<call><\|tool_call:start\|>\s{0,8}(?P<name>[^\s<>]{1,200})(?=[\s<]))"
        r"|(?P<called><\|tool_call:end\|>)"
        r"|(?P<parameter><\|tool_arg:start\|>(?P<key>[^\n<>]{1,200})<\|tool_arg:value\|>)"
        r"|(?P<given><\|tool_arg:end\|>)"
    ),
    begun=re.compile(
        r"<(?:\|[a-z_:]{0,16}\|?|\|tool_call:start\|>\s{0,8}[^\s<>]{0,200}"
        r"|\|tool_arg:start\|>[^\n<>]{0,200}(?:<[|a-z_:]{0,16})?)?\Z"
    ),
    ends_values=True,
    unmistakable=True,
)

FORMATS: Final = (
    Format(
        "solar-open-2",
        Tier.ALWAYS,
        ("<|tool_call:start|>",),
        partial(tagged.read, _GRAMMAR),
        ("<|tool_call:end|>", "<|tool_call:start|>"),
        leftovers=("<|tool_call:end|>",),
        native=True,
    ),
)
