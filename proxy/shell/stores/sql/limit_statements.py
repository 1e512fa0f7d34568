"""The statements of meters and of queues before backends, in the SQL that SQLite and PostgreSQL share.

Each is right beside others that run at the same time: it changes a row by what it finds in it.
"""

from typing import Final

from proxy.shell.stores.terms import SKEW_SECONDS

# ── meters ──

_NOW, _COST = "excluded.seen", "(excluded.full_at - excluded.seen)"

_MISSING: Final = (
    f"(case when meters.full_at <= meters.seen or meters.full_at <= {_NOW} then 0"
    f" when meters.seen > {_NOW} then meters.full_at - meters.seen else meters.full_at - {_NOW} end)"
)
"""The seconds until it is full."""

_IS_OVERTAKEN: Final = f"meters.seen > {_NOW} and meters.seen < {_NOW} + {SKEW_SECONDS}"

_HELD: Final = f"(case when {_IS_OVERTAKEN} then meters.seen else {_NOW} end)"
"""The time that holds."""

_CHARGE: Final = (
    "insert into meters (tenant, unit, full_at, seen) values (?, ?, ?, ?) on conflict (tenant, unit)"
    f" do update set full_at = {_HELD} + {_COST} + {_MISSING}, seen = {_HELD}"
)

CHARGE: Final = f"{_CHARGE} returning full_at - seen"

TAKE: Final = f"{_CHARGE} where {_MISSING} <= ? returning full_at - seen"

FULL_METERS: Final = "select tenant, unit from meters where full_at <= ? and seen <= ? limit ?"

FORGET_METER: Final = "delete from meters where tenant = ? and unit = ? and full_at <= ?"

# ── queues ──

HOLD: Final = (
    "insert into holders (worker, until) values (?, ?)"
    " on conflict (worker) do update set until = excluded.until"
)

STANDS: Final = "select 1 from tickets where queue = ? and id = ?"

NUMBER: Final = (
    "insert into queues (name, last) values (?, 1)"
    " on conflict (name) do update set last = queues.last + 1 returning last"
)
"""Whoever has got a number keeps others of the same queue from getting theirs until its transaction has ended: so
nobody is let in whom somebody with a smaller number could still come before."""

ENTER: Final = "insert into tickets (queue, id, n, worker) values (?, ?, ?, ?) on conflict do nothing"

LIVING: Final = "select 1 from holders where holders.worker = tickets.worker and until > ? and until <= ?"

RANKS: Final = (
    "select queue, id, before from (select queue, id, worker,"
    " row_number() over (partition by queue order by n) - 1 as before from tickets"
    f" where exists ({LIVING})) as standing where worker = ? order by queue, before"
)

LEAVE: Final = "delete from tickets where queue = ? and id = ?"

DEAD_TICKETS: Final = f"select queue, id from tickets where not exists ({LIVING}) limit ?"

FORGET_HOLDERS: Final = (
    "delete from holders where (until <= ? or until > ?)"
    " and not exists (select 1 from tickets where tickets.worker = holders.worker)"
)
