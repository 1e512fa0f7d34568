"""Calls that a model puts into one wrapper more, since there are several.

    <tool_calls>
    <tool_call>...</tool_call>
    <tool_call>...</tool_call>
    </tool_calls>

Each is written as its own family writes it.
"""

from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.families.objects import hermes
from proxy.core.markup.families.tags import glm, qwen
from proxy.core.markup.formats import MORE, Block, Format, Recovered, Tier, Tools, Verdict, Waiting

_OPENER, _CLOSER, _INNER = "<tool_calls>", "</tool_calls>", "<tool_call>"
_FORMATS: Final = tuple(
    format for family in (qwen, hermes, glm) for format in family.FORMATS if _INNER in format.openers
)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    calls: list[Recovered] = []
    end, position = at, bodies.after_blank(text, at + len(_OPENER))
    while text.startswith(_INNER, position):
        verdict = _inner(text, position, ended, tools)
        if not isinstance(verdict, Block):
            return MORE if isinstance(verdict, Waiting) else None
        calls += verdict.calls
        end = verdict.end
        position = bodies.after_blank(text, end)
    if calls and text.startswith(_CLOSER, position):
        return Block(position + len(_CLOSER), tuple(calls))
    if not ended and bodies.may_follow(text, position, (_CLOSER, _INNER)):
        return MORE
    return Block(end, tuple(calls)) if calls else None


def _inner(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    for format in _FORMATS:
        verdict: Verdict = format.read(text, at, ended, tools)
        if verdict is not None:
            return verdict
    return None


FORMATS: Final = (
    Format("plural", Tier.WRAPPED, (_OPENER,), _read, (_CLOSER, "</tool_call>"), leftovers=(_CLOSER,)),
)
