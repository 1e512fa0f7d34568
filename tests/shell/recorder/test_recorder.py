"""Which exchanges are kept, over real sockets: each is a file that replays to the events that its client saw."""

import asyncio
import stat
import threading
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from proxy.core.recorded.difference import differences
from proxy.core.recorded.lines import read
from proxy.core.recorded.recording import Recording
from proxy.core.recorded.replay import replay
from proxy.shell.recorder.shelf import ENDING
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import PROMPTLY, ScriptedBackend, answer, reply, text
from tests.support.two_backends import BUSY, HELLO, StartBoth

KEY = "key-of-the-backend-0123456789"
CLIENT_KEY = "key-of-the-client-0123456789"
CANARIES = (KEY[4:18].encode(), CLIENT_KEY[4:18].encode())


async def kept(directory: Path, number: int = 1) -> list[Path]:
    """The files, when there are so many. A thread writes them, and tells nobody."""
    return await asyncio.to_thread(_kept, directory, number)


def _kept(directory: Path, number: int) -> list[Path]:
    nobody = threading.Event()
    until = monotonic() + PROMPTLY
    while len(found := sorted(directory.glob(f"*{ENDING}"))) < number:
        assert monotonic() < until
        nobody.wait(0.001)
    return found


async def one(directory: Path) -> Recording:
    (path,) = await kept(directory)
    recording = read(path.read_bytes())
    assert differences(recording, replay(recording)) == []
    return recording


def recorder(directory: Path, keep: str = "all", **more: Any) -> dict[str, Any]:
    return {"recorder": {"keep": keep, "directory": str(directory), **more}}


async def settled(proxy: Proxy, directory: Path) -> list[str]:
    """What each file is of, after an exchange that is surely kept."""
    await proxy.refused(input=7)
    await kept(directory)
    return [read(path.read_bytes()).request.request_id for path in await kept(directory)]


async def test_a_file_is_for_its_owner_alone(start_proxy: StartProxy, tmp_path: Path) -> None:
    directory = tmp_path / "of" / "recordings"
    proxy = await start_proxy(**recorder(directory))
    await proxy.stream()
    (path,) = await kept(directory)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert (await one(directory)).end.facts["backend"] == "backend"


async def test_only_failures(start_both: StartBoth, backend: ScriptedBackend, tmp_path: Path) -> None:
    backend.answers(BUSY, HELLO)
    proxy = await start_both(retries={"attempts": 1}, **recorder(tmp_path, "faults"))
    async with proxy.post({"model": "m", "input": "Hi"}) as response:
        assert response.status == 200
    mended = await one(tmp_path)
    assert [attempt.status for attempt in mended.attempts] == [529, 200]
    await proxy.stream()
    await proxy.refused(input=7)
    assert len(await kept(tmp_path, 2)) == 2


@pytest.mark.parametrize(("share", "number"), [(1.0, 2), (1e-12, 0)])
async def test_a_share(start_proxy: StartProxy, tmp_path: Path, share: float, number: int) -> None:
    proxy = await start_proxy(**recorder(tmp_path, "sampled", share=share))
    for _ in range(2):
        await proxy.stream()
    assert len(await kept(tmp_path, number)) == number


async def test_no_key_is_in_any_file(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path
) -> None:
    """S05, S06: the proxy's own keys and the client's, wherever they were put."""
    backend.answers(answer(401, {"error": {"message": f"Incorrect API key {KEY}, not {CLIENT_KEY}."}}))
    proxy = await start_proxy(
        backend={"key": KEY, "headers": {"X-Gate": KEY}}, retries={"attempts": 1}, **recorder(tmp_path)
    )
    headers = {"Authorization": f"Bearer {CLIENT_KEY}", "Cookie": f"a={CLIENT_KEY}", "X-Mine": CLIENT_KEY}
    body = {"model": "m", "input": f"My key is {CLIENT_KEY}, yours {KEY}.", "metadata": {"key": CLIENT_KEY}}
    async with proxy.session.post(
        f"{proxy.url}/v1/responses?key={CLIENT_KEY}", json=body, headers=headers
    ) as response:
        assert response.status == 502
    (path,) = await kept(tmp_path)
    data = path.read_bytes()
    assert not [canary for canary in CANARIES if canary in data]
    assert b"[redacted]" in data
    assert read(data).end.status == 502


async def test_a_disk_that_takes_nothing_hurts_no_request(start_proxy: StartProxy, tmp_path: Path) -> None:
    directory = tmp_path / "gone"
    proxy = await start_proxy(**recorder(directory))
    directory.rmdir()
    directory.write_bytes(b"no directory")
    assert (await proxy.stream())[-1].name == "done"
    line = await proxy.log.wait_for("recording_lost")
    assert line["reason"] == "disk"
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        told = [line for line in (await response.text()).splitlines() if 'reason="disk"' in line]
    assert any("recordings_lost_total" in line for line in told)


async def test_what_was_refused_at_the_door_is_no_exchange(start_proxy: StartProxy, tmp_path: Path) -> None:
    proxy = await start_proxy(**recorder(tmp_path))
    async with proxy.session.post(f"{proxy.url}/v1/nowhere", json={}):
        pass
    assert len(await settled(proxy, tmp_path)) == 1


async def test_masked_it_holds_no_word_of_what_was_said(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path
) -> None:
    """S06."""
    backend.answers(reply(text("Canary of the model")))
    proxy = await start_proxy(**recorder(tmp_path, content="masked"))
    assert (await proxy.stream(input="Canary of the client"))[-1].name == "done"
    (path,) = await kept(tmp_path)
    assert b"anary" not in path.read_bytes()
    assert (await one(tmp_path)).content == "masked"
