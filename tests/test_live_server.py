"""The server for what may be lost, as commands ask it: what is said of it, and what is deleted in it."""

from collections.abc import Iterator

import pytest

from proxy.commands.store_finding import proved
from proxy.live_server import forget_there, prove_live
from proxy.settings.root import Settings
from proxy.settings.store import LiveSettings
from proxy.shell.stores import location
from proxy.shell.stores.protocol import StoreDown, StoreUnreadable, Want
from proxy.storage import StoreRefused
from tests.support.redis_live import patient, prefix_of_its_own
from tests.support.redis_server import RedisProcess


@pytest.fixture(scope="module")
def process() -> Iterator[RedisProcess]:
    process = RedisProcess("--requirepass", "sesame")
    yield process
    process.close()


def settings(process: RedisProcess, login: str = ":sesame", prefix: str = "test") -> LiveSettings:
    url = process.url.replace("//", f"//{login}@")
    return LiveSettings.model_validate({"url": url, "prefix": prefix})


async def test_what_is_said_of_it(process: RedisProcess) -> None:
    """U62: without the password."""
    where = f"; what may be lost lies in unix://:**********@{process.folder}/socket"
    assert await prove_live(settings(process)) == where
    with process.client(password="sesame") as client:
        client.config_set("maxmemory-policy", "volatile-lru")
        said = await prove_live(settings(process))
        client.config_set("maxmemory-policy", "noeviction")
    assert said.startswith(f"{where}, which may delete what is needed")
    assert "'volatile-lru'" in said
    assert await prove_live(LiveSettings()) == ""


async def test_what_is_wrong_with_it(process: RedisProcess) -> None:
    with pytest.raises(StoreUnreadable, match="lets nobody in"):
        await prove_live(settings(process, ":wrong"))
    with pytest.raises(StoreDown):
        await prove_live(LiveSettings.model_validate({"url": "unix:///nowhere"}))


async def test_check_config_says_it_and_what_is_away_is_no_reason_not_to_start() -> None:
    wanted = Settings.model_validate({"store": {"url": "off"}, "live": {"url": "unix:///nowhere"}})
    lies = "; what may be lost lies in unix:///nowhere; but now that does not work (ConnectionError"
    assert lies in await proved(wanted)


async def test_without_the_package_it_is_said_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(location, "find_spec", lambda name: None)
    wanted = Settings.model_validate({"store": {"url": "off"}, "live": {"url": "redis://h"}})
    with pytest.raises(StoreRefused, match=r"live\.url .*: pip install '\.\[redis\]' in"):
        await proved(wanted)


async def test_a_tenant_is_forgotten_there(process: RedisProcess) -> None:
    prefix = prefix_of_its_own()
    live = patient(process.url.replace("//", "//:sesame@"), prefix)
    for tenant in ("ann", "bob"):
        await live.remember(tenant, {"a": b"1"}, 100)
        await live.take(tenant, [Want("requests", 60)])
    await forget_there(LiveSettings(), "ann")
    assert await live.recall("ann", ["a"]) == {"a": b"1"}
    await forget_there(settings(process, prefix=prefix), "ann")
    assert await live.recall("ann", ["a"]) == {}
    assert await live.recall("bob", ["a"]) == {"a": b"1"}
    await live.close()
    with pytest.raises(StoreDown):
        await forget_there(settings(process, ":wrong"), "ann")
