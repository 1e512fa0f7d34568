"""Statuses: which are final."""

from proxy.core.stored.record import Record, Status
from tests.support.tables import table


@table(
    ("status", "is_final"),
    [
        (Status.QUEUED, False),
        (Status.IN_PROGRESS, False),
        (Status.COMPLETED, True),
        (Status.INCOMPLETE, True),
        (Status.FAILED, True),
        (Status.CANCELLED, True),
    ],
)
def test_work_that_has_ended_is_final(status: Status, is_final: bool) -> None:
    assert Record("resp_1", status, created=1, model="m").is_final == is_final
