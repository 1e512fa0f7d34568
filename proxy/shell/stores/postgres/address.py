"""Which database: as the driver wants it, and as people may see it; and how much of it a process takes."""

from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit


@dataclass(slots=True, frozen=True)
class Address:
    url: str = field(repr=False)
    """May hold a password."""

    @property
    def shown(self) -> str:
        """Without user and password; PostgreSQL's own variables (`PGHOST` and others) may say what is missing."""
        parts = urlsplit(self.url)
        host = parts.netloc.rpartition("@")[2]
        database = unquote(parts.path.lstrip("/"))
        named = f"the database {database}" if database else "the user's database"
        return f"{named} of PostgreSQL{f' at {host}' if host else ''}"


@dataclass(slots=True, frozen=True)
class Limits:
    connections: int = 4
    seconds: float = 2.0
    """Seconds that each of these may take: a new connection, a command, and the wait for a free connection."""
    prepared: bool = True
