"""Those who watch: each is handed every request, and none can hurt one."""

from collections.abc import Mapping

import pytest

from proxy.shell.inspector.ring import Ring
from proxy.shell.watching.content import ContentRoom
from proxy.shell.watching.watch import Notes, Watch
from proxy.shell.watching.watchers import Watcher, Watchers
from tests.support.proxies import StartProxy
from tests.support.replies import counting_mint
from tests.support.watching import Onlooker, a_watch, have_watch, same, silent_log


class Broken:
    name = "broken"
    keep = None

    def wants_content(self, watch: Watch) -> bool:
        raise RuntimeError

    def begun(self, watch: Watch, headers: Mapping[str, str]) -> None:
        raise RuntimeError

    def ended(self, watch: Watch) -> None:
        raise RuntimeError

    def refused(self, watch: Watch, headers: Mapping[str, str]) -> None:
        raise RuntimeError


def watchers(*those: Watcher) -> Watchers:
    return Watchers(
        those,
        room=ContentRoom(1, 1),
        clock=lambda: 0.0,
        now=lambda: 7.0,
        mint=counting_mint(),
        failed=lambda name: None,
        log=silent_log(),
    )


async def test_one_that_fails_hurts_neither_a_request_nor_another_watcher(
    monkeypatch: pytest.MonkeyPatch, start_proxy: StartProxy
) -> None:
    onlooker = Onlooker()
    failed = have_watch(monkeypatch, Broken(), onlooker)
    proxy = await start_proxy()
    for number in (1, 2):
        assert (await proxy.stream())[-1].name == "done"
        assert (await onlooker.saw(number)).content is not None
    assert failed == ["broken"] * 6
    async with proxy.session.get(f"{proxy.url}/nowhere") as response:
        assert response.status == 404
    assert (await onlooker.saw(3)).status == 404
    assert failed == ["broken"] * 7
    (line,) = proxy.log.named("watcher_failed")
    assert line["watcher"] == "broken"


async def test_without_watchers_there_is_nothing_to_watch() -> None:
    assert not watchers()
    assert watchers(Onlooker())


async def test_content_is_kept_if_anybody_wants_it() -> None:
    for wishes, kept in (((False, True), True), ((False,), False)):
        watch = a_watch(lambda: 0.0)
        watchers(*(Onlooker(content=wish) for wish in wishes)).begin(watch, {}, same)
        assert (watch.content is not None) is kept


async def test_who_only_waits_for_ends_costs_a_request_that_begins_nothing() -> None:
    waiting = Ring(1, 1, list)
    assert not watchers(waiting).are_told_of_begins
    assert watchers(waiting, Onlooker()).are_told_of_begins


class Late:
    """Wants to be told of ends alone."""

    name = "late"
    wants_content = begun = keep = refused = None

    def __init__(self) -> None:
        self.saw: list[Watch] = []
        self.ended = self.saw.append


class Keeping(Late):
    def __init__(self) -> None:
        super().__init__()
        self.kept: list[Notes] = []
        self.keep = self.kept.append  # type: ignore[assignment]


@pytest.mark.parametrize("status", [200, 502])
async def test_no_watch_is_made_of_what_nobody_looks_at(
    status: int, monkeypatch: pytest.MonkeyPatch, start_proxy: StartProxy
) -> None:
    keeping, late = Keeping(), Late()
    backend = {} if status == 200 else {"url": "http://127.0.0.1:9/v1"}
    for those in ((keeping,), (keeping, late)):
        have_watch(monkeypatch, *those)
        proxy = await start_proxy(inspector={"enabled": False}, backend=backend, retries={"attempts": 1})
        async with proxy.post({"model": "m", "input": "Hi"}) as response:
            assert response.status == status
    (notes,), (same_as_late,), (watch,) = keeping.kept, keeping.saw, late.saw
    assert watch is same_as_late
    for each in (Watch(*notes), watch):
        (attempt,) = each.attempts
        assert (each.status, each.background, each.tenant) == (status, False, "anybody")
        assert (each.fault is None, attempt.fault is None) == (status == 200, status == 200)
        assert attempt.ended is not None
        assert each.ended is not None
        assert 0 < attempt.began <= attempt.ended <= each.ended


async def test_what_a_stranger_wrote_is_masked_and_cut(
    monkeypatch: pytest.MonkeyPatch, start_proxy: StartProxy
) -> None:
    """S06."""
    onlooker = Onlooker()
    have_watch(monkeypatch, onlooker)
    proxy = await start_proxy()
    async with proxy.session.get(f"{proxy.url}/sk-abcdefgh12345678/" + "x" * 500):
        pass
    watch = await onlooker.saw()
    assert len(watch.path) == 200
    assert watch.path.startswith("/[redacted]/xxx")
    assert watch.date > 0
