"""Semantic Kernel's OpenAIResponsesAgent calls a tool of its own and goes on. It needs half a gigabyte of packages:

    python3 -m venv /tmp/kernel && /tmp/kernel/bin/pip install semantic-kernel
    /tmp/kernel/bin/python manual_tests/semantic_kernel_agent.py

BASE_URL (http://127.0.0.1:8080) and MODEL (demo) choose another proxy and model, KEY is a tenant's.
"""

import asyncio
import os

import openai
from semantic_kernel.agents import OpenAIResponsesAgent
from semantic_kernel.functions import kernel_function

BASE_URL = os.environ.get("BASE_URL", "http://127.0.0.1:8080")
MODEL = os.environ.get("MODEL", "demo")
KEY = os.environ.get("KEY", "none")


class Weather:
    def __init__(self) -> None:
        self.asked: list[str] = []

    @kernel_function(description="The weather in a city.")
    def get_weather(self, city: str) -> str:
        self.asked.append(city)
        return f"18 degrees in {city}"


async def main() -> None:
    weather = Weather()
    async with openai.AsyncOpenAI(base_url=f"{BASE_URL}/v1", api_key=KEY) as client:
        agent = OpenAIResponsesAgent(
            ai_model_id=MODEL, client=client, name="Helper", instructions="Use your tools.", plugins=[weather]
        )
        first = await agent.get_response("What is the weather in Paris?")
        print(f"Its tool was asked about {weather.asked}, and it says: {first.message.content}")
        assert weather.asked == ["Paris"], "one call, one answer: the prompt was told once"
        said = ""
        async for part in agent.invoke_stream("Thanks. Which city was that?", thread=first.thread):
            said += str(part.message.content)
        print(f"It goes on, streamed: {said}")


asyncio.run(main())
