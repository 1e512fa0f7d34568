"""What a proxy has promised to keep, and whether it is there."""

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from proxy.core import jsontext
from tests.load.calls import Calls, Cut

FINAL = {"completed", "incomplete", "failed", "cancelled"}
TERMINAL = {f"response.{status}" for status in FINAL}
LOG_SECONDS = 580.0
"""A little less than logs are kept."""
AT_ONCE = 16
PAUSE_SECONDS = 0.5
PAGE = 100


def now() -> float:
    return time.monotonic()


def digest(output: Any) -> bytes:
    return sha256(jsontext.dumps(output)).digest()


@dataclass
class Promises:
    kept: dict[str, bytes] = field(default_factory=dict)
    """Responses that were answered with `store: true`, by the digest of their output."""
    runs: dict[str, bool] = field(default_factory=dict)
    """Responses in the background, and whether they have events."""
    begun: dict[str, float] = field(default_factory=dict)
    """When each of those was asked for."""
    ended: dict[str, float] = field(default_factory=dict)
    """Those of which somebody saw the end, and when."""
    gone: list[str] = field(default_factory=list)
    """Deleted, or not to be stored."""
    unkept: dict[str, float] = field(default_factory=dict)
    """Not stored though they were to be, by what their answers said; and when each was asked for."""
    chains: list[list[str]] = field(default_factory=list)
    conversations: dict[str, int] = field(default_factory=dict)
    """And how many items each must have at least."""
    broken: Counter[str] = field(default_factory=Counter)

    def wrong(self, what: str) -> None:
        self.broken[what] += 1

    def begin(self, id: str, when: float, *, has_events: bool) -> None:
        self.runs[id] = has_events
        self.begun[id] = when


class Audit:
    """When all is over. `patience`: seconds that runs and locks of the dead may take to end. `lost`: may the events of
    a run be lost that was asked for and ended then?"""

    def __init__(
        self,
        calls: Calls,
        promises: Promises,
        model: str,
        patience: float,
        lost: Callable[[float, float], bool] = lambda begun, ended: False,
    ) -> None:
        self._calls = calls
        self._promises = promises
        self._model = model
        self._lost = lost
        self._late = now() + patience

    async def run(self) -> None:
        made = self._promises
        await self._each(made.conversations, self._takes_a_turn)
        await self._each(made.runs, self._has_one_end)
        await self._each(made.kept, self._is_there)
        await self._each(made.gone, self._is_unknown)
        await self._each(range(len(made.chains)), self._goes_on)

    async def _each(self, what: Iterable[Any], look: Callable[[Any], Awaitable[None]]) -> None:
        places = asyncio.Semaphore(AT_ONCE)

        async def one(each: Any) -> None:
            async with places:
                try:
                    await look(each)
                except Cut as cut:
                    self._promises.wrong(f"no answer when all was over: {cut}")

        await asyncio.gather(*(one(each) for each in list(what)))

    async def _is_there(self, id: str) -> None:
        status, found = await self._calls.ask("GET", f"/responses/{id}")
        if status != 200:
            self._promises.wrong(f"lost: a response that was answered is {status}")
        elif digest(found["output"]) != self._promises.kept[id] or found["status"] != "completed":
            self._promises.wrong("changed: a response that was answered is another one now")

    async def _is_unknown(self, id: str) -> None:
        status, _ = await self._calls.ask("GET", f"/responses/{id}")
        if status != 404:
            self._promises.wrong(f"came back: what was deleted, or was not to be kept, is {status}")

    async def _has_one_end(self, id: str) -> None:
        status, found = await self._ended(id)
        if status == 404 and id in self._promises.gone:
            return
        if status != 200 or found["status"] not in FINAL:
            self._promises.wrong(f"a run without an end: {found.get('status', status)}")
        elif self._promises.runs[id]:
            await self._told_once(id, found)

    async def _ended(self, id: str) -> tuple[int, Any]:
        while True:
            status, found = await self._calls.ask("GET", f"/responses/{id}")
            if status != 200 or found["status"] in FINAL or now() > self._late:
                return status, found
            await asyncio.sleep(PAUSE_SECONDS)

    async def _told_once(self, id: str, found: Any) -> None:
        events = await self._calls.events(f"/responses/{id}?stream=true")
        if events[0]["type"] == "refused":
            ended = self._promises.ended.get(id, 0.0)
            if now() - ended < LOG_SECONDS and not self._lost(self._promises.begun[id], ended):
                self._promises.wrong("the events of a run are gone too early")
            return
        numbers = [event["sequence_number"] for event in events]
        ends = [event for event in events if event["type"] in TERMINAL]
        if numbers != list(range(len(numbers))):
            self._promises.wrong("events of a run with a gap")
        if len(ends) != 1 or ends[0] is not events[-1]:
            self._promises.wrong(f"{len(ends)} ends among the events of a run")
        elif ends[0]["response"] != found:
            self._promises.wrong("the last event of a run is not its response")

    async def _takes_a_turn(self, id: str) -> None:
        while True:
            body = {"model": self._model, "input": "Last", "conversation": id}
            status, found = await self._calls.ask("POST", "/responses", body)
            if status == 200 or now() > self._late:
                break
            await asyncio.sleep(PAUSE_SECONDS)
        if status != 200:
            self._promises.wrong(f"a conversation takes no turn any more: {found['error']['code']}")
            return
        count = await self._walk(f"/conversations/{id}/items")
        if count < self._promises.conversations[id] + 2:
            self._promises.wrong("a conversation has lost items")
        if count % 2:
            self._promises.wrong("a conversation has half of a turn")

    async def _goes_on(self, number: int) -> None:
        chain = self._promises.chains[number]
        if not chain:
            return
        body = {"model": self._model, "input": "Last", "previous_response_id": chain[-1]}
        status, found = await self._calls.ask("POST", "/responses", body)
        if status != 200:
            self._promises.wrong(f"a chain does not go on: {found['error']['code']}")
        elif await self._walk(f"/responses/{found['id']}/input_items") != 2 * len(chain) + 1:
            self._promises.wrong("a chain has lost some of its history")

    async def _walk(self, path: str) -> int:
        count, after = 0, ""
        while True:
            _, page = await self._calls.ask("GET", f"{path}?limit={PAGE}&order=asc{after}")
            count += len(page["data"])
            if not page["has_more"]:
                return count
            after = f"&after={page['last_id']}"
