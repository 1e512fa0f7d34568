"""LlamaIndex's agent on the Responses API. It keeps what the last event of a stream brings, whichever that is."""

from typing import Any

import pytest

from tests.clients.apart import asking


@pytest.fixture(scope="module")
def told(proxy: str) -> Any:
    """What it says, and what its tool was asked. Its packages want an older `openai` than ours."""
    return asking("llamaindex", "llamaindex_asking.py", f"{proxy}/v1")


@pytest.mark.parametrize("run", ["streamed", "whole"])
def test_v03_an_agent_gets_its_call_and_runs_it(told: Any, run: str) -> None:
    """R05: nothing comes after the terminal event. An event of ours did, and brought no call."""
    assert told[run]["asked"] == ["Paris"]
    assert "18 degrees" in told[run]["answer"]


@pytest.mark.parametrize("run", ["chained, streamed", "chained, whole"])
def test_t20_a_chain_of_which_each_loop_is_sent_whole(told: Any, run: str) -> None:
    """With `track_previous_responses` it sends the prompt, the call and its output behind the response that called,
    and what is new in the next run, which knows what was said before."""
    assert told[run]["asked"] == ["Paris"]
    assert "18 degrees" in told[run]["answer"]
    assert "weather in Paris" in told[run]["later"]
