"""Agno asks for the weather and then thanks. A Python of its own runs this (.agents)."""

import json
import sys
from typing import Any

from agno.agent import Agent
from agno.db.in_memory import InMemoryDb
from agno.models.openai import OpenAIResponses


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


def said(agent: Agent, prompt: str, streamed: bool) -> str:
    if not streamed:
        return str(agent.run(prompt, session_id="demo").content)
    events: Any = agent.run(prompt, session_id="demo", stream=True)
    return "".join(event.content or "" for event in events if event.event == "RunContent")


def ask(streamed: bool, **settings: Any) -> dict[str, Any]:
    agent = Agent(
        model=OpenAIResponses(base_url=sys.argv[1], api_key="none", max_retries=0, **settings),
        tools=[get_weather],
        instructions="Use your tools.",
        db=InMemoryDb(),
        add_history_to_context=True,
        telemetry=False,
    )
    answer = said(agent, "What is the weather in Paris?", streamed)
    said(agent, "Thanks", streamed)
    messages = agent.get_session_messages("demo")
    return {
        "answer": answer,
        "responses": [message.provider_data["response_id"] for message in messages if message.provider_data],
    }


# It chains models that reason, which it knows by their names.
told = {
    "chained": ask(False, id="gpt-5"),
    "chained streamed": ask(True, id="gpt-5"),
    "whole history": ask(False, id="demo"),
    "nothing kept": ask(True, id="gpt-5", store=False),
}
print(json.dumps(told))
