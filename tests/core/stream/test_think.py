"""F57, R08: a thought in tags at the start of the content is reasoning; all other text is passed on byte for byte."""

from itertools import pairwise

import pytest

from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import Usage
from proxy.core.stream.think import MAX_LEADING_BLANKS, ThinkSplitter
from tests.support.merging import merged
from tests.support.tables import table

USAGE = UsageDelta(Usage(1, 2, 3))


def split(*deltas: Delta) -> list[Delta]:
    """What comes out, with adjacent prose of one kind joined."""
    out: list[Delta] = []
    splitter = ThinkSplitter(out.append)
    for delta in deltas:
        splitter.feed(delta)
    splitter.close()
    return merged(out)


def texts(*pieces: str) -> list[Delta]:
    return [TextDelta(piece) for piece in pieces]


CONTENTS = [
    pytest.param("Hello", [TextDelta("Hello")], id="plain"),
    pytest.param(
        "<think>Hm.</think>Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], id="thought and answer"
    ),
    pytest.param(
        "\n\n<think>\n\nHm.</think>\n\nHello\n",
        [ReasoningDelta("Hm."), TextDelta("Hello\n")],
        id="blank lines around the tags belong to the markup",
    ),
    pytest.param("<think>\n\n</think>\n\nHello", [TextDelta("Hello")], id="an empty block is no reasoning"),
    pytest.param("<think></think>", [], id="nothing but an empty block"),
    pytest.param("<think>Hm.</think> \n", [ReasoningDelta("Hm.")], id="nothing but a thought"),
    pytest.param("<think>Hm.", [ReasoningDelta("Hm.")], id="a thought that was cut"),
    pytest.param("<think>Hm.</thi", [ReasoningDelta("Hm.</thi")], id="cut within the closer"),
    pytest.param(
        "<think>a<b</</thinkc</think>d",
        [ReasoningDelta("a<b</</thinkc"), TextDelta("d")],
        id="nearly closers",
    ),
    pytest.param(
        "<think>a<think>b</think>c</think>",
        [ReasoningDelta("a<think>b"), TextDelta("c</think>")],
        id="one level",
    ),
    pytest.param(
        "<think>a</think><think>b</think>",
        [ReasoningDelta("a"), TextDelta("<think>b</think>")],
        id="only once",
    ),
    pytest.param("Use <think>x</think>.", [TextDelta("Use <think>x</think>.")], id="further on it is text"),
    pytest.param("</think>\n\nHello", [TextDelta("Hello")], id="a closer alone, before all else"),
    pytest.param("</think>", [], id="nothing but a closer"),
    pytest.param("Hi</think>Hello", [TextDelta("Hi</think>Hello")], id="a closer further on"),
    pytest.param(
        "<mm:think>Hm.</mm:think>Hi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="MiniMax M3's tags"
    ),
    pytest.param("</mm:think>Hi", [TextDelta("Hi")], id="a closer of MiniMax M3's alone"),
    pytest.param(
        "<thinking>\nHm.</thinking>\nHi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="Apriel's tags"
    ),
    pytest.param(
        "<think:fast>a</think>b</think:fast>\nHi",
        [ReasoningDelta("a</think>b"), TextDelta("Hi")],
        id="Hunyuan's tags, with a suffix",
    ),
    pytest.param(
        "/think\nHm. <|im_end|>\n<|im_start|>assistant\nHi",
        [ReasoningDelta("Hm. "), TextDelta("Hi")],
        id="HyperCLOVA's words",
    ),
    pytest.param("/think more", [TextDelta("/think more")], id="a path that begins like them"),
    pytest.param(
        "<ifm|think_fast>Hm.</ifm|think_fast>\nHi",
        [ReasoningDelta("Hm."), TextDelta("Hi")],
        id="K2 Horizon's tags",
    ),
    pytest.param("</ifm|think>Hi", [TextDelta("Hi")], id="a closer of K2 Horizon's alone"),
    pytest.param("[unused16]Hm.[unused17]Hi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="openPangu's"),
    *(
        pytest.param(text, [TextDelta(text)], id=text[:24])
        for text in (
            "Here is my thought process: a.\nHere is my response: b.",
            "Here are my reasoning steps:\na\n[BEGIN FINAL RESPONSE]\nb\n[END FINAL RESPONSE]",
        )
    ),
    pytest.param("</think:fast>\nHi", [TextDelta("Hi")], id="a closer with a suffix alone"),
    pytest.param("<think:fast", [TextDelta("<think:fast")], id="half a tag with a suffix"),
    pytest.param("<think: fast>a", [TextDelta("<think: fast>a")], id="no suffix"),
    pytest.param(
        "<|message_model|>me<|content_thinking|>Hm.<|end_message|>Hi",
        [ReasoningDelta("Hm."), TextDelta("Hi")],
        id="Inkling's, with an author",
    ),
    pytest.param(
        "<|START_THINKING|>Hm.<|END_THINKING|>Hi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="Cohere's"
    ),
    pytest.param("<|END_THINKING|>Hi", [TextDelta("Hi")], id="Cohere's closer alone"),
    pytest.param(
        "<|START_THINKING|> begins a thought.",
        [TextDelta("<|START_THINKING|> begins a thought.")],
        id="prose about a token",
    ),
    pytest.param(
        "<|END_THINKING|> ends a thought.",
        [TextDelta("<|END_THINKING|> ends a thought.")],
        id="prose about its closer",
    ),
    pytest.param("<|END_THINKING|>", [], id="a token alone"),
    pytest.param("<|START_THINKING|>\n", [], id="a token and a newline"),
    pytest.param(
        "<|open|> think <|sep|>Hm.<|close|> think <|sep|>Hi",
        [ReasoningDelta("Hm."), TextDelta("Hi")],
        id="K3's, joined by a server",
    ),
    pytest.param(" to=self<|message|>Hm.<|eom|>Hi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="Muse's"),
    pytest.param("<|eom|>Hi", [TextDelta("<|eom|>Hi")], id="a closer that means more than that"),
    pytest.param(
        "<|inner_prefix|>Hm.<|inner_suffix|>Hi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="Apertus's"
    ),
    pytest.param(
        "<think>Hm.</think>\n<answer>\nHi", [ReasoningDelta("Hm."), TextDelta("Hi")], id="a tag of the answer"
    ),
    pytest.param("<think></think><response>Hi", [TextDelta("Hi")], id="another tag of the answer"),
    pytest.param("<think></think><response>", [], id="a tag of the answer alone"),
    pytest.param("<think></think><respon", [TextDelta("<respon")], id="half a tag of the answer"),
    pytest.param("<think></think><answer><answer>Hi", [TextDelta("<answer>Hi")], id="one tag of the answer"),
    pytest.param("<answer>Hi", [TextDelta("<answer>Hi")], id="a tag of the answer without a thought"),
    pytest.param("</thinker>Hello", [TextDelta("</thinker>Hello")], id="a longer closer"),
    pytest.param(
        "[THINK]Hm.[/THINK]Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], id="Magistral's tags"
    ),
    pytest.param("[THIN", [TextDelta("[THIN")], id="half a tag of Magistral's"),
    pytest.param("[1] Hi", [TextDelta("[1] Hi")], id="another bracket"),
    pytest.param("[THINK]a</think>b", [ReasoningDelta("a</think>b")], id="another family's closer"),
    pytest.param(
        "<seed:think>Hm.</seed:think>Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], id="Seed's tags"
    ),
    pytest.param(
        "◁think▷Hm.◁/think▷Hello", [ReasoningDelta("Hm."), TextDelta("Hello")], id="Kimi's tags for images"
    ),
    pytest.param(
        "<|channel>thought\nHm.\n<channel|>Hello",
        [ReasoningDelta("Hm.\n"), TextDelta("Hello")],
        id="Gemma's channel",
    ),
    pytest.param("<|channel>thought\n<channel|>Hello", [TextDelta("Hello")], id="Gemma's channel, empty"),
    pytest.param("<channel|>Hello", [TextDelta("Hello")], id="Gemma's closer alone"),
    pytest.param(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Hello",
        [ReasoningDelta("Hm."), TextDelta("Hello")],
        id="gpt-oss's channels",
    ),
    pytest.param(
        "<|channel|>analysis<|message|>Hm.<|end|>\n<|start|>assistant<|channel|>final<|message|> \n",
        [ReasoningDelta("Hm.")],
        id="gpt-oss's channels, without an answer",
    ),
    pytest.param(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary to=functions.f",
        [ReasoningDelta("Hm."), TextDelta("<|start|>assistant<|channel|>commentary to=functions.f")],
        id="gpt-oss's channels, then a call",
    ),
    pytest.param(
        "<|channel|>analysis<|message|>Hm.<|end|><|start|>assi",
        [ReasoningDelta("Hm."), TextDelta("<|start|>assi")],
        id="gpt-oss's channels, cut",
    ),
    pytest.param(
        "<|channel|>analysis<|message|>Hm.<|end|>Hello",
        [ReasoningDelta("Hm."), TextDelta("Hello")],
        id="gpt-oss's thought, then no channel",
    ),
    pytest.param(
        "<|channel|> analysis<|message|> Hm.<|end|><|start|> assistant<|channel|> final<|message|> Hello",
        [ReasoningDelta("Hm."), TextDelta("Hello")],
        id="LLM-jp's channels",
    ),
    pytest.param("<|channel|> final<|message|> Hello", [TextDelta("Hello")], id="LLM-jp's answer alone"),
    pytest.param("<|channel|>final<|message|>Hello", [TextDelta("Hello")], id="gpt-oss's answer alone"),
    pytest.param(
        "<|channel|>analysis to=functions.f", [TextDelta("<|channel|>analysis to=functions.f")], id="a call"
    ),
    pytest.param("<thinker>x", [TextDelta("<thinker>x")], id="a longer tag"),
    pytest.param("<Think>x", [TextDelta("<Think>x")], id="another case"),
    pytest.param("<thin", [TextDelta("<thin")], id="half an opener"),
    pytest.param("  \n<t", [TextDelta("  \n<t")], id="blanks and a beginning"),
    pytest.param(" \n ", [TextDelta(" \n ")], id="F48 only blanks"),
    pytest.param("<", [TextDelta("<")], id="one character"),
    pytest.param(
        " " * MAX_LEADING_BLANKS + "<think>a", [ReasoningDelta("a")], id="as many blanks as any template"
    ),
    pytest.param(
        " " * (MAX_LEADING_BLANKS + 1) + "<think>a",
        [TextDelta(" " * (MAX_LEADING_BLANKS + 1) + "<think>a")],
        id="more blanks are the answer itself",
    ),
]


@table(("content", "expected"), CONTENTS)
def test_only_a_block_at_the_very_start_is_reasoning(content: str, expected: list[Delta]) -> None:
    assert split(TextDelta(content)) == expected


@table(("content", "expected"), CONTENTS)
def test_no_cut_of_the_text_matters(content: str, expected: list[Delta]) -> None:
    assert split(*texts(*content)) == expected
    for at in range(1, len(content)):
        assert split(*texts(content[:at], content[at:])) == expected, f"cut at {at}"


FORMS = {
    "MiniMax M3": ("<mm:think>", "</mm:think>", True),
    "Apertus": ("<|inner_prefix|>", "<|inner_suffix|>", True),
    "PLaMo": ("<|plamo:begin_think:plamo|>", "<|plamo:end_think:plamo|>", True),
    "Cohere": ("<|START_THINKING|>", "<|END_THINKING|>", True),
    "Kimi K3": ("<|open|>think<|sep|>", "<|close|>think<|sep|>", True),
    "Kimi K3, joined by a server": ("<|open|> think <|sep|>", "<|close|> think <|sep|>", True),
    "Hunyuan": ("<think:a1>", "</think:a1>", True),
    "K2 Horizon, faster": ("<ifm|think_faster>", "</ifm|think_faster>", True),
    "Solar Open": ("<|begin|>assistant<|think|>", "<|end|>", False),
    "Solar Open, without the begin": ("<|think|>", "<|end|>", False),
    "Muse": ("<|start|>assistant to=self<|message|>", "<|eom|>", False),
    "Muse, without the begin": ("to=self<|message|>", "<|eom|>", False),
    "Inkling": ("<|content_thinking|>", "<|end_message|>", False),
    "Inkling, without an author": ("<|message_model|><|content_thinking|>", "<|end_message|>", False),
}
"""What opens a thought, what closes it, and whether the closer alone shows that the prompt has opened it."""


@table(("opener", "closer", "alone"), FORMS.values(), ids=FORMS)
def test_what_stands_between_the_tags_of_a_family_is_a_thought(opener: str, closer: str, alone: bool) -> None:
    """It has to be known before calls are looked for: those that are rehearsed in a thought are not meant."""
    for content in (f"{opener}Hm.{closer}\nHi", f"\n{opener}\nHm.{closer}Hi"):
        for pieces in ([content], [*content]):
            assert split(*texts(*pieces)) == [ReasoningDelta("Hm."), TextDelta("Hi")]
    for pieces in ([f"{closer}Hi"], [*closer, "Hi"]):
        assert split(*texts(*pieces)) == texts("Hi" if alone else f"{closer}Hi")
    assert split(TextDelta(f"So: {opener}Hm.{closer}")) == texts(f"So: {opener}Hm.{closer}")


def test_nothing_is_held_back_that_cannot_become_a_tag() -> None:
    out: list[Delta] = []
    splitter = ThinkSplitter(out.append)
    for piece, passed in [
        ("<", []),
        ("think>", []),
        ("Hm", [ReasoningDelta("Hm")]),
        (" </b", [ReasoningDelta(" </b")]),
        ("x</th", [ReasoningDelta("x")]),
        ("e", [ReasoningDelta("</the")]),
        (" </think", [ReasoningDelta(" ")]),
        (">\n", []),
        ("\n", []),
        ("Hi", [TextDelta("Hi")]),
        ("<", [TextDelta("<")]),
    ]:
        out.clear()
        splitter.feed(TextDelta(piece))
        assert out == passed, piece


def test_an_answer_passes_from_its_first_visible_character() -> None:
    out: list[Delta] = []
    splitter = ThinkSplitter(out.append)
    for piece, passed in [("\n", []), ("<", []), ("b>", ["\n<b>"]), ("x", ["x"])]:
        out.clear()
        splitter.feed(TextDelta(piece))
        assert out == texts(*passed), piece


def test_of_nothing_nothing_is_said() -> None:
    out: list[Delta] = []
    ThinkSplitter(out.append).close()
    assert out == []


@table(
    "other",
    [RefusalDelta("no"), CallDelta(0, "a", "f"), FinishDelta(Finish.STOP), EndDelta()],
    ids=lambda d: type(d).__name__,
)
def test_whatever_else_comes_releases_what_was_held_and_ends_the_search(other: Delta) -> None:
    assert split(TextDelta(" <thi"), other, TextDelta("nk>x")) == [
        TextDelta(" <thi"),
        other,
        TextDelta("nk>x"),
    ]
    assert split(TextDelta("<think>a</"), other, TextDelta("think>b")) == [
        ReasoningDelta("a</"),
        other,
        TextDelta("think>b"),
    ]
    assert split(TextDelta("<think>a</think>\n"), other, TextDelta("\nb")) == [
        ReasoningDelta("a"),
        other,
        TextDelta("\nb"),
    ]


@table("other", [USAGE, ReasoningDelta("r")], ids=lambda d: type(d).__name__)
def test_usage_and_reasoning_say_nothing_about_the_content(other: Delta) -> None:
    """G15: some backends count in every chunk, and some send their reasoning twice."""
    assert split(TextDelta("<th"), other, TextDelta("ink></think>b")) == [other, TextDelta("b")]


def test_it_is_transparent_once_the_content_has_begun() -> None:
    deltas = [
        TextDelta("a", [{"token": "a"}]),
        CallDelta(0, "x", "f", "{}"),
        TextDelta("<think>b</think>"),
        USAGE,
        FinishDelta(Finish.STOP),
        EndDelta(),
    ]
    out: list[Delta] = []
    splitter = ThinkSplitter(out.append)
    for delta in deltas:
        splitter.feed(delta)
    assert out == deltas


def test_log_probabilities_of_held_text_come_with_it() -> None:
    assert split(TextDelta(" ", [1]), TextDelta("<", [2]), TextDelta("b", [3])) == [
        TextDelta(" <b", [1, 2, 3])
    ]


def said(*pieces: str) -> list[TextDelta]:
    """Each with the log probability of the one token that it is."""
    return [TextDelta(piece, [{"token": piece}]) for piece in pieces]


@table(
    "pieces",
    [
        ("<think>", "a", "</think>", "Hi"),
        ("<think>", "Hi", "</think>", "\n\n", "Hi"),
        ("</think>", "\n", "Hi"),
        (
            "<|channel|>analysis<|message|>",
            "Hm.",
            "<|end|>",
            "<|start|>assistant",
            "<|channel|>final<|message|>",
            "Hi",
        ),
    ],
)
def test_v33_log_probabilities_of_thoughts_and_tags_are_not_those_of_the_answer(
    pieces: tuple[str, ...],
) -> None:
    """However many tokens come at once: a whole answer brings all of them in one piece."""
    tokens = [{"token": piece} for piece in pieces]
    for at in range(len(pieces)):
        whole = TextDelta("".join(pieces[at:]), tokens[at:])
        *_, answer = split(*said(*pieces[:at]), whole)
        assert answer == TextDelta("Hi", [{"token": "Hi"}]), at


def test_text_without_log_probabilities_has_none() -> None:
    assert split(TextDelta("a")) == [TextDelta("a", None)]


def test_closing_twice_says_nothing_twice() -> None:
    out: list[Delta] = []
    splitter = ThinkSplitter(out.append)
    splitter.feed(TextDelta("<thi"))
    splitter.close()
    splitter.close()
    assert out == [TextDelta("<thi")]


def test_a_long_thought_is_read_in_linear_time() -> None:
    """E7: what is held never grows beyond a tag, whatever the thought looks like."""
    out: list[Delta] = []
    splitter = ThinkSplitter(out.append)
    splitter.feed(TextDelta("<think>"))
    held = []
    for _ in range(200):
        splitter.feed(TextDelta("</thin" * 3))
        held.append(len(splitter._held))
    assert max(held) < len("</think>")
    assert [a == b for a, b in pairwise(held)] == [True] * 199


@pytest.mark.parametrize(
    ("content", "tags"),
    [
        ("<think>a</think><answer>b", ["<answer>"]),
        ("<|channel|>final<|message|>b", ["<|channel|>final<|message|>"]),
        ("<think>a</think>b", []),
        ("b", []),
    ],
)
def test_who_has_opened_a_frame_around_the_answer_is_told(content: str, tags: list[str]) -> None:
    for pieces in ([content], [*content]):
        told: list[str] = []
        splitter = ThinkSplitter(lambda _: None, told.append)
        for piece in pieces:
            splitter.feed(TextDelta(piece))
        splitter.close()
        assert told == tags
