"""A scripted model behind the proxy: what it says to each request, and what it was asked."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from proxy.core import jsontext
from tests.support.sockets import DONE, END, HEAD, Line, ScriptedBackend, answer, delta, finish, text, usage

Request = dict[str, Any]
Step = bytes | Callable[[Line, Request], Awaitable[None]]
"""What is said to one request: these bytes, or whatever the function does with the connection."""

CHAT, MODELS = "/v1/chat/completions", "/v1/models"
LISTED = answer(200, {"object": "list", "data": [{"id": "qwen3-coder", "object": "model"}]})


def cut_after(*said: bytes) -> Step:
    """Says this much and crashes."""

    async def crash(line: Line, request: Request) -> None:
        line.send(HEAD, *said)
        await line.drained()
        line.reset()

    return crash


cut = cut_after(text("Hel"))


class Model:
    """Plays one step for each request, the last one for all that follow."""

    def __init__(self, backend: ScriptedBackend) -> None:
        self.url = backend.url
        self.requests: list[Request] = []
        """Chat Completions requests, in order."""
        self._steps: list[Step] = []
        backend.plays(self._serve)

    def plays(self, *steps: Step) -> None:
        self.requests.clear()
        self._steps = list(steps)

    async def _serve(self, line: Line) -> None:
        while True:
            asked = await line.request()
            if asked.path != CHAT:
                line.send(LISTED if asked.path == MODELS else answer(404))
                continue
            self.requests.append(asked.json)
            step = self._steps.pop(0) if len(self._steps) > 1 else self._steps[0]
            if isinstance(step, bytes):
                line.send(step)
            else:
                await step(line, asked.json)

    def tools(self, request: int = 0) -> list[str]:
        """The names of the functions that a request declares."""
        return [tool["function"]["name"] for tool in self.requests[request].get("tools", ())]


@contextmanager
def scripted_model() -> Iterator[Model]:
    """In a thread of its own: the tests wait for Codex, and Codex for the model."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    try:
        backend = ScriptedBackend()
        asyncio.run_coroutine_threadsafe(backend.start(), loop).result()
        yield Model(backend)
        asyncio.run_coroutine_threadsafe(backend.stop(), loop).result()
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


# ── what a model says ──


def call(name: str, arguments: dict[str, Any], *, index: int = 0) -> bytes:
    function = {"name": name, "arguments": jsontext.compact(arguments)}
    one = {"index": index, "id": f"call_{name}_{index}", "type": "function", "function": function}
    return delta(tool_calls=[one])


def calling(*calls: bytes, prompt_tokens: int = 3) -> bytes:
    """A whole stream that ends with these calls."""
    return b"".join((HEAD, *calls, finish("tool_calls"), usage(prompt_tokens), DONE, END))


def shell(command: str) -> bytes:
    """A whole stream that has Codex run a command."""
    return calling(call("exec_command", {"cmd": command}))
