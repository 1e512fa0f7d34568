"""Bodies as their readers get them: parts of what the core makes are written already."""

from typing import Any

from proxy.core import jsontext


def as_sent(body: dict[str, Any]) -> dict[str, Any]:
    read: dict[str, Any] = jsontext.loads(jsontext.dumps(body))
    return read
