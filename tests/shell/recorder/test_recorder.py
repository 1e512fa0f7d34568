"""Which exchanges are kept, over real sockets: each is a file that replays to the events that its client saw."""

import stat
from pathlib import Path

import pytest

from proxy.core.recorded.lines import read
from tests.support.proxies import Proxy, StartProxy
from tests.support.recorded_files import kept, one, recorder
from tests.support.sockets import ScriptedBackend, answer, delta, finish, reply, text
from tests.support.two_backends import BUSY, HELLO, StartBoth

KEY = "key-of-the-backend-0123456789"
CLIENT_KEY = "key-of-the-client-0123456789"
CANARIES = (KEY[4:18].encode(), CLIENT_KEY[4:18].encode())


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


async def test_a_check_that_was_given_up_is_replayed_as_it_went(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It depends on the machine and its load, and would never end without a limit."""
    monkeypatch.setattr("proxy.shell.offload.processes.CHECK_SECONDS", 0.1)
    endless = {"type": "string", "pattern": "^((((a*){2}){2}){2}){2}$"}
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"x": endless}}}
    called = delta(
        tool_calls=[{"index": 0, "id": "c", "function": {"name": "f", "arguments": f'{{"x":"{"a" * 40}!"}}'}}]
    )
    backend.answers(reply(called, finish("tool_calls")))
    proxy = await start_proxy(limits={"validate_tool_arguments": "enforce"}, **recorder(tmp_path))
    await proxy.stream(tools=[tool])
    (verdict,) = (await one(tmp_path)).request.conditions.verdicts
    assert (verdict.tool, verdict.code) == ("f", "unchecked_tool_arguments")
