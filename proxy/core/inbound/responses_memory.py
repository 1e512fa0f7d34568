"""What a client may leave out because we still know it: the conversation up to `previous_response_id`.

A continued request is completed before anything else looks at it: previous input, previous output, new input, as if the
client had sent it all. Nothing else is carried over, `instructions` least of all.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from proxy.core import jsontext
from proxy.core.errors import ClientFault
from proxy.core.inbound.checks import wrong_type
from proxy.core.redact import quoted
from proxy.core.unquoted import has_more_values

NOWHERE: Any = object()


class Memory(Protocol):
    def completed(self, body: Any) -> Any:
        """The request with everything in it. Raises a fault when what it continues is not known."""

    def keep(self, response_id: str, body: Mapping[str, Any], output: list[dict[str, Any]]) -> None:
        """Notes a response that went well, with the completed request that it answers."""


class NoMemory:
    """Nothing is known; a request that continues something is refused when it is decoded."""

    def completed(self, body: Any) -> Any:
        return body

    def keep(self, response_id: str, body: Mapping[str, Any], output: list[dict[str, Any]]) -> None:
        pass


MAX_LANES = 16
"""Of one connection, the one without a name among them. Who has more loses what is oldest, and sends it again."""


class LatestResponses:
    """The newest response of each lane of one connection, whatever `store` says, since it goes nowhere else.

    Who continues it takes it out, and only success puts the next one in its place: so a continuation that fails has
    evicted what it continued, as the specification wants it, and no second rule is needed. Another lane may continue
    it too: that is a fork, and takes nothing from the lane that it comes from.

    Held as JSON: the bound is exact then, and a tenth of what the same items take as objects.
    """

    def __init__(self, limit: int) -> None:
        """`limit` in bytes, for all lanes together; what is longer, or holds more values than can be read at
        once, is forgotten, and its client sends it whole."""
        self.lane: str | None = None
        """On which the turn is that is under way."""
        self._limit = limit
        self._kept: dict[str | None, tuple[str, bytes]] = {}
        """By lane: the id of its newest response and the conversation up to it. The oldest first."""

    def completed(self, body: Any) -> Any:
        previous = body.get("previous_response_id")
        if not isinstance(previous, str):  # anything but null is refused when it is decoded
            return body
        found = next((lane for lane, (kept_id, _) in self._kept.items() if kept_id == previous), NOWHERE)
        if found is NOWHERE:
            raise ClientFault(
                f"Previous response {quoted(previous)} not found: a connection knows its newest response, or that of "
                "each stream_id, unless continuing it failed. Leave previous_response_id out and send the whole "
                "history as input.",
                code="previous_response_not_found",
                param="previous_response_id",
            )
        _, conversation = self._kept.pop(found) if found == self.lane else self._kept[found]
        items = jsontext.loads(conversation) + _items(body.get("input"))
        whole = body | {"input": items}
        del whole["previous_response_id"]
        return whole

    def keep(self, response_id: str, body: Mapping[str, Any], output: list[dict[str, Any]]) -> None:
        conversation = jsontext.dumps(_items(body.get("input")) + output)
        self._kept.pop(self.lane, None)
        if len(conversation) > self._limit or has_more_values(conversation, jsontext.MAX_VALUES):
            return
        self._kept[self.lane] = (response_id, conversation)
        while len(self._kept) > MAX_LANES or self._size() > self._limit:
            del self._kept[next(iter(self._kept))]

    def _size(self) -> int:
        return sum(len(conversation) for _, conversation in self._kept.values())


def known_items(body: Any, completed: Any) -> int:
    """How many of the items of an input that was completed, all of them its first, its client did not send."""
    return len(completed["input"]) - len(_items(body.get("input")))


def _items(given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    if isinstance(given, list):
        return given
    raise wrong_type("input", "a string or an array of items", given)
