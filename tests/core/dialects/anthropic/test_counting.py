"""The question for tokens is the request for a reply, less what the counter refuses."""

from proxy.core.backends.target import Target
from proxy.core.dialects.anthropic.counting import COUNTERS
from proxy.core.dialects.anthropic.encode import encode
from proxy.core.ledger import Ledger
from proxy.core.model import SYSTEM, USER, ReasoningWish, Request, Sampling, ToolName, ToolSpec
from proxy.core.tools.prepare import prepare
from tests.support.anthropic_requests import ANTHROPIC

COUNTER = COUNTERS["anthropic"]


def test_where_it_is() -> None:
    for url in ("https://host/anthropic", "https://host/anthropic/v1/messages"):
        assert (
            COUNTER.url(Target("t", url, ANTHROPIC), "m") == "https://host/anthropic/v1/messages/count_tokens"
        )


def test_what_it_is_asked() -> None:
    request = Request(
        "claude-sonnet-4-5",
        [(SYSTEM, ["Be brief."]), (USER, ["Hi"])],
        tools=[ToolSpec(ToolName("f"))],
        sampling=Sampling(max_tokens=9, stop=["x"]),
        reasoning=ReasoningWish("high"),
    )
    ledger = Ledger()
    asked = encode(request, prepare(request, ANTHROPIC, ledger), ANTHROPIC, request.model, ledger)
    question = COUNTER.body(asked, request.model)
    assert question == {
        name: value
        for name, value in asked.items()
        if name not in ("stream", "max_tokens", "stop_sequences", "cache_control")
    }
    assert {"model", "system", "messages", "tools"} <= question.keys()


def test_what_it_answers() -> None:
    assert COUNTER.read(b'{"input_tokens":14}') == 14
