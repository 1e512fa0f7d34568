"""What all tables of lessons have in common, and what no change of a request can mend."""

import re
from dataclasses import replace
from time import process_time

from proxy.core.dialects.anthropic.lessons import LESSONS as OF_ANTHROPIC
from proxy.core.dialects.chat.lessons import LESSONS as OF_CHAT
from proxy.core.dialects.google.lessons import LESSONS as OF_GOOGLE
from proxy.core.dialects.reading.error_body import MAX_WORDS
from proxy.core.dialects.reading.lessons import Lesson, Row, advice, learn, says, setting, without_evidence
from proxy.core.profile import DEFAULT
from tests.support.tables import table

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


def test_what_comes_late_is_not_looked_for() -> None:
    """A refusal may repeat the whole request, in which anything may stand."""
    late = "x" * MAX_WORDS + "no images, does not support tools"
    assert learn(ROWS, DEFAULT, late) is None
    assert advice(late) is None


@table("row", [*OF_CHAT, *OF_ANTHROPIC, *OF_GOOGLE], ids=str)
def test_no_refusal_takes_long_to_read(row: Row) -> None:
    """S28: not even one made of the words that are looked for, over and over. Without limits to the gaps between them
    the time grows with the cube of the length."""
    words = [word.strip() for word in re.findall(r"[a-z_][a-z_ ]{2,}", row.pattern.pattern, re.IGNORECASE)]
    for unit in (*words, " ".join(words[:-1]), ".", "x", "1", "!"):
        text = (f"{unit} " if len(unit) > 1 else unit) * 3000
        started = process_time()
        row.pattern.search(text[:3000])
        assert process_time() - started < 0.2


def test_a_number_of_any_length_is_no_reason_to_fail() -> None:
    assert learn(OF_CHAT, DEFAULT, "'tools': maximum number of items is " + "1" * 5000) is None


@table(
    ("words", "now", "kept"),
    [
        ("exceed context limit: 123 + 64000 > 4096", 3973, 2048),
        ("exceed context limit: 3584 + 64000 > 4096", 512, 2048),
        ("exceed context limit: 150000 + 64000 > 200000", 50_000, None),
    ],
)
def test_a_limit_of_ours_becomes_what_the_window_leaves(words: str, now: int, kept: int | None) -> None:
    """V34: and of a small window half is kept free from then on. A long conversation makes nobody's answers short."""
    lesson = learn(OF_ANTHROPIC, DEFAULT, words)
    assert lesson is not None
    assert (lesson.row, lesson.lasting, lesson.profile.length_default) == ("room", False, now)
    assert lesson.kept is not None
    assert lesson.kept.length_default == kept


@table(
    "words",
    ["exceed context limit: 3585 + 64000 > 4096", "exceed context limit: 199000 + 64000 > 200000"],
)
def test_a_conversation_that_leaves_next_to_nothing_has_outgrown_its_window(words: str) -> None:
    assert learn(OF_ANTHROPIC, DEFAULT, words) is None


def test_nothing_is_kept_that_the_client_may_have_said() -> None:
    words = "exceed context limit: 123 + 64000 > 4096"
    lesson = learn(OF_ANTHROPIC, DEFAULT, words, body=b'{"user": "limit"}')
    assert lesson is not None
    assert lesson.kept is None


def test_what_nobody_knows_may_be_the_reason_of_any_refusal() -> None:
    """One after the other; what costs least first."""
    profile, learned = replace(DEFAULT, replay="reasoning"), []
    while lesson := without_evidence(profile, learned):
        profile = lesson.profile
        learned.append(lesson.row)
    assert learned == ["format_evidence", "evidence"]
    assert profile == replace(DEFAULT, format_with_tools=False, replay="none", replay_by_evidence=False)
    assert without_evidence(profile) is None


def test_what_was_in_doubt_already_is_in_doubt_once() -> None:
    tried = without_evidence(DEFAULT, ["format_evidence"])
    assert tried is not None
    assert (tried.row, tried.profile.format_with_tools) == ("evidence", True)
