"""LlamaIndex's agent on the Responses API. It keeps what the last event of a stream brings, whichever that is."""

from typing import Any

import pytest

from tests.clients.apart import asking


@pytest.fixture(scope="module")
def told(proxy: str) -> Any:
    """What it says, and what its tool was asked. Its packages want an older `openai` than ours."""
    return asking("llamaindex", "llamaindex_asking.py", f"{proxy}/v1")


@pytest.mark.parametrize("how", ["streamed", "whole"])
def test_v03_an_agent_gets_its_call_and_runs_it(told: Any, how: str) -> None:
    """R05: nothing comes after the terminal event. An event of ours did, and brought no call."""
    assert told[how]["asked"] == ["Paris"]
    assert "18 degrees" in told[how]["answer"]
