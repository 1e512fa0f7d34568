"""Solar Open: special tokens around an id, a name and the arguments.

    <|begin|>assistant<|tool_calls|>
    <|tool_call:begin|>ID<|tool_call:name|>NAME<|tool_call:args|>{json}<|tool_call:end|>
    <|calls|>

Only the name, the arguments and what stands before them are always there: the last token ends the model's turn.
"""

import re
from typing import Final

from proxy.core.markup import bodies, sections
from proxy.core.markup.formats import MORE, Format, Tier, Tools, Verdict

_BEGIN, _CALLS, _CALL = "<|begin|>assistant", "<|tool_calls|>", "<|tool_call:begin|>"


_GRAMMAR: Final = sections.SectionGrammar(
    opened=re.compile(r"<\|tool_calls\|>"),
    call=re.compile(r"<\|tool_call:begin\|>"),
    separator=re.compile(r"<\|tool_call:name\|>"),
    prelude=re.compile(r"\s{0,64}(?P<label>[^\s<>{}]{1,200})\s{0,64}<\|tool_call:args\|>"),
    called=re.compile(r"<\|tool_call:end\|>"),
    closed=re.compile(r"<\|(?:calls|end|flush)\|>"),
    prelude_begun=re.compile(r"\s{0,64}[^\s<>{}]{0,200}\s{0,64}(?:<[|a-z_:]{0,18})?\Z"),
)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    if text.startswith(_BEGIN, at):
        at = bodies.after_blank(text, at + len(_BEGIN))
        if not text.startswith((_CALLS, _CALL), at):
            return MORE if not ended and bodies.may_follow(text, at, (_CALLS, _CALL)) else None
    return sections.read(_GRAMMAR, text, at, ended, tools)


FORMATS: Final = (
    Format(
        "solar",
        Tier.ALWAYS,
        (_BEGIN, _CALLS, _CALL),
        _read,
        ("}", "<|tool_call:end|>", "<|calls|>", "<|end|>", "<|flush|>"),
        leftovers=("<|tool_call:end|>", "<|calls|>", "<|end|>", "<|flush|>"),
        native=True,
    ),
)
