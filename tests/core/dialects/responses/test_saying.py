"""What is said of an item, whatever has led to it: see `test_decode` for all that does."""

from proxy.core.dialects.responses.saying import MAX_ANNOTATIONS, MAX_WORD
from proxy.core.events import MessageDelta, TextDelta
from tests.support.responses_requests import Decoded, added, done, event, message, output_text


def test_a_phase_is_a_word() -> None:
    for phase, told in (("x" * 100, "x" * MAX_WORD), ("", None), (7, None)):
        deltas = Decoded().say(done(message("A", phase=phase))).deltas
        assert deltas == [*([MessageDelta(phase=told)] if told else []), TextDelta("A")]


def test_annotations_are_bounded() -> None:
    note = event("output_text.annotation.added", item_id="msg_1", annotation={"type": "x"})
    many = [{"type": "x"}] * (MAX_ANNOTATIONS + 1)
    for said in (
        Decoded().say(added(message()), *[note] * len(many), done(message("A"))),
        Decoded().say(done(message(output_text("A", annotations=many)))),
    ):
        assert [len(delta.annotations) for delta in said.deltas if isinstance(delta, MessageDelta)] == [
            MAX_ANNOTATIONS
        ]


def test_annotations_of_a_message_that_speaks_no_more_are_left_out() -> None:
    said = Decoded().say(
        added(message(id="a")),
        added(message(id="b")),
        event("output_text.delta", delta="A", item_id="a"),
        event("output_text.delta", delta="B", item_id="b"),
        done(message(output_text("A", annotations=[{"type": "x"}]), id="a")),
    )
    assert said.deltas == [TextDelta("A"), MessageDelta(), TextDelta("B")]
