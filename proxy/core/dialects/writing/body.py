"""What the bodies of all dialects are made with."""

from collections.abc import Mapping
from typing import Any

from proxy.core.ledger import Ledger

Body = dict[str, Any]


def patched(body: Body, patch: Mapping[str, Any], ledger: Ledger) -> Body:
    """The JSON merge patch of the profile, applied last."""
    for name, value in patch.items():
        if value is None:
            if body.pop(name, None) is not None:
                ledger.drop(name)
        elif isinstance(value, Mapping):
            inner = body.get(name)
            body[name] = patched(dict(inner) if isinstance(inner, dict) else {}, value, ledger)
        else:
            body[name] = value
    return body
