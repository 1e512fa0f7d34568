"""Tokens that end a turn, or the thought that calls stand in, where a backend leaves them in the text.

    <|im_end|>        </think>

They come behind the calls of any family and are part of none of them. Such a token is markup without a call, and only
at the end of the text: a text that goes on behind it talks about it.
"""

from typing import Final

from proxy.core.markup import bodies
from proxy.core.markup.formats import MORE, Block, Format, Tier, Tools, Verdict

_TOKENS: Final = (
    "<|eom_id|>",
    "<|eot_id|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<｜end▁of▁sentence｜>",
    "<|endoftext|>",
    "<|observation|>",
    "<|return|>",
    "<|/tool_call|>",
    "[e~[",
    "<|plamo:tag|>",
    "<|plamo:tag:plamo|>",
    "<|im_start|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|end_of_msg|>",
    "<|content_model_end_sampling|>",
    "<|role_end|>",
    "<|assistant_end|>",
    "<|endofturn|>",
    "<|stop|>",
    "<|iquest_end|>",
    "</think>",
)


def _read(text: str, at: int, ended: bool, _tools: Tools) -> Verdict:
    while token := bodies.follows(text, at, _TOKENS):
        at = bodies.after_blank(text, token)
    if at == len(text):
        return Block(at, ()) if ended else MORE
    return MORE if not ended and bodies.may_follow(text, at, _TOKENS) else None


FORMATS: Final = (Format("end-of-turn", Tier.ALWAYS, _TOKENS, _read, _TOKENS),)
