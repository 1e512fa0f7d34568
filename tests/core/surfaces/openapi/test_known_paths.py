"""S06: the log tells where in a request a fault lies, and no name that its client has chosen."""

from proxy.core.surfaces.openapi.known_paths import MAX_PATH, known_path
from tests.support.tables import table


@table(
    "param",
    [
        "model",
        "input[3].content[0].text",
        "input[0].content[1].file_data",
        "messages[12].tool_calls[0].function.arguments",
        "tools[0].parameters.required[2]",
        "text.format.schema",
        "_proxy.call_ids",
        "x-proxy-call-ids",
        "previous_response_id",
    ],
)
def test_names_of_the_api_are_told(param: str) -> None:
    assert known_path(param) == param


@table(
    ("param", "told"),
    [
        ("tools[0].parameters.properties.salary of Ann", "tools[0].parameters.properties.*"),
        (
            "tools[0].parameters.properties.a.properties.b.enum",
            "tools[0].parameters.properties.*.properties.*.enum",
        ),
        ("tools[0].parameters.properties['a b']", "tools[0].parameters.properties*"),
        ("hunter2", "*"),
        ("metadata.hunter2[7]", "metadata.*[7]"),
        ("metadata[hunter2]", "metadata*"),
        ("", ""),
    ],
)
def test_attack_20_names_that_a_client_has_chosen_are_not(param: str, told: str) -> None:
    assert known_path(param) == told


@table("param", ["." * 10_000, "[" * 10_000, "a." * 10_000, "input[0]" * 10_000, "]]]]" * 999])
def test_a_place_is_not_longer_than_anybody_reads(param: str) -> None:
    assert len(known_path(param)) <= MAX_PATH


@table("name", ["after", "include", "limit", "starting_after", "metadata", "items[1].id"])
def test_names_of_what_is_kept_are_known(name: str) -> None:
    assert known_path(name) == name
