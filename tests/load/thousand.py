"""A thousand slow streams at once, each as long as the whole run: what many idle-looking agents are to a server."""

import asyncio
from collections import Counter
from dataclasses import dataclass, field

from tests.load import targets
from tests.load.client import Answer, Connection
from tests.load.judging import violation
from tests.load.process import open_files
from tests.load.requests import KEY, Ask
from tests.load.script import Script
from tests.load.watching import Watch, described, leaked_files, still_counted, streams_left, watching

GAP_MS = 500
OPENED_AT_ONCE = 50
LATE_SECONDS = 60.0
NS_PER_MS = 1e6


@dataclass
class Calm:
    endings: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    delays_ms: list[float] = field(default_factory=list)
    """Of each piece, from the backend's hand to the client's; sorted."""
    most_open: int = 0
    watch: Watch | None = None

    def summary(self) -> str:
        assert self.watch is not None
        delays = self.delays_ms
        lines = [
            f"answers      {sum(self.endings.values())}: {dict(self.endings)}, {self.most_open} open at once",
            f"delay        p50 {delays[len(delays) // 2]:.1f}, p99 {delays[int(len(delays) * 0.99)]:.1f} ms",
            *described(self.watch),
        ]
        return "\n".join([*lines, *(f"  {times} × {what}" for what, times in self.wrong.items())])


async def calm(seconds: float, streams: int) -> Calm:
    ask = Ask(Script(max(1, round(seconds * 1000 / GAP_MS)), GAP_MS))
    found = Calm()
    with targets.backend() as backend, targets.proxy(backend.url) as proxy:
        files = open_files(proxy.pid)
        async with watching(proxy.url, proxy.pid) as found.watch:
            answers = await _all(proxy.url, ask, streams, seconds + LATE_SECONDS)
        for answer in answers:
            ending, wrong = violation(ask, answer, disturbed=False)
            found.endings[ending] += 1
            if wrong:
                found.wrong[wrong] += 1
            times = answer.piece_times(ask.script.pieces)
            found.delays_ms += ((came - sent) / NS_PER_MS for sent, came in times)
        found.delays_ms.sort()
        begun, ended = max(answer.asked for answer in answers), min(answer.ended for answer in answers)
        found.most_open = streams if begun < ended else 0
        if left := await streams_left(backend.url):
            found.wrong["leaked streams"] += left
        backend.kill()
        found.wrong["leaked files"] += await leaked_files(proxy.pid, files)
        found.wrong["leaked requests in the metrics"] += round(await still_counted(proxy.url, KEY))
        backend.start()
    found.wrong = +found.wrong
    return found


async def _all(url: str, ask: Ask, streams: int, limit: float) -> list[Answer]:
    request = ask.request(url)

    async def one() -> Answer:
        connection = await Connection.to(url)
        answer = await connection.ask(request)
        connection.close()
        return answer

    running: list[asyncio.Task[Answer]] = []
    async with asyncio.timeout(limit), asyncio.TaskGroup() as group:
        while len(running) < streams:
            running += (group.create_task(one()) for _ in range(min(OPENED_AT_ONCE, streams - len(running))))
            await asyncio.sleep(0)
    return [task.result() for task in running]
