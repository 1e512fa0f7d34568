"""Two documents beside each other: what became of each value."""

from typing import Any

from proxy.core.inspected.difference import MOST_CHARACTERS, MOST_LINES, Document, Mark, compared
from tests.support.tables import table


def marks(document: Document) -> dict[str, Mark | None]:
    return {line.key: line.mark for line in document.lines if line.key and line.text not in ("{", "[")}


@table(
    "left, right, ours, theirs",
    [
        ({"a": 1}, {"a": 1}, {"a": Mark.SAME}, {"a": Mark.SAME}),
        ({"a": 1}, {"a": 2}, {"a": Mark.CHANGED}, {"a": Mark.CHANGED}),
        ({"a": 1}, {"b": 1}, {"a": Mark.ALONE}, {"b": Mark.ALONE}),
        ({"a": "word"}, {"b": "word"}, {"a": Mark.MOVED}, {"b": Mark.MOVED}),
        ({"max": 5}, {"options": {"max": 5}}, {"max": Mark.MOVED}, {"max": Mark.MOVED}),
        ({"a": "say hello"}, {"b": {"c": "First: say hello."}}, {"a": Mark.MOVED}, {"c": Mark.MOVED}),
        ({"a": "hello", "b": "kindly"}, {"c": "hello, kindly"}, dict.fromkeys("ab", Mark.MOVED), {"c": Mark.MOVED}),
        ({"a": "one two three"}, {"b": "two three"}, {"a": Mark.MOVED}, {"b": Mark.MOVED}),
        ({"a": "hi"}, {"b": "hi there"}, {"a": Mark.ALONE}, {"b": Mark.ALONE}),
        ({"a": ""}, {"b": ""}, {"a": Mark.ALONE}, {"b": Mark.ALONE}),
        ({}, {"a": None}, {}, {"a": Mark.ALONE}),
        ({"a": {}}, {"a": {}}, {"a": Mark.SAME}, {"a": Mark.SAME}),
        ({"a": "x" * 9}, {"a": "x" * 9, "b": "x" * 9}, {"a": Mark.SAME}, {"a": Mark.SAME, "b": Mark.MOVED}),
    ],
)  # fmt: skip
def test_every_value_has_its_mark(
    left: Any, right: Any, ours: dict[str, Mark], theirs: dict[str, Mark]
) -> None:
    one, two = compared(left, right)
    assert (marks(one), marks(two)) == (ours, theirs)


def test_both_lines_of_a_pair_know_each_other() -> None:
    one, two = compared({"input": "hello"}, {"messages": [{"role": "user", "content": "hello"}]})
    (ours,) = (line for line in one.lines if line.key == "input")
    assert ours.partner is not None
    theirs = two.lines[ours.partner]
    assert (theirs.key, theirs.text, theirs.partner) == ("content", '"hello"', one.lines.index(ours))


def test_lines_are_the_document_as_it_is_written() -> None:
    document = Document({"a": [1, {"b": []}], "c": {}})
    assert [(line.depth, line.key, line.text) for line in document.lines] == [
        (0, "", "{"),
        (1, "a", "["),
        (2, "", "1"),
        (2, "", "{"),
        (3, "b", "[]"),
        (2, "", "}"),
        (1, "", "]"),
        (1, "c", "{}"),
        (0, "", "}"),
    ]


def test_a_long_document_is_cut() -> None:
    document = Document(list(range(MOST_LINES * 2)))
    assert document.cut
    assert len(document.lines) == MOST_LINES


def test_a_long_value_is_cut_and_compared_whole() -> None:
    one, two = compared({"a": "x" * MOST_CHARACTERS * 2}, {"a": "y" + "x" * MOST_CHARACTERS * 2})
    assert one.lines[1].text.endswith("characters more")
    assert one.lines[1].mark is Mark.MOVED
    assert two.lines[1].mark is Mark.MOVED


def test_deep_nesting_is_no_matter() -> None:
    value: Any = 1
    for _ in range(900):
        value = [value]
    assert compared(value, None)[0].lines[0].text == "["
