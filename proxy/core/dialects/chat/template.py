"""Nearly every event of a reply says one token, and is otherwise the same as the one before: only the token is read.

Where two events in a row have the same bytes around one string, these are a template, if a trial shows it: with another
string between them, the event must say that string. Then it says any string that stands there, and nothing else
changes. What does not fit is read as a whole, and may be the beginning of another template.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from proxy.core.events import More
from proxy.core.jsontext import dumps, quick

SHORT, LONG = 8, 64
"""Events of one reply: a shorter one has no use for a template. If none was found in so many, or no other one behind
the last, each event is another, by the time in it or by noise."""

TALK = frozenset({"role", "content"})
"""A delta of text has these fields; many gateways repeat the role in each."""

THOUGHT = TALK | {"reasoning_content", "reasoning"}
"""So has one of a thought."""

CALL = TALK | {"tool_calls"}
"""And one of a call."""

PROSE = THOUGHT - {"role"}


@dataclass(slots=True)
class _Token:
    """The one thing that an event says, and the name of its field."""

    key: str
    text: str
    say: Callable[[str], None]


class Template:
    __slots__ = ("_after", "_around", "_before", "_events", "_more", "_say", "_start", "_stop", "found")

    def __init__(self, more: More) -> None:
        self.found = False
        """Is there any? Else `says` need not be asked."""
        self._more = more
        self._before = self._after = b""
        self._start = self._stop = 0
        """The place of the string between the two, counted from either end."""
        self._say: Callable[[str], None] = more.text
        self._around: tuple[bytes, bytes] | None = None
        """What stood around the token of the last event that was read as a whole."""
        self._events = 0
        """Those that were read as a whole."""

    def says(self, data: bytes) -> bool:
        """Says the token of an event that holds nothing else. False: it must be read as a whole."""
        if data.startswith(self._before) and data.endswith(self._after):
            try:
                token = quick(data[self._start : self._stop])
            except ValueError:
                return False
            if type(token) is str and token:
                self._say(token)
                return True
        return False

    def learn(self, chunk: dict[str, Any], data: bytes) -> None:
        """Looks for a template in an event that has neither ended anything nor counted tokens."""
        self._events += 1
        if not SHORT <= self._events <= LONG:
            return
        if (token := self._token(chunk)) is None or (around := _around(data, token)) is None:
            return
        last, self._around = self._around, around
        if last == around and self._is_said_between(*around, token.text + "x"):
            self._before, self._after = around
            self._start, self._stop = len(self._before), -len(self._after)
            self._say = token.say
            self.found, self._events = True, SHORT

    def end(self) -> None:
        """From now on all events are read as a whole."""
        self.found, self._events = False, LONG

    def _is_said_between(self, before: bytes, after: bytes, text: str) -> bool:
        """The trial: a string that stands elsewhere may only look like the token."""
        token = self._token(quick(before + dumps(text) + after))
        return token is not None and token.text == text

    def _token(self, chunk: dict[str, Any]) -> _Token | None:
        """Returns all that the event says, if that is one string."""
        choice = _only(chunk.get("choices"))
        delta = choice and choice.get("delta")
        if choice is None or type(delta) is not dict or choice.get("index") or choice.get("logprobs"):
            return None
        if THOUGHT.issuperset(delta):
            return self._prose(delta)
        call = _only(delta.get("tool_calls")) if CALL.issuperset(delta) and not delta.get("content") else None
        return None if call is None else self._arguments(call)

    def _prose(self, delta: dict[str, Any]) -> _Token | None:
        said = [key for key in delta if key in PROSE and delta[key]]
        if len(said) != 1 or type(text := delta[said[0]]) is not str:
            return None
        return _Token(said[0], text, self._more.text if said[0] == "content" else self._more.reasoning)

    def _arguments(self, call: dict[str, Any]) -> _Token | None:
        index, function = call.get("index"), call.get("function")
        if type(index) is not int or type(function) is not dict or call.get("id") or function.get("name"):
            return None
        text = function.get("arguments")
        if type(text) is not str or not text:
            return None
        return _Token("arguments", text, partial(self._more.arguments, index))


def _only(entries: Any) -> dict[str, Any] | None:
    """The one object in a list that holds nothing else."""
    if type(entries) is list and len(entries) == 1 and type(entries[0]) is dict:
        return entries[0]
    return None


def _around(data: bytes, token: _Token) -> tuple[bytes, bytes] | None:
    """Returns the bytes before and after the string, if it is written in one of the two usual ways."""
    string = dumps(token.text)
    for colon in (b":", b": "):
        name = b'"%b"%b' % (token.key.encode(), colon)
        before, found, after = data.partition(name + string)
        if found:
            return before + name, after
    return None
