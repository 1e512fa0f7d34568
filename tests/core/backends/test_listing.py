"""What lists of models say, and which models are served because of them."""

from typing import Any

from proxy.core.backends.listing import bare, entries, served, window
from proxy.core.backends.target import Target
from proxy.core.catalog import Catalog, ServedModel
from proxy.core.profile import DEFAULT
from tests.support.tables import table


def test_a_list_of_googles_is_read_as_all_others_are() -> None:
    listing = {
        "models": [{"name": "models/m", "inputTokenLimit": 1_048_576}, {"name": "m"}, {"id": "n", "name": 1}]
    }
    first, *others = entries(listing)
    assert (first["id"], window(first)) == ("m", 1_048_576)
    assert others == [{"name": "m"}, {"id": "n", "name": 1}]


def test_entries_are_found_wherever_a_list_keeps_them() -> None:
    assert entries({"data": [{"id": 1}, 2]}) == entries({"models": [{"id": 1}]}) == entries([{"id": 1}])


@table(
    ("entry", "size"),
    [
        ({"context_length": 1}, 1),
        ({"context_window": 2}, 2),
        ({"max_context_length": 3}, 3),
        ({"max_model_len": 4}, 4),
        ({"max_context": 5}, 5),
        ({"meta": {"n_ctx": 6, "n_ctx_train": 99}}, 6),
        ({"limits": {"max_context_length": 7}}, 7),
        ({"capabilities": {"limits": {"max_prompt_tokens": 8}}}, 8),
        ({"max_input_tokens": 9}, 9),
        ({"max_model_len": 2, "context_length": 1}, 1),
        ({"context_length": None, "max_model_len": 4}, 4),
        ({"context_length": "big", "max_model_len": 4}, 4),
        ({"context_length": 0}, None),
        ({"context_length": True}, None),
        ({"meta": {"n_ctx_train": 99}}, None),
        ({"meta": "x"}, None),
        ({}, None),
    ],
)
def test_the_window_is_read_from_the_first_key_that_tells(entry: dict[str, Any], size: int | None) -> None:
    assert window(entry) == size


def target(**models: str) -> Target:
    return Target("t", "http://host", DEFAULT, models=models)


def test_configured_names_come_first_then_the_backends_own() -> None:
    listed = [{"id": "qwen"}, {"id": "llama", "created": 7, "owned_by": "meta"}, {"id": None}, {}]
    assert served(listed, target(mine="llama", qwen="qwen"), Catalog()) == [
        ServedModel("mine", created=7, owned_by="meta"),
        ServedModel("qwen"),
        ServedModel("llama", created=7, owned_by="meta"),
    ]


def test_a_configured_window_wins_and_a_star_stands_for_what_nobody_tells() -> None:
    listed = [{"id": "a", "max_model_len": 1}, {"id": "b", "max_model_len": 2}, {"id": "c"}]
    made = served(listed, target(), Catalog(windows={"*": 3, "b": 4}, efforts={"a": ["low"]}))
    assert [(model.window, model.efforts) for model in made] == [(1, ("low",)), (4, ()), (3, ())]


def test_a_models_name_has_a_prefix_or_none() -> None:
    assert bare("models/gemini-3.5-flash") == bare("gemini-3.5-flash") == "gemini-3.5-flash"
