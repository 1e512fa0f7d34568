"""Items as servers write them: parts under their names or others', arguments as text or as objects."""

from typing import Any

import pytest

from proxy.core.dialects.responses.entries import (
    CALL,
    CUSTOM,
    MESSAGE,
    REASONING,
    REFUSAL,
    SUMMARY,
    TEXT,
    THOUGHT,
    Kind,
    annotations_in,
    arguments_of,
    called_name,
    is_hosted,
    kind_of,
    part_text,
    said_in,
    unreadable_parts,
    voice_in,
)
from proxy.core.jsontext import BadJson
from tests.support.chat_requests import nested
from tests.support.responses_requests import message, output_text, reasoning
from tests.support.tables import table


def test_kinds() -> None:
    assert [kind_of({"type": str(kind)}) for kind in Kind] == list(Kind)
    assert [kind_of(item) for item in ({}, {"type": 7}, {"type": []}, {"type": "web_search_call"})] == [
        None
    ] * 4
    assert is_hosted({"type": "web_search_call"})
    assert not any(is_hosted(item) for item in ({}, {"type": []}, {"type": "message"}))


@table(
    ("part", "kind", "expected"),
    [
        (output_text("a"), MESSAGE, (TEXT, "a")),
        ({"type": "text", "text": "a"}, MESSAGE, (TEXT, "a")),
        ({"type": "refusal", "refusal": "a"}, MESSAGE, (REFUSAL, "a")),
        ({"type": "summary_text", "text": "a"}, REASONING, (SUMMARY, "a")),
        ({"type": "reasoning_text", "text": "a"}, REASONING, (THOUGHT, "a")),
        ({"type": "output_text", "text": "a"}, REASONING, (THOUGHT, "a")),
        ({"type": "refusal", "refusal": "a"}, REASONING, (THOUGHT, "a")),
        ({"type": "reasoning_text", "text": "a"}, MESSAGE, None),
        ({"type": "output_text", "text": 7}, MESSAGE, None),
        ({"type": ["output_text"]}, MESSAGE, None),
        ({"type": "hologram"}, MESSAGE, None),
        ("a", MESSAGE, None),
    ],
)
def test_parts(part: Any, kind: Kind, expected: Any) -> None:
    assert part_text(part, kind) == expected


def test_voices() -> None:
    assert voice_in(REASONING, TEXT) is voice_in(REASONING, REFUSAL) is THOUGHT
    assert voice_in(REASONING, SUMMARY) is SUMMARY
    assert voice_in(MESSAGE, TEXT) is TEXT


def test_texts_of_an_item() -> None:
    assert said_in(message("a", "b", {"type": "refusal", "refusal": "c"}, 7), MESSAGE) == {
        TEXT: ["a", "b"],
        REFUSAL: ["c"],
    }
    both = reasoning("a", content=[{"type": "reasoning_text", "text": "b"}])
    assert said_in(both, REASONING) == {SUMMARY: ["a"], THOUGHT: ["b"]}
    assert said_in({"content": "a"}, MESSAGE) == {TEXT: ["a"]}
    assert said_in({"summary": "a", "content": ""}, REASONING) == {SUMMARY: ["a"]}
    assert said_in({"content": None}, MESSAGE) == {}
    assert unreadable_parts(message("a", 7), MESSAGE) == 1


def test_annotations_count_from_the_start_of_the_whole_text() -> None:
    note = {"start_index": 0, "end_index": 1}
    item = message(
        output_text("ab", annotations=[note]),
        output_text("c", annotations=[note, "x"]),
        {"type": "refusal", "refusal": "d"},
        7,
        output_text("e", annotations=None),
    )
    assert annotations_in(item) == [note, {"start_index": 2, "end_index": 3}]


@table(
    ("item", "name"),
    [
        ({"name": "f"}, "f"),
        ({"name": "f", "namespace": None}, "f"),
        ({"name": "f", "namespace": "functions"}, "f"),
        ({"name": "f", "namespace": "docs"}, "docs__f"),
        ({"name": "docs__f", "namespace": "docs"}, "docs__f"),
        ({"name": ""}, None),
        ({"name": 7, "namespace": "docs"}, None),
        ({}, None),
    ],
)
def test_names(item: dict[str, Any], name: str | None) -> None:
    assert called_name(item) == name


def test_arguments() -> None:
    assert arguments_of({"arguments": '{"a":1}'}, CALL) == '{"a":1}'
    assert arguments_of({"arguments": {"a": 1}}, CALL) == '{"a":1}'
    assert arguments_of({"arguments": [1]}, CALL) == "[1]"
    assert arguments_of({"input": "ls", "arguments": "x"}, CUSTOM) == "ls"
    assert [arguments_of(item, CALL) for item in ({}, {"arguments": ""}, {"arguments": 7})] == [None] * 3
    with pytest.raises(BadJson):
        arguments_of({"arguments": nested(300)}, CALL)
