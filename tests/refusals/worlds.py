"""The proxies before which cases are asked: what is configured, and what of its patience is shortened."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.core.tenants import digest
from tests.refusals import kept

KEY = "canary-key-of-a-tenant"
AUTHORIZED = {"Authorization": f"Bearer {KEY}"}


@dataclass(frozen=True)
class World:
    backend: str = "chat"
    """One of the contract's."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """For this backend."""
    sections: Mapping[str, Any] = field(default_factory=dict)
    patched: Mapping[str, float] = field(default_factory=dict)
    """Constants that no test can wait for."""
    records: Callable[[], Awaitable[Any]] | None = None
    """What is kept there. Default: nothing can be kept."""
    routed: bool = False
    """Is the backend one of two, of which neither is the default?"""


def _tenant(**rules: Any) -> dict[str, Any]:
    return {"tenants": {"one": {"keys": [digest(KEY)], **rules}}}


WORLDS = {
    "plain": World(),
    "keeping": World(records=kept.records),
    "keeping little": World(records=kept.records, sections={"server": {"body_limit_mib": 1}}),
    "keeping one": World(
        records=kept.records,
        patched={
            "proxy.shell.stored_turns.MOST_ENTRIES": 1,
            "proxy.shell.serving.conversations.MOST_ENTRIES": 1,
        },
    ),
    "keeping nothing": World(sections={"store": {"url": "off"}}),
    "keeping less": World(sections={"store": {"url": "memory:", "max_response_mib": 1}}),
    "keeping enough": World(patched={"proxy.shell.runs.runs.ALL_TOGETHER": 0}),
    "keeping and asked": World(
        records=kept.records, patched={"proxy.shell.serving.lookups.MOST_QUESTIONS": 0}
    ),
    "keeping and followed": World(
        records=kept.records, patched={"proxy.shell.serving.lookups.MOST_FOLLOWERS": 0}
    ),
    "anthropic": World("anthropic"),
    "google": World("google"),
    "text only": World(settings={"overrides": {"files": False}}),
    "no tools": World(settings={"overrides": {"max_tools": 0}}),
    "their key": World(settings={"forward_key": True, "key": None}),
    "routed": World(routed=True),
    "small": World(sections={"server": {"body_limit_mib": 1}}),
    "narrow": World(sections={"server": {"memory_mib": 16}}),
    "without sockets": World(sections={"server": {"websocket": False}}),
    "without inspector": World(sections={"inspector": {"enabled": False}}),
    "brief": World(patched={"proxy.shell.websocket.session.LIFETIME_SECONDS": 0.05}),
    "full": World(patched={"proxy.shell.websocket.open_sockets.MAX_OPEN": 0}),
    "busy": World(patched={"proxy.shell.concurrency.MAX_EXCHANGES": 0}),
    "impatient": World(patched={"proxy.shell.http.body.PATIENCE_SECONDS": 0.05}),
    "strict with heads": World(
        patched={
            "proxy.shell.http.connections.HEAD_SECONDS": 0,
            "proxy.shell.http.connections.CHECK_SECONDS": 0.01,
        }
    ),
    "tenants": World(sections=_tenant(tool_allowlist=["get_*"])),
    "enforcing": World(sections={"limits": {"mode": "enforce"}}),
    "rarely": World(sections=_tenant(requests_per_minute=1)),
}
