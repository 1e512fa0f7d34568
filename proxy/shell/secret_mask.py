"""The last step before a client is told of a fault, on any transport: secrets in it are masked.

A backend knows its key and may quote it in an error, in any words. It may also quote a client's key that the proxy has
passed on, and a client may have put its key where it does not belong.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from proxy.core.errors import Fault
from proxy.core.events import ReplyEnded
from proxy.core.masking.redact import masked
from proxy.core.masking.secrets import Secrets
from proxy.core.tenants import key_of
from proxy.shell.ops.fault_facts import without_frames

LEAST_KEY, MAX_KEY = 12, 200
"""Client keys of this length are searched for. Shorter ones are words that clients send where no key is needed; longer
ones are signed tokens, which the mask knows by their form, and a search has its price."""


@dataclass(slots=True, frozen=True)
class SecretMask:
    configured: Secrets

    def hidden_in(self, fault: Fault, headers: Mapping[str, str]) -> Fault:
        """Returns the fault without secrets. `headers` are those of the request, whose key is a secret too."""
        if fault.message is fault.own_words and not fault.details and fault.param is None:
            return fault
        key = key_of(headers)[:MAX_KEY]
        presented = Secrets((key,) if len(key) >= LEAST_KEY else ())
        hidden = partial(self._hidden, presented=presented)
        code = fault.code
        if code is not None and hidden(masked(code)) != code:  # a backend's word, which has no mask
            code = type(fault).code
        return fault.changed(
            message=hidden(fault.message), param=hidden(fault.param), details=hidden(fault.details), code=code
        )

    def to_keep(self, fault: Fault, headers: Mapping[str, str]) -> Fault:
        """The fault without secrets, for code that keeps it: it holds neither a frame nor a key."""
        return without_frames(self.hidden_in(fault, headers))

    def _hidden(self, value: Any, presented: Secrets) -> Any:
        match value:
            case str():
                return presented.hidden(self.configured.hidden(value))
            case dict():
                return {
                    self._hidden(name, presented): self._hidden(inner, presented)
                    for name, inner in value.items()
                }
            case list() | tuple():
                return [self._hidden(inner, presented) for inner in value]
            case _:
                return value

    def hidden_in_ending(self, ended: ReplyEnded, headers: Mapping[str, str]) -> ReplyEnded:
        """The ending of a reply, as its client may be told of it."""
        return ended if ended.fault is None else replace(ended, fault=self.hidden_in(ended.fault, headers))
