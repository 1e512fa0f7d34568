"""Clients of tenants with limits, who always want more than they may have, and what their limits let through."""

import asyncio
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import aiohttp

from tests.load.allowance import Arrival
from tests.load.counted import CALLS
from tests.load.troubles import Troubles

ANSWER_SECONDS = 60.0
PAUSE_SECONDS = 0.1
MOST_CALLS = 3
TOOL = {"type": "function", "name": "load_tool", "parameters": {"type": "object"}, "strict": False}


@dataclass(frozen=True)
class Tenant:
    name: str
    key: str
    requests: int | None
    calls: int | None
    """In a minute."""
    clients: int

    @property
    def limit(self) -> int:
        return self.requests or self.calls or 0

    def settings(self) -> dict[str, Any]:
        limits = {"requests_per_minute": self.requests, "tool_calls_per_minute": self.calls}
        return {name: limit for name, limit in limits.items() if limit is not None}

    def units(self, calls: int) -> int:
        return 1 if self.requests else calls


def tenants(limit: int) -> tuple[Tenant, Tenant]:
    """Of the first each request counts, of the second each call that a model makes: those are known when it has."""
    return (
        Tenant("asker", "key-of-one-who-asks", limit, None, 4),
        Tenant("caller", "key-of-one-who-calls", None, limit, 4),
    )


class Came(NamedTuple):
    """What came through to the backend."""

    at: float
    units: int
    node: str
    """Through which one."""


@dataclass
class Taken:
    told: Counter[str] = field(default_factory=Counter)
    lost: list[Arrival] = field(default_factory=list)
    """Units of requests that were cut off: what was charged of them is not known."""
    wrong: Counter[str] = field(default_factory=Counter)


class Limited:
    """One client, who asks again as soon as it may."""

    def __init__(
        self,
        number: int,
        tenant: Tenant,
        session: aiohttp.ClientSession,
        url: str,
        taken: Taken,
        troubles: Troubles,
        waited: Callable[[str, float, float], None],
    ) -> None:
        self._number = number
        self._tenant = tenant
        self._session = session
        self._url = f"{url}/v1/responses"
        self._taken = taken
        self._troubles = troubles
        self._waited = waited

    async def live(self, over: Callable[[], bool]) -> None:
        step = self._number
        while not over():
            step += 1
            calls = 1 if self._tenant.requests else step % (MOST_CALLS + 1)
            began = time.monotonic()
            try:
                pause = await self._ask(step, calls)
            except (aiohttp.ClientError, OSError, TimeoutError) as cut:
                pause = PAUSE_SECONDS
                self._taken.lost.append((began, self._tenant.units(calls)))
                self._taken.told["cut"] += 1
                if not self._troubles.killed(began):
                    self._taken.wrong[
                        f"{self._tenant.name}: cut, though nobody was killed: {type(cut).__name__}"
                    ] += 1
            self._waited("limited", began, time.monotonic() - began)
            await asyncio.sleep(pause)

    async def _ask(self, step: int, calls: int) -> float:
        """Returns how long it is told to wait."""
        asked = f"{CALLS}{calls} {self._tenant.name} {self._number}.{step}"
        body = {"model": "load-1-0-1-text-well", "input": asked, "tools": [TOOL], "store": False}
        headers = {"Authorization": f"Bearer {self._tenant.key}"}
        async with (
            asyncio.timeout(ANSWER_SECONDS),
            self._session.post(self._url, json=body, headers=headers) as response,
        ):
            found = await response.json()
            self._taken.told[f"{response.status}"] += 1
            self._judge(response.status, response.headers.get("Retry-After"), found, calls)
            if response.status != 429:
                return 0.0
            return min(PAUSE_SECONDS, float(response.headers.get("Retry-After", PAUSE_SECONDS)))

    def _judge(self, status: int, retry_after: str | None, found: dict[str, Any], calls: int) -> None:
        if status == 200:
            made = [item for item in found["output"] if item["type"] == "function_call"]
            if len(made) != calls:
                self._taken.wrong[f"{self._tenant.name}: {len(made)} calls of {calls}"] += 1
        elif status == 429:
            if found["error"]["code"] != "rate_limit_exceeded" or not retry_after:
                self._taken.wrong[f"{self._tenant.name}: a 429 that does not say when: {found}"] += 1
        else:
            self._taken.wrong[f"{self._tenant.name}: {status} {found['error']['code']}"] += 1


def came_through(asked: list[tuple[int, str, str]], tenant: Tenant) -> list[Came]:
    """Of what the backend was asked, what counts for this tenant."""
    found = []
    for nanoseconds, said, node in asked:
        if said.startswith(CALLS):
            _, calls, name, _ = said.split()
            if name == tenant.name:
                found.append(Came(nanoseconds / 1e9, tenant.units(int(calls)), node))
    return found
