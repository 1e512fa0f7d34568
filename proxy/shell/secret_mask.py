"""The last thing that happens to a fault before anybody is told of it, on whatever wire: no secret leaves in it.

A backend knows its key and may put it into its errors, in any words. So it may do with a key that a client has sent and
that was passed on; and a client may have put its key where it does not belong.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core.errors import Fault
from proxy.core.events import Event, ReplyEnded
from proxy.core.masking.redact import masked
from proxy.core.masking.secrets import Secrets
from proxy.core.sink import Sink
from proxy.core.tenants import key_of

LEAST_KEY, MAX_KEY = 12, 200
"""Characters of a client's key that are looked for. Shorter ones are words that clients send where nobody asks for a
key; longer ones are signed tokens, which are known by their form, and what is looked for has its price."""


@dataclass(slots=True, frozen=True)
class SecretMask:
    configured: Secrets

    def hidden_in(self, fault: Fault, headers: Mapping[str, str]) -> Fault:
        """The same fault, fit to be told. `headers`: of the request, whose own key is no less a secret."""
        if fault.message is fault.own_words and not fault.details and fault.param is None:
            return fault
        key = key_of(headers)[:MAX_KEY]
        presented = Secrets((key,) if len(key) >= LEAST_KEY else ())

        def hidden(said: Any) -> Any:
            match said:
                case str():
                    return presented.hidden(self.configured.hidden(said))
                case dict():
                    return {hidden(name): hidden(inner) for name, inner in said.items()}
                case list() | tuple():
                    return [hidden(inner) for inner in said]
                case _:
                    return said

        fault.message = hidden(fault.message)
        fault.param = hidden(fault.param)
        fault.details = hidden(fault.details)
        if (
            fault.code is not None and hidden(masked(fault.code)) != fault.code
        ):  # a backend's word, which has no mask
            fault.code = type(fault).code
        return fault

    def in_front_of(self, sink: Sink, headers: Mapping[str, str]) -> Sink:
        """The same sink, for a stream, whose ending may tell of a fault."""

        def feed(event: Event) -> None:
            if isinstance(event, ReplyEnded) and event.fault is not None:
                self.hidden_in(event.fault, headers)
            sink.feed(event)

        return Sink(feed, sink.delta)
