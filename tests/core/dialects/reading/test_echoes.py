"""attack-07: the client's own words in a refusal, however they are quoted, teach nothing."""

import re
from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import echoes
from proxy.core.dialects.reading.echoes import Echoes, Source
from tests.support.quickness import quickly
from tests.support.tables import table

LESSON = "Unknown parameter: temperature"
PATTERN = re.compile(r"unknown parameter\W{1,9}\w+", re.IGNORECASE)
PROMPT = f"Tell me a story of a server that says: {LESSON}. And make it a long one, with dragons."


def source(refusal: str, body: Any, pattern: re.Pattern[str] = PATTERN) -> Source:
    match = pattern.search(refusal)
    assert match is not None
    return Echoes(jsontext.dumps(body), refusal).source(match)


@table(
    ("refusal", "body"),
    [
        (f"Unsupported value: '{LESSON}'", {"reasoning_effort": LESSON}),
        (f"Unsupported value: '{LESSON.upper()}'", {"reasoning_effort": LESSON}),
        (f'"input_value=\\"{LESSON}\\""', {"reasoning_effort": LESSON}),
        ("bad name: Unknown parameter:\\n temperature", {"stop": ["Unknown parameter:\n temperature"]}),
        ("bad name: Unknown parameter:\\u00e9temperature", {"stop": ["Unknown parameter:étemperature"]}),
        (
            f"Cannot render: {PROMPT}",
            {"messages": [{"role": "user", "content": [{"type": "text", "text": PROMPT}]}]},
        ),
        (
            f"in property '{LESSON}'",
            {"tools": [{"function": {"parameters": {"properties": {LESSON: {"type": "string"}}}}}]},
        ),
        (f"'{LESSON}' is no type", {"tools": [{"input_schema": {"type": LESSON}}]}),
        (f"cannot be parsed: {LESSON}", {"tool_calls": [{"arguments": f'{{"a": "{LESSON}"}}'}]}),
        (f"no such model: {LESSON}", {"model": LESSON}),
        (
            f"no such model: {LESSON}",
            {"model": "".join(chr(ord(c) + 0xFEE0) if c != " " else c for c in LESSON)},
        ),
        (f"no such model: {LESSON.upper()}", {"model": LESSON.replace("k", "\u212a")}),
        ("Unknown parameter: \\uff54emperature", {"stop": ["Unknown parameter: \uff54emperature"]}),
        ("Unknown parameter: \\x74emperature", {"stop": [LESSON]}),
    ],
)
def test_what_stands_in_the_body_is_the_client_s(refusal: str, body: Any) -> None:
    assert source(refusal, body) is Source.CLIENT


@table(
    ("refusal", "body"),
    [
        ("Unknown parameter: 'temperature'", {"user": "temperature"}),
        ("Unknown parameter: 'temperature'", {"user": "parameter: temperature"}),
        ("Unknown 'parameter: temperature and …'", {"user": "parameter: temperature and much more of it"}),
        (
            "Unknown '… to a parameter: temperature'",
            {"user": "from me, as a present, to a parameter: temperature"},
        ),
        ("He said: unknown parameter: temperature", {"user": "he said: unknown parameter:"}),
        ("Unknown parameter: 'a' " * 3 + "Unknown parameter: 'abc'", {"user": "abc: unknown parameter: 'a'"}),
    ],
)
def test_what_stands_there_in_part_may_be(refusal: str, body: Any) -> None:
    last = re.compile(r"unknown\W.{0,9}parameter\W{1,9}\w+(?!.*unknown)", re.IGNORECASE)
    assert source(refusal, body, last) is Source.BOTH


@table(
    "body",
    [
        {},
        {"stream_options": {"include_usage": True}, "temperature": 0.5},
        {"messages": [{"role": "user", "content": "What is an unknown value? I know no parameter."}]},
        {"messages": [{"role": "temperature", "content": "a"}], "tool_choice": "temperature"},
        {"tools": [{"type": "temperature", "function": {"parameters": {"type": "object"}}}]},
        {"user": "tempera", "seed": 7, "stop": None},
        {"schema": {"properties": {"unknown_parameter": {"enum": ["temperatures"]}}}},
    ],
)
def test_all_else_is_the_backend_s(body: Any) -> None:
    """Names of fields and words of the protocol are ours, and a word alone does not make an echo."""
    assert source("Unknown parameter: 'temperature'", body) is Source.BACKEND


def test_an_echo_elsewhere_does_not_matter() -> None:
    prompt = "Tell me of dragons, and of nothing else."
    refusal = f"Unknown parameter: 'temperature' in {prompt}"
    assert source(refusal, {"messages": [{"role": "user", "content": prompt}]}) is Source.BACKEND


def test_of_very_much_nothing_is_sure(monkeypatch: Any) -> None:
    words = "Unknown parameter: 'temperature'"
    many = {"stop": [f"{number}" for number in range(100)]}
    assert source(words, many) is Source.BACKEND
    monkeypatch.setattr(echoes, "MAX_STRINGS", 99)
    assert source(words, many) is Source.BOTH
    monkeypatch.setattr(echoes, "MAX_STRINGS", 1000)
    monkeypatch.setattr(echoes, "MAX_SEARCHED", 100)
    assert source(words, many) is Source.BOTH


def test_the_same_words_everywhere_are_looked_at_a_bounded_number_of_times() -> None:
    refusal = "abc " * 2000 + "Unknown parameter: 'temperature'"
    assert source(refusal, {"user": "abc"}) is Source.BACKEND


def test_where_very_much_of_it_is_the_client_s_all_of_it_may_be() -> None:
    """20,000 texts that began as the refusal does were looked for in it for 0.4 s."""
    said = [f"unknown param {number}" for number in range(2_000)]
    refusal = "Unknown parameter: top_k. " * 9 + "Too large."
    assert source(refusal, {"stop": said[:10]}, re.compile("Too large")) is Source.BACKEND
    assert source(refusal, {"stop": said}, re.compile("Too large")) is Source.BOTH


def test_escapes_without_an_end_are_read_once() -> None:
    refusal = "no such " + "\\" * 20_000
    found = re.search("such", refusal)
    assert found
    with quickly():
        Echoes(jsontext.dumps({"input": "\\" * 20_000}), refusal).source(found)


def test_the_items_of_a_conversation_have_the_protocols_names() -> None:
    """What stands in them is the client's, as ever."""
    message = re.compile("System message must be at the beginning")
    items = [{"type": "message", "role": "user", "content": "Hi"}]
    assert source("System message must be at the beginning.", {"input": items}, message) is Source.BACKEND
    said = [{"role": "user", "content": "message must be"}]
    assert source("System message must be at the beginning.", {"input": said}, message) is Source.BOTH
    called = {"messages": [{"content": [{"type": "tool_use", "input": {"message": 1}}]}]}
    assert source("System message must be at the beginning.", called, message) is Source.BOTH
    written = {"input": "System message must be at the beginning"}
    assert source("System message must be at the beginning.", written, message) is Source.CLIENT
