"""The keys of the server. Each begins with the prefix of the settings, and, where it is a tenant's, with the tenant.

What stands in braces decides on which shard of a cluster a key lies: of a response its family, of memos and meters the
tenant, of a queue the backend. All parts are quoted, so no name can pass for two.
"""

from urllib.parse import quote

from proxy.shell.stores.keys import family_of
from proxy.shell.stores.protocol import Key


class Names:
    def __init__(self, prefix: str) -> None:
        self._prefix = prefix

    def _of_tenant(self, tenant: str, kind: str, tag: str) -> str:
        return f"{self._prefix}:t:{_quoted(tenant)}:{kind}:{{={_quoted(tag)}}}"

    def log(self, key: Key) -> tuple[str, str]:
        """Its head, and its rows."""
        family = family_of(key.id)
        head = f"{self._of_tenant(key.tenant, 'log', family)}:{_quoted(key.id)}"
        return head, f"{head}:rows"

    def memos(self, tenant: str) -> tuple[str, str, str]:
        """The memos, their order, and their size."""
        memos = self._of_tenant(tenant, "memos", tenant)
        return memos, f"{memos}:order", f"{memos}:size"

    def meters(self, tenant: str) -> str:
        return self._of_tenant(tenant, "meters", tenant)

    def all_of(self, tenant: str) -> str:
        """A pattern for all that is the tenant's."""
        return f"{self._prefix}:t:{_quoted(tenant)}:*"

    # ── what belongs to no tenant ──

    def queue(self, name: str) -> tuple[str, str, str]:
        """Its tickets in order, whose they are, and who lives."""
        beginning = f"{self._prefix}:queue:{{={_quoted(name)}}}"
        return f"{beginning}:order", f"{beginning}:holders", f"{beginning}:workers"

    @property
    def queues(self) -> str:
        return f"{self._prefix}:queues"

    def queues_of(self, worker: str) -> str:
        """In which queues a worker has tickets."""
        return f"{self._prefix}:queues:{{={_quoted(worker)}}}"

    @property
    def probe(self) -> str:
        return f"{self._prefix}:probe"


def _quoted(text: str) -> str:
    return quote(text, safe="")
