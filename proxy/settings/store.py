"""Settings of what is kept: where, for how long, and how much work goes on without a client."""

from pydantic import Field

from proxy.settings.section import Section
from proxy.settings.server_urls import SecretUrl
from proxy.settings.values import BYTES_PER_MIB, KeyPrefix, LiveUrl, Seconds, StoreKey, StoreUrl


class StoreSettings(Section):
    url: StoreUrl = SecretUrl("auto")
    """Where responses and conversations are kept: `sqlite:DIRECTORY`, `memory:` (one worker, until it ends), or `off`;
    or `postgresql://USER:PASSWORD@HOST/DATABASE`, which several machines may share. `auto` is SQLite in
    `$STATE_DIRECTORY`, `$XDG_STATE_HOME/responses-proxy` or `~/.local/state/responses-proxy`; if none of them can be
    written, memory with one worker and `off` with several."""
    keys: list[StoreKey] = []
    """Secrets that seal what is kept, on disks and in databases: the first one seals, each of them opens. Needs
    the extra `sealed`. Default: all is kept as it is, and can be read by who can read the disk."""
    wait_seconds: Seconds = 2
    """Seconds that a request waits for the store. An answer that could not be stored by then says `store: false`."""
    nodes: int | None = Field(None, ge=1)
    """Proxies that share the store or `live.url`, each with as many workers. The proxy goes by it while it cannot ask
    how many live, and takes its part of limits and slots. Default: 4 with PostgreSQL or `live.url`, else 1."""
    connections: int = Field(4, ge=1, le=100)
    """Connections to PostgreSQL that each worker makes at most."""
    prepared: bool = True
    """Whether statements stay prepared in PostgreSQL. Off for poolers in transaction mode that cannot keep them apart,
    as PgBouncer before 1.21."""
    retention_days: float = Field(30, gt=0)
    """Days for which a response is kept after its end, and background work of before too."""
    conversation_days: float | None = Field(None, gt=0)
    """Days for which a conversation is kept after its last use. Default: until it is deleted."""
    max_gib: float = Field(10, gt=0)
    """GiB of what is kept. Above it the oldest responses of those who have most are deleted before their time.
    In memory at most 0.25."""
    max_response_mib: int = Field(8, ge=1, le=1024)
    """Largest response in MiB, with what its request added, that is stored."""

    @property
    def max_response_bytes(self) -> int:
        return self.max_response_mib * BYTES_PER_MIB


class LiveSettings(Section):
    url: LiveUrl | None = None
    """Redis or Valkey for what may be lost, where several machines share it: the events of background work, limits, and
    memos. `redis://HOST:PORT/DATABASE`, `rediss://` with TLS, `valkey://`, `valkeys://` or `unix:///PATH`. Needs
    the extra `redis`. Default: beside what `store.url` keeps."""
    prefix: KeyPrefix = "responses-proxy"
    """How all keys there begin. Proxies with the same prefix share what lies there."""


class BackgroundSettings(Section):
    limit: int = Field(200, ge=1)
    """Responses of one tenant that each worker works on in the background at the same time; all tenants together have
    twice as many, in shares. The proxy refuses more with 429."""
