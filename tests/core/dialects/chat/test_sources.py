"""Links to sources that a Chat backend sends beside its text: told at the end of the text, in the core's form."""

from typing import Any

from proxy.core.dialects.reading.decoding import MAX_ANNOTATIONS
from proxy.core.events import CallDelta, EndDelta, Finish, FinishDelta, MessageDelta, TextDelta
from tests.support.chat_chunks import Decoded, calls, chunk, function
from tests.support.tables import table

STOPPED = FinishDelta(Finish.STOP)
PLACE = {"url": "https://a.test", "title": "A", "start_index": 0, "end_index": 3}
TOLD = MessageDelta([{"type": "url_citation", **PLACE}])
SENT = {"annotations": [{"type": "url_citation", "url_citation": PLACE}]}


@table(
    "chunks",
    [
        [chunk({"content": "See"}), chunk(SENT), chunk({}, "stop")],
        [chunk({"content": "See", **SENT}), chunk({}, "stop")],
        [chunk({"content": "", **SENT}), chunk({"content": "See"}), chunk({}, "stop")],
        [chunk({"content": "See"}), chunk(SENT, "stop")],
    ],
    ids=["after the text", "beside it", "before it", "at the end"],
)
def test_links_are_told_at_the_end_of_the_text(chunks: list[Any]) -> None:
    """OpenAI's models that search send them last, gateways anywhere."""
    assert Decoded().say(*chunks).deltas == [TextDelta("See"), TOLD, STOPPED]


def test_a_call_ends_the_text() -> None:
    decoded = Decoded().say(chunk({"content": "See", **SENT}), calls(function(name="f")))
    assert decoded.deltas == [TextDelta("See"), TOLD, CallDelta(0, None, "f", "")]


def test_a_stream_without_a_reason_tells_them_too() -> None:
    assert Decoded().say(chunk({"content": "See", **SENT}), b"[DONE]").deltas == [
        TextDelta("See"),
        TOLD,
        EndDelta(),
    ]


def test_a_whole_reply() -> None:
    reply = {"choices": [{"message": {"content": "See", **SENT}, "finish_reason": "stop"}]}
    assert Decoded().body(reply).deltas == [TextDelta("See"), TOLD, STOPPED, EndDelta()]


def test_clients_get_each_field() -> None:
    """Theirs are checked by the AI SDK, and servers leave out what they do not know."""
    link = {"url": "https://a.test", "title": None, "start_index": "0", "content": {"long": "text"}}
    decoded = Decoded().say(
        chunk({"content": "See", "annotations": [{"url_citation": link}]}), chunk({}, "stop")
    )
    told = {"type": "url_citation", "url": "https://a.test", "title": "", "start_index": 0, "end_index": 0}
    assert decoded.deltas == [TextDelta("See"), MessageDelta([told]), STOPPED]


@table(
    "annotations",
    [
        "https://a.test",
        {"url": "https://a.test"},
        [None],
        [{"url_citation": {"title": "A"}}],
        [{"type": "file"}],
    ],
)
def test_what_is_no_link_is_counted(annotations: Any) -> None:
    decoded = Decoded().say(chunk({"content": "See", "annotations": annotations}), chunk({}, "stop"))
    assert (decoded.deltas, decoded.odd) == ([TextDelta("See"), STOPPED], {"annotation_unknown": 1})


def test_there_is_an_end_to_them() -> None:
    many = {"annotations": SENT["annotations"] * 600}
    deltas = Decoded().say(chunk({"content": "See"}), chunk(many), chunk(many), chunk({}, "stop")).deltas
    assert isinstance(deltas[1], MessageDelta)
    assert len(deltas[1].annotations) == MAX_ANNOTATIONS
