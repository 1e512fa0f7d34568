"""LlamaIndex's agent asks for the weather, streamed and whole. A Python of its own runs this (.llamaindex)."""

import asyncio
import json
import sys

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.llms.openai import OpenAIResponses


async def ask(base_url: str, streaming: bool, chained: bool = False) -> dict[str, object]:
    asked: list[str] = []

    def get_weather(city: str) -> str:
        """The weather in a city."""
        asked.append(city)
        return "18 degrees"

    llm = OpenAIResponses(
        "demo",
        api_base=base_url,
        api_key="none",
        context_window=100_000,
        max_retries=0,
        track_previous_responses=chained,
    )
    agent = FunctionAgent(tools=[get_weather], llm=llm, streaming=streaming)
    answer = str(await agent.run("What is the weather in Paris?"))
    return {"answer": answer, "asked": asked, "later": str(await agent.run("Thanks")) if chained else ""}


async def main(base_url: str) -> None:
    told = {"streamed": await ask(base_url, True), "whole": await ask(base_url, False)}
    for name, streaming in (("chained, streamed", True), ("chained, whole", False)):
        told[name] = await ask(base_url, streaming, chained=True)
    print(json.dumps(told))


asyncio.run(main(sys.argv[1]))
