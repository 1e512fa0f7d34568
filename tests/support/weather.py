"""The tool that most tests over sockets declare, and a backend's call of it."""

from tests.support.sockets import (
    delta,
)

WEATHER = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}
CALL = delta(
    tool_calls=[{"index": 0, "id": "call_1", "function": {"name": "get_weather", "arguments": "{}"}}]
)
