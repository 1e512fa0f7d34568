"""What all tables of lessons have in common, and what no change of a request can mend."""

from proxy.core.capabilities import DEFAULT
from proxy.core.outbound.lessons import Lesson, Row, advice, learn, says, setting
from tests.tables import table

ROWS = (
    Row("images", says(r"no images"), setting(images="none")),
    Row("usage", says(r"no (?:images|usage)"), setting(usage="never"), lasting=False),
)


def test_the_first_row_that_changes_something_is_taken_and_none_twice() -> None:
    first = learn(ROWS, DEFAULT, "There are NO\nimages; no images.")
    assert first == Lesson("images", setting(images="none")(DEFAULT, None), lasting=True)  # type: ignore[arg-type]
    second = learn(ROWS, first.profile, "no images")
    assert second is not None
    assert (second.row, second.profile.usage, second.lasting) == ("usage", "never", False)
    assert learn(ROWS, DEFAULT, "no images", ["images", "usage"]) is None
    assert learn((), DEFAULT, "no images") is None


@table(
    ("message", "words"),
    [
        (
            '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "start the server",
        ),
        ("registry.ollama.ai/library/gemma does not support tools", "choose one that can"),
    ],
)
def test_where_no_retry_helps_the_operator_is_told_what_to_do(message: str, words: str) -> None:
    assert words in (advice(message) or "")


def test_elsewhere_there_is_no_advice() -> None:
    assert advice("Internal server error") is None
