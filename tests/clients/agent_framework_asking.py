"""Microsoft's Agent Framework asks for the weather and then thanks. A Python of its own runs this (.agents)."""

import asyncio
import json
import sys
from typing import Any

import openai
from agent_framework import Agent
from agent_framework.openai import OpenAIChatClient


def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"18 degrees in {city}"


async def said(agent: Agent, prompt: str, streamed: bool, **how: Any) -> str:
    if streamed:
        return (await agent.run(prompt, stream=True, **how).get_final_response()).text
    return (await agent.run(prompt, **how)).text


async def main(base_url: str) -> None:
    async with openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0) as sdk:
        client = OpenAIChatClient(model="demo", async_client=sdk)
        agent = Agent(client=client, instructions="Use your tools.", tools=[get_weather])
        made = await sdk.conversations.create()

        async def ask(streamed: bool, session: Any) -> dict[str, Any]:
            answer = await said(agent, "What is the weather in Paris?", streamed, session=session)
            await said(agent, "Thanks", streamed, session=session)
            return {"answer": answer, "continues": session.service_session_id}

        told = {
            "whole": await ask(False, agent.create_session()),
            "streamed": await ask(True, agent.create_session()),
            "conversation": await ask(True, agent.get_session(made.id)),
        }
        pages = sdk.conversations.items.list(made.id, order="asc")
        print(json.dumps(told | {"kept": [item.type async for item in pages]}))


asyncio.run(main(sys.argv[1]))
