"""Microsoft's Agent Framework as it comes: its sessions go on from the first tool call by what is kept."""

from typing import Any

import pytest

from proxy import demo
from tests.clients.apart import asking
from tests.clients.spoken import roles

ROUND = ["developer", "user", "assistant", "tool"]
RUNS = ["whole", "streamed", "conversation"]


@pytest.fixture(scope="module")
def told(proxy: str, record: list[demo.Recorded]) -> Any:
    """What it says, and in the order of its sessions the messages that the model got."""
    record.clear()
    said = asking("agents", "agent_framework_asking.py", f"{proxy}/v1")
    return said | {"roles": [roles([one]) for one in record]}


@pytest.mark.parametrize(("at", "run"), [*enumerate(RUNS)], ids=RUNS)
def test_t16_t75_a_session_goes_on_behind_its_tools(told: Any, at: int, run: str) -> None:
    assert "18 degrees in Paris" in told[run]["answer"]
    assert told[run]["continues"].startswith("conv_" if run == "conversation" else "resp_")
    assert told["roles"][3 * at : 3 * at + 3] == [ROUND[:2], ROUND, [*ROUND, "assistant", "user"]]


def test_t75_each_item_is_in_the_conversation_once(told: Any) -> None:
    assert told["kept"] == ["message", "function_call", "function_call_output", *["message"] * 3]
