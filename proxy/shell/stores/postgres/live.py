"""What may vanish, in tables of a database that a crash of the server empties: nothing of them waits for the disk."""

from proxy.shell.stores.logs import MOST_LOG_BYTES
from proxy.shell.stores.postgres.carrier import PostgresCarrier
from proxy.shell.stores.postgres.connections import Connections
from proxy.shell.stores.postgres.server_clock import ServerClock
from proxy.shell.stores.sql.live import SqlLive
from proxy.shell.stores.sql.tables import LIVE


class PostgresLive(SqlLive):
    def __init__(
        self, connections: Connections, clock: ServerClock, most_log_bytes: int = MOST_LOG_BYTES
    ) -> None:
        carrier = PostgresCarrier(connections, LIVE, clock, may_vanish=True)
        super().__init__(carrier, clock.clock, most_log_bytes)
