"""Llama 3: JSON behind a token, or a call in Python of a tool that is built in.

    <|python_tag|>{"name": NAME, "parameters": {...}}
    <|python_tag|>NAME.call(KEY=value)<|eom_id|>

Either ends with the turn, whose token may be missing.
"""

from typing import Final

from proxy.core.markup import bodies, expressions
from proxy.core.markup.bodies import Markers
from proxy.core.markup.expressions import ListGrammar
from proxy.core.markup.formats import Block, Format, Tier, Tools, Verdict

_PYTHON_TAG: Final = "<|python_tag|>"
_ENDS_OF_TURN: Final = ("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|im_end|>")

_JSON: Final = Markers((_PYTHON_TAG,), _ENDS_OF_TURN, strict=False)
_CODE: Final = ListGrammar((_PYTHON_TAG,), _ENDS_OF_TURN)


def _read(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    verdict = bodies.read(_JSON, text, at, ended, tools)
    if verdict is None:
        verdict = expressions.read(_CODE, text + ("<|eom_id|>" if ended else ""), at, ended, tools)
    return Block(min(verdict.end, len(text)), verdict.calls) if isinstance(verdict, Block) else verdict


FORMATS: Final = (Format("llama3", Tier.WRAPPED, (_PYTHON_TAG,), _read, _ENDS_OF_TURN),)
