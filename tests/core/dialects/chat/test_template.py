"""What is read by a template is what the whole event says; the properties ask the same of any events."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.dialects.chat.template import LONG, SHORT, Template
from tests.support.tables import table


class Said:
    def __init__(self) -> None:
        self.words: list[tuple[Any, str]] = []

    def text(self, text: str) -> None:
        self.words.append(("text", text))

    def reasoning(self, text: str) -> None:
        self.words.append(("thought", text))

    def arguments(self, index: int | None, text: str) -> None:
        self.words.append((index, text))


class Reader:
    """Reads events by the template where it can, and lets it learn from the others. A few have come already."""

    def __init__(self) -> None:
        self.said = Said()
        self.template = Template(self.said)
        self.reads(*(event({}) for _ in range(SHORT - 1)))

    def reads(self, *events: bytes) -> list[bool]:
        return [self._reads(event) for event in events]

    def _reads(self, event: bytes) -> bool:
        if self.template.found and self.template.says(event):
            return True
        self.template.learn(jsontext.loads(event), event)
        return False


def event(delta: Any, **others: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}
    return jsontext.dumps({"id": "c", "created": 7, "choices": [choice | others]})


def text(words: str) -> bytes:
    return event({"content": words})


def fragment(arguments: str, index: Any = 1, **others: Any) -> bytes:
    return event({"tool_calls": [{"index": index, "function": {"arguments": arguments}} | others]})


@table(
    ("deltas", "said"),
    [
        pytest.param([{"content": word} for word in ("a", "b", 'c"\n')], ("text", 'c"\n'), id="text"),
        pytest.param(
            [{"role": "assistant", "content": word, "reasoning_content": None} for word in "abc"],
            ("text", "c"),
            id="text, with fields that are empty",
        ),
        pytest.param([{"reasoning_content": word} for word in "abc"], ("thought", "c"), id="thoughts"),
        pytest.param([{"reasoning": word, "content": ""} for word in "abc"], ("thought", "c"), id="or so"),
        pytest.param(
            [{"tool_calls": [{"index": 1, "function": {"arguments": word}}]} for word in "abc"],
            (1, "c"),
            id="arguments",
        ),
        pytest.param(
            [
                {
                    "content": None,
                    "tool_calls": [{"index": 0, "id": None, "function": {"name": "", "arguments": word}}],
                }
                for word in "abc"
            ],
            (0, "c"),
            id="arguments, with fields that are empty",
        ),
    ],
)
def test_the_third_of_a_kind_is_read_by_what_the_first_two_have_in_common(
    deltas: list[Any], said: tuple[Any, str]
) -> None:
    reader = Reader()
    assert reader.reads(*map(event, deltas)) == [False, False, True]
    assert reader.said.words == [said]


@table(
    "other",
    [
        pytest.param(text("c")[:-1] + b',"usage":{"total_tokens":3}}', id="more behind it"),
        pytest.param(b'{"error":1,' + text("c")[1:], id="more before it"),
        pytest.param(event({"content": ""}), id="no text"),
        pytest.param(event({"content": None}), id="nothing"),
        pytest.param(event({"content": ["c"]}), id="no string"),
        pytest.param(event({"content": "c", "refusal": "no"}), id="more in the delta"),
        pytest.param(text("c").replace(b'"c"', b'"\\ud83d"'), id="half a character"),
        pytest.param(text("c").replace(b'"c"', b'"\xff"'), id="bytes that are no text"),
        pytest.param(text("c").replace(b'"c"', b'"c","content":"d"'), id="the field twice"),
        pytest.param(event({"content": "c"}, finish_reason="stop"), id="a finish"),
    ],
)
def test_what_is_otherwise_is_read_as_a_whole(other: bytes) -> None:
    reader = Reader()
    reader.reads(text("a"), text("b"))
    assert not reader.template.says(other)
    assert reader.reads(text("d")) == [True]


@table(
    "events",
    [
        pytest.param([event({"content": word}, logprobs={"content": []}) for word in "abcd"], id="logprobs"),
        pytest.param([event({"content": word}, index=1) for word in "abcd"], id="another choice"),
        pytest.param([event({"content": word, "audio": None}) for word in "abcd"], id="an unknown field"),
        pytest.param([event({"content": word, "reasoning": word}) for word in "abcd"], id="both"),
        pytest.param([event({"content": [word]}) for word in "abcd"], id="parts"),
        pytest.param([event([word]) for word in "abcd"], id="no delta"),
        pytest.param([event({"content": {"text": word}}) for word in "abcd"], id="an object"),
        pytest.param([fragment(word, id="c") for word in "abcd"], id="an id"),
        pytest.param([fragment(word, index=True) for word in "abcd"], id="no index"),
        pytest.param([fragment("") for _ in "abcd"], id="no arguments"),
        pytest.param([event({"tool_calls": [{"index": 0}]}) for _ in "abcd"], id="no function"),
        pytest.param(
            [event({"tool_calls": [{"index": 0, "function": {"arguments": word}}] * 2}) for word in "abcd"],
            id="two calls",
        ),
        pytest.param(
            [event({"content": word, "tool_calls": [{"index": 0}]}) for word in "abcd"],
            id="text beside a call",
        ),
        pytest.param(
            [text(word)[:-1] + b',"noise":"%b"}' % (word * 3).encode() for word in "abcd"], id="noise"
        ),
    ],
)
def test_what_says_more_than_one_thing_or_is_never_the_same_makes_no_template(events: list[bytes]) -> None:
    assert Reader().reads(*events) == [False] * 4


def test_the_same_string_elsewhere_is_not_taken_for_the_token() -> None:
    """What is found first is an echo: only a trial shows that it is not what the event says."""
    echo = b'{"echo":{"content":"a"},"choices":[{"delta":{ "content" : "a"}}]}'
    assert Reader().reads(echo, echo, echo.replace(b'{"content":"a"}', b'{"content":"b"}')) == [False] * 3


def test_what_changes_from_time_to_time_changes_the_template() -> None:
    reader = Reader()
    later = [text(word).replace(b":7,", b":8,") for word in "cde"]
    assert reader.reads(text("a"), text("b"), text("c"), *later) == [False, False, True, False, False, True]


def test_spaces_behind_the_colon_are_as_good() -> None:
    events = [text(word).replace(b":", b": ") for word in "abc"]
    assert Reader().reads(*events) == [False, False, True]


def test_it_is_not_looked_for_for_ever() -> None:
    for others, found in ((LONG - SHORT - 1, True), (LONG - SHORT, False)):
        reader = Reader()
        reader.reads(*(b'{"n":%d,' % number + text("a")[1:] for number in range(others)))
        assert reader.reads(text("a"), text("b"), text("c")) == [False, False, found]


def test_but_as_long_as_there_is_one_from_time_to_time() -> None:
    reader = Reader()
    for time in range(LONG):
        events = [text(word).replace(b":7,", b":%d," % time) for word in "abc"]
        assert reader.reads(*events) == [False, False, True]


def test_a_short_reply_has_none() -> None:
    said = Said()
    template = Template(said)
    for _ in range(SHORT):
        assert not template.says(text("a"))
        template.learn(jsontext.loads(text("a")), text("a"))
    assert not template.says(text("a"))


def test_it_can_be_ended() -> None:
    reader = Reader()
    reader.reads(text("a"), text("b"))
    reader.template.end()
    assert reader.reads(text("c"), text("d"), text("e")) == [False] * 3
