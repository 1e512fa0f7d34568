"""Who watches is what the settings ask for."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from proxy.process import CannotStart
from proxy.settings.root import Settings
from tests.support.proxies import StartProxy, backend, start_proxy

__all__ = ["backend", "start_proxy"]


async def test_by_default_nobody_watches(start_proxy: StartProxy) -> None:
    proxy = await start_proxy()
    await proxy.stream()
    assert proxy.log.request["status"] == 200


async def test_a_recorder_that_has_no_place_does_not_start(start_proxy: StartProxy, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(CannotStart, match=r"recorder\.directory"):
        await start_proxy(recorder={"keep": "all", "directory": str(tmp_path / "file" / "below")})
    with pytest.raises(ValidationError, match=r"recorder\.directory"):
        Settings.model_validate({"recorder": {"keep": "all"}})
