"""Families whose calls are plain JSON behind a token of their own, one line of the table for each:

    TOKEN [{"name": NAME, "arguments": {...}}] END-TOKEN

The end token is often the one that stops the model, so it may be missing at the end of the text, where the JSON is
whole. Where the table has no closers the family has none either: its block ends with its JSON.

Some begin with words. GigaChat's count behind a token, and at the very start of a reply:

    <|message_sep|>function call<|role_sep|>
    {"name": NAME, "arguments": {...}}

Phi 4 and FireFunction write `functools[...]`. That is a module of Python's as well, so only a list of nothing but whole
calls is one. The second table is optional: its tokens are words that prose or code uses as well, or there is no token
at all.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import bodies, jsonish
from proxy.core.markup.bodies import Markers, Objects
from proxy.core.markup.formats import MORE, Block, Format, Tier, Tools, Verdict

_WRAPPED: Final = (
    ("granite", Markers(("<|tool_call|>",))),
    ("granite-20b", Markers(("<function_call>",), ("</function_call>",), strict=False)),
    (
        "tool-calls-list",
        Markers(("<tool_calls>",), ("</tool_calls>",), strict=False),
    ),  # Jamba, Apriel, Hunyuan A13B, MiniMax M1
    (
        "internlm2",
        Markers(
            ("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"), ("<|action_end|>",), strict=False
        ),
    ),
    ("hermes-tools", Markers(("<tools>",), ("</tools>",), objects=Objects.WITH_ARGUMENTS)),
    ("nemotron", Markers(("<TOOLCALL>",), ("</TOOLCALL>",), strict=False)),
    (
        "apertus",
        Markers(("<|tools_prefix|>",), ("<|tools_suffix|>",), strict=False, objects=Objects.KEYED),
    ),
    ("gigachat", Markers(("<|function_call|>",), objects=Objects.WHOLE)),
    ("cohere", Markers(("<|START_ACTION|>",), ("<|END_ACTION|>",), strict=False)),
    ("sarashina", Markers(("<|tool_calls|>",))),
    ("pangu", Markers(("[unused11]",), ("[unused12]",), strict=False)),
)
_OPTIONAL: Final = (
    ("gigachat-words", Markers(("function call<|role_sep|>",), objects=Objects.WHOLE)),
    ("xlam-fence", Markers(("```json", "```tool_call", "```\n"), ("```",), objects=Objects.WITH_ARGUMENTS)),
    ("bare-json", Markers(("{", "[{", "[ {", "[\n"), objects=Objects.WITH_ARGUMENTS, inside=True)),
)

_IN_THOUGHTS: Final = frozenset(("apertus",))
"""Families that call from within their thoughts, and mean it."""
_WORDS: Final = "function call<|role_sep|>"
_SEPARATOR: Final = "<|message_sep|>"
_GIGACHAT: Final = Markers((_WORDS,), objects=Objects.WHOLE)

_FUNCTOOLS: Final = Markers(("functools",), objects=Objects.WHOLE)
_BLANK_BEFORE: Final = re.compile(r"(?:\A|\s)\Z")


def _read_gigachat(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    start = at
    if text.startswith(_SEPARATOR, at):
        start = bodies.after_blank(text, at + len(_SEPARATOR))
        if not text.startswith(_WORDS, start):
            return MORE if not ended and bodies.may_follow(text, start, (_WORDS,)) else None
    return bodies.read(_GIGACHAT, text, start, ended, tools)


def _read_functools(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    verdict = bodies.read(_FUNCTOOLS, text, at, ended, tools)
    if not isinstance(verdict, Block):
        return verdict
    declared = sum(tools.declared(call.name) is not None for call in verdict.calls)
    return verdict if declared == len(jsonish.parse(text[at + len("functools") : verdict.end])) else None


FORMATS: Final = (
    *(
        Format(
            name,
            tier,
            form.openers,
            partial(bodies.read, form),
            form.closers or ("}", "]"),
            leftovers=form.closers,
            native=name in _IN_THOUGHTS,
        )
        for tier, forms in ((Tier.WRAPPED, _WRAPPED), (Tier.OPTIONAL, _OPTIONAL))
        for name, form in forms
    ),
    Format("gigachat-separated", Tier.WRAPPED, (_SEPARATOR,), _read_gigachat, ("}",), first=(_WORDS,)),
    Format("phi4", Tier.WRAPPED, ("functools[",), _read_functools, ("]",), behind=_BLANK_BEFORE),
)
