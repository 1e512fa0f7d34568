"""The question for tokens is the request for a reply, less what does not stand in the prompt."""

from proxy.core.dialects.responses.counting import COUNTERS
from proxy.core.model import ReasoningWish, Sampling
from tests.support.chat_requests import system, user
from tests.support.responses_requests import MODEL, body_of, tool_spec


def test_what_it_is_asked() -> None:
    asked = body_of(
        system("Be brief."),
        user("Hi"),
        tools=[tool_spec()],
        reasoning=ReasoningWish("high"),
        sampling=Sampling(max_tokens=99, temperature=0.5),
    )
    question = COUNTERS["openai"].body(asked, MODEL)
    assert question == {
        name: asked[name] for name in ("model", "instructions", "input", "tools", "reasoning")
    }
    assert COUNTERS["openai"].read(b'{"object":"response.input_tokens","input_tokens":7}') == 7
