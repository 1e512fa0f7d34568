"""Where texts become one, what is said of places in them moves along."""

from proxy.core.annotations import all_annotations, moved
from proxy.core.model import Text


def test_places_move() -> None:
    link = {"type": "url_citation", "start_index": 1, "end_index": 3}
    assert moved(link, 0) is link
    assert moved(link, 5) == {"type": "url_citation", "start_index": 6, "end_index": 8}
    assert moved({"index": 2, "start_index": "1", "end_index": True}, 5) == {
        "index": 7,
        "start_index": "1",
        "end_index": True,
    }


def test_those_of_several_texts() -> None:
    texts = [Text("abc"), Text("de", annotations=[{"index": 0}]), Text("f", annotations=[{"index": 1}])]
    assert all_annotations(texts) == [{"index": 3}, {"index": 6}]
