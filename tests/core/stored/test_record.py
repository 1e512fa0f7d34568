"""What a record says of itself."""

from proxy.core.stored.record import Record, Status, conversation_as_record
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


def test_its_size_is_that_of_its_pieces() -> None:
    record = Record("resp_1", Status.COMPLETED, 1, "m", answer=b"{}", input=b"[1]", output=b"[22]")
    assert record.size == 2 + 3 + 4


def test_a_conversation_stands_in_a_chain_as_a_record_without_an_answer() -> None:
    found = conversation_as_record("conv_1", 7, b"[1]")
    assert found == Record("conv_1", Status.COMPLETED, created=7, model="", input=b"[1]")
    assert found.is_final
