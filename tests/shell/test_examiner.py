"""An examination over real sockets."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest
from aiohttp import web

from proxy.core.backends.post import Post
from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.errors import Unreachable
from proxy.core.examination.examination import Examination
from proxy.core.examination.findings import ReportRow, Standing
from proxy.shell.examiner import SILENT_QUESTIONS, Examiner
from proxy.shell.http.exchange import HttpExchange
from proxy.shell.http.transport import Timeouts
from proxy.shell.http.upstream import Upstream
from tests.support.differences import CASES
from tests.support.planted import Planted, serving
from tests.support.processes import free_port

LIMITS = Timeouts(connect=5, first_byte=10, idle=10, total=20)


class Asking:
    def __init__(self, upstream: Upstream) -> None:
        self.waited: list[float] = []
        self._upstream = upstream

    async def about(self, url: str) -> Examination:
        examination = Examination(Target("b", url, PROFILES["openai"]), "demo")
        examiner = Examiner(self._upstream, lambda _: LIMITS, time.monotonic, self._sleep)
        await examiner.examine(examination)
        return examination

    async def _sleep(self, seconds: float) -> None:
        self.waited.append(seconds)


@pytest.fixture
async def asking() -> AsyncIterator[Asking]:
    upstream = Upstream("test")
    yield Asking(upstream)
    await upstream.close()


def worse(examination: Examination) -> list[ReportRow]:
    return [row for row in examination.rows if row.standing is Standing.WORSE]


async def test_a_backend_that_behaves(asking: Asking) -> None:
    async with serving(Planted()) as served:
        examination = await asking.about(served.url)
    assert worse(examination) == []
    assert asking.waited == []


@pytest.mark.parametrize("name", ["no developer", "no images", "form instead of calls", "ids that change"])
async def test_differences(asking: Asking, name: str) -> None:
    async with serving(Planted([CASES[name].difference])) as served:
        examination = await asking.about(served.url)
    assert [row.name for row in worse(examination)] == [CASES[name].row]


async def test_a_model_that_goes_on_for_nobody(asking: Asking) -> None:
    async with serving(Planted(), counting_goes_on=True) as served:
        examination = await asking.about(served.url)
    assert [(row.name, row.seen) for row in worse(examination)] == [
        ("leaving", "it goes on: the next request was refused")
    ]


def refusal(status: int, **headers: str) -> web.Response:
    return web.json_response({"error": {"message": "Not now."}}, status=status, headers=headers)


async def refused_at_first(asking: Asking, *refusals: web.Response) -> Examination:
    async with serving(Planted()) as served:
        served.refusals += refusals
        return await asking.about(served.url)


async def test_a_busy_backend_gets_time(asking: Asking) -> None:
    examination = await refused_at_first(asking, refusal(429, **{"Retry-After": "7"}), refusal(503))
    assert worse(examination) == []
    assert asking.waited == [7.0, 2.0]


async def test_there_is_no_waiting_for_hours(asking: Asking) -> None:
    examination = await refused_at_first(asking, refusal(429, **{"Retry-After": "3600"}))
    assert [row.name for row in worse(examination)] == ["text"]
    assert asking.waited == []


async def test_a_crash_counts_only_if_it_repeats_itself(asking: Asking) -> None:
    assert worse(await refused_at_first(asking, refusal(500))) == []
    assert [row.name for row in worse(await refused_at_first(asking, refusal(500), refusal(500)))] == ["text"]


async def test_a_backend_that_is_gone() -> None:
    async with serving(Planted()) as served:
        examination = Examination(Target("b", served.url, PROFILES["openai"]), "demo")
        transport = _Breaking(after=4)
        examiner = Examiner(transport, lambda _: LIMITS, time.monotonic)
        with pytest.raises(Unreachable):
            await examiner.examine(examination)
        await transport.close()
    assert examination.asked == 4 + SILENT_QUESTIONS - 1


class _Breaking(Upstream):
    """Leads nowhere after some requests."""

    def __init__(self, after: int) -> None:
        super().__init__("test")
        self._left = after
        self._nowhere = f"http://127.0.0.1:{free_port()}/v1/chat/completions"

    async def send(self, post: Post, timeouts: Timeouts) -> HttpExchange:
        self._left -= 1
        return await super().send(post if self._left >= 0 else replace(post, url=self._nowhere), timeouts)
