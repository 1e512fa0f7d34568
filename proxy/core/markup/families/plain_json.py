"""Families whose calls are plain JSON behind a token of their own, one line of the table for each:

    TOKEN [{"name": NAME, "arguments": {...}}] END-TOKEN

Where the table has no closers the family has none either: its block ends with its JSON. The last ones are optional: the
token is a word that prose or code uses as well, or there is none.

Where tokens are left in the text, the one that ends the turn, or the thought that the calls stand in, comes behind
them, and is part of none of them.
"""

import re
from functools import partial
from typing import Final

from proxy.core.markup import bodies, expressions
from proxy.core.markup.bodies import Envelope
from proxy.core.markup.expressions import Listing
from proxy.core.markup.formats import MORE, Block, Dialect, Tier, Tools, Verdict

_ENDS_OF_TURN: Final = ("<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|im_end|>")

_WRAPPED: Final = (
    ("granite", Envelope(("<|tool_call|>",))),
    ("granite-20b", Envelope(("<function_call>",), ("</function_call>",), strict=False)),
    (
        "tool-calls-list",
        Envelope(("<tool_calls>",), ("</tool_calls>",)),
    ),  # Jamba, Apriel, Hunyuan A13B, MiniMax M1
    (
        "internlm2",
        Envelope(("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"), ("<|action_end|>",)),
    ),
    ("hermes-tools", Envelope(("<tools>",), ("</tools>",), sure=False)),
    ("nemotron", Envelope(("<TOOLCALL>",), ("</TOOLCALL>",))),
    ("apertus", Envelope(("<|tools_prefix|>",), ("<|tools_suffix|>",), keyed=True)),
    ("gigachat", Envelope(("<|function_call|>",))),
    ("cohere", Envelope(("<|START_ACTION|>",), ("<|END_ACTION|>",))),
)
_OPTIONAL: Final = (
    ("phi4", Envelope(("functools",))),
    ("gigachat-words", Envelope(("function call<|role_sep|>",))),
    ("xlam-fence", Envelope(("```json", "```tool_call", "```\n"), ("```",), sure=False)),
    ("bare-json", Envelope(("{", "[{", "[ {", "[\n"), sure=False, inside=True)),
)

_PYTHON_TAG: Final = "<|python_tag|>"
_LLAMA: Final = Envelope((_PYTHON_TAG,), _ENDS_OF_TURN, strict=False)
_LLAMA_CODE: Final = Listing((_PYTHON_TAG,), _ENDS_OF_TURN)

_INKLING: Final = Envelope(("<|content_invoke_tool_json|>",), ("<|end_message|>",))
_AUTHOR: Final = re.compile(r"<\|message_model\|>[^<\n]{0,200}(?=<\|content_invoke_tool_json\|>)")
_AUTHOR_BEGUN: Final = re.compile(r"<\|message_model\|>[^<\n]{0,200}(?:<\|?\w{0,30}\|?)?\Z")


def _inkling(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """Its block begins with a header, which names an author and nothing else."""
    if header := _AUTHOR.match(text, at):
        at = header.end()
    elif not text.startswith(_INKLING.openers, at):
        return MORE if not ended and _AUTHOR_BEGUN.match(text, at) else None
    return bodies.read(_INKLING, text, at, ended, tools)


def _llama(text: str, at: int, ended: bool, tools: Tools) -> Verdict:
    """JSON, or `NAME.call(...)` for the tools that are built in, up to the end of the turn."""
    verdict = bodies.read(_LLAMA, text, at, ended, tools)
    if verdict is None:
        verdict = expressions.read(_LLAMA_CODE, text + ("<|eom_id|>" if ended else ""), at, ended, tools)
    return Block(min(verdict.end, len(text)), verdict.calls) if isinstance(verdict, Block) else verdict


_LAST_TOKENS: Final = (
    *_ENDS_OF_TURN,
    "<｜end▁of▁sentence｜>",
    "<|endoftext|>",
    "<|observation|>",
    "<|return|>",
    "<|/tool_call|>",
    "[e~[",
    "</think>",
)


def _last(text: str, at: int, ended: bool, _tools: Tools) -> Verdict:
    """Only if nothing but its like follows."""
    while token := bodies.follows(text, at, _LAST_TOKENS):
        at = bodies.after_blank(text, token)
    if at == len(text):
        return Block(at, ()) if ended else MORE
    return MORE if not ended and bodies.may_follow(text, at, _LAST_TOKENS) else None


DIALECTS: Final = (
    *(
        Dialect(name, tier, form.openers, partial(bodies.read, form), form.closers or ("}", "]"))
        for tier, forms in ((Tier.WRAPPED, _WRAPPED), (Tier.OPTIONAL, _OPTIONAL))
        for name, form in forms
    ),
    Dialect("end-of-turn", Tier.ALWAYS, _LAST_TOKENS, _last, _LAST_TOKENS),
    Dialect("llama3", Tier.WRAPPED, (_PYTHON_TAG,), _llama, _ENDS_OF_TURN),
    Dialect("inkling", Tier.WRAPPED, ("<|message_model|>", *_INKLING.openers), _inkling, _INKLING.closers),
)
