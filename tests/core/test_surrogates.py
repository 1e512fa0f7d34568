"""Half characters are joined or replaced, never written."""

from proxy.core.surrogates import mend
from tests.support.tables import table


@table(
    ("text", "mended"),
    [
        ("", ""),
        ("plain é 😀", "plain é 😀"),
        ("\ud83d\ude00", "😀"),
        ("a\ud83d", "a\ufffd"),
        ("\ude00b", "\ufffdb"),
        ("\ude00\ud83d", "\ufffd\ufffd"),
        ("\ud83d\ud83d\ude00", "\ufffd😀"),
    ],
)
def test_halves_that_meet_are_joined_and_orphans_replaced(text: str, mended: str) -> None:
    assert mend(text) == mended
