"""Which item an event belongs to, and what of a text is still to be said."""

from proxy.core.dialects.responses.entries import CALL, MESSAGE, REASONING, TEXT
from proxy.core.dialects.responses.growing import MAX_PARTS, Growing, GrowingText, Items
from tests.support.quickness import quickly
from tests.support.responses_requests import function_call, message, reasoning


def test_what_a_whole_text_adds() -> None:
    said = GrowingText()
    assert not said
    assert said.rest("") == ""
    assert said.rest("abc") == "abc"
    said.add("a")
    said.add("b")
    assert said
    assert str(said) == "ab"
    assert [said.rest(whole) for whole in ("ab", "abc", "a", "acc")] == ["", "c", None, None]


def test_to_compare_costs_no_more_than_to_read() -> None:
    """However often a short whole comes for a long text."""
    said = GrowingText()
    with quickly():
        for _ in range(100_000):
            said.add("a")
            said.rest("b")


def test_parts_have_numbers_up_to_a_point() -> None:
    growing = Growing(MESSAGE, {})
    parts = []
    for number in range(MAX_PARTS):
        parts.append(growing.part(TEXT, number))
        growing.end_part()
    assert len({id(part) for part in parts}) == MAX_PARTS
    assert growing.part(TEXT, 0) is growing.part(TEXT, None) is growing.part(TEXT, "7") is parts[0]
    assert growing.part(TEXT, 10**30) is growing.part(TEXT, -5)


def test_a_number_is_another_part_only_behind_an_end_or_an_announcement() -> None:
    growing = Growing(MESSAGE, {})
    first = growing.part(TEXT, 0)
    first.add("a")
    assert growing.part(TEXT, 1) is first
    growing.announce(2)
    growing.announce("3")
    assert growing.part(TEXT, 3) is first
    second = growing.part(TEXT, 2)
    assert second is not first
    second.add("b")
    growing.end_part()
    assert growing.whole(TEXT, 9, "b") is second
    assert growing.whole(TEXT, 9, "b") is second
    assert growing.part(TEXT, 4) not in (first, second)


def test_announcements_are_bounded() -> None:
    growing = Growing(MESSAGE, {})
    for number in range(MAX_PARTS + 9):
        growing.announce(number)
    growing.part(TEXT, 0)
    assert growing.part(TEXT, MAX_PARTS + 1) is growing.part(TEXT, 0)


def test_an_event_names_its_item_by_id_or_by_place() -> None:
    items = Items()
    one, two = items.begin(MESSAGE, message(id="a"), 0), items.begin(MESSAGE, message(id="b"), 1)
    call = items.begin(CALL, function_call(id=None), 2)
    assert items.of_event({"item_id": "a", "output_index": 1}, MESSAGE) is one
    assert items.of_event({"item_id": "x", "output_index": 0}, MESSAGE) is one
    assert items.of_event({"item_id": "a", "output_index": 2}, CALL) is call
    assert items.of_event({"item_id": "c1"}, CALL) is call
    assert items.of_event({}, MESSAGE) is two
    two.done = True
    assert items.of_event({"output_index": 1}, MESSAGE) is one
    one.done = True
    assert items.of_event({}, MESSAGE) is None
    assert items.of_event({"item_id": "b"}, MESSAGE) is two
    assert items.of_event({"item_id": ["b"], "output_index": "1"}, REASONING) is None


def test_text_with_the_id_of_a_thought_is_one() -> None:
    items = Items()
    thought = items.begin(REASONING, reasoning(), 0)
    assert items.of_event({"item_id": "rs_1"}, MESSAGE) is thought
    assert items.of_event({"output_index": 0}, MESSAGE) is None


def test_the_end_of_an_item() -> None:
    items = Items()
    one = items.begin(CALL, function_call(call_id="c1", id="a"), 0)
    two = items.begin(CALL, function_call(call_id="c2", id="b"), 1)
    assert items.of_item(function_call(call_id="c2", id="x"), CALL, 0) is two
    assert items.of_item(function_call(call_id="", id="x"), CALL, 1) is two
    assert items.of_item(function_call(call_id="", id="x"), CALL, None) is one
    assert items.of_item(function_call(call_id="c3", id="x"), CALL, 0) is None
    assert items.of_item(message(id="a"), MESSAGE, 0) is None
    assert items.of_item(message(), MESSAGE, 0) is None
    one.done = two.done = True
    assert items.of_item(function_call(call_id="", id="x"), CALL, 0) is None
    assert items.of_item(function_call(call_id="c1"), CALL, None) is one
    items.know(two, {"id": "y"}, True)
    assert items.of_item({"id": "y"}, CALL, None) is two
    assert items.at(1) is two
