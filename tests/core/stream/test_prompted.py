"""V25: prompts that open the thought, and what a reply shows of that."""

from typing import Any

import pytest

from proxy.core.errors import BackendFault
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    PartEnded,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Call, Reasoning, Refusal, ReplyPart, Text, ToolKind, ToolName, Usage
from proxy.core.stream.prompted import (
    PromptedSplitter,
    Unopened,
    unopened,
    with_thought_apart,
    without_thought,
)
from tests.support.merging import merged
from tests.support.tables import table

STOP, LENGTH, FILTER = (FinishDelta(finish) for finish in (Finish.STOP, Finish.LENGTH, Finish.FILTER))
CALL = Call("a", ToolName("f"), ToolKind.FUNCTION, "{}")


def split(*deltas: Delta, until: str = "</think>") -> tuple[list[Delta], PromptedSplitter]:
    out: list[Delta] = []
    splitter = PromptedSplitter(out.append, until)
    for delta in deltas:
        splitter.feed(delta)
    splitter.close()
    return merged(out), splitter


def texts(*pieces: str) -> list[Delta]:
    return [TextDelta(piece) for piece in pieces]


THOUGHT = [
    pytest.param("Hm.</think>Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], True, id="as learned"),
    pytest.param(
        "\nHm.\n</think>\n\nHello\n",
        [ReasoningDelta("Hm.\n"), TextDelta("Hello\n")],
        True,
        id="with blank lines",
    ),
    pytest.param(
        "a<b</</thinkc</think>d", [ReasoningDelta("a<b</</thinkc"), TextDelta("d")], True, id="nearly closers"
    ),
    pytest.param("</think>\n\nHello", [TextDelta("Hello")], True, id="no thought at all"),
    pytest.param(
        "<think>Hm.</think>Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], None, id="opened itself"
    ),
    pytest.param('{"a": "</think>"}', [TextDelta('{"a": "</think>"}')], None, id="JSON"),
    pytest.param(" [1]", [TextDelta(" [1]")], None, id="a list"),
    pytest.param(
        " " * 100 + "Hm.</think>Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], True, id="many blanks"
    ),
]


@table(("content", "expected", "holds"), THOUGHT)
def test_a_reply_begins_inside_a_thought(content: str, expected: list[Delta], holds: bool | None) -> None:
    """However its text is cut."""
    cuts = [[content[:at], content[at:]] for at in range(1, len(content))]
    for pieces in ([content], [*content], *cuts):
        out, splitter = split(*texts(*pieces), STOP)
        assert out == [*expected, STOP]
        assert (splitter.holds, splitter.took_back) == (holds, False)


def test_a_thought_flows_as_it_comes() -> None:
    out: list[Delta] = []
    splitter = PromptedSplitter(out.append, "</think>")
    for piece, passed in [
        ("Hm", [ReasoningDelta("Hm")]),
        (", <", [ReasoningDelta(", ")]),
        ("b", [ReasoningDelta("<b")]),
        ("</thi", []),
        ("nk>", []),
        ("\n", []),
        ("Hi", [TextDelta("Hi")]),
        ("</think>", [TextDelta("</think>")]),
    ]:
        out.clear()
        splitter.feed(TextDelta(piece))
        assert out == passed, piece


@table(
    "end", [STOP, EndDelta(), CallDelta(0, "a", "f"), RefusalDelta("No.")], ids=lambda end: type(end).__name__
)
def test_what_ends_without_the_tag_was_the_answer_and_is_told_as_it_to_the_byte(end: Delta) -> None:
    usage = UsageDelta(Usage(1, 2, 3))
    out, splitter = split(usage, *texts("\n\nHi", " the", "re</th"), end)
    assert out == [usage, ReasoningDelta("Hi there"), TextDelta("\n\nHi there</th"), end]
    assert (splitter.holds, splitter.took_back) == (False, True)


def test_after_that_all_is_text() -> None:
    out, _ = split(TextDelta("So:"), CallDelta(0, "a", "f"), TextDelta("x</think>y"), STOP)
    assert out == [
        ReasoningDelta("So:"),
        TextDelta("So:"),
        CallDelta(0, "a", "f"),
        TextDelta("x</think>y"),
        STOP,
    ]


@table("end", [LENGTH, FILTER, ErrorDelta(BackendFault("It broke."))], ids=str)
def test_a_thought_that_was_cut_is_none_the_less_one(end: Delta) -> None:
    out, splitter = split(TextDelta("Hm.</th"), end)
    assert out == [ReasoningDelta("Hm.</th"), end]
    assert (splitter.holds, splitter.took_back) == (None, False)


def test_a_stream_that_just_stops_shows_nothing() -> None:
    out, splitter = split(TextDelta("Hm."))
    assert (out, splitter.holds) == ([ReasoningDelta("Hm.")], None)


def test_a_server_that_tells_thoughts_apart_itself_is_believed() -> None:
    out, splitter = split(ReasoningDelta("Hm."), TextDelta("Hi"), STOP)
    assert out == [ReasoningDelta("Hm."), TextDelta("Hi"), STOP]
    assert splitter.holds is False
    out, splitter = split(ReasoningDelta(""), TextDelta("Hm.</think>Hi"), STOP)
    assert (out[-2], splitter.holds) == (TextDelta("Hi"), True)


def said(*pieces: str) -> list[Delta]:
    return [TextDelta(piece, [{"token": piece}]) for piece in pieces]


def test_log_probabilities_stay_with_the_answer() -> None:
    out, _ = split(*said("Hm", ".", "</think>", "\n\n", "Hi"), STOP)
    assert out[1] == TextDelta("Hi", [{"token": "Hi"}])
    out, _ = split(*said("<", "b", ">"), STOP)
    assert out[1] == TextDelta("<b>", [{"token": "<"}, {"token": "b"}, {"token": ">"}])


def test_any_tag_will_do() -> None:
    assert split(*texts("Hm.[/TH", "INK]Hi"), until="[/THINK]")[0] == [ReasoningDelta("Hm."), TextDelta("Hi")]


# ── evidence ──


def done(*parts: ReplyPart) -> list[PartEnded]:
    return [PartEnded(part, complete=True) for part in parts]


@table(
    ("parts", "found"),
    [
        ([Text("Hm.</think>Hi")], Unopened("Hm.", "</think>", "Hi")),
        ([Text("Hm.</think>\n"), CALL], Unopened("Hm.", "</think>", "\n")),
        ([Text("Hm.◁/think▷Hi")], Unopened("Hm.", "◁/think▷", "Hi")),
        ([Text("Hm.</think>a</think>b")], Unopened("Hm.", "</think>", "a</think>b")),
        ([Text("Hello")], None),
        ([Text("Use <think> and </think>.")], None),
        ([Text("It ends with `</think>`.")], None),
        ([Text("split('</think>')")], None),
        ([Reasoning("Hm."), Text("a</think>b")], None),
        ([CALL, Text("a</think>b")], None),
        ([Refusal("a</think>b")], None),
        ([], None),
    ],
)
def test_a_closing_tag_that_nothing_has_opened_teaches(parts: list[Any], found: Unopened | None) -> None:
    """Text about the tag does not."""
    assert unopened(done(*parts)) == found


@table(
    ("parts", "apart"),
    [
        ([Text("\nHm.\n</think>\n\nHi\n"), CALL], [Reasoning("Hm.\n"), Text("Hi\n"), CALL]),
        ([Text("Hm.</think>\n"), CALL], [Reasoning("Hm."), CALL]),
        ([Text("Hm.</think>")], [Reasoning("Hm.")]),
        (
            [Text("Hm.</think>Hi", [{"token": "Hm.</think>"}, {"token": "Hi"}])],
            [Reasoning("Hm."), Text("Hi", [{"token": "Hi"}])],
        ),
        ([Text("\n</think>Hi")], [Text("Hi")]),
    ],
)
def test_a_reply_that_nobody_has_seen_yet_is_put_right(parts: list[Any], apart: list[Any]) -> None:
    found = unopened(done(*parts))
    assert found is not None
    assert with_thought_apart(done(*parts), found) == done(*apart)


def test_what_was_cut_stays_so() -> None:
    cut = [PartEnded(Text("Hm.</think>H"), complete=False)]
    found = unopened(cut)
    assert found is not None
    assert with_thought_apart(cut, found) == [*done(Reasoning("Hm.")), PartEnded(Text("H"), complete=False)]


@table(
    ("parts", "left"),
    [
        ([Reasoning("Hi"), Text("Hi"), CALL], [Text("Hi"), CALL]),
        ([CALL, Text("Hi")], [CALL, Text("Hi")]),
        ([], []),
    ],
)
def test_an_answer_that_nobody_has_seen_yet_is_told_once(parts: list[Any], left: list[Any]) -> None:
    assert without_thought(done(*parts)) == done(*left)
