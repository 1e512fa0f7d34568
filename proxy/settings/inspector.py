"""Settings of the page that shows requests."""

from pydantic import Field

from proxy.settings.section import Section
from proxy.settings.values import BYTES_PER_MIB, Digest


class InspectorSettings(Section):
    enabled: bool = True
    """Keep the last requests in memory, and show them at `/inspector`: to those who have a key, or without keys only to
    this machine, and only while there are no tenants. What was said is shown only where the recorder keeps it."""
    keys: list[Digest] = []
    """SHA-256 digests of the keys that may look, as `responses-proxy hash-key` prints them. Whoever has one sees the
    requests of all tenants."""
    requests: int = Field(300, ge=1, le=10_000)
    """Requests that each worker keeps after they have ended."""
    memory_mib: int = Field(32, ge=1, le=4096)
    """MiB in each worker for what was said in them. The oldest lose it first."""

    @property
    def memory_bytes(self) -> int:
        return self.memory_mib * BYTES_PER_MIB
