"""What of a request comes back in its response, and in which form."""

from typing import Any

from proxy.core.surfaces.responses.echo import echoed
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.replies import NOW, PATCH, REQUEST, WEATHER, counting_mint
from tests.support.tables import table
from tests.support.written import as_sent


def echo(**asked: Any) -> dict[str, Any]:
    """As it is sent."""
    started = ResponseObject(REQUEST | asked, counting_mint(), lambda: NOW).started()
    return as_sent(started)


@table(
    ("member", "value"),
    [
        ("instructions", "Be brief."),
        ("max_output_tokens", 100),
        ("metadata", {"a": "b"}),
        ("parallel_tool_calls", False),
        ("prompt_cache_key", "k"),
        ("temperature", 0),
        ("top_p", 0.5),
        ("truncation", "auto"),
        ("user", "ann"),
        ("prompt_cache_retention", "24h"),
    ],
)
def test_what_was_asked_for_comes_back(member: str, value: Any) -> None:
    assert echo(**{member: value})[member] == value


@table("nothing", [None, 5, {}])
def test_a_label_that_is_none_is_not_there(nothing: Any) -> None:
    assert "user" not in echo(user=nothing)


@table(
    ("asked", "told"),
    [
        (None, None),
        ({}, None),
        ({"effort": "low"}, {"effort": "low", "summary": None}),
        ({"summary": "auto", "context": "all_turns"}, {"effort": None, "summary": "auto"}),
    ],
)
def test_reasoning_has_both_members_or_is_null(asked: Any, told: Any) -> None:
    assert echo(reasoning=asked)["reasoning"] == told


SCHEMA = {"type": "object", "properties": {}}


@table(
    ("asked", "told"),
    [
        (None, {"format": {"type": "text"}}),
        ({}, {"format": {"type": "text"}}),
        ({"format": None, "verbosity": None}, {"format": {"type": "text"}}),
        ({"verbosity": "low"}, {"format": {"type": "text"}, "verbosity": "low"}),
        ({"format": {"type": "json_object"}}, {"format": {"type": "json_object"}}),
        (
            {"format": {"type": "json_schema", "name": "n", "schema": SCHEMA}},
            {
                "format": {
                    "type": "json_schema",
                    "name": "n",
                    "description": None,
                    "schema": SCHEMA,
                    "strict": False,
                }
            },
        ),
        (
            {
                "format": {
                    "type": "json_schema",
                    "name": "n",
                    "schema": SCHEMA,
                    "strict": True,
                    "description": "d",
                }
            },
            {
                "format": {
                    "type": "json_schema",
                    "name": "n",
                    "description": "d",
                    "schema": SCHEMA,
                    "strict": True,
                }
            },
        ),
    ],
)
def test_the_format_of_the_text_is_echoed_in_full(asked: Any, told: Any) -> None:
    """LangChain reads the schema of its streamed structured output from here."""
    assert echo(text=asked)["text"] == told


FUNCTION = {"type": "function", "name": "f", "description": None, "parameters": None, "strict": None}


@table(
    ("asked", "told"),
    [
        (None, []),
        ([], []),
        ([WEATHER], [WEATHER]),
        ([{"type": "function", "name": "f"}], [FUNCTION]),
        ([{"type": "function", "function": {"name": "f", "strict": True}}], [FUNCTION | {"strict": True}]),
        ([WEATHER | {"defer_loading": True}], [WEATHER]),
        ([PATCH], [PATCH]),
        (
            [{"type": "namespace", "name": "n", "tools": []}],
            [{"type": "namespace", "name": "n", "tools": []}],
        ),
        ([{"type": "web_search"}, WEATHER, {"type": "file_search"}], [WEATHER]),
        ([{"type": "tool_search"}, {"type": "tool_search", "execution": "server"}], []),
        ([{"type": "custom", "custom": {"name": "c"}}], [{"type": "custom", "name": "c"}]),
        ([{"type": "apply_patch"}, {"type": "shell"}], [{"type": "apply_patch"}, {"type": "shell"}]),
        ([{"type": "shell", "environment": {"type": "container_auto"}}], []),
    ],
)
def test_tools_are_echoed_flat_and_only_those_that_work(asked: Any, told: Any) -> None:
    """R01, R10: a hosted tool was filtered out, and an echo would claim that it works."""
    assert echo(tools=asked)["tools"] == told


@table(
    ("asked", "told"),
    [
        (None, "auto"),
        ("none", "none"),
        ("required", "required"),
        ({"type": "function", "name": "f"}, {"type": "function", "name": "f"}),
        ({"type": "function", "function": {"name": "f"}}, {"type": "function", "name": "f"}),
        ({"type": "custom", "name": "c"}, {"type": "custom", "name": "c"}),
        (
            {"type": "allowed_tools", "tools": [{"type": "function", "function": {"name": "f"}}]},
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
        ),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [PATCH]}},
            {"type": "allowed_tools", "mode": "required", "tools": [PATCH]},
        ),
        (
            {"type": "allowed_tools", "tools": [{"type": "web_search"}, {"type": "custom", "name": "c"}]},
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "custom", "name": "c"}]},
        ),
        ({"type": "allowed_tools", "tools": [{"type": "web_search"}]}, "none"),
        ({"type": "custom", "custom": {"name": "c"}}, {"type": "custom", "name": "c"}),
        ({"type": "web_search_preview"}, "auto"),
        ({"type": "tool_search"}, {"type": "tool_search"}),
        ({"type": "required"}, "required"),
    ],
)
def test_r02_the_choice_is_echoed_in_the_form_of_the_specification(asked: Any, told: Any) -> None:
    assert echo(tool_choice=asked)["tool_choice"] == told


def test_what_was_not_sent_has_no_echo() -> None:
    assert echoed({"model": "m", "input": "Hi", "tools": None, "unheard_of": 1}) == {}


def test_a_number_comes_back_as_it_was_written() -> None:
    assert repr(echoed({"max_output_tokens": 16.0})["max_output_tokens"]) == "16.0"
