"""The files of the store as commands find them. Most of it is met in `test_store_commands`."""

import os
from pathlib import Path

import pytest

from proxy.settings import Settings, StoreSettings
from proxy.storage import CannotStore
from proxy.store_files import files_of, proved
from tests.support.stores import hold_lock, sqlite_at


def settings_at(directory: Path) -> Settings:
    return Settings(store=StoreSettings(url=f"sqlite:{directory}", wait_seconds=0.1))


async def made(directory: Path) -> Path:
    path = directory / "state.db"
    engine = sqlite_at(path)
    await engine.open()
    await engine.close()
    return path


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
async def test_the_files_of_another_user_are_left_alone(tmp_path: Path) -> None:
    """What root made beside them could not be opened by their owner."""
    path = await made(tmp_path)
    os.chown(path, 12345, 12345)
    with pytest.raises(
        CannotStore, match=r"state.db belongs to the user 12345: run this command as that user"
    ):
        files_of(settings_at(tmp_path))


async def test_a_proxy_that_stands_still_with_the_lock_holds_no_command_up(tmp_path: Path) -> None:
    """U09. It may end by then: no reason not to start."""
    settings = settings_at(tmp_path)
    files = files_of(settings)
    holder = await hold_lock(await made(tmp_path))
    try:
        with pytest.raises(CannotStore, match="another process holds its lock"):
            files.inspect()
        with pytest.raises(CannotStore, match="does not answer"):
            async with files.opened():
                raise AssertionError
        assert "are kept in" in proved(settings)
    finally:
        holder.kill()
        await holder.wait()
