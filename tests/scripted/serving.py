"""What all scripted providers share: a server on a real socket that checks each request before it answers.

A request that its provider would refuse is refused in the provider's own form, and remembered: a test that sent one
fails when its server stops, whatever became of the answer.
"""

from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from aiohttp import web

from proxy.core import jsontext
from tests.scripted.say import Say
from tests.support.serving import serving_all


@dataclass(frozen=True)
class Recorded:
    path: str
    """With its query."""
    headers: dict[str, str]
    """By their names in lower case."""
    body: Any


@dataclass(frozen=True)
class Provider:
    """A provider's language, from its own side."""

    stream: Callable[[Say], list[bytes]]
    """The pieces of a stream, one event each."""
    body: Callable[[Say], Any]
    """The answer to a request that asks for no stream."""
    error: Callable[[int, str], Any]
    """The body of an HTTP refusal: its status, its message."""
    check: Callable[[Recorded], None]
    """AssertionError, in words, for a request that the provider would refuse or misunderstand."""
    streamed: Callable[[Recorded], bool]
    """Does this request ask for a stream?"""
    models: Any
    """What it answers to a GET: the list of its models."""


Pieces = Callable[[list[bytes]], Iterable[bytes]]


def one_by_one(events: list[bytes]) -> Iterable[bytes]:
    return events


def at_once(events: list[bytes]) -> Iterable[bytes]:
    yield b"".join(events)


def in_halves(events: list[bytes]) -> Iterable[bytes]:
    """Each write ends in the middle of an event."""
    whole = b"".join(events)
    edges = [0, *(len(b"".join(events[:n])) + len(events[n]) // 2 for n in range(len(events))), len(whole)]
    return (whole[a:b] for a, b in pairwise(edges))


class Scripted:
    """Says one answer for each request, in order."""

    def __init__(self, provider: Provider, pieces: Pieces = one_by_one) -> None:
        self.url = ""
        self.requests: list[Recorded] = []
        """Those that ask the model, in order; not those for a list of models."""
        self.wrong: list[str] = []
        """What was wrong with requests that had to be refused."""
        self.unsaid: list[Say] = []
        """What is left of the script."""
        self._provider = provider
        self._pieces = pieces

    def says(self, *answers: Say) -> None:
        self.unsaid.extend(answers)

    @property
    def last(self) -> Recorded:
        return self.requests[-1]

    async def handle(self, request: web.Request) -> web.StreamResponse:
        if request.method == "GET":
            return web.json_response(self._provider.models)
        headers = {name.lower(): value for name, value in request.headers.items()}
        recorded = Recorded(request.path_qs, headers, jsontext.strict(await request.read()))
        self.requests.append(recorded)
        try:
            self._provider.check(recorded)
            assert self.unsaid, "one request more than there are answers"
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            self.wrong.append(f"{type(error).__name__}: {error}")
            return web.json_response(self._provider.error(400, str(error)), status=400)
        say = self.unsaid.pop(0)
        if say.status != 200:
            return web.json_response(self._provider.error(say.status, say.refusal), status=say.status)
        if not self._provider.streamed(recorded):
            return web.json_response(self._provider.body(say))
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in self._pieces(self._provider.stream(say)):
            await response.write(piece)
        await response.write_eof()
        return response


@asynccontextmanager
async def serving(provider: Provider, *answers: Say, pieces: Pieces = one_by_one) -> AsyncIterator[Scripted]:
    """Runs a provider; everything it was asked must have been right, and everything it had to say said."""
    scripted = Scripted(provider, pieces)
    scripted.says(*answers)
    async with serving_all(scripted.handle) as scripted.url:
        yield scripted
    assert not scripted.wrong, scripted.wrong
    assert not scripted.unsaid, f"never asked for: {scripted.unsaid}"
