"""Calls that are `invoke` elements: Anthropic's older models, MiniMax M2, Dots, and what imitates them.

    <WRAPPER>
    <invoke name="NAME">
    <parameter name="KEY">value</parameter>
    </invoke>
    </WRAPPER>

The wrapper is `minimax:tool_call`, `function_calls`, `dots_function_call`, or by mistake `tool_call` or `tool_calls`,
and tags may carry a namespace. That of Muse is `atem`; it may name a tool as `NAMESPACE.NAME<|message|>`, writes JSON
where nothing is declared, and calls nothing in a message to the user. Dots may write JSON instead. Attributes are
quoted in either way or not at all. Without a wrapper anything could be such an element, so that is optional; but where
Claude's own opener fails, it becomes one of a few words on a line of its own, which tell as much.
"""

import re
from dataclasses import replace
from functools import partial
from typing import Final

from proxy.core.markup import bodies, tagged
from proxy.core.markup.bodies import Markers
from proxy.core.markup.formats import Block, Format, Tier, Tools, Verdict
from proxy.core.markup.shapes import any_tag, attributes, begun, literal, maybe, value
from proxy.core.markup.tagged import TagGrammar
from proxy.core.markup.values import Unknown

_NAMESPACE: Final = r"(?:[a-z][\w-]{0,20}:)?"
_TAG_END: Final = r"(?:>|(?=\n|<[^|]))"
_TEXT: Final = value(maybe(literal("<|message|>")))
"""Muse puts the token behind a name, as it does behind a recipient."""
_NAME: Final = attributes(literal("name"), _TEXT)
_KEY: Final = attributes(literal("name"), value())
_BEGUN: Final = begun(any_tag(_TEXT))


def _grammar(wrapper: str, *, strict: bool, unknown: Unknown = Unknown.TEXT) -> TagGrammar:
    return TagGrammar(
        re.compile(
            rf"(?P<opened><{wrapper}\s{{0,8}}>)|(?P<closed></{wrapper}\s{{0,8}}>)"
            rf"|(?P<call><{_NAMESPACE}invoke(?P<name>{_NAME.whole}){_TAG_END})"
            rf"|(?P<called></{_NAMESPACE}invoke\s{{0,8}}>)"
            rf"|(?P<parameter><{_NAMESPACE}parameter(?P<key>{_KEY.whole}){_TAG_END})"
            rf"|(?P<given></{_NAMESPACE}parameter\s{{0,8}}>)"
        ),
        strict=strict,
        may_stay_open=True,
        begun=_BEGUN,
        strip=tagged.paired_newlines,
        unknown=lambda _: unknown,
    )


_TOOL_CALL: Final = _grammar("tool_calls?", strict=True)
_MUSE: Final = _grammar(r"atem:function_calls", strict=True, unknown=Unknown.JSON)
_M2: Final = _grammar("minimax:tool_call", strict=False)
_WRAPPED: Final = _grammar(rf"{_NAMESPACE}(?:function_calls|dots_function_call)", strict=True)
_BARE: Final = _grammar(rf"{_NAMESPACE}(?:function_calls|tool_calls?)", strict=False)

_NOT_TO_USER: Final = re.compile(
    r"(?:\A|<\|eo[mt]\|>)(?:(?!to=user<\|message\|>|<\|eo[mt]\|>).)*+\Z", re.DOTALL
)
"""Matches where Muse does not speak to the user: what it shows there is only quoted."""
_INSTEAD: Final = re.compile(r"(?:\A|\n)[ \t]*(?:call|count|court|course)\s*\Z")

_MUSES: Final = "atem:"
_NAMESPACES: Final = ("", "antml:", _MUSES, "minimax:")
"""Namespaces that were seen: the scanner has to know beforehand what a block may begin with."""

_DOTS: Final = Markers(("<dots_function_call>",), ("</dots_function_call>",), strict=False)


class _Spaced(Tools):
    """Tools of which a model may name the namespace that it knows them in."""

    def declared(self, written: str) -> str | None:
        return Tools.declared(self, written) or Tools.declared(
            self, written.split("<|", 1)[0].rpartition(".")[2]
        )


def _read_muse(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    spaced = _Spaced(tools.schemas)
    verdict = tagged.read(_MUSE, text, at, ended, spaced)
    if not isinstance(verdict, Block):
        return verdict
    calls = (replace(call, name=spaced.declared(call.name) or call.name) for call in verdict.calls)
    return replace(verdict, calls=tuple(calls))


FORMATS: Final = (
    Format(
        "minimax-m2",
        Tier.ALWAYS,
        ("<minimax:tool_call>",),
        partial(tagged.read, _M2),
        ("</minimax:tool_call>", "invoke>"),
        leftovers=("</minimax:tool_call>",),
    ),
    Format(
        "muse",
        Tier.WRAPPED,
        ("<atem:function_calls>",),
        _read_muse,
        ("function_calls>",),
        behind=_NOT_TO_USER,
        leftovers=("</atem:function_calls>",),
    ),
    Format(
        "anthropic",
        Tier.WRAPPED,
        (*(f"<{space}function_calls>" for space in _NAMESPACES if space != _MUSES), "<dots_function_call>"),
        partial(tagged.read, _WRAPPED),
        ("function_calls>", "</dots_function_call>"),
        leftovers=("</function_calls>", "</dots_function_call>"),
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
        "dots-json",
        Tier.WRAPPED,
        _DOTS.openers,
        partial(bodies.read, _DOTS),
        _DOTS.closers,
        leftovers=_DOTS.closers,
    ),
    Format(
        "tool-call-invoke",
        Tier.WRAPPED,
        ("<tool_call>", "<tool_calls>"),
        partial(tagged.read, _TOOL_CALL),
        ("</tool_call>", "</tool_calls>"),
        leftovers=("</tool_call>", "</tool_calls>"),
    ),
    Format(
        "invoke",
        Tier.OPTIONAL,
        tuple(f"<{space}invoke name=" for space in _NAMESPACES),
        partial(tagged.read, _BARE),
        ("invoke>",),
    ),
)
