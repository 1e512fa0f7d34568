"""The description is whole in itself: what it points to is there, and what it says of bodies is JSON Schema."""

from collections.abc import Iterator
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.surfaces.openapi.document import ERRORS, document

METHODS = ("get", "post", "delete")
OPERATIONS = {
    f"{method} {path}": described[method]
    for path, described in document()["paths"].items()
    for method in METHODS
    if method in described
}


def pointers(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (inner for key, inner in value.items() if key == "$ref")
        for inner in value.values():
            yield from pointers(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from pointers(inner)


def test_it_is_json() -> None:
    assert jsontext.loads(jsontext.dumps(document())) == document()


def test_all_that_it_points_to_is_there_and_nothing_else() -> None:
    described = document()["components"]["schemas"]
    assert {f"#/components/schemas/{name}" for name in described} == set(pointers(document()))


@pytest.mark.parametrize("operation", OPERATIONS)
def test_every_error_is_the_one_envelope(operation: str) -> None:
    for status, answer in OPERATIONS[operation]["responses"].items():
        if status != "200":
            assert answer["content"] == {
                "application/json": {"schema": {"$ref": "#/components/schemas/Error"}}
            }


def test_every_status_that_a_fault_can_have_is_told_but_our_own_failure() -> None:
    def kinds(fault: type[Fault]) -> list[type[Fault]]:
        return [fault, *(inner for kind in fault.__subclasses__() for inner in kinds(kind))]

    assert {kind.status for kind in kinds(Fault)} - {500} <= ERRORS.keys()


@pytest.mark.parametrize("operation", [name for name in OPERATIONS if name.startswith("post")])
def test_what_takes_a_body_says_which(operation: str) -> None:
    assert ("requestBody" in OPERATIONS[operation]) is not operation.endswith("/cancel")


def test_only_what_can_be_streamed_is_told_to_be() -> None:
    streaming = {
        name
        for name, operation in OPERATIONS.items()
        if "text/event-stream" in operation["responses"].get("200", {}).get("content", {})
    }
    assert streaming == {
        "post /v1/responses",
        "get /v1/responses/{id}",
        "post /v1/chat/completions",
        "post /native/v1/chat/completions",
    }


def test_nothing_tells_what_runs_here() -> None:
    """S34: no version of ours, no address of a backend."""
    assert document()["info"]["version"] == "1"
    assert "servers" not in document()
