"""What a model says, in no provider's words: each scripted server renders it in the form of its own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True)
class SayCall:
    id: str
    name: str
    arguments: dict[str, Any] | str
    """A string is sent as it is, however broken; where a provider has objects only, it must be one."""


@dataclass(frozen=True)
class Say:
    """In the order in which models say things: they think, speak, then call."""

    thinking: str = ""
    signature: str = ""
    """The provider's proof of the thinking, which it wants back with it. Opaque: valid base64."""
    text: str = ""
    calls: Sequence[SayCall] = ()
    finish: Literal["stop", "length", "filter", "refusal", "no room"] = "stop"
    """`no room` for a reply: not every provider has words for it."""
    refusal: str = ""
    """Why the model will not, where the provider has words for it."""
    error_midway: str | None = None
    """After all that is said above, the stream tells this error in place of its end."""
    cut: bool = False
    """After all that is said above, the stream just stops."""
    usage: tuple[int, int] = (9, 3)
    """Tokens in and out."""
    status: int = 200
    """Anything else: no reply, but the provider's error body, with `refusal` as its message."""
