"""The tokens that some families put around texts and thoughts, as data.

    Kimi K3        <|open|>response<|sep|> … <|close|>response<|sep|>
    Inkling        <|message_model|>AUTHOR<|content_text|> … <|end_message|>
    Muse           <|start|>assistant to=user<|message|> … <|eom|>
    Cohere         <|START_TEXT|> … <|END_TEXT|>
    Solar Open     <|begin|>assistant<|content|> … <|end|>
    Harmony        <|start|>assistant<|channel|>final<|message|> … <|end|>
    GigaChat       … <|message_sep|>

Tokens that a server has joined come with a blank in each gap.
"""

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from proxy.core.markup.shapes import ShapePart, blanks, either, literal, maybe, sequence, signs


class TokenRole(Enum):
    TEXT = auto()
    THOUGHT = auto()
    CLOSER = auto()
    HEADER = auto()
    """What stands before a call, and is nothing without it."""


@dataclass(frozen=True, slots=True)
class Token:
    role: TokenRole
    families: frozenset[str]
    part: ShapePart


def _token(role: TokenRole, families: str, *parts: ShapePart) -> Token:
    return Token(role, frozenset(families.split()), sequence(*parts))


def _k3(open_or_close: str, word: str) -> tuple[ShapePart, ...]:
    return literal(f"<|{open_or_close}|>"), blanks(1), literal(word), blanks(1), literal("<|sep|>")


_START: Final = maybe(literal("<|start|>"), blanks(1), literal("assistant"), blanks(1))
_BEGIN: Final = maybe(literal("<|begin|>"), blanks(1), literal("assistant"), blanks(1))
_AUTHOR: Final = (literal("<|message_model|>"), signs(r"[^\s<]", 64, 0))
_CHANNEL: Final = (_START, literal("<|channel|>"), blanks(1))
_FORMAT: Final = maybe(blanks(1), literal("<|constrain|>"), blanks(2), signs(r"\w", 20))
_MESSAGE: Final = (blanks(1), literal("<|message|>"))

TOKENS: Final = (
    _token(TokenRole.TEXT, "k3", *_k3("open", "response")),
    _token(TokenRole.THOUGHT, "k3", *_k3("open", "think")),
    *(_token(TokenRole.CLOSER, "k3", *_k3("close", word)) for word in ("response", "think", "message")),
    _token(TokenRole.CLOSER, "k3", literal("<|end_of_msg|>")),
    _token(TokenRole.TEXT, "inkling", *_AUTHOR, literal("<|content_text|>")),
    _token(TokenRole.THOUGHT, "inkling", *_AUTHOR, literal("<|content_thinking|>")),
    _token(TokenRole.CLOSER, "inkling", either(literal("<|end_message|>"), literal("<|content_model_end_sampling|>"))),
    _token(TokenRole.TEXT, "muse", _START, maybe(literal("to=user")), *_MESSAGE),
    _token(TokenRole.THOUGHT, "muse", _START, literal("to=self"), *_MESSAGE),
    _token(TokenRole.HEADER, "muse", _START, literal("to="), signs(r"[\w.:-]", 64), *_MESSAGE),
    _token(TokenRole.CLOSER, "muse", either(literal("<|eom|>"), literal("<|eot|>"))),
    _token(TokenRole.TEXT, "cohere", either(literal("<|START_TEXT|>"), literal("<|START_RESPONSE|>"))),
    _token(TokenRole.THOUGHT, "cohere", literal("<|START_THINKING|>")),
    *(
        _token(TokenRole.CLOSER, "cohere", literal(f"<|{word}|>"))
        for word in ("END_TEXT", "END_RESPONSE", "END_THINKING", "END_OF_TURN_TOKEN")
    ),
    _token(TokenRole.TEXT, "solar", _BEGIN, literal("<|content|>")),
    _token(TokenRole.THOUGHT, "solar", _BEGIN, literal("<|think|>")),
    _token(TokenRole.TEXT, "harmony", *_CHANNEL, either(literal("commentary"), literal("final")), _FORMAT, *_MESSAGE),
    _token(TokenRole.THOUGHT, "harmony", *_CHANNEL, literal("analysis"), *_MESSAGE),
    _token(TokenRole.HEADER, "harmony", literal("<|start|>"), blanks(1), literal("assistant")),
    _token(TokenRole.CLOSER, "solar harmony", literal("<|end|>")),
    _token(TokenRole.CLOSER, "solar", literal("<|flush|>")),
    _token(TokenRole.CLOSER, "harmony", literal("<|return|>")),
    _token(TokenRole.CLOSER, "gigachat", either(literal("<|message_sep|>"), literal("</s>"))),
    _token(TokenRole.CLOSER, "answer", literal("</answer>")),
    _token(TokenRole.CLOSER, "response", literal("</response>")),
    _token(TokenRole.CLOSER, "thought", either(
        literal("</mm:think>"), literal("<|inner_suffix|>"), literal("<|plamo:end_think:plamo|>")
    )),
)  # fmt: skip
"""In an order in which the first that matches is the longest."""

_NAMES: Final = {f"t{number}": token for number, token in enumerate(TOKENS)}
ANY: Final = re.compile("|".join(f"(?P<{name}>{token.part.whole})" for name, token in _NAMES.items()))
"""Matches where one of them stands."""


def _any_of(*roles: TokenRole) -> ShapePart:
    return either(*(token.part for token in TOKENS if token.role in roles))


BEGUN: Final = re.compile(rf"(?:{_any_of(TokenRole.TEXT, TokenRole.THOUGHT, TokenRole.CLOSER).begun})\Z")
"""Matches what may still become one of them that needs no call behind it."""
BEGUN_HEADER: Final = re.compile(rf"(?:{_any_of(TokenRole.HEADER).begun})\Z")
"""Matches what may still become one that does."""
FRAMED_BY: Final = {"<answer>": "answer", "<response>": "response"}
"""The families of frames that open behind a thought; all others are Harmony's."""


def token_of(found: re.Match[str]) -> Token:
    """Returns the token that `ANY` has found."""
    return _NAMES[found.lastgroup or ""]
