"""Puts the inspector together, as the settings ask for it: see `proxy.shell.inspector`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from proxy.configured import inspector_readers_of
from proxy.core.masking.redact import masked
from proxy.core.masking.secrets import Secrets
from proxy.core.tenants import Tenant, Tenants
from proxy.settings.recorder import RecorderSettings
from proxy.settings.root import Settings
from proxy.shell.backends import Backends
from proxy.shell.inspector import standing
from proxy.shell.inspector.door import Door
from proxy.shell.inspector.gatherer import Gatherer
from proxy.shell.inspector.ring import Ring
from proxy.shell.inspector.store_lookup import StoreLookup
from proxy.shell.ops.worker_questions import WorkerSlot
from proxy.shell.serving.inspection import Inspection
from proxy.shell.watching.watch import Watch
from proxy.storage import Storage

OFF = 'Of what is said nothing is kept. To see it here, have the recorder keep it: recorder.keep = "all".'
MASKED = 'The recorder keeps no words (recorder.content = "masked"), so that none are shown here.'
HIDDEN = {
    "faults": 'Only what failed is kept (recorder.keep = "faults"), as long as there is room for it.',
    "sampled": "Only a share of all requests is kept (recorder.share), as long as there is room for it.",
    "all": "It was more than there is room for (inspector.memory_mib), or had to make room for others.",
}
"""Why nothing is shown of what was said, by what the recorder keeps."""


def ring_of(settings: Settings, live: Callable[[], Iterable[Watch]]) -> Ring | None:
    """`live`: what is under way. None if nobody may see it: then nothing is kept."""
    if not settings.inspector.enabled or inspector_readers_of(settings) is None:
        return None
    return Ring(settings.inspector.requests, settings.inspector.memory_bytes, live, _shown(settings.recorder))


def _shown(recorder: RecorderSettings) -> Callable[[Watch], bool] | None:
    """What the recorder keeps may be seen here, and nothing else. What it does not want is not there."""
    if recorder.keep == "off":
        return None
    if recorder.content == "masked":
        return lambda watch: False
    if recorder.keep == "faults":
        return lambda watch: watch.has_failed
    return lambda watch: True


def _hidden(recorder: RecorderSettings) -> str:
    if recorder.keep == "off":
        return OFF
    return MASKED if recorder.content == "masked" else HIDDEN[recorder.keep]


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
            "tenants": standing.tenants(tenants.all, remaining),
        }

    def mask(text: str) -> str:
        return masked(secrets.hidden(text))

    gatherer = None if ring is None else Gatherer(slot, ring, life, standing_here, mask)
    door = Door(inspector_readers_of(settings)) if settings.inspector.enabled else None
    recorder = settings.recorder
    about = {"content": _hidden(recorder), "shared": storage.shared is not None}
    all_is_shown = (recorder.keep, recorder.content) == ("all", "keep")
    return Inspection(gatherer, door, StoreLookup(storage.records, mask, with_content=all_is_shown), about)
