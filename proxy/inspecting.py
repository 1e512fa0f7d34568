"""Puts the inspector together, as the settings ask for it: see `proxy.shell.inspector`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from proxy.configured import BYTES_PER_MIB, inspector_readers_of
from proxy.core.masking.redact import masked
from proxy.core.masking.secrets import Secrets
from proxy.core.tenants import Tenant, Tenants
from proxy.settings.root import Settings
from proxy.shell.backends import Backends
from proxy.shell.inspector import standing
from proxy.shell.inspector.door import Door
from proxy.shell.inspector.kept import Kept
from proxy.shell.inspector.node import Node
from proxy.shell.inspector.ring import Ring
from proxy.shell.ops.worker_questions import WorkerSlot
from proxy.shell.serving.inspection import Inspection
from proxy.storage import Storage

NO_CONTENT = "The recorder's setting decides what is kept of what is said. See [recorder] in the settings."


def ring_of(settings: Settings) -> Ring | None:
    """None if nobody may see it: then nothing is kept."""
    if not settings.inspector.enabled or inspector_readers_of(settings) is None:
        return None
    return Ring(settings.inspector.requests, settings.inspector.memory_mib * BYTES_PER_MIB)


def inspection_of(
    settings: Settings,
    *,
    slot: WorkerSlot,
    ring: Ring | None,
    life: str,
    backends: Backends,
    tenants: Tenants,
    remaining: Callable[[Tenant], Mapping[str, str]],
    storage: Storage,
    secrets: Secrets,
) -> Inspection:
    def standing_here() -> dict[str, Any]:
        return {
            "backends": [standing.backend(backend) for backend in backends.all],
            "tenants": standing.tenants(tenants.all, _remaining(tenants.all, remaining)),
        }

    def mask(text: str) -> str:
        return masked(secrets.hidden(text))

    node = None if ring is None else Node(slot, ring, life, standing_here, mask)
    door = Door(inspector_readers_of(settings)) if settings.inspector.enabled else None
    about = {"content": NO_CONTENT, "shared": storage.shared is not None}
    return Inspection(node, door, Kept(storage.records, mask, with_content=False), about)


def _remaining(
    tenants: Iterable[Tenant], remaining: Callable[[Tenant], Mapping[str, str]]
) -> Mapping[str, Mapping[str, str]]:
    return {tenant.name: remaining(tenant) for tenant in tenants}
