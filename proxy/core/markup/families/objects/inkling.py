"""Inkling: JSON between two tokens.

    <|message_model|>AUTHOR<|content_invoke_tool_json|>{"name": NAME, "args": {...}}<|end_message|>

The header may be missing; it names an author and nothing else.
"""

import re
from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.bodies import Markers, Objects
from proxy.core.markup.formats import MORE, Format, Tier, Tools, Verdict

_CALL: Final = Markers(
    ("<|content_invoke_tool_json|>",),
    ("<|end_message|>", "<|content_model_end_sampling|>"),
    strict=False,
    objects=Objects.WITH_ARGUMENTS,
)
_AUTHOR: Final = re.compile(r"<\|message_model\|>[^\s<]{0,64}(?=<\|content_invoke_tool_json\|>)")
_AUTHOR_BEGUN: Final = re.compile(r"<\|message_model\|>[^\s<]{0,64}(?:<\|?\w{0,30}\|?)?\Z")


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    if header := _AUTHOR.match(text, at):
        at = header.end()
    elif not text.startswith(_CALL.openers, at):
        return MORE if not ended and _AUTHOR_BEGUN.match(text, at) else None
    return bodies.read(_CALL, text, at, ended, tools)


FORMATS: Final = (
    Format(
        "inkling",
        Tier.WRAPPED,
        ("<|message_model|>", *_CALL.openers),
        _read,
        _CALL.closers,
        leftovers=_CALL.closers,
    ),
)
