"""What the decoders of all dialects do alike: they tell what they read, and read what is not quite JSON."""

from collections.abc import Callable
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading.surrogates import SurrogateJoiner
from proxy.core.errors import Fault, Garbled, OwnWords
from proxy.core.events import CallDelta, Delta, ErrorDelta, More, ReasoningDelta, TextDelta
from proxy.core.ledger import Ledger
from proxy.core.profile import BackendProfile
from proxy.core.sse import is_whole

MAX_LOGGED = 64
"""Characters of an unknown word; the longest known one has half of them."""

NO_REPLY = OwnWords("The backend's answer is not a reply.")

NOT_JSON = OwnWords("The backend sent an event that is not JSON.")

EMPTY_BODY = OwnWords("The backend answered with an empty body.")

UNWRITABLE = OwnWords(
    "The backend's arguments for a tool are nested too deeply, or hold numbers that are too long."
)
BARE = frozenset({int, float, bool})

MAX_ANNOTATIONS = 1024
"""Annotations of one message."""
MAX_KEPT_DEPTH = 100
"""Limits what the backend wants back. Honest objects have three levels; what could not be written again, with all that
is put around it on the way, is refused where it comes from."""


def run_together(data: bytes) -> list[bytes]:
    """Returns the lines of what cannot be read as a whole, if each is a chunk: some servers forget the blank lines
    between their events."""
    lines = [line for line in data.splitlines() if line.strip()]
    return lines if len(lines) > 1 and all(map(is_whole, lines)) else []


class AsDeltas:
    """Makes a delta of all that is more of what is open."""

    __slots__ = ("_emit",)

    def __init__(self, emit: Callable[[Delta], None]) -> None:
        self._emit = emit

    def text(self, text: str) -> None:
        self._emit(TextDelta(text))

    def reasoning(self, text: str) -> None:
        self._emit(ReasoningDelta(text))

    def arguments(self, index: int | None, text: str) -> None:
        self._emit(CallDelta(index, arguments=text))


class Decoding:
    __slots__ = ("_data", "_emit", "_joins_surrogates", "_ledger", "_more", "_parsed", "_twins", "_twins_of")

    def __init__(self, emit: Callable[[Delta], None], ledger: Ledger, more: More | None = None) -> None:
        self._emit = emit
        self._more = more or AsDeltas(emit)
        self._ledger = ledger
        self._joins_surrogates = False
        self._data, self._parsed = b"", None
        """Hold the event that is being read, and what the quick parser has made of it."""
        self._twins: dict[int, Any] | None = {}
        self._twins_of: Any = None
        """Hold the exact form of each object and list in an event, and the event."""

    @staticmethod
    def wants_extras_back(profile: BackendProfile, *, proven: bool = False) -> bool:
        """May the backend want anything back with its reasoning?"""
        return profile.replay != "none"

    def _read(self, data: bytes, exact_with: bytes) -> Any:
        """Parses an event or a body; None if it cannot be read at all. `exact_with`: what will be written anew."""
        try:
            raw = jsontext.quick(data)
            return jsontext.exactly(raw, data) if exact_with in data else raw
        except ValueError:
            return self._mended(data)

    def _mended(self, data: bytes) -> Any:
        """Reads what the strict parser refuses; gives None if it cannot be read at all. From now on lone surrogates
        must be expected."""
        try:
            value = jsontext.lenient(data)
        except jsontext.BadJson:
            return None
        self._odd("json_mended")
        if not self._joins_surrogates:
            self._joins_surrogates = True
            self._emit = SurrogateJoiner(self._emit).feed
            self._more = AsDeltas(self._emit)
        return value

    def _keepable(self, value: Any) -> bool:
        """Can it be written again? If not, that ends the reply: without it the next turn would be refused."""
        if jsontext.deeper_than(value, MAX_KEPT_DEPTH):
            self._fail(Garbled("The backend's reasoning is nested too deeply."))
            return False
        return True

    def _fail(self, fault: Fault) -> None:
        self._emit(ErrorDelta(fault))

    def _no_reply(self) -> None:
        self._fail(Garbled(NO_REPLY, code="upstream_invalid_response"))

    def _no_object(self, event: Any) -> None:
        """Takes an event that is none; None is what cannot be read. Passing that over would lose text in silence."""
        if event is None:
            self._fail(Garbled(NOT_JSON))
        else:
            self._odd("event_not_an_object")

    def _odd(self, what: str) -> None:
        self._ledger.odd(what)

    def _as_text(self, arguments: Any) -> str:
        """Writes the arguments of a call that did not come as text."""
        if isinstance(arguments, dict | list):
            try:
                return jsontext.compact(self._exact(arguments))
            except jsontext.BadJson:
                self._fail(Garbled(UNWRITABLE))
                return ""
        return self._worded(arguments) or ""

    def _worded(self, text: Any) -> Any:
        """Gives a token that a gateway has sent as what it looks like, a number or `true`, as the text that it is."""
        if type(text) not in BARE:
            return text
        self._odd("text_as_number")
        return jsontext.compact(text)

    def _exact(self, value: Any) -> Any:
        """Gives this part of the event with every digit as it was sent, because it will be written anew. Few events
        have such parts, and nothing is searched in the others. One event may have thousands, and is searched once.

        Raises BadJson where that would take too long.
        """
        if self._twins_of is not self._parsed:
            self._twins_of, self._twins = self._parsed, None
            exact = jsontext.exactly(self._parsed, self._data)
            self._twins = {} if exact is self._parsed else _twins(self._parsed, exact)
        if self._twins is None:
            raise jsontext.BadJson("the event is too long for the numbers in it")
        return self._twins.get(id(value), value)


def _twins(value: Any, exact: Any) -> dict[int, Any]:
    """Maps the identity of each object and list in a value to its counterpart in the other value."""
    found: dict[int, Any] = {}
    ahead = [(value, exact)]
    for one, other in ahead:
        if isinstance(one, dict):
            found[id(one)] = other
            ahead += [(inner, other[name]) for name, inner in one.items()]
        elif isinstance(one, list):
            found[id(one)] = other
            ahead += zip(one, other, strict=True)
    return found


def word(value: Any) -> str | None:
    """Gives an id, a name or another word; many gateways repeat them as null or as nothing."""
    return value if isinstance(value, str) and value else None
