"""What becomes of markup in a reply: its calls, the text around it, structured calls beside it, and reasoning."""

from collections.abc import Iterator
from typing import Any

from proxy.core.errors import Truncated
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    HostedDelta,
    MessageDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.markup.stage import FIRST_INDEX, MAX_BLANKS, MAX_SEARCHED, MarkupSettings, MarkupStage
from proxy.core.model import Usage
from tests.core.markup.scanning import CALL, OPENERS, TOOLS
from tests.support.tables import table

LOOK = "<call>look</call>"
DRAFT = CALL
NATIVE = "[[run]]"
STOP = FinishDelta(Finish.STOP)
LENGTH = FinishDelta(Finish.LENGTH)
FILTER = FinishDelta(Finish.FILTER)
USAGE = UsageDelta(Usage(1, 2, 3))


def text(said: str) -> TextDelta:
    return TextDelta(said)


def thought(said: str) -> ReasoningDelta:
    return ReasoningDelta(said)


def structured(name: str | None = "run", arguments: str = "{}") -> CallDelta:
    return CallDelta(0, "s1", name, arguments)


class Stage:
    def __init__(self, taken_ids: frozenset[str] = frozenset()) -> None:
        self.out: list[Delta] = []
        self.ledger = Ledger()
        self.stage = MarkupStage(
            self.out.append, MarkupSettings(OPENERS, TOOLS), self.ledger, lambda: taken_ids
        )

    def feed(self, *deltas: Delta) -> "Stage":
        for delta in deltas:
            self.stage.feed(delta)
        return self

    def close(self) -> "Stage":
        self.stage.close()
        return self

    @property
    def said(self) -> list[str]:
        """What came out, in short: adjacent texts joined, `t` text, `r` reasoning, `+` recovered, `=` structured."""
        short: list[str] = []
        for delta in self.out:
            sign, words = brief(delta)
            if sign in "tr" and short and short[-1][0] == sign:
                short[-1] += words
            else:
                short.append(f"{sign} {words}")
        return short


def brief(delta: Delta) -> tuple[str, str]:
    match delta:
        case TextDelta(words):
            return "t", words
        case ReasoningDelta(words):
            return "r", words
        case CallDelta(index, _, name):
            return ("+" if index and index >= FIRST_INDEX else "="), str(name)
        case _:
            return "!", type(delta).__name__.removesuffix("Delta")


def in_cuts(deltas: tuple[Delta, ...]) -> Iterator[list[Delta]]:
    yield list(deltas)
    for size in (1, 3):
        yield [piece for delta in deltas for piece in cut(delta, size)]


def cut(delta: Delta, size: int) -> list[Delta]:
    if isinstance(delta, TextDelta | ReasoningDelta):
        return [type(delta)(delta.text[at : at + size]) for at in range(0, len(delta.text), size)]
    return [delta]


CASES: dict[str, tuple[tuple[Delta, ...], list[str]]] = {
    # ── text ──
    "text": ((text("Hi"), STOP), ["t Hi", "! Finish"]),
    "R08 a call": ((text(CALL), STOP), ["+ run", "! Finish"]),
    "text around a call": ((text(f"a {CALL} b"), STOP), ["t a ", "+ run", "t  b", "! Finish"]),
    "calls in order": ((text(CALL + LOOK), STOP), ["+ run", "+ look", "! Finish"]),
    "two calls alike are two": ((text(CALL + CALL), STOP), ["+ run", "+ run", "! Finish"]),
    "white space around calls": ((text(f"\n\n{CALL}\n{CALL}\n"), STOP), ["+ run", "+ run", "! Finish"]),
    "white space that belongs to text": (
        (text(f"a\n\n{CALL}\n\nb\n\n"), STOP),
        ["t a\n\n", "+ run", "t \n\nb\n\n", "! Finish"],
    ),
    "white space without calls": ((text("\n\n"), STOP), ["t \n\n", "! Finish"]),
    "white space before text": ((text("\n\na"), STOP), ["t \n\na", "! Finish"]),
    "more white space than belongs to a call": (
        (text(CALL + " " * (MAX_BLANKS + 1) + CALL), STOP),
        ["+ run", "t " + " " * (MAX_BLANKS + 1), "+ run", "! Finish"],
    ),
    "the end of a stream without a finish": ((text(CALL), EndDelta()), ["+ run", "! End"]),
    "the output limit after a call": ((text(CALL), LENGTH), ["+ run", "! Finish"]),
    "the output limit in a call": ((text("a <call>run"), LENGTH), ["t a <call>run", "! Finish"]),
    "a filter in a call": ((text("<call>run"), FILTER), ["t <call>run", "! Finish"]),
    "an error in a call": (
        (text("<call>run"), ErrorDelta(Truncated("Gone."))),
        ["t <call>run", "! Error"],
    ),
    "a refusal after a call": ((text(CALL), RefusalDelta("No.")), ["+ run", "! Refusal"]),
    "usage passes at once": ((text("<call>"), USAGE, text("run</call>"), STOP), ["! Usage", "+ run", "! Finish"]),
    "text after the finish": (
        (text("a"), STOP, text(f"b{CALL}"), EndDelta()),
        ["t a", "! Finish", "t b", "+ run", "! End"],
    ),
    # ── tags without a call ──
    "a dangling tag without calls": ((text("a [["), STOP), ["t a [[", "! Finish"]),
    "a dangling tag after a call": ((text(f"{CALL}\n[["), STOP), ["+ run", "! Finish"]),
    "a dangling tag before a structured call": (
        (text("a [["), structured(), STOP),
        ["t a ", "= run", "! Finish"],
    ),
    "a dangling tag in a reply that was cut": ((text("a [["), LENGTH), ["t a [[", "! Finish"]),
    # ── structured calls ──
    "structured calls alone": ((structured(), STOP), ["= run", "! Finish"]),
    "a structured call right after its markup": (
        (text(f"a {CALL}\n"), structured(), STOP),
        ["t a ", "= run", "! Finish"],
    ),
    "markup after a structured call": (
        (structured(), text(f"\n{CALL}\n"), STOP),
        ["= run", "! Finish"],
    ),
    "text around markup after a structured call": (
        (structured(), text(f"a {CALL} b"), STOP),
        ["= run", "t a  b", "! Finish"],
    ),
    "undeclared markup after a structured call": (
        (structured(), text("<call>walk</call>"), STOP),
        ["= run", "t <call>walk</call>", "! Finish"],
    ),
    "markup that visible text followed": (
        (text(f"{CALL}a"), structured("look"), STOP),
        ["+ run", "t a", "= look", "! Finish"],
    ),
    "a structured call that repeats markup which visible text followed": (
        (text(f"{CALL}a"), structured(arguments=""), structured(None, "{ "), structured(None, "}"), USAGE, STOP),
        ["+ run", "t a", "! Usage", "! Finish"],
    ),
    "one repeated, one not": (
        (text(f"{CALL}a"), structured(), structured("look"), text("b"), structured(), STOP),
        ["+ run", "t a", "= look", "t b", "= run", "! Finish"],
    ),
    "the same tool with other arguments": (
        (text(f"{CALL}a"), structured(arguments='{"b": 1}'), structured(arguments="{"), STOP),
        ["+ run", "t a", "= run", "= run", "! Finish"],
    ),
    "unfinished markup before a structured call": (
        (text("a <call>run"), structured(), STOP),
        ["t a <call>run", "= run", "! Finish"],
    ),
    "white space before a structured call": ((text("\n"), structured(), STOP), ["t \n", "= run", "! Finish"]),
    "a fragment without a name is no call yet": (
        (text(CALL), structured(None), STOP),
        ["= None", "+ run", "! Finish"],
    ),
    "a draft and a structured call": (
        (thought(f"a {DRAFT}"), structured(), STOP),
        [f"r a {DRAFT}", "= run", "! Finish"],
    ),
    # ── reasoning ──
    "reasoning": ((thought("a"), text("b"), STOP), ["r a", "t b", "! Finish"]),
    "a native call in reasoning": ((thought(f"a {NATIVE} b"), STOP), ["r a ", "+ run", "r  b", "! Finish"]),
    "a native call in reasoning before text": (
        (thought(f"a {NATIVE}\n"), text("\nb"), STOP),
        ["r a ", "+ run", "t \nb", "! Finish"],
    ),
    "a draft in the middle": ((thought(f"a {DRAFT} b"), STOP), [f"r a {DRAFT} b", "! Finish"]),
    "a draft at the end of everything": ((thought(f"a {DRAFT}\n"), STOP), ["r a ", "+ run", "! Finish"]),
    "two drafts at the end": ((thought(f"a {DRAFT}\n{LOOK}"), STOP), ["r a ", "+ run", "+ look", "! Finish"]),
    "a draft, then a later one at the end": (
        (thought(f"{DRAFT} or {LOOK}"), EndDelta()),
        [f"r {DRAFT} or ", "+ look", "! End"],
    ),
    "a draft before an answer": (
        (thought(f"a {DRAFT}\n"), text("b"), STOP),
        [f"r a {DRAFT}\n", "t b", "! Finish"],
    ),
    "a draft before white space": ((thought(f"a {DRAFT}"), text("\n"), STOP), ["r a ", "+ run", "! Finish"]),
    "a draft after an answer": (
        (text("b"), thought(f"a {DRAFT}"), STOP),
        ["t b", f"r a {DRAFT}", "! Finish"],
    ),
    "a draft before a call in the text": (
        (thought(f"a {DRAFT}"), text(LOOK), STOP),
        [f"r a {DRAFT}", "+ look", "! Finish"],
    ),
    "V25: a native call in reasoning that is told again as text": (
        (thought(f"a {NATIVE}"), text(f"a {NATIVE}"), STOP),
        ["r a ", "+ run", "t a ", "! Finish"],
    ),
    "V25: two of them": (
        (thought(f"{NATIVE}{NATIVE}"), text(f"{NATIVE}{NATIVE}{NATIVE}"), STOP),
        ["+ run", "+ run", "+ run", "! Finish"],
    ),
    "V25: a draft that is told again as text": (
        (thought(f"a {DRAFT}"), text(f"a {DRAFT}"), STOP),
        [f"r a {DRAFT}", "t a ", "+ run", "! Finish"],
    ),
    "a draft beside a native call": (
        (thought(f"{NATIVE} {DRAFT}"), STOP),
        ["+ run", f"r {DRAFT}", "! Finish"],
    ),
    "a draft in a reply that was cut": ((thought(f"a {DRAFT}"), LENGTH), [f"r a {DRAFT}", "! Finish"]),
    "half an opener before the text": ((thought("a <ca"), text("b"), STOP), ["r a <ca", "t b", "! Finish"]),
    "half an opener before reasoning": ((text("a <ca"), thought("b"), STOP), ["t a <ca", "r b", "! Finish"]),
}  # fmt: skip


@table(("deltas", "said"), CASES.values(), ids=CASES)
def test_what_a_reply_becomes(deltas: tuple[Delta, ...], said: list[str]) -> None:
    for pieces in in_cuts(deltas):
        assert Stage().feed(*pieces).said == said


def test_a_stream_that_breaks_off_is_never_guessed_at() -> None:
    assert Stage().feed(text("a [[")).close().said == ["t a [["]
    assert Stage().feed(thought(DRAFT)).close().said == [f"r {DRAFT}"]
    assert Stage().feed(text(f"{CALL} <call>run")).close().said == ["+ run", "t  <call>run"]


# ── how calls come out ──


def calls(stage: Stage) -> list[CallDelta]:
    return [delta for delta in stage.out if isinstance(delta, CallDelta)]


def test_a_recovered_call_is_whole_and_has_an_index_of_its_own() -> None:
    first, second = calls(Stage().feed(text(CALL + LOOK), STOP))
    assert (first.name, first.arguments, second.name) == ("run", "{}", "look")
    assert first.index != second.index


def test_r08_ids_are_the_same_for_the_same_reply() -> None:
    replies = [calls(Stage().feed(*pieces)) for pieces in in_cuts((text(f"{CALL} a {CALL}"), STOP))]
    ids = {tuple(str(call.id) for call in reply) for reply in replies}
    assert len(ids) == 1
    assert len(set(ids.pop())) == 2


def test_r08_ids_that_the_conversation_has_are_not_used_again() -> None:
    reply = (text(CALL), STOP)
    [first] = calls(Stage().feed(*reply))
    taken = frozenset({str(first.id)})
    [second], [third] = (calls(Stage(taken).feed(*reply)) for _ in range(2))
    assert second.id == third.id != first.id


@table(
    ("said", "name", "odd"),
    [
        ("run", "run", 0),
        ("run<arg_key>a</arg_key>", "run", 1),
        ("run<|channel|>analysis", "run", 1),
        ("functions.run <|channel|>", "run", 1),
        ("walk<|channel|>analysis", "walk<|channel|>analysis", 0),
        ("functions.run", "run", 1),
        ("functions.run:0", "run", 1),
        ("functions.walk", "functions.walk", 0),
        ("functions.", "functions.", 0),
    ],
)
def test_markup_and_affixes_on_a_structured_name_are_cut_off(said: str, name: str, odd: int) -> None:
    stage = Stage().feed(structured(said))
    assert calls(stage) == [CallDelta(0, "s1", name, "{}")]
    assert stage.ledger.oddities.get("call_name_with_markup", 0) == odd


# ── what is not touched ──


def test_text_without_markup_passes_as_the_same_objects() -> None:
    for kind in (text, thought):
        said: list[Any] = [kind(piece) for piece in ("a", " ", "b `c` ", "\n\n", "```\n", "d")]
        said.insert(2, USAGE)
        stage = Stage().feed(*said)
        assert stage.out == said
        assert all(before is after for before, after in zip(said[1:], stage.out[1:], strict=True))


def test_text_is_delayed_by_nothing_but_a_possible_opener() -> None:
    stage = Stage()
    for piece in ("a", " <", " b", "<call", "er> c"):
        stage.feed(text(piece))
    assert stage.said == ["t a < b<caller> c"]


def test_f79_an_event_of_very_much_text_ends_the_search_and_is_passed() -> None:
    """To search a megabyte that is full of tags took a second of the event loop."""
    much = CALL * (MAX_SEARCHED // len(CALL) + 1)
    for kind in (TextDelta, ReasoningDelta):
        stage = Stage().feed(text("Well. "), kind(much), text(CALL), STOP)
        assert "".join(delta.text for delta in stage.out[:-1]) == f"Well. {much}{CALL}"
        assert stage.ledger.oddities == {"text_unsearched": 1}
    assert calls(Stage().feed(text("." * (MAX_SEARCHED - len(CALL) - 1) + "\n" + CALL), STOP))


def test_an_empty_delta_says_nothing() -> None:
    assert Stage().feed(text(""), thought(""), STOP).said == ["! Finish"]


# ── beside the text ──


def test_logprobs_stay_with_the_text_and_go_with_the_markup() -> None:
    stage = Stage().feed(TextDelta("a <", [1]), TextDelta(" b", [2]), TextDelta(CALL, [3]), STOP)
    assert stage.out[:2] == [TextDelta("a ", [1]), TextDelta("< b", [2])]
    assert all(not isinstance(delta, TextDelta) for delta in stage.out[2:])


def test_every_outcome_is_counted_with_its_format() -> None:
    stage = Stage().feed(
        text(f"{CALL}{CALL} a <call>walk</call> <call>!"), structured("look"), text(NATIVE), STOP
    )
    assert stage.ledger.markup == {
        "recovered:pair": 2,
        "undeclared:pair": 1,
        "released:pair": 1,
        "stripped:native": 1,
    }
    assert not stage.ledger.oddities


def test_messages_and_hosted_tools_come_behind_what_was_held() -> None:
    """And the text goes on as one that begins."""
    for between in (MessageDelta(phase="x"), HostedDelta({"type": "web_search_call"})):
        out = Stage().feed(text("a <ca"), between, text("b"), STOP).out
        assert (
            "".join(delta.text for delta in out[: out.index(between)] if isinstance(delta, TextDelta))
            == "a <ca"
        )
        assert out[out.index(between) + 1 :] == [text("b"), STOP]
