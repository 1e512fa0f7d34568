"""What is not quite JSON is read by each decoder in one way, and from then on lone surrogates are awaited."""

from proxy.core.dialects.reading.decoding import MAX_KEPT_DEPTH, Decoding
from proxy.core.errors import Garbled
from proxy.core.events import Delta, ErrorDelta, TextDelta
from proxy.core.ledger import Ledger
from tests.support.chat_requests import nested
from tests.support.tables import table

HIGH, LOW = "\ud83d", "\ude00"


class Repeating(Decoding):
    """Says the text of each JSON string, and fails on everything else."""

    def __init__(self, told: list[Delta], ledger: Ledger) -> None:
        super().__init__(told.append, ledger)

    def say(self, data: bytes) -> None:
        text = self._mended(data)
        if isinstance(text, str):
            self._emit(TextDelta(text))
        else:
            self._fail(Garbled("no text"))


@table("data", [b"\xef\xbb\xbf[1, 2]", b"[1,\n 2]"])
def test_what_can_be_mended_is_read_and_counted(data: bytes) -> None:
    ledger = Ledger()
    assert Repeating([], ledger)._mended(data) == [1, 2]
    assert ledger.oddities == {"json_mended": 1}


def test_what_cannot_be_read_at_all_is_nothing_and_a_failure_is_told() -> None:
    told: list[Delta] = []
    ledger = Ledger()
    Repeating(told, ledger).say(b"<html>")
    (failure,) = told
    assert isinstance(failure, ErrorDelta)
    assert ledger.oddities == {}


def test_the_halves_of_a_character_are_joined_over_pieces_however_often_something_is_mended() -> None:
    told: list[Delta] = []
    repeating = Repeating(told, Ledger())
    for half in (HIGH, LOW, HIGH, LOW):
        repeating.say(b'"\\u%04x"' % ord(half))
    assert [delta.text for delta in told if isinstance(delta, TextDelta)] == ["", "😀", "", "😀"]


@table(("levels", "keepable"), [(1, True), (MAX_KEPT_DEPTH, True), (MAX_KEPT_DEPTH + 1, False)])
def test_attack_27_what_could_not_be_written_again_ends_the_reply_as_the_backends_fault(
    levels: int, keepable: bool
) -> None:
    told: list[Delta] = []
    assert Repeating(told, Ledger())._keepable(nested(levels)) is keepable
    assert [type(delta.fault) for delta in told if isinstance(delta, ErrorDelta)] == [Garbled] * (
        not keepable
    )
