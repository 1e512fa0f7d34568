"""What a server under load needs, over time: its memory, its files, how late its event loop is."""

import asyncio
import re
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proxy.core import jsontext
from tests.load.client import Connection
from tests.load.process import memory_mib, open_files, python, waited_seconds

SAMPLE_SECONDS = 0.5
PAUSE_SECONDS = 0.1
SETTLE_PAUSES = 100
"""For what was closed to be gone: answers that are read to their end, connections in the pool."""
LEAVING_PAUSES = 10
"""E5: a second for the proxy to leave a backend whose client has left."""
WARM_UP = 1 / 2
"""Of the time: until then caches fill, and the heap grows to what the worst moments need."""
LONGEST_WARM_UP_SECONDS = 300.0


@dataclass
class Watch:
    pid: int
    memory: list[tuple[float, float]] = field(default_factory=list)
    """Seconds and MiB."""
    lag: dict[str, float] = field(default_factory=dict)
    """p50_ms, p99_ms, max_ms, machine_p99_ms."""
    waited: float = 0.0
    """Seconds for which the server could have worked, if others had not."""

    @property
    def peak(self) -> float:
        return max(mib for _, mib in self.memory)

    @property
    def late_ms(self) -> float:
        """p99 of the event loop's lag, without the machine's own."""
        return max(0.0, self.lag["p99_ms"] - self.lag["machine_p99_ms"])

    @property
    def growth(self) -> float:
        """MiB from the end of the warm-up to now, along the straight line that fits best."""
        began, ended = self.memory[0][0], self.memory[-1][0]
        warm = began + min((ended - began) * WARM_UP, LONGEST_WARM_UP_SECONDS)
        return growth([(at, mib) for at, mib in self.memory if at >= warm])


def growth(samples: list[tuple[float, float]]) -> float:
    middle = sum(at for at, _ in samples) / len(samples)
    mean = sum(mib for _, mib in samples) / len(samples)
    spread = sum((at - middle) ** 2 for at, _ in samples)
    together = sum((at - middle) * (mib - mean) for at, mib in samples)
    return together / spread * (samples[-1][0] - samples[0][0]) if spread else 0.0


def described(watch: Watch) -> list[str]:
    lag = watch.lag
    return [
        f"memory       {watch.memory[0][1]:.0f} MiB at first, {watch.peak:.0f} at most, "
        f"{watch.growth:+.1f} after the warm-up",
        f"lag of loop  p50 {lag['p50_ms']:.1f}, p99 {lag['p99_ms']:.1f}, max {lag['max_ms']:.1f} ms by "
        f"{lag['samples']} samples of /healthz; the machine's own p99 is {lag['machine_p99_ms']:.1f} ms",
        f"waited       {watch.waited:.1f} s for a core that others had",
    ]


@asynccontextmanager
async def watching(url: str, pid: int) -> AsyncIterator[Watch]:
    """The figures are whole when the block has ended."""
    watch = Watch(pid)
    waited = waited_seconds(pid)
    pulse = await asyncio.create_subprocess_exec(
        *python("tests.load.pulse", url), stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
    )

    async def sample() -> None:
        while True:
            watch.memory.append((time.monotonic(), memory_mib(pid)))
            await asyncio.sleep(SAMPLE_SECONDS)

    async with asyncio.TaskGroup() as group:
        sampler = group.create_task(sample())
        try:
            yield watch
        finally:
            sampler.cancel()
            assert pulse.stdin is not None
            assert pulse.stdout is not None
            pulse.stdin.close()
            said = await pulse.stdout.read()
            await pulse.wait()
    watch.lag = jsontext.loads(said)
    watch.waited = waited_seconds(pid) - waited


async def leaked_files(pid: int, before: int) -> int:
    """Those that are open and were not, after a while."""
    more = 0
    for _ in range(SETTLE_PAUSES):
        if (more := max(0, open_files(pid) - before)) == 0:
            break
        await asyncio.sleep(PAUSE_SECONDS)
    return more


async def get(url: str, path: str, key: str = "") -> bytes:
    connection = await Connection.to(url)
    answer = await connection.ask(
        f"GET {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n\r\n".encode()
    )
    connection.close()
    return bytes(answer.body)


async def still_counted(url: str, key: str) -> float:
    """Requests that the proxy believes to be under way."""
    page = (await get(url, "/metrics", key)).decode()
    gauges = re.findall(r"^responses_proxy_(?:requests_in_progress|streams_open)\{.*\} (\S+)$", page, re.M)
    assert gauges, f"no such metrics:\n{page[:500]}"
    return sum(map(float, gauges))


async def streams_left(backend: str) -> int:
    """Streams that the backend still speaks, though nobody listens, a second after the last client went."""
    streams = 0
    for _ in range(LEAVING_PAUSES):
        if (streams := jsontext.loads(await get(backend, "/state"))["streams"]) == 0:
            break
        await asyncio.sleep(PAUSE_SECONDS)
    return streams
