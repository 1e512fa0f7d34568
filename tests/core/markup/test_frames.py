"""R08: the tokens around texts and thoughts: which are taken out, and which are text."""

from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.markup.frames import FrameStage
from proxy.core.model import Usage
from tests.core.markup.scanning import cuts
from tests.support.tables import table

STOP = FinishDelta(Finish.STOP)
CALL = CallDelta(1 << 30, "c", "run", "{}")


def said(*deltas: Delta, calls: bool = True, tag: str = "") -> list[str]:
    """What comes out: `t` text and `r` reasoning, adjacent ones joined; `c` for a call."""
    out: list[Delta] = []
    stage = FrameStage(out.append, Ledger(), calls=calls)
    if tag:
        stage.frame(tag)
    for delta in deltas:
        stage.feed(delta)
    stage.close()
    told: list[str] = []
    for one in out:
        kind = {TextDelta: "t ", ReasoningDelta: "r "}.get(type(one))
        if isinstance(one, CallDelta):
            told.append("c")
        elif kind and isinstance(one, TextDelta | ReasoningDelta):
            assert one.text
            told.append(told.pop() + one.text if told and told[-1].startswith(kind) else kind + one.text)
    return told


def through(*parts: str | Delta, calls: bool = True, tag: str = "") -> list[str]:
    """The same for every cut of the texts."""
    whole = [TextDelta(part) if isinstance(part, str) else part for part in parts]
    first = said(*whole, calls=calls, tag=tag)
    longest = max((part for part in parts if isinstance(part, str)), key=len, default="")
    for pieces in cuts(longest):
        cut = [
            one
            for part in parts
            for one in (
                [TextDelta(piece) for piece in (pieces if part == longest else [*part])]
                if isinstance(part, str)
                else [part]
            )
        ]
        assert said(*cut, calls=calls, tag=tag) == first
    return first


FRAMED = {
    "K3": ("<|open|>response<|sep|>", "<|close|>response<|sep|><|close|>message<|sep|><|end_of_msg|>"),
    "K3, joined by a server": ("<|open|> response <|sep|>", "<|close|> response <|sep|> <|end_of_msg|>"),
    "Inkling": ("<|message_model|><|content_text|>", "<|end_message|><|content_model_end_sampling|>"),
    "Inkling, with an author": ("<|message_model|>me<|content_text|>", "<|end_message|>"),
    "Muse": ("<|start|>assistant to=user<|message|>", "<|eot|>"),
    "Muse, without the begin": (" to=user<|message|>", "<|eom|>"),
    "Muse, without a recipient": ("<|message|>", "<|eot|>"),
    "Cohere": ("<|START_TEXT|>", "<|END_TEXT|><|END_OF_TURN_TOKEN|>"),
    "Cohere 7B": ("<|START_RESPONSE|>", "<|END_RESPONSE|>"),
    "Solar Open": ("<|begin|>assistant<|content|>", "<|end|>"),
    "Solar Open, without the begin": ("<|content|>", "<|flush|>"),
    "Harmony": ("<|channel|>final<|message|>", "<|return|>"),
    "Harmony, with a format": ("<|channel|>final <|constrain|>json<|message|>", "<|return|>"),
    "Harmony, with a blank": ("<|start|> assistant<|channel|> final<|message|>", "<|end|>"),
    "Harmony's commentary": ("<|start|>assistant<|channel|>commentary<|message|>", "<|end|>"),
}


@table(("opener", "closer"), FRAMED.values(), ids=FRAMED)
def test_a_frame_is_taken_out(opener: str, closer: str) -> None:
    for calls in (True, False):
        assert through(f"{opener}a < b{closer}", STOP, calls=calls) == ["t a < b"]
        assert through(f"\n{opener}\na{closer}\n", STOP, calls=calls) == ["t a"]
        assert through(f"{opener}a", STOP, calls=calls) == ["t a"]
        assert through(ReasoningDelta("r"), f"{opener}a{closer}", EndDelta(), calls=calls) == ["r r", "t a"]


@table(("opener", "closer"), FRAMED.values(), ids=FRAMED)
def test_beside_a_call_so_are_its_parts(opener: str, closer: str) -> None:
    assert through(f"{opener}a{closer}", CALL, STOP) == ["t a", "c"]
    assert through(f"{opener}a{closer}\n", CALL, STOP) == ["t a", "c"]
    assert through(f"a{closer}", CALL, STOP) == ["t a", "c"]
    assert through(CALL, closer, STOP) == ["c"]
    assert through(CALL, f"{closer}{opener}b{closer}", STOP) == ["c", "t b"]
    assert through(CALL, f"{opener}b{closer}", STOP) == ["c", "t b"]
    assert through(CALL, closer, CALL, STOP) == ["c", "c"]


@table(("opener", "closer"), FRAMED.values(), ids=FRAMED)
def test_what_only_speaks_of_a_token_is_text(opener: str, closer: str) -> None:
    for text in (
        f"{opener} is a token.",
        f"The token {opener} begins it.",
        f"It ends with {closer}",
        f"It ends with {closer} always.",
        f"{closer} ends it.",
        f"a{closer}b{opener}c",
        f"a {opener[:-1]}",
        f"a {closer[:-1]}",
        f"`{opener}`",
    ):
        for calls in (True, False):
            assert through(text, STOP, calls=calls) == [f"t {text}"]
        assert through(f"{text} So.", CALL, STOP) == [f"t {text} So.", "c"]
        assert through(CALL, f"So: {text}", STOP) == ["c", f"t So: {text}"]


@table(("opener", "closer"), FRAMED.values(), ids=FRAMED)
def test_in_a_frame_a_closer_with_words_behind_it_is_text(opener: str, closer: str) -> None:
    assert through(f"{opener}a {closer} b{closer}", STOP) == [f"t a {closer} b"]


@table(("opener", "closer"), FRAMED.values(), ids=FRAMED)
def test_another_frame_may_follow_but_none_whose_opener_is_only_named(opener: str, closer: str) -> None:
    assert through(f"{opener}a{closer}\n{opener}b{closer}", STOP) == ["t ab"]
    assert through(f"{opener}a{closer}{opener} b{closer}", STOP) == [f"t a{closer}{opener} b"]


@table(
    ("opener", "other"),
    [
        ("<|START_TEXT|>", "<|eot|>"),
        ("<|message|>", "<|end_message|>"),
        ("<|open|>response<|sep|>", "<|end|>"),
        ("<|content|>", "<|return|>"),
        ("<|channel|>final<|message|>", "<|flush|>"),
        ("<|message_model|><|content_text|>", "<|END_TEXT|>"),
    ],
)
def test_the_closer_of_another_family_ends_no_frame(opener: str, other: str) -> None:
    assert through(f"{opener}a{other}", STOP) == [f"t a{other}"]


@table(
    ("opener", "thought", "closer"),
    [
        ("<|open|>response<|sep|>", "<|open|>think<|sep|>", "<|close|>think<|sep|>"),
        ("<|message_model|><|content_text|>", "<|message_model|><|content_thinking|>", "<|end_message|>"),
        ("<|start|>assistant to=user<|message|>", "<|start|>assistant to=self<|message|>", "<|eom|>"),
        ("<|START_TEXT|>", "<|START_THINKING|>", "<|END_THINKING|>"),
        ("<|content|>", "<|begin|>assistant<|think|>", "<|end|>"),
        ("<|channel|>final<|message|>", "<|channel|>analysis<|message|>", "<|end|>"),
    ],
)
def test_a_thought_between_frames_is_reasoning(opener: str, thought: str, closer: str) -> None:
    assert through(f"{thought}r < s <|b{closer}{opener}a", STOP) == ["r r < s <|b", "t a"]
    assert through(CALL, f"{thought}r{closer}\n{opener}a", STOP) == ["c", "r r", "t a"]
    assert through(f"{thought}r</answer>s{closer}{opener}a", STOP) == ["r r</answer>s", "t a"]
    assert through(f"{thought}r", STOP) == ["r r"]
    assert through(f"{thought}r{closer[:-1]}", STOP) == [f"r r{closer[:-1]}"]
    assert through(CALL, f"{thought}r", CALL, STOP) == ["c", "r r", "c"]


def test_the_header_before_a_call_goes_with_it() -> None:
    for header in ("<|start|>assistant to=run<|message|>", " to=run<|message|>", "<|start|>assistant"):
        assert through(header, CALL, "<|eom|>", STOP) == ["c"]
        assert through("<|message|>a<|eom|>" + header.lstrip(), CALL, STOP) == ["t a", "c"]
        assert through(f"{header}a", STOP) == [f"t {header}a"]
        assert through(header, STOP) == [f"t {header}"]


@table("header", ["<|start|>assistant to=run<|message|>", "<|start|>assistant"])
def test_a_header_that_no_call_follows_is_text_with_the_closer_before_it(header: str) -> None:
    for text, shown in (
        ("<|message|>a<|eom|>", "a<|eom|>"),
        ("<|channel|>final<|message|>a<|end|>", "a<|end|>"),
    ):
        assert through(text + header, STOP) == [f"t {shown}{header}"]


def test_a_closer_before_a_thought_that_the_server_sends_itself_is_text() -> None:
    assert through("<|message|>a<|eom|>", ReasoningDelta("r"), "b", STOP) == ["t a<|eom|>", "r r", "t b"]


def test_a_closer_of_a_thought_counts_beside_a_call_but_for_the_one_that_teaches() -> None:
    """What is shown of a thought that the prompt has opened is learned from its closer."""
    for closer in ("</mm:think>", "<|inner_suffix|>", "<|plamo:end_think:plamo|>", "<|close|>think<|sep|>"):
        assert through(f"a{closer}\n", CALL, STOP) == ["t a", "c"]
        assert through(f"a{closer}", STOP) == [f"t a{closer}"]
    assert through("a</mm:think> b", CALL, STOP) == ["t a</mm:think> b", "c"]
    assert through("a</think>", CALL, STOP) == ["t a</think>", "c"]


def test_gigachats_separator_counts_beside_a_call_only() -> None:
    assert through("a<|message_sep|>", CALL, "</s>", STOP) == ["t a", "c"]
    assert through("a<|message_sep|>", STOP) == ["t a<|message_sep|>"]
    assert through("a</s>", STOP) == ["t a</s>"]


@table("tag", ["<answer>", "<response>", "<|channel|>final<|message|>"])
def test_a_frame_may_have_been_opened_before(tag: str) -> None:
    closer = {"<answer>": "</answer>", "<response>": "</response>"}.get(tag, "<|return|>")
    assert through(f"a{closer}\n", STOP, tag=tag) == ["t a"]
    assert through(f"a{closer} b", STOP, tag=tag) == [f"t a{closer} b"]
    other = "</response>" if closer == "</answer>" else "</answer>"
    assert through(f"a{other}", STOP, tag=tag) == [f"t a{other}"]
    assert through(f"a{closer}", STOP) == [f"t a{closer}"]


def test_other_text_passes_as_the_same_objects() -> None:
    out: list[Delta] = []
    stage = FrameStage(out.append, Ledger(), calls=True)
    deltas = [TextDelta("Hello"), UsageDelta(Usage(1, 2, 3)), TextDelta(" "), TextDelta("world"), STOP]
    for delta in deltas[1:2] + deltas[:1] + deltas[2:]:
        stage.feed(delta)
    assert out[2:] == deltas[2:]
    assert all(before is after for before, after in zip(deltas[2:], out[2:], strict=True))


def test_blanks_stay_where_no_frame_was() -> None:
    assert said(TextDelta("\n"), CallDelta(0, "s", "run", "{}"), STOP) == ["t \n", "c"]
    assert said(TextDelta("\n"), STOP) == ["t \n"]
    assert said(TextDelta(" " * 100), TextDelta("<|message|>a"), STOP) == ["t " + " " * 100 + "<|message|>a"]
    assert said(TextDelta("<|message|>"), TextDelta("\n"), STOP) == []


def test_too_many_tokens_are_text() -> None:
    assert through("<|message|>a" + "<|eom|>" * 100, STOP)[0].startswith("t a<|eom|><|eom|>")


def test_a_piece_of_a_call_says_nothing() -> None:
    assert said(TextDelta("a<|END_TEXT|>"), CALL, CallDelta(0, None, None, "{"), TextDelta("<|eom|>")) == [
        "t a",
        "c",
        "c",
    ]


def test_logprobs_stay_with_the_text() -> None:
    out: list[Delta] = []
    stage = FrameStage(out.append, Ledger(), calls=False)
    for text in ("<|START_TEXT|>", "a", "<|END_TEXT|>"):
        stage.feed(TextDelta(text, [{"token": text, "bytes": None}]))
    stage.feed(STOP)
    assert out == [TextDelta("a", [{"token": "a", "bytes": None}]), STOP]


def test_what_was_taken_out_is_counted() -> None:
    ledger = Ledger()
    stage = FrameStage(lambda _: None, ledger, calls=True)
    stage.feed(TextDelta("<|START_TEXT|>a<|END_TEXT|>"))
    stage.feed(STOP)
    assert ledger.oddities == {"frame_token": 2}


def test_f79_a_text_of_nothing_but_tokens_is_passed_whole() -> None:
    """How far it is looked through, `tests/growth` counts."""
    ledger, out = Ledger(), []
    stage = FrameStage(out.append, ledger, calls=True)
    text = "a " + "<|" * 500_000
    for delta in (TextDelta(text), TextDelta("<|eom|>"), STOP):
        stage.feed(delta)
    assert "".join(delta.text for delta in out[:-1]) == text + "<|eom|>"
    assert ledger.oddities == {"frame_tokens_unread": 1}


def test_a_thought_among_very_many_tokens_stays_one() -> None:
    tokens = "<|" * 3_000
    assert said(TextDelta(f"<|START_THINKING|>{tokens}"), TextDelta("b<|END_THINKING|>c"), STOP) == [
        f"r {tokens}b",
        "t c",
    ]
