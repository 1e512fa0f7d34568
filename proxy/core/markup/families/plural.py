"""Calls that a model puts into one wrapper more, since there are several.

    <tool_calls>
    <tool_call>...</tool_call>
    <tool_call>...</tool_call>
    </tool_calls>

Each is written as its own family writes it.
"""

from functools import partial
from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.families.objects import hermes
from proxy.core.markup.families.tags import glm, qwen
from proxy.core.markup.formats import FOREIGN, MORE, Block, Format, Recovered, Tier, Tools, Verdict, waiting


def _read(prefix: str, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    opener, closer, inner = f"<{prefix}tool_calls>", f"</{prefix}tool_calls>", f"<{prefix}tool_call>"
    calls: list[Recovered] = []
    end, position = at, bodies.after_blank(text, at + len(opener))
    while text.startswith(inner, position):
        verdict = _inner(inner, text, position, ended, tools)
        if verdict is FOREIGN:
            names = (*(call.name for call in calls), _FOREIGN)
            return waiting(tools, names, len(text) - at, alone=False)
        if not isinstance(verdict, Block):
            return verdict
        calls += verdict.calls
        end = verdict.end
        position = bodies.after_blank(text, end)
    if calls and text.startswith(closer, position):
        return Block(position + len(closer), tuple(calls))
    if not ended and bodies.may_follow(text, position, (closer, inner)):
        return MORE
    return Block(end, tuple(calls)) if calls else None


def _inner(inner: str, text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    for format in _INNER[inner]:
        verdict: Verdict = format.read(text, at, ended, tools)
        if verdict is not None:
            return verdict
    return None


def _format(name: str, prefix: str) -> Format:
    closer = f"</{prefix}tool_calls>"
    closers = (closer, f"</{prefix}tool_call>")
    return Format(
        name, Tier.WRAPPED, (f"<{prefix}tool_calls>",), partial(_read, prefix), closers, leftovers=(closer,)
    )


_FOREIGN: Final = ""
"""The name of a tool that is not declared."""
_INNER: Final = {
    inner: tuple(
        format for family in (qwen, hermes, glm) for format in family.FORMATS if inner in format.openers
    )
    for inner in ("<tool_call>", "<ifm|tool_call>")
}
"""The formats that one call in the wrapper may have."""

FORMATS: Final = (_format("plural", ""), _format("ifm-plural", "ifm|"))
