"""The files of the store as commands find them. Most of it is met in `test_store_commands`."""

import os
from pathlib import Path

import pytest

from proxy.commands.store_files import StoreFiles
from proxy.commands.store_finding import found, proved
from proxy.settings.root import Settings
from proxy.settings.store import StoreSettings
from proxy.storage import CannotStore
from tests.support.stores import hold_lock, record, sqlite_at


def settings_at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(url=f"sqlite:{directory}", wait_seconds=0.1))


async def made(directory: Path) -> Path:
    path = directory / "state.db"
    engine = sqlite_at(path)
    await engine.open()
    await engine.close()
    return path


OWNER = 12345 if os.geteuid() == 0 else os.geteuid()
"""Only root can give files away. Where the tests run as another user, they see less."""


async def test_nothing_of_another_user_becomes_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else its owner could not open it any more."""
    settings = settings_at(tmp_path)
    await made(tmp_path)
    give_away(tmp_path)
    with monkeypatch.context() as patching:
        patching.setattr(os, "geteuid", lambda: OWNER + 1)
        with pytest.raises(
            CannotStore, match=rf"to the user {OWNER}, and there is no live\.db yet: run this"
        ):
            found(settings)
    async with StoreFiles(settings, tmp_path).opened():
        pass
    give_away(tmp_path)
    async with found(settings).opened() as (records, live):
        await records.save("t", record())
        await live.remember("t", {"a": b"b"}, 60)
        assert len(found(settings).all) == 8, "with the logs that SQLite writes"
        assert owners(tmp_path) == {OWNER}
    assert owners(tmp_path) == {OWNER}


def give_away(folder: Path) -> None:
    for path in folder.iterdir():
        os.chown(path, OWNER, -1)


def owners(folder: Path) -> set[int]:
    return {path.stat().st_uid for path in folder.iterdir()}


async def test_a_proxy_that_stands_still_with_the_lock_holds_no_command_up(tmp_path: Path) -> None:
    """U09. It may end by then: no reason not to start."""
    settings = settings_at(tmp_path)
    files = found(settings)
    holder = await hold_lock(await made(tmp_path))
    try:
        with pytest.raises(CannotStore, match="another process holds its lock"):
            await files.inspect()
        with pytest.raises(CannotStore, match="does not answer"):
            async with files.opened():
                raise AssertionError
        told = await proved(settings)
        assert f"responses are kept in {tmp_path}, unless" in told
        assert "; but now that does not work (" in told
        assert "another process holds its lock" in told
    finally:
        holder.kill()
        await holder.wait()
