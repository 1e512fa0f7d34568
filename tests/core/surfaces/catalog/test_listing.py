"""The list of models, as OpenAI's SDKs and as Codex want it."""

from typing import Any

import orjson

from proxy.core.catalog import ServedModel
from proxy.core.surfaces.catalog.listing import Listing, entry
from tests.support.tables import table

MANDATORY = {
    "slug": str,
    "display_name": str,
    "supported_reasoning_levels": list,
    "shell_type": str,
    "visibility": str,
    "supported_in_api": bool,
    "priority": int,
    "support_verbosity": bool,
    "truncation_policy": dict,
    "experimental_supported_tools": list,
    "base_instructions": str,
}
"""Codex refuses the whole catalog when one of these is missing in one entry."""


def listing(models: list[ServedModel]) -> dict[str, Any]:
    told: dict[str, Any] = orjson.loads(Listing(models).catalog())
    return told


def codex(model: ServedModel) -> dict[str, Any]:
    (told,) = listing([model])["models"]
    return told  # type: ignore[no-any-return]


def test_attack_25_v10_the_instructions_are_for_codex_alone() -> None:
    told = Listing([ServedModel("qwen")])
    assert orjson.loads(told.plain()) == {"object": "list", "data": [entry(ServedModel("qwen"))]}
    assert len(told.plain()) < 100 < 5_000 < len(told.catalog())
    assert told.for_client({}, {}) == told.plain()
    assert told.for_client({"originator": "codex_cli_rs"}, {}) == told.catalog()


def test_attack_25_each_form_is_made_once() -> None:
    told = Listing([ServedModel("qwen")])
    assert told.plain() is told.plain()
    assert told.catalog() is told.catalog()


def test_attack_25_a_model_is_looked_up_by_its_name() -> None:
    first = ServedModel("qwen", created=1)
    told = Listing([first, ServedModel("qwen", created=2)])
    assert told.find("qwen") is first
    assert told.find("llama") is None


def test_the_form_of_openai() -> None:
    model = ServedModel("qwen", created=7, owned_by="org")
    assert entry(model) == {"id": "qwen", "object": "model", "created": 7, "owned_by": "org"}
    told = listing([model])
    assert (told["object"], told["data"]) == ("list", [entry(model)])


def test_no_models_is_a_list_as_well() -> None:
    assert listing([]) == {"object": "list", "data": [], "models": []}


def test_codex_finds_all_that_it_insists_on() -> None:
    told = codex(ServedModel("qwen"))
    assert {name: type(told.get(name)) for name in MANDATORY} == MANDATORY
    assert told["slug"] == "qwen"
    assert told["visibility"] == "list"
    assert told["apply_patch_tool_type"] == "freeform"  # any other value, too, refuses the catalog


def test_models_keep_their_order() -> None:
    told = listing([ServedModel("b"), ServedModel("a")])["models"]
    assert [(model["slug"], model["priority"]) for model in told] == [("b", 0), ("a", 1)]


@table(
    ("window", "output"),
    [(None, 10_000), (4_096, 1_000), (32_768, 4_096), (131_072, 10_000)],
)
def test_one_command_does_not_fill_a_small_window(window: int | None, output: int) -> None:
    told = codex(ServedModel("qwen", window=window))
    assert told["truncation_policy"] == {"mode": "tokens", "limit": output}


def test_an_unknown_window_is_not_made_up() -> None:
    assert "context_window" not in codex(ServedModel("qwen"))
    assert codex(ServedModel("qwen", window=32_768))["context_window"] == 32_768


def test_levels_of_effort_are_explained_and_none_is_the_default() -> None:
    told = codex(ServedModel("qwen", efforts=("low", "turbo")))
    low, turbo = told["supported_reasoning_levels"]
    assert (low["effort"], turbo) == ("low", {"effort": "turbo", "description": "turbo"})
    assert low["description"] != "low"
    assert "default_reasoning_level" not in told


def test_a_model_that_sees_nothing_is_shown_no_pictures() -> None:
    assert codex(ServedModel("qwen"))["input_modalities"] == ["text", "image"]
    assert codex(ServedModel("qwen", images=False))["input_modalities"] == ["text"]


@table("told", ["`exec_command`", "`write_stdin`", "`apply_patch`", "*** Begin Patch\n", "*** End Patch\n"])
def test_the_instructions_explain_the_tools(told: str) -> None:
    assert told in codex(ServedModel("qwen"))["base_instructions"]
