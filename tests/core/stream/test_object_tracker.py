"""Is a text that grows by fragments one whole JSON object by now? The answer never depends on the cuts."""

from proxy.core import jsontext
from proxy.core.stream.object_tracker import ObjectTracker
from tests.support.replies import bytewise
from tests.support.tables import table

TEXTS = [
    ("{}", True),
    (' \n{"a": {"b": [1, {"c": "}"}]}} \n', True),
    (r'{"a":"\"}","b":"\\"}', True),
    (r'{"a":"\\\"}"}', True),
    ('{"[":"{"}', True),
    ('{"a":"é😀"}', True),
    ('{"a":"\t"}', True),
    ('{"":"}"}', True),
    ("", False),
    (" \n", False),
    ("{", False),
    ('{"a":"}', False),
    (r'{"a":"\"}', False),
    ("{}{}", False),
    ("{} x", False),
    ("x {}", False),
    ("[{}]", False),
    ('"{}"', False),
    ("null", False),
    ("}", False),
    ("}{", False),
    ("{]", False),
    ("{a}", False),
    ('{"a":1,}', False),
]


@table(("text", "whole"), TEXTS)
def test_whole_is_what_can_be_read_as_one_object(text: str, whole: bool) -> None:
    assert ObjectTracker().is_whole([text]) is whole is jsontext.is_object(text)


@table("text", [text for text, _ in TEXTS])
def test_it_may_be_asked_after_every_character(text: str) -> None:
    pieces: list[str] = []
    tracker = ObjectTracker()
    for character in text:
        pieces.append(character)
        assert tracker.is_whole(pieces) is jsontext.is_object("".join(pieces)), pieces
        assert tracker.is_whole(pieces) is tracker.is_whole(pieces)


@table(("text", "whole"), TEXTS)
def test_it_may_be_asked_only_at_the_end(text: str, whole: bool) -> None:
    assert (
        ObjectTracker().is_whole(
            [piece.decode("latin-1") for piece in bytewise(text.encode("latin-1", "replace"))]
        )
        is whole
    )


def test_what_is_spoilt_stays_spoilt() -> None:
    pieces = ["{}", "{"]
    tracker = ObjectTracker()
    assert not tracker.is_whole(pieces)
    pieces.append("}")
    assert not tracker.is_whole(pieces)
