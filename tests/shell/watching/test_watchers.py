"""Those who watch: each is handed every request, and none can hurt one."""

from collections.abc import Mapping

import pytest

from proxy.shell.watching.content import ContentRoom
from proxy.shell.watching.watch import Watch
from proxy.shell.watching.watchers import Watcher, Watchers
from tests.support.proxies import StartProxy
from tests.support.replies import counting_mint
from tests.support.watching import Onlooker, begin, have_watch, silent_log


class Broken:
    name = "broken"

    def wants_content(self, watch: Watch) -> bool:
        raise RuntimeError

    def begun(self, watch: Watch, headers: Mapping[str, str]) -> None:
        raise RuntimeError

    def ended(self, watch: Watch) -> None:
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
    (line,) = proxy.log.named("watcher_failed")
    assert line["watcher"] == "broken"


async def test_without_watchers_there_is_nothing_to_watch() -> None:
    assert not watchers()
    assert watchers(Onlooker())


async def test_content_is_kept_if_anybody_wants_it() -> None:
    wanting = begin(watchers(Onlooker(content=False), Onlooker(content=True)))
    assert wanting.content is not None
    content_with_none = begin(watchers(Onlooker(content=False)))
    assert content_with_none.content is None


async def test_what_a_stranger_wrote_is_masked_and_cut() -> None:
    """S06."""
    watch = begin(watchers(Onlooker()), path="/" + "x" * 500, method="GET\nsk-abcdefgh12345678")
    assert len(watch.path) == 200
    assert watch.method == "GET [redacted]"
    assert watch.date == 7.0
