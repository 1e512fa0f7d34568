"""Where code is, by the rules of CommonMark, and how far ahead one has to read to know."""

from proxy.core.markup.code import CodeTracker, Where
from proxy.core.markup.lookahead import Lookahead
from tests.support.tables import table

HERE = "@"
"""Marks the place that is asked about. It is no part of the text."""

INSIDE = {
    "R08 a fence": "```\n@\n```\n",
    "a fence after text": "text\n```python\nx = 1\n@\n```\n",
    "a tilde fence": "~~~\n@\n~~~\n",
    "a tilde fence whose info has a backtick": "~~~ a`b\n@",
    "a tilde fence that begins with backticks": "~~~```\n@",
    "an unclosed fence": "```\nmuch\n\nmore\n\n@",
    "a longer fence with a shorter one inside": "````\n```\n```\n@\n````\n",
    "a backtick fence inside of tildes": "~~~\n```\n@\n```\n~~~\n",
    "the closer has something after it": "```\n``` no\n@",
    "the closer is too short": "`````\n````\n@",
    "the closer is of the other kind": "```\n~~~\n@",
    "the closer is indented by four": "```\n    ```\n@",
    "a fence indented by three": "   ```\n@\n   ```\n",
    "a fence in a list item": "- ```\n  @\n  ```\n",
    "a fence below a list item": "1. Do\n\n    ```\n    @\n    ```\n",
    "a fence below a nested list item": "- a\n  - b\n\n     ```\n\n     @\n",
    "a fence after the body of a list item": "- a\n  more\n\n    ~~~\n    @\n",
    "a fence in a quote": "> ```\n> @\n> ```\n",
    "CRLF": "```\r\n@\r\n```\r\n",
    "the info line of a fence": "```xml @\n```\n",
    "the info line of a fence that the text ends in": "```xml @",
    "a span": "a `@` b",
    "a span of two": "a ``@ ` @`` b",
    "a span of three in a line": "a ```@``` b",
    "a span at the head of a line that is no fence": "```@``` b",
    "a span over two lines": "`a\n@x\nb`",
    "a span that ends in a line that is no fence": "a ` @ b\n```c` d",
    "a span inside an unclosed run": "a `` b `@` c",
    "a span whose closer is escaped": "`@\\` b",
    "a second span": "`a` b `@`",
    "a fence that no paragraph before it can swallow": "` a\n```\n@\n```\n `",
    "a fence below a heading": "# a `\n```\n@",
    "two openers in one span": "`@ @`",
    "a fence behind words": "Like this: ```xml\n@\n```\n",
    "a fence behind words, without a word": "Like this ```\n\n@\n",
    "a fence behind words, with CRLF": "Like this: ```xml \r\n@\r\n```\r\n",
    "a longer fence behind words": "- so: ````md\n```\n@\n",
    "a span of three behind words": "so ```x @``` b",
    "a span of three that a line ends": "so ```x y\na @```\nb",
}

OUTSIDE = {
    "text": "a @ b",
    "after a fence": "```\nx\n```\n@",
    "after a fence whose closer is longer": "```\nx\n`````  \n@",
    "after a closer indented by three": "```\nx\n   ```\n@",
    "after a tilde fence": "~~~\nx\n~~~\n@",
    "after a fence in a quote": "> ```\n> x\n> ```\n@",
    "after a CRLF fence": "```\r\nx\r\n```\r\n@",
    "two backticks are no fence": "``\n@",
    "two tildes are no fence": "~~\n@",
    "tildes within a line": "a ~~~\n@",
    "indented code": "    @\n",
    "indented code with a tab": "\t@\n",
    "a fence indented by four": "    ```\n@",
    "a fence indented by four below text": "text\n\n    ```\n@",
    "a fence indented too far below a list item": "- a\n\n          ```\n\n@",
    "a fence indented below text that follows a list": "- a\n\ntext\n\n    ~~~\n@",
    "after a span": "`a` @",
    "after a span of two": "``a ` b`` @",
    "an unclosed run": "a ` b @",
    "an unclosed run before a paragraph's end": "a ` b @ c\n\nd ` e",
    "an unclosed run in the paragraph before": "a ` b\n\n@ ` c",
    "a blank line in a quote": "> a `\n>\n> @ `",
    "a blank line with blanks": "a `\n \t \n@ `",
    "a list item ends the paragraph": "- a `\n- @ `",
    "a heading ends the paragraph": "a `\n# b @ `",
    "a line of = ends the paragraph": "a `\n===\n@ `",
    "a line of - ends the paragraph": "a `\n---\n@ `",
    "a line of * ends the paragraph": "a `\n***\n@ `",
    "a line of _ ends the paragraph": "a `\n_ _ _\n@ `",
    "a fence ends the paragraph": "a ` @\n```\n`\n",
    "a tilde fence ends the paragraph": "a ` @\n~~~\n`\n",
    "an escaped backtick": "\\` @ `",
    "an escaped backslash": "\\\\\\` @ `",
    "backticks that open no fence nor span": "```a`b @ c",
    "a run of another length": "`` @ ` a",
    "after a fence behind words": "so: ```x\ny\n```\n@",
    "two backticks behind words": "so: ``xml\n@",
    "after an indented end of one": "so: ```x\ny\n      ```\n@",
    "words behind three backticks": "a ``` b c\n@ d",
    "three backticks that close": "a ```b c``` \n@",
    "three backticks that are escaped": "a \\```\n@",
    "three backticks behind a block of words": "a ```b` c\n@ d",
    "in a very long line": "x" * 300 + "``` @",
    "after a very long blank line": " " * 300 + "@",
}


def ask(text: str, pieces: int) -> list[Where]:
    """What is said of each marked place, when the text comes in pieces of this many characters (0: whole)."""
    parts = text.split(HERE)
    tracker = CodeTracker()
    answers = []
    for number, part in enumerate(parts[:-1]):
        feed(tracker, part, pieces)
        rest = "".join(parts[number + 1 :])
        while (where := tracker.where()) is Where.DOUBT:
            ahead = Lookahead(tracker)
            feed(ahead, rest, pieces)
            if ahead.found is None:
                ahead.close()
            ahead.teach(tracker)
        answers.append(where)
    return answers


def feed(tracker: CodeTracker, text: str, pieces: int) -> None:
    for at in range(0, len(text), pieces or max(1, len(text))):
        tracker.feed(text, at, min(len(text), at + (pieces or len(text))))


@table("pieces", [0, 1, 2, 3, 7])
@table("text", INSIDE.values(), ids=INSIDE)
def test_this_is_code(text: str, pieces: int) -> None:
    assert set(ask(text, pieces)) == {Where.INSIDE}


@table("pieces", [0, 1, 2, 3, 7])
@table("text", OUTSIDE.values(), ids=OUTSIDE)
def test_this_is_no_code(text: str, pieces: int) -> None:
    assert set(ask(text, pieces)) == {Where.OUTSIDE}


def test_what_was_read_ahead_settles_later_doubts_without_reading_again() -> None:
    """Of two runs that follow, one is known to be closed and the other is known not to be."""
    tracker = CodeTracker()
    tracker.feed("a `` b ")
    assert tracker.where() is Where.DOUBT
    ahead = Lookahead(tracker)
    rest = "```` c ` d ` e ``` f ` g ` h ``` i ` j\n\n"
    ahead.feed(rest)
    ahead.teach(tracker)
    assert tracker.where() is Where.OUTSIDE
    for part, where in (
        ("```` c ", Where.OUTSIDE),
        ("` d", Where.INSIDE),
        (" ` e", Where.OUTSIDE),
        (" ``` f", Where.INSIDE),
        (" ` g", Where.INSIDE),
        (" ` h", Where.INSIDE),
        (" ``` i", Where.OUTSIDE),
        (" ` j", Where.OUTSIDE),
    ):
        tracker.feed(part)
        assert tracker.where() is where


def test_a_lookahead_stops_as_soon_as_it_knows() -> None:
    tracker = CodeTracker()
    tracker.feed("`")
    tracker.where()
    ahead = Lookahead(tracker)
    ahead.feed("x" * 10 + "`" + "y" * 1000)
    assert ahead.found is not None
    assert ahead.at < 20


def test_what_is_skipped_is_no_text_but_stands_in_its_line() -> None:
    tracker = CodeTracker()
    tracker.feed("a\n")
    tracker.where()
    tracker.skip(10)
    tracker.feed("```\nb")
    assert tracker.where() is not Where.INSIDE
    assert tracker.at == 17


def test_open_runs_take_no_more_room_than_there_are_lengths() -> None:
    tracker = CodeTracker()
    for _ in range(1000):
        tracker.feed("` `` ``` ")
    tracker.where()
    assert len(tracker._open) <= 3


def test_it_tells_what_it_read_last() -> None:
    tracker = CodeTracker()
    assert tracker.before() == ""
    tracker.feed("a long text, and then <code>")
    assert tracker.before().endswith("<code>")
    tracker.skip(10)
    assert not tracker.before().endswith("<code>")
