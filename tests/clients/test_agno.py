"""Agno as it comes: models that reason by their names are chained, others get the history whole, with our ids in it."""

from typing import Any

import openai
import pytest

from proxy import demo
from tests.clients.apart import asking
from tests.clients.spoken import roles

ROUND = ["developer", "user", "assistant", "tool"]
RUNS = ["chained", "chained streamed", "whole history", "nothing kept"]


@pytest.fixture(scope="module")
def told(proxy: str, record: list[demo.Recorded]) -> Any:
    """What it says, and in the order of its runs the messages that the model got."""
    record.clear()
    said = asking("agents", "agno_asking.py", f"{proxy}/v1")
    return said | {"roles": [roles([one]) for one in record]}


@pytest.mark.parametrize(("at", "run"), [*enumerate(RUNS)], ids=RUNS)
def test_t16_two_runs_with_a_tool(told: Any, at: int, run: str) -> None:
    assert "18 degrees in Paris" in told[run]["answer"]
    assert told["roles"][3 * at : 3 * at + 3] == [ROUND[:2], ROUND, [*ROUND, "assistant", "user"]]


@pytest.mark.parametrize("run", RUNS[:2])
def test_t04_each_response_names_the_one_before(told: Any, run: str, client: openai.OpenAI) -> None:
    """It hides a refusal by sending all: this shows that there was none."""
    made = told[run]["responses"]
    assert len(made) == 3
    assert [client.responses.retrieve(id).previous_response_id for id in made] == [None, *made[:-1]]
