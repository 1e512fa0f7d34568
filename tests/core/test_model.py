"""The words of the request: what a default is, and what makes two of them the same."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from proxy.core import model
from proxy.core.model import (
    Call,
    ChoiceMode,
    FormatKind,
    Request,
    Role,
    Sampling,
    ToolKind,
    ToolName,
    ToolSpec,
)
from tests.support.tables import table

WORDS = [word for word in vars(model).values() if isinstance(word, type) and is_dataclass(word)]


def test_tools_of_one_name_in_two_namespaces_are_two_tools() -> None:
    names = {
        ToolName("search"),
        ToolName("search", "docs"),
        ToolName("search", "web"),
        ToolName("search", "docs"),
    }
    assert len(names) == 3


def test_a_tool_in_a_namespace_is_written_with_a_dot() -> None:
    assert ToolName("search").dotted == "search"
    assert ToolName("search", "mcp").dotted == "mcp.search"


def test_a_request_that_asks_for_nothing_special_asks_for_nothing() -> None:
    request = Request("m", [])
    assert (request.choice.mode, request.choice.only) == (ChoiceMode.AUTO, None)
    assert request.parallel_calls
    assert request.format.kind is FormatKind.TEXT
    assert request.sampling == Sampling()
    assert not any(vars_of(request.sampling).values())
    assert ToolSpec(ToolName("f")).kind is ToolKind.FUNCTION


def test_of_what_was_said_there_stay_the_ids_of_calls() -> None:
    """Those of the reply are others (C06), whenever the first of them comes."""
    calls = [Call(id, ToolName("f"), ToolKind.FUNCTION, "{}") for id in ("a", "b")]
    request = Request("m", [(Role.USER, ["Hi"]), *((Role.ASSISTANT, [call]) for call in calls)])
    for _ in range(2):
        request.let_go()
        assert (request.turns, request.call_ids()) == ([], {"a", "b"})


def test_two_requests_share_no_default() -> None:
    one, other = Request("m", []), Request("m", [])
    for name, value in vars_of(one).items():
        if isinstance(value, list | dict) or is_dataclass(value):
            assert value is not getattr(other, name), name


@table("word", WORDS)
def test_no_word_takes_what_it_does_not_know(word: type) -> None:
    """A misspelt field is an error at once, and an object costs no dictionary."""
    made = word.__new__(word)
    with pytest.raises((AttributeError, TypeError)):
        made.misspelt = 1


@table("word", WORDS)
def test_what_only_one_dialect_understands_is_empty_unless_given(word: Any) -> None:
    for field in fields(word):
        if field.name == "extras":
            assert field.default_factory is dict


def vars_of(thing: Any) -> dict[str, Any]:
    return {field.name: getattr(thing, field.name) for field in fields(thing)}
