"""What both tests of langchain-openai ask for, and how they read it."""

from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.tools import tool
from pydantic import BaseModel

BOTH = "Weather in Paris and London?"


@tool
def get_weather(city: str) -> str:
    """The weather in a city."""
    return f"{city}: 18 °C"


class Meeting(BaseModel):
    """A meeting."""

    host: str
    guests: list[str]


def cities(message: AIMessage) -> list[str]:
    return [call["args"]["city"] for call in message.tool_calls]


def whole(stream: Any) -> AIMessageChunk:
    chunks = list(stream)
    message = chunks[0]
    for chunk in chunks[1:]:
        message += chunk
    return message
