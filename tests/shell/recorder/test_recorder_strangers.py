"""What strangers can do by recordings: with names, texts, headers and ids, with much of everything, and with keys."""

import asyncio
import stat
from pathlib import Path
from typing import Any

import pytest

from proxy.cli import main
from proxy.core import jsontext
from proxy.core.masking.unseen import UNSEEN
from proxy.core.recorded.difference import differences
from proxy.core.recorded.lines import read
from proxy.core.recorded.replay import replay
from proxy.shell.recorder.retention import ENDING
from tests.support.proxies import StartProxy, final
from tests.support.recorded_files import kept, one, recorder
from tests.support.sockets import PROMPTLY, ScriptedBackend, answer, delta, finish, reply, text
from tests.support.two_tenants import KEYS, TENANTS, shown_by

HOSTILE = (
    "\x1b]0;mine\x07\x1b[2J\r\n\u202eevil\x9b1A\u2028\x7f\U000e0041"
    '\n{"end":{"status":200,"seconds":0}}\n\ndata: {"type":"response.completed"}\n\n'
)
"""A terminal's commands, a text that hides, a line that would end a recording, and an event that would end a stream."""

MIB = 1 << 20


def tool(name: str = "get") -> dict[str, Any]:
    return {"type": "function", "name": name, "parameters": {"type": "object", "properties": {HOSTILE: {}}}}


async def test_nothing_that_is_said_ends_a_line_or_reaches_a_terminal(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S14, S15: texts, thoughts, names and arguments of tools, headers, and errors of backends."""
    call = {"index": 0, "id": HOSTILE, "function": {"name": HOSTILE, "arguments": HOSTILE}}
    known = call | {
        "index": 1,
        "function": {"name": "get", "arguments": jsontext.compact({HOSTILE: HOSTILE})},
    }
    backend.answers(
        reply(
            text(HOSTILE),
            delta(reasoning_content=HOSTILE),
            delta(tool_calls=[call]),
            delta(tool_calls=[known]),
        ),
        answer(400, {"error": {"message": HOSTILE, "code": HOSTILE, "type": HOSTILE}}),
    )
    proxy = await start_proxy(**recorder(tmp_path))
    said = {"model": HOSTILE, "input": HOSTILE, "instructions": HOSTILE, "metadata": {"a": HOSTILE}}
    await proxy.stream(**said, tools=[tool()], **{HOSTILE: HOSTILE})
    async with proxy.post({"model": "m"} | said | {"tools": [tool()]}, **{"User-Agent": "a\x9b1A\u202e"}):
        pass
    await proxy.refused(tools=[tool(HOSTILE)])
    for path in await kept(tmp_path, 3):
        data = path.read_text(encoding="utf-8")
        assert all(UNSEEN.search(line) is None for line in data.split("\n"))
        recording = read(data.encode())
        assert differences(recording, replay(recording)) == []
        for options in ([], ["--cut", "bytes"], ["--profile", "anthropic"], ["--client", "codex", "--quiet"]):
            main(["replay", str(path), *options])
        told = capsys.readouterr()
        assert all(UNSEEN.search(line) is None for line in (told.out + told.err).split("\n"))


async def test_a_file_is_named_by_us(start_proxy: StartProxy, tmp_path: Path) -> None:
    """Whatever a client calls its request, and though a file of that name is there, which belongs to somebody else."""
    directory = tmp_path / "recordings"
    directory.mkdir(mode=0o755)
    secret = tmp_path / "secret"
    secret.write_text("theirs", encoding="utf-8")
    proxy = await start_proxy(**recorder(directory))
    for name in ("../../secret", "..", ".", "a" * 128, "CON", "-rf", "%2e%2e%2fsecret"):
        async with proxy.post({"model": "m", "input": "Hi"}, **{"X-Request-Id": name}) as response:
            assert response.status == 200
    for path in await kept(directory, 7):
        assert path.name.removesuffix(ENDING).replace("-", "").replace("_", "").isalnum()
        assert len(path.name) < 120
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert secret.read_text(encoding="utf-8") == "theirs"


async def test_a_key_in_the_id_of_a_request_is_not_in_the_name_of_its_file(
    start_proxy: StartProxy, tmp_path: Path
) -> None:
    """S06."""
    key = "correct-horse-battery-staple"
    proxy = await start_proxy(**recorder(tmp_path))
    headers = {"Authorization": f"Bearer {key}", "X-Request-Id": key}
    async with proxy.post({"model": "m", "input": "Hi"}, **headers) as response:
        assert response.status == 200
    (path,) = await kept(tmp_path)
    assert "horse" not in path.name
    assert b"horse" not in path.read_bytes()


async def test_a_key_that_is_forwarded_is_in_no_file(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path
) -> None:
    """S05, S06: also where the model spells it out, letter by letter and between two calls."""
    key = KEYS["ann"]
    letters = [
        delta(
            tool_calls=[{"index": index, "id": f"c{index}", "function": {"name": "get", "arguments": letter}}]
        )
        if number == 0
        else delta(tool_calls=[{"index": index, "function": {"arguments": letter}}])
        for number, letter in enumerate(f'{{"a":"{key}"}}')
        for index in (0, 1)
    ]
    backend.answers(reply(*map(text, f"Your key is {key}."), *letters, finish("tool_calls")))
    proxy = await start_proxy(backend={"forward_key": True}, **recorder(tmp_path))
    headers = {"Authorization": f"Bearer {key}"}
    body = {"model": "m", "input": "What is my key?", "stream": True, "tools": [tool()]}
    async with proxy.post(body, **headers) as response:
        assert key.encode() in await response.read()
    assert backend.received[0].headers["authorization"] == f"Bearer {key}"
    recording = await one(tmp_path)
    (path,) = await kept(tmp_path)
    assert key.encode() not in path.read_bytes()
    again = replay(recording)
    told = b"".join(again.frames).decode()
    assert key not in told
    assert "x" * len(key) in told


async def test_of_another_tenant_it_holds_nothing(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path
) -> None:
    """S24: what a request names is in its recording, and only if it is its tenant's."""
    backend.answers(reply(text("canary of ann")), reply(text("Hello")))
    proxy = await start_proxy(tenants=TENANTS, **recorder(tmp_path))
    body = {"model": "m", "input": "Hi", "stream": True, "store": True}
    async with proxy.post(body, **shown_by("ann")) as response:
        id = (await response.read()).partition(b'"id":"')[2].partition(b'"')[0].decode()
    assert id.startswith("resp_")
    for name, status in (("bob", 400), ("ann", 200)):
        async with proxy.post(
            {"model": "m", "input": "More", "previous_response_id": id}, **shown_by(name)
        ) as response:
            assert response.status == status
    told = {}
    for path in await kept(tmp_path, 3):
        recording = read(path.read_bytes())
        assert differences(recording, replay(recording)) == []
        told[recording.request.conditions.tenant["name"], recording.end.status] = path.read_bytes()
    assert b"canary of ann" in told["ann", 200]
    assert b"canary of ann" not in told["bob", 400]


async def test_no_name_of_anybody_becomes_a_label(start_proxy: StartProxy, tmp_path: Path) -> None:
    """S29."""
    proxy = await start_proxy(**recorder(tmp_path))
    await proxy.stream(model="canary-model", tools=[tool("canary_tool")])
    await kept(tmp_path)
    told: set[str] = set()
    async with asyncio.timeout(PROMPTLY):
        while not told:  # a file is there before it is counted
            async with proxy.session.get(f"{proxy.url}/metrics") as response:
                lines = (await response.text()).splitlines()
            told = {line.partition(" ")[0] for line in lines if line.startswith("responses_proxy_recordings")}
    assert "canary" not in "".join(lines)
    assert told == {'responses_proxy_recordings_total{what="whole",worker="0"}'}


@pytest.mark.parametrize("path", ["/recordings", "/v1/recordings", "/recorder", "/inspector/data/recordings"])
async def test_nobody_gets_them_over_http(start_proxy: StartProxy, tmp_path: Path, path: str) -> None:
    """S30, S31: there is no door to them."""
    proxy = await start_proxy(**recorder(tmp_path))
    async with proxy.session.get(proxy.url + path) as response:
        assert response.status == 404


async def test_all_files_together_stay_within_their_bound(
    start_proxy: StartProxy, backend: ScriptedBackend, tmp_path: Path
) -> None:
    """Also where what was sent takes six times as many bytes in a file, and where one alone would take too many."""
    backend.answers(*[reply(text("Hello"))] * 12)
    proxy = await start_proxy(**recorder(tmp_path, max_mib=1))
    for size in (*[10_000] * 10, 150_000):
        async with proxy.post({"model": "m", "input": "\x1b" * size}) as response:
            assert response.status == 200
    assert (await proxy.log.wait_for("recording_lost"))["reason"] == "too_large"
    assert 0 < size_of(tmp_path) <= MIB


def size_of(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.iterdir())


async def test_of_what_there_is_no_room_for_the_rest_is_kept(
    start_proxy: StartProxy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("proxy.watchers.REQUEST_BYTES", 10_000)
    proxy = await start_proxy(**recorder(tmp_path))
    found = await proxy.stream(input="a" * 20_000)
    (path,) = await kept(tmp_path)
    recording = read(path.read_bytes())
    assert recording.cut
    assert (recording.request.body, recording.frames) == (None, [])
    assert recording.end.facts["response_id"] == final(found)["id"]
    assert path.stat().st_size < 10_000
