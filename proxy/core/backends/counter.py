"""A backend's own counter of tokens: where it is, what it is asked, and which number of its answer counts.

Only the backend knows how many tokens it makes of a request. Where it has no counter, nobody guesses: a guess would be
believed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core import jsontext
from proxy.core.backends.target import Target
from proxy.core.errors import NO_PATH, ClientFault, Fault, Garbled, NotOffered, OwnWords

Body = dict[str, Any]

ONE_TEXT = "prompt"


@dataclass(frozen=True, slots=True)
class TokenCounter:
    url: Callable[[Target, str], str]
    """Tells where the tokens of a model are counted."""
    body: Callable[[Body, str], Body]
    """Makes of the request for a reply, and the model, what the counter is asked."""
    count: str
    """The member of the answer that is the number."""

    def read(self, answer: bytes) -> int:
        try:
            count = jsontext.loads(answer)[self.count]
        except (ValueError, TypeError, KeyError):
            raise _unreadable() from None
        if type(count) is not int or count < 0:
            raise _unreadable()
        return count


def picked(body: Mapping[str, Any], names: tuple[str, ...]) -> Body:
    """The fields that a counter takes; most refuse others, such as the wish for a stream."""
    return {name: body[name] for name in names if name in body}


def shows_no_counter(fault: Fault) -> bool:
    """Its kind of backend has a counter, this one has not: there is no such path, or what is there is too old to count
    anything but one text, which servers call the prompt, and misses it."""
    return fault.code == NO_PATH or fault.param == ONE_TEXT


def not_offered() -> ClientFault:
    return NotOffered(
        OwnWords(
            "The backend of this model has no counter of tokens. Count with the model's own tokenizer, or send the "
            "request itself and read its usage."
        ),
        code="unsupported_parameter",
    )


def _unreadable() -> Garbled:
    return Garbled(OwnWords("The backend's counter of tokens answered without a number."))
