"""What the tests of a real backend ask it, and what they read in its answers."""

from pathlib import Path
from typing import Any, NamedTuple

import openai
from openai.types.chat import ChatCompletion
from openai.types.responses import Response, ResponseFunctionToolCall

SERVER = Path(__file__).with_name("llama_server.py")
CONTEXT = 4096
HELLO: Any = [{"role": "user", "content": "Hello, world"}]
WEATHER = {
    "type": "object",
    "properties": {
        "city": {"enum": ["Paris", "London"]},
        "days": {"type": "integer", "minimum": 1, "maximum": 9},
    },
    "required": ["city", "days"],
    "additionalProperties": False,
}
CLOCK = {"type": "object", "properties": {"zone": {"enum": ["utc", "cet"]}}, "required": ["zone"]}
FORECAST: Any = {"name": "forecast", "schema": WEATHER, "strict": True}
FORECAST_TEXT: Any = {"format": {"type": "json_schema", **FORECAST}}
SCHEMAS: dict[str, dict[str, Any]] = {"get_weather": WEATHER, "get_time": CLOCK}


class Pair(NamedTuple):
    direct: openai.OpenAI
    proxied: openai.OpenAI


def chat_tools(*names: str) -> Any:
    return [{"type": "function", "function": {"name": name, "parameters": SCHEMAS[name]}} for name in names]


def tools(*names: str) -> Any:
    return [{"type": "function", "name": name, "parameters": SCHEMAS[name]} for name in names]


def direct_calls(completion: ChatCompletion) -> list[tuple[str, str]]:
    return [
        (call.function.name, call.function.arguments)
        for call in completion.choices[0].message.tool_calls or ()
    ]


def calls(response: Response) -> list[ResponseFunctionToolCall]:
    return [item for item in response.output if item.type == "function_call"]


def said(made: list[ResponseFunctionToolCall]) -> list[tuple[str, str]]:
    return [(call.name, call.arguments) for call in made]
