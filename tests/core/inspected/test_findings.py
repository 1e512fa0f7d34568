"""What stands out in a request."""

from proxy.core.events import Ending
from proxy.core.inspected.findings import Finding, Level, Noted, Waits, findings
from tests.support.tables import table

QUICK = Waits("local", 0.01, 0.01, 0.1, 0.1, 1.0)


def levels(noted: Noted) -> list[Level]:
    return [finding.level for finding in findings(noted)]


def test_nothing_stands_out_in_most() -> None:
    assert findings(Noted(200, {"ending": "completed", "output_tokens": 100}, attempts=[QUICK])) == []
    assert findings(Noted(None, {})) == []


def test_a_cut_stream() -> None:
    facts = {"fault": "Truncated", "code": "upstream_stream_truncated"}
    first, second = findings(Noted(200, facts, {"finish_missing": 1}, attempts=[QUICK]))
    assert first.level is Level.BAD
    assert first.what == "The backend's stream broke off before its end."
    assert "look into their logs" in first.advice
    assert second == Finding(Level.ODD, "The backend never said why its reply ended.")


def test_a_wrong_schema() -> None:
    (found,) = findings(
        Noted(400, {"fault": "Incompatible", "code": "tool_schema_incompatible", "param": "tools[0]"})
    )
    assert found.what.endswith("The field is tools[0].")


def test_a_call_that_was_mended_and_one_that_leaked() -> None:
    mended, leaked = findings(Noted(200, {}, markup={"recovered:hermes": 2, "undeclared:hermes": 1}))
    assert mended.level is Level.ODD
    assert mended.what.endswith("Its notation is hermes. (2 times)")
    assert leaked.level is Level.BAD
    assert "markup_formats" in leaked.advice


@table(
    "waits, words",
    [
        (
            Waits("local", 3.0, 0.0, 0.0, 0.0, 1.0),
            "The request waited for a place at the backend local: 3.0 s.",
        ),
        (
            Waits("local", 0.0, 9.0, 0.0, 0.0, 1.0),
            "The backend local took long until it began to answer: 9.0 s.",
        ),
        (
            Waits("local", 0.0, 0.0, 12.0, 0.0, 1.0),
            "The backend local took long until the first byte of its answer: 12.0 s.",
        ),
        (
            Waits("local", 0.0, 0.0, 0.0, 9.0, 1.0),
            "The backend local had begun to answer, but the model said nothing for 9.0 s.",
        ),
        (
            Waits("local", 0.0, 4.0, 0.0, 6.0, 1.0),
            "The backend local took long until the model said something: 10.0 s.",
        ),
        (Waits("backend", 3.0, 0.0, 0.0, 0.0, 1.0), "The request waited for a place at the backend: 3.0 s."),
        (Waits("local", 0.0, 0.0, 0.0, 0.0, 50.0), "The backend local is slow: 2.0 tokens per second."),
    ],
)
def test_a_slow_backend(waits: Waits, words: str) -> None:
    (found,) = findings(Noted(200, {"output_tokens": 100}, attempts=[waits]))
    assert (found.level, found.what) == (Level.SLOW, words)


@table("tokens, rest", [(5, 50.0), (100, None), (100, 1.0)])
def test_a_short_answer_says_nothing_of_the_speed(tokens: int, rest: float | None) -> None:
    assert findings(Noted(200, {"output_tokens": tokens}, attempts=[Waits("local", rest=rest)])) == []


def test_several_attempts() -> None:
    (again,) = findings(Noted(200, {}, attempts=[QUICK, QUICK]))
    assert again.what == "It took 2 attempts, at the backend local."
    (elsewhere,) = findings(Noted(200, {}, attempts=[QUICK, Waits("remote")]))
    assert elsewhere.what == "It took 2 attempts, at the backends local, then remote."


def test_other_ends() -> None:
    assert levels(Noted(499, {"ending": "failed"})) == [Level.BAD]
    assert levels(Noted(200, {"ending": "completed"})) == []
    for ending, words in ((Ending.MAX_TOKENS, "limit of tokens"), (Ending.FILTERED, "content filter")):
        (found,) = findings(Noted(200, {"ending": ending}))
        assert (found.level, words in found.what) == (Level.BAD, True)


def test_losses_are_notes() -> None:
    (found,) = findings(Noted(200, {}, dropped={"image": 1}))
    assert found == Finding(Level.NOTE, "Not passed on. An image: this backend takes none.")
