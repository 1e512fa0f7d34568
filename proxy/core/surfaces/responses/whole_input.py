"""The input of a request with all that it names in its place, as if its client had sent it all.

Of what a request continues only items come back. Instructions, tools and all settings are those of the new request.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proxy.core import jsontext
from proxy.core.ledger import Ledger
from proxy.core.stored.named import Known
from proxy.core.stored.private import opened
from proxy.core.stored.references import resolved
from proxy.core.surfaces.reading.checks import wrong_type


@dataclass(slots=True, frozen=True)
class WholeInput:
    history: list[Any]
    own: list[Any]
    """What the request adds."""
    indices: Sequence[int] | None = None
    """Where each of these stands in what its client has sent. None: all do in their order."""

    @property
    def items(self) -> list[Any]:
        return self.history + self.own


def whole_input(body: Mapping[str, Any], model: str | None, known: Known, ledger: Ledger) -> WholeInput:
    """`model`: the real name of the one that reads it."""
    history = opened(jsontext.loads(known.history), model, ledger)
    own = resolved(items_of(body.get("input")), known.references, history, model, ledger)
    return WholeInput(history, *own)


def items_of(given: Any) -> list[Any]:
    """The input of a request as the list that a string stands for."""
    if given is None:
        return []
    if isinstance(given, str):
        return [{"type": "message", "role": "user", "content": given}]
    if isinstance(given, list):
        return given
    raise wrong_type("input", "a string or an array of items", given)
