"""More of what is open goes past the stages, and nobody can tell: the properties compare both ways for any deltas."""

from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    FinishDelta,
    PartEnded,
    ReasoningDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.ledger import Ledger
from proxy.core.markup import registry
from proxy.core.markup.formats import Tools
from proxy.core.markup.frames import FrameStage
from proxy.core.markup.openers import Openers
from proxy.core.markup.stage import MarkupSettings, MarkupStage
from proxy.core.model import Call, Reasoning, Text, Usage
from proxy.core.stream.assembler import Assembler
from proxy.core.stream.client_call_ids import ClientCallIds
from proxy.core.stream.pipeline import PAST_BYTES
from proxy.core.stream.shortcut import Shortcut
from proxy.core.stream.think import ThinkSplitter
from proxy.core.tools.names import NameTable
from tests.support.assembling import STOP, TOOLS, PartDelta, Told, read_events, recorder
from tests.support.replies import chunk, counting_mint, start

SETTINGS = MarkupSettings(Openers(registry.active()), Tools({"get_time": {"type": "object"}}))


class Way:
    """All stages before the assembler, and what passes between the first two of them."""

    def __init__(self, markup: bool = False) -> None:
        self.told: list[Told] = []
        self.long: list[Delta] = []
        ledger, sink = Ledger(), recorder(self.told)
        ids = ClientCallIds(counting_mint(), frozenset, always_ours=False)
        assembler = Assembler(sink, NameTable(TOOLS), ids, ledger)
        frames = FrameStage(assembler.feed, ledger, calls=markup)
        searching = MarkupStage(frames.feed, SETTINGS, ledger) if markup else None
        following = (searching or frames).feed

        def seen(delta: Delta) -> None:
            self.long.append(delta)
            following(delta)

        self.say = Shortcut(ThinkSplitter(seen, frames.frame).feed, searching, frames, assembler, sink.delta)
        assembler.start()

    def end(self) -> list[PartEnded]:
        self.say.feed(STOP)
        self.say.feed(EndDelta())
        read_events(self.told)
        return [event for event in self.told if isinstance(event, PartEnded)]

    @property
    def pieces(self) -> list[str]:
        return [told.text for told in self.told if isinstance(told, PartDelta)]


def test_text_goes_past_the_stages_once_it_has_begun() -> None:
    way = Way()
    for word in ("One", " two", " <three>"):
        way.say.text(word)
    assert way.long == [TextDelta("One")]
    assert way.pieces == ["One", " two", " <three>"]
    assert way.end() == [PartEnded(Text("One two <three>"), complete=True)]


def test_where_calls_may_stand_in_text_it_is_still_searched() -> None:
    way = Way(markup=True)
    for word in ("So", " it", " is", "<tool_call>get_time</tool_call>"):
        way.say.text(word)
    assert way.pieces == ["So", " it", " is"]
    assert [type(ended.part) for ended in way.end()] == [Text, Call]
    assert TextDelta(" is") not in way.long


CALL = "<tool_call>get_time</tool_call>"


def test_what_went_past_still_says_whether_a_call_is_quoted() -> None:
    """A fence, a span and an escaped backtick: the search has not seen them, but is told of them."""
    for before, quoted in (("```\n", True), ("`", True), ("\\`", False)):
        way = Way(markup=True)
        for word in ("So", " it", " is:", "\n\n", before, "\n", CALL, "\n", before):
            way.say.text(word)
        ended = way.end()
        assert [type(one.part) for one in ended].count(Call) == (not quoted)
        assert (CALL in ended[0].part.text) == quoted


def test_it_is_told_in_time() -> None:
    """So that it never has to read a whole book at once; and nothing twice."""
    way = Way(markup=True)
    for word in ("So", " it", " is:\n\n", "```\n"):
        way.say.text(word)
    way.say.catch_up()
    way.say.catch_up()
    for word in ("```\n", " text ", CALL):
        way.say.text(word)
    assert [type(one.part) for one in way.end()] == [Text, Call]


def test_f79_what_goes_past_the_search_for_calls_is_told_to_it_now_and_then() -> None:
    """Else the first thing that looks like a call would have it read a whole book at once."""
    reply = start()
    for _ in range(4000):
        reply.pipeline.feed(chunk({"content": "use `a` "}))
    assert reply.pipeline._markup is not None
    assert 4000 * 8 - reply.pipeline._markup.scanner._code.at < PAST_BYTES


def test_the_token_of_a_frame_does_not_go_past() -> None:
    way = Way(markup=True)
    for word in ("So", " it", " is", "<|end|>"):
        way.say.text(word)
    assert way.long[-1] == TextDelta("<|end|>")


def test_nor_does_text_in_a_frame_that_a_thought_has_left() -> None:
    way = Way()
    for word in ("<think>Hm</think><answer>", "Yes", " it", " is", "</answer>"):
        way.say.text(word)
    assert [ended.part for ended in way.end()] == [Reasoning("Hm"), Text("Yes it is")]


def test_thoughts_go_past_and_show_anew_that_they_may_after_something_else() -> None:
    for way in (Way(), Way(markup=True)):
        for word in ("I", " think", " so"):
            way.say.reasoning(word)
        way.say.text("Yes")
        way.say.reasoning("Well")
        way.say.reasoning(" well")
        assert way.long[-1] == ReasoningDelta("Well")
        assert ReasoningDelta(" so") not in way.long
        parts = [ended.part for ended in way.end()]
        assert parts == [Reasoning("I think so"), Text("Yes"), Reasoning("Well well")]


def test_thoughts_are_searched_too() -> None:
    way = Way(markup=True)
    for word in ("I", " call", " <tool_call>"):
        way.say.reasoning(word)
    assert way.long[-1] == ReasoningDelta(" <tool_call>")


def test_arguments_go_past_from_their_second_piece_on() -> None:
    for way in (Way(), Way(markup=True)):
        way.say.feed(CallDelta(0, "c", "get_time"))
        for fragment in ('{"a":', "1", ",", '"b":2', "}"):
            way.say.arguments(0, fragment)
        assert way.long[1:] == [CallDelta(0, arguments='{"a":')]
        assert way.pieces == ['{"a":', "1", ",", '"b":2', "}"]
        assert [ended.part.arguments for ended in way.end() if isinstance(ended.part, Call)] == [
            '{"a":1,"b":2}'
        ]


def test_arguments_that_are_unwrapped_or_only_hold_a_place_do_not() -> None:
    way = Way()
    way.say.feed(CallDelta(0, "c", "apply_patch"))
    for fragment in ('{"input":', '"x"', "}"):
        way.say.arguments(0, fragment)
    way.say.feed(CallDelta(1, "d", "get_time"))
    for fragment in ("{}", " "):
        way.say.arguments(1, fragment)
    assert [ended.part.arguments for ended in way.end() if isinstance(ended.part, Call)] == ["x", "{} "]
    assert way.pieces == ["x", "{} "]


def test_what_waits_behind_arguments_is_told_as_soon_as_they_are_whole() -> None:
    way = Way()
    way.say.feed(CallDelta(0, "c", "get_time"))
    for fragment in ('{"a":', "1"):
        way.say.arguments(0, fragment)
    way.say.text("Then")
    for fragment in ("2", "}"):
        way.say.arguments(0, fragment)
    assert way.pieces == ['{"a":', "1", "2", "}", "Then"]


def test_arguments_said_once_more_are_told_once() -> None:
    way = Way()
    way.say.feed(CallDelta(0, "c", "get_time"))
    for fragment in ('{"a":', "1}", '{"a":1}'):
        way.say.arguments(0, fragment)
    assert way.pieces == ['{"a":', "1}"]


def test_arguments_of_another_call_or_of_none_in_particular_take_the_long_way() -> None:
    way = Way()
    for index in (0, 1):
        way.say.feed(CallDelta(index, f"c{index}", "get_time"))
        way.say.arguments(index, '{"a":')
        way.say.arguments(index, "1")
    way.say.arguments(None, "}")
    way.say.arguments(0, "}")
    way.say.arguments(1, "}")
    assert CallDelta(None, arguments="}") in way.long
    assert CallDelta(0, arguments="}") in way.long
    assert len(way.end()) == 2


def test_arguments_beside_a_call_that_was_found_in_text_are_compared_with_it() -> None:
    way = Way(markup=True)
    way.say.text("<tool_call>get_time</tool_call>")
    way.say.text("So")
    way.say.feed(CallDelta(0, "c", "get_time"))
    for fragment in ("{", " ", "}"):
        way.say.arguments(0, fragment)
    assert CallDelta(0, arguments="}") in way.long
    assert [type(ended.part) for ended in way.end()] == [Call, Text]


def test_what_comes_between_closes_the_short_way() -> None:
    for between in (UsageDelta(Usage(1, 2, 3)), TextDelta(" with", [{"token": " with"}]), STOP):
        way = Way()
        way.say.text("One")
        way.say.text(" two")
        way.say.feed(between)
        way.say.text(" three")
        assert TextDelta(" three") in way.long
        way.say.text(" four")
        assert TextDelta(" four") not in way.long
        way.end()


def test_what_comes_after_the_end_is_not_told() -> None:
    way = Way()
    way.say.text("One")
    way.say.text(" two")
    way.end()
    told = [*way.told]
    way.say.text(" three")
    way.say.arguments(0, "{}")
    way.say.reasoning("Hm")
    assert way.told == told


def test_a_finish_that_was_none_is_taken_back_by_the_first_word_behind_it() -> None:
    way = Way()
    way.say.text("One")
    way.say.feed(STOP)
    way.say.text(" two")
    way.say.text(" three")
    way.say.feed(FinishDelta(STOP.finish))
    assert [ended.part for ended in way.end()] == [Text("One two three")]
