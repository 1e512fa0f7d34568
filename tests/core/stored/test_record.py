"""Statuses: which follow which, and which are final."""

from itertools import product

from proxy.core.stored.record import FINAL, NEXT, Record, Status, diagram
from tests.support.tables import table

ALLOWED = {
    (Status.QUEUED, Status.IN_PROGRESS),
    (Status.QUEUED, Status.FAILED),
    (Status.QUEUED, Status.CANCELLED),
    (Status.IN_PROGRESS, Status.COMPLETED),
    (Status.IN_PROGRESS, Status.INCOMPLETE),
    (Status.IN_PROGRESS, Status.FAILED),
    (Status.IN_PROGRESS, Status.CANCELLED),
}


@table(("now", "then"), list(product(Status, Status)))
def test_a_status_is_followed_by_those_that_may_follow_it_and_no_other(now: Status, then: Status) -> None:
    assert (then in NEXT[now]) == ((now, then) in ALLOWED)


@table("status", list(Status))
def test_what_is_final_is_followed_by_nothing(status: Status) -> None:
    record = Record("resp_1", status, created=1, model="m")
    assert record.is_final == (status in FINAL) == (not NEXT[status])


def test_the_diagram_shows_what_may_follow_what() -> None:
    arrows = {f"{now} --> {then}" for now, then in ALLOWED}
    ends = {"[*] --> queued", *(f"{status} --> [*]" for status in FINAL)}
    first, *lines = diagram().splitlines()
    assert first == "stateDiagram-v2"
    assert sorted(line.strip() for line in lines) == sorted(arrows | ends)
