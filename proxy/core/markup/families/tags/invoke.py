"""Calls that are `invoke` elements: Anthropic's older models, MiniMax M2, Dots, and what imitates them.

    <WRAPPER>
    <invoke name="NAME">
    <parameter name="KEY">value</parameter>
    </invoke>
    </WRAPPER>

The wrapper is `minimax:tool_call`, `function_calls` or `dots_function_call`, and tags may carry a namespace. Attributes
are quoted in either way or not at all. Without a wrapper anything could be such an element, so that is optional; but
where Claude's own opener fails, it becomes one of a few words on a line of its own, which tell as much.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import tagged
from proxy.core.markup.formats import Format, Tier
from proxy.core.markup.tagged import TagGrammar

_NAMESPACE: Final = r"(?:[a-z][\w-]{0,20}:)?"
_TAG_END: Final = r"(?:>|(?=[\n<]))"


def _grammar(wrapper: str, *, strict: bool) -> TagGrammar:
    return TagGrammar(
        re.compile(
            rf"(?P<opened><{wrapper}\s*>)|(?P<closed></{wrapper}\s*>)"
            rf"|(?P<call><{_NAMESPACE}invoke(?P<name>\s+name\s*=[^<>\n]{{1,200}}){_TAG_END})"
            rf"|(?P<called></{_NAMESPACE}invoke\s*>)"
            rf"|(?P<parameter><{_NAMESPACE}parameter(?P<key>\s+name\s*=[^<>\n]{{1,200}}){_TAG_END})"
            rf"|(?P<given></{_NAMESPACE}parameter\s*>)"
        ),
        strict=strict,
        may_stay_open=True,
        strip=tagged.paired_newlines,
    )


_M2: Final = _grammar("minimax:tool_call", strict=False)
_WRAPPED: Final = _grammar(rf"{_NAMESPACE}(?:function_calls|dots_function_call)", strict=True)
_BARE: Final = _grammar(rf"{_NAMESPACE}(?:function_calls|tool_calls?)", strict=False)

_INSTEAD: Final = re.compile(r"(?:\A|\n)[ \t]*(?:call|count|court|course)\s*\Z")

_NAMESPACES: Final = ("", "antml:", "atem:", "minimax:")
"""Namespaces that were seen: the scanner has to know beforehand what a block may begin with."""

FORMATS: Final = (
    Format(
        "minimax-m2",
        Tier.ALWAYS,
        ("<minimax:tool_call>",),
        partial(tagged.read, _M2),
        ("</minimax:tool_call>", "invoke>"),
    ),
    Format(
        "anthropic",
        Tier.WRAPPED,
        (*(f"<{space}function_calls>" for space in _NAMESPACES), "<dots_function_call>"),
        partial(tagged.read, _WRAPPED),
        ("function_calls>", "</dots_function_call>"),
    ),
    Format(
        "anthropic-broken",
        Tier.WRAPPED,
        tuple(f"<{space}invoke name=" for space in _NAMESPACES[:2]),
        partial(tagged.read, _BARE),
        ("invoke>",),
        behind=_INSTEAD,
    ),
    Format(
        "invoke",
        Tier.OPTIONAL,
        tuple(f"<{space}invoke name=" for space in _NAMESPACES),
        partial(tagged.read, _BARE),
        ("invoke>",),
    ),
)
