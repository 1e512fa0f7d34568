"""The backend that costs next to nothing, and remembers what it was asked: GET /asked tells all of it.

python -m tests.load.counted prints its URL. A question `calls 3 …` is answered with so many calls of `load_tool`, after
a moment in which whoever asked may be killed; every other one as its model's name says.
"""

import asyncio
import time
from typing import Any, ClassVar

import uvloop
from orjson import dumps, loads

from tests.load.backend import STREAM_HEAD, Line, answer, delta, event, serve

CALLS = "calls "
MOMENT_SECONDS = 0.1
ARGUMENTS = '{"s":"x"}'


def tool_calls(count: int) -> list[dict[str, Any]]:
    return [
        {
            "index": number,
            "id": f"call_{number}",
            "type": "function",
            "function": {"name": "load_tool", "arguments": ARGUMENTS},
        }
        for number in range(count)
    ]


def whole(model: str, count: int) -> bytes:
    message = {"role": "assistant", "content": "Well.", "tool_calls": tool_calls(count) or None}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if count else "stop"}
    head = {"id": "chatcmpl-load", "object": "chat.completion", "created": 1_700_000_000, "model": model}
    return answer(200, {**head, "choices": [choice]})


def streamed(model: str, count: int) -> bytes:
    said = delta(model, {"role": "assistant", "content": "Well."})
    for call in tool_calls(count):
        said += delta(model, {"tool_calls": [call]})
    said += delta(model, {}, "tool_calls" if count else "stop")
    return STREAM_HEAD + said + event(b"[DONE]") + b"0\r\n\r\n"


class CountingLine(Line):
    asked: ClassVar[list[tuple[int, str, str]]] = []
    """When, by the clock that all processes of the machine share, the last message, and by whose key."""

    def _answer(self, head: bytes, body: bytes) -> None:
        if head.startswith(b"GET /asked"):
            self._transport.write(answer(200, self.asked))
            return
        if head.startswith(b"POST"):
            asked = loads(body)
            said = asked["messages"][-1]["content"]
            said = said if isinstance(said, str) else dumps(said).decode()
            key = head.lower().partition(b"authorization: bearer ")[2].partition(b"\r\n")[0]
            self.asked.append((time.monotonic_ns(), said, key.decode()))
            if said.startswith(CALLS):
                say = streamed if asked.get("stream") else whole
                self._later(say(asked["model"], int(said.split()[1])))
                return
        super()._answer(head, body)

    def _later(self, data: bytes) -> None:
        self._timer = asyncio.get_running_loop().call_later(MOMENT_SECONDS, self._transport.write, data)


if __name__ == "__main__":
    uvloop.run(serve(0, CountingLine))
