"""Vercel's AI SDK as Cline uses it, when an answer breaks off within a call: Cline would complete it, and run it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.codex.backend import Model, cut_after, scripted_model
from tests.support.programs import proxying
from tests.support.sockets import DONE, END, HEAD, delta, finish, text


@pytest.fixture(scope="module")
def model() -> Iterator[Model]:
    with scripted_model() as model:
        yield model


@pytest.fixture(scope="module")
def proxy(model: Model, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with proxying(model.url, tmp_path_factory.mktemp("proxy"), PATIENT) as url:
        yield url


PATIENT = """
[breaker]
consecutive_failures = 1000
minimum_requests = 1000
"""
"""The breaker would spare the backend, which fails in every test."""


def half(arguments: str) -> bytes:
    function = {"name": "get_weather", "arguments": arguments}
    return delta(tool_calls=[{"index": 0, "id": "call_1", "type": "function", "function": function}])


CUTS = {
    "within its arguments": cut_after(text("I look."), half('{"city": "Par')),
    "behind its arguments": cut_after(half('{"city": "Paris"}')),
    "by a limit": HEAD + half('{"city": "Par') + finish("length") + DONE + END,
}


@pytest.mark.parametrize("api", ["responses", "chat"])
@pytest.mark.parametrize("step", CUTS.values(), ids=CUTS)
def test_v01_a_call_that_was_cut_is_not_run(
    model: Model, try_script: Callable[..., Any], step: Any, api: str
) -> None:
    model.plays(step)
    told = try_script("ai_sdk.mjs", "cut", api)
    assert told["calls"] == []
    assert told["errors"] or told["reason"] == "length"
