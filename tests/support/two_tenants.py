"""Two tenants and their keys."""

from typing import Any

from proxy.core.tenants import digest

KEYS = {"ann": "canary-key-of-ann-0123", "bob": "canary-key-of-bob-4567"}
TENANTS: dict[str, Any] = {name: {"keys": [digest(key)]} for name, key in KEYS.items()}


def shown_by(name: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {KEYS[name]}"}
