"""R10: a custom tool's free text through a function's JSON and back."""

from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.model import ToolKind, ToolName, ToolSpec
from proxy.core.tools.kinds import custom
from tests.support.quickness import quickly
from tests.support.tables import table

PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** End Patch"


@table(
    "arguments",
    [
        pytest.param(custom.wrap(PATCH), id="as asked"),
        pytest.param(custom.wrap(PATCH).replace("input", "patch"), id="another key"),
        pytest.param(jsontext.compact({"input": PATCH, "workdir": "/x"}), id="something beside it"),
        pytest.param(custom.wrap(PATCH).replace("\\n", "\n"), id="real newlines inside the JSON"),
        pytest.param(PATCH, id="raw"),
        pytest.param(jsontext.compact(PATCH), id="a JSON string"),
        pytest.param(f"```\n{PATCH}\n```", id="fenced"),
        pytest.param(f"```diff\n{PATCH}\n```\n", id="fenced with a language"),
        pytest.param(f"```json\n{custom.wrap(PATCH)}\n```", id="fenced JSON"),
        pytest.param(custom.wrap(f"```patch\n{PATCH}\n```"), id="fenced inside"),
    ],
)
def test_the_input_is_found_in_whatever_a_model_makes_of_it(arguments: str) -> None:
    assert custom.unwrap(arguments) == PATCH


@table("opening", ["<<'EOF'", '<<"EOF"', "<<EOF", "<<-EOF", "<< EOF"])
def test_the_shell_command_that_would_apply_a_patch_is_taken_off(opening: str) -> None:
    assert custom.unwrap(custom.wrap(f"apply_patch {opening}\n{PATCH}\nEOF\n")) == PATCH + "\n"


def test_fence_and_shell_command_both() -> None:
    assert custom.unwrap(f"```bash\napply_patch <<'EOF'\n{PATCH}\nEOF\n```") == PATCH + "\n"


@table(
    "arguments",
    [
        "",
        "{}",
        "[1]",
        "12",
        '{"a": "x", "b": "y"}',
        '{"input": {"a": 1}}',
        '{"input": "cut of',
        "text with ``` inside ``` it",
        "```\nnever closed",
        "```\na\n```\nand\n```\nb\n```",
        "```\n```\n```",
        "apply_patch <<'EOF'\nnever closed",
        "\ud800",
    ],
)
def test_what_cannot_be_understood_is_the_input_itself(arguments: str) -> None:
    assert custom.unwrap(arguments) == arguments


GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: patch\n"}


@table("grammar", [GRAMMAR, {"type": "grammar", "grammar": GRAMMAR}])
def test_the_grammar_becomes_part_of_the_description(grammar: dict[str, Any]) -> None:
    spec = ToolSpec(ToolName("apply_patch"), ToolKind.CUSTOM, "Edits files.", grammar=grammar)
    told = custom.description(spec)
    assert told.startswith("Edits files.\n\n")
    assert "lark grammar:\n```\nstart: patch\n```" in told


@table("grammar", [None, {"type": "text"}, {"definition": 5}])
def test_without_grammar_or_description_the_field_is_still_explained(grammar: dict[str, Any] | None) -> None:
    told = custom.description(ToolSpec(ToolName("say"), ToolKind.CUSTOM, grammar=grammar))
    assert "`input`" in told
    assert "grammar" not in told


def test_the_function_takes_one_string() -> None:
    assert custom.PARAMETERS["required"] == ["input"]
    assert custom.PARAMETERS["properties"]["input"]["type"] == "string"


@table("text", ["~" * 15_000 + "\n" + "a" * 15_000, "apply_patch <<" + "A" * 10_000 + "\n" + "A\n" * 10_000])
def test_attack_11_a_fence_without_an_end_is_read_once(text: str) -> None:
    with quickly():
        assert custom.unwrap(text) == text


@table(
    ("text", "inside"),
    [
        ("~~~\na\n~~~", "a"),
        ("~~~~ diff\n~~~\na\n~~~~", "~~~\na"),
        ("```\na```", "a"),
        ("```\n```", ""),
        ("```\r\na\r\n```", "a\r"),
        ("``` `\na\n```", "``` `\na\n```"),
        ("``\na\n``", "``\na\n``"),
        ("~~~\na\n```", "~~~\na\n```"),
        ("---\na\n---", "---\na\n---"),
    ],
)
def test_a_fence_ends_as_it_began(text: str, inside: str) -> None:
    assert custom.unwrap(text) == inside
