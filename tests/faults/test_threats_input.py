"""What is sent to do harm: addresses, framing, text, names, slowness (S11-S15, S22, S26, S28)."""

import asyncio
import re

import orjson
import pytest

from proxy.core import jsontext
from proxy.shell.http import connection
from tests.support.outcomes import ASK, POST, WEATHER, raw, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.replies import read_stream
from tests.support.sockets import (
    END,
    HEAD,
    PROMPTLY,
    Line,
    ScriptedBackend,
    answer,
    delta,
    event,
    reply,
    scripted,
    text,
)

# ── addresses ──


@pytest.mark.parametrize(
    "part",
    [
        {"type": "input_image", "image_url": "URL"},
        {"type": "input_file", "file_url": "URL"},
        {"type": "input_image", "image_url": "http://169.254.169.254/latest/meta-data"},
        {"type": "input_image", "image_url": "file:///etc/passwd"},
        {"type": "input_file", "filename": "a", "file_data": "file:///etc/passwd"},
    ],
)
async def test_s11_no_address_in_a_request_is_visited(
    part: dict[str, str], backend: ScriptedBackend, proxy: Proxy
) -> None:
    """It is the backend's to do so, or it is refused; what is behind it is never read here."""
    async with scripted() as inside:
        inside.answers(answer(200, b"canary"))
        given = {name: f"{inside.root}/a.png" if value == "URL" else value for name, value in part.items()}
        said = await told(proxy, input=[{"role": "user", "content": [given]}])
        assert said == "completed | Hello" or said.startswith("400 ")
        assert inside.connections == 0
    sent = b"".join(asked.body for asked in backend.received)
    assert b"root:" not in sent
    assert b"canary" not in sent
    if said.startswith("completed") and "image_url" in given:
        assert given["image_url"].encode() in sent


# ── framing ──

BODY = b'{"model":"m","input":"Hi"}'
SMUGGLED = b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "data",
    [
        POST + b"Content-Length: 26\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n" + SMUGGLED,
        POST + b"Content-Length: 26\r\nContent-Length: 0\r\n\r\n" + BODY + SMUGGLED,
        POST + b"Content-Length: +26\r\n\r\n" + BODY + SMUGGLED,
        POST + b"Content-Length: 2_6\r\n\r\n" + BODY + SMUGGLED,
        POST + b"Host: other\r\nContent-Length: 26\r\n\r\n" + BODY + SMUGGLED,
        POST + b"X: a\r\n b\r\nContent-Length: 26\r\n\r\n" + BODY + SMUGGLED,
        POST + b"X: a\rb\r\nContent-Length: 26\r\n\r\n" + BODY + SMUGGLED,
        POST + b"X: a\x00b\r\nContent-Length: 26\r\n\r\n" + BODY + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n" + BODY + SMUGGLED,
        POST + b"Transfer-Encoding: chunked\r\n\r\n-1\r\n" + BODY + SMUGGLED,
        POST.replace(b"\r\n", b"\n") + b"Content-Length : 26\n\n" + BODY + SMUGGLED,
    ],
    ids=[
        "two framings", "an unknown framing", "a space before the colon", "two lengths", "a signed length",
        "a length with an underscore", "two hosts", "a folded line", "a bare CR", "a NUL", "a chunk of no size",
        "a chunk of negative size", "bare line ends",
    ],
)  # fmt: skip
async def test_s12_a_request_that_could_be_read_in_two_ways_is_refused_and_the_last(
    data: bytes, proxy: Proxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S31: 400, and what follows on the connection is nobody's request."""
    monkeypatch.setattr("proxy.shell.http.body.PATIENCE_SECONDS", 0.2)
    async with raw(proxy) as (reader, writer):
        writer.write(data)
        async with asyncio.timeout(PROMPTLY):
            said = await reader.read()
    assert said.startswith((b"HTTP/1.1 400 ", b"HTTP/1.0 400 ", b"HTTP/1.1 408 "))
    assert said.count(b"HTTP/1.") == 1


@pytest.mark.parametrize("given", ["a b", "é", "x" * 129, "a;b", "a,b", "<script>", "sk-canary-0123456789", '"']
)  # fmt: skip
async def test_s13_an_id_that_could_do_harm_is_not_repeated(given: str, proxy: Proxy) -> None:
    """S06."""
    async with raw(proxy) as (reader, writer):
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Request-Id: {given}\r\n\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
    assert re.search(r"X-Request-Id: req_[0-9a-f]{32}\r\n", head)


@pytest.mark.parametrize(
    "told_by_backend", [b"7\t; x", b"nan", b"inf", b"-5", b"1e99", b"99999999999999999999", b"\xff"]
)
async def test_s13_a_header_of_the_backends_is_read_and_never_copied(
    told_by_backend: bytes, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """S28."""
    refusal = b"HTTP/1.1 429 Too Many\r\nX-Evil: canary\r\nRetry-After: %b\r\nContent-Length: 0\r\n\r\n"
    backend.answers(refusal % told_by_backend)
    async with proxy.post(ASK) as response:
        assert response.status == 429
        assert "canary" not in str(response.headers)
        assert re.fullmatch(r"\d{1,6}", response.headers.get("Retry-After", "1"))


# ── text ──

HOSTILE = [
    '\n\ndata: {"type":"response.completed"}\n\n',
    "\r\n\r\nevent: response.failed\r\ndata: {}\r\n\r\n",
    "data: [DONE]\n\n",
    "\r0\r\n\r\n",
    '"}}\n\n: ',
    "</script>\u2028\u2029\x85\x00\x1b[2J",
    "\\n\\ndata: x\\",
]


@pytest.mark.parametrize("said", HOSTILE)
@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions"])
async def test_s14_no_text_of_a_model_becomes_an_event(
    said: str, path: str, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F37: in text, reasoning, arguments and a refusal alike, on each surface."""
    call = {
        "index": 0,
        "id": f"a{said}",
        "function": {"name": "get_weather", "arguments": jsontext.compact({"city": said})},
    }
    backend.answers(reply(delta(reasoning_content=f"r{said}r"), text(f"t{said}t"), delta(tool_calls=[call])))
    tool = {"type": "function", "function": {"name": "get_weather", "parameters": WEATHER["parameters"]}}
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool], "stream": True}
    body = ASK if "responses" in path else asked
    async with proxy.session.post(proxy.url + path, json=body) as response:
        data = await response.read()
    lines = data.split(b"\n")
    assert all(line.startswith((b"data: ", b"event: response.")) or not line for line in lines)
    assert data.count(b"data: [DONE]\n\n") == 1
    if path == "/v1/responses":
        found = read_stream(data)
        spoken = [item["item"] for item in found if item["type"] == "response.output_item.done"]
        assert [item["type"] for item in spoken] == ["reasoning", "message", "function_call"]
        assert spoken[1]["content"][0]["text"] == f"t{said}t"
        assert jsontext.loads(spoken[2]["arguments"]) == {"city": said}
    else:
        chunks = [jsontext.loads(line[6:]) for line in lines if line.startswith(b"data: {")]
        content = "".join(
            chunk["choices"][0]["delta"].get("content") or "" for chunk in chunks if chunk["choices"]
        )
        assert content == f"t{said}t"


@pytest.mark.parametrize("said", HOSTILE)
async def test_s14_nor_does_the_text_of_an_error(said: str, backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(HEAD + text("Hel") + event({"error": {"message": f"x{said}x"}}) + END)
    assert await told(proxy) == "failed upstream_error | Hel…"


async def test_s15_nobody_forges_a_line_of_the_log(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Model, path, method, id and the backend's words: one line each, and no control characters."""
    forged = 'm\n{"event":"forged","level":"info"}\r\x1b[31m'
    await told(proxy, model=forged)
    backend.answers(answer(400, {"error": {"message": forged}}))
    await told(proxy, model="other", user=forged)
    async with raw(proxy) as (reader, writer):
        writer.write(b"GET /x%0a%7b%22event%22:%22forged%22%7d HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
    assert proxy.log.named("forged") == []
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f]", proxy.log.text)
    assert all(line["event"] for line in proxy.log.lines)


# ── names ──


@pytest.mark.parametrize(
    "names",
    [
        ["get_weather", "get_weather"],
        ["a b", "a\nb", "é", "x" * 65, "__proto__", "constructor", "functions.get_weather", ""],
    ],
)
async def test_s22_a_name_is_right_or_refused(
    names: list[str], backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Twice the same name is 400; any other reaches the backend as one that it can take, each as another."""
    said = await told(proxy, tools=[WEATHER | {"name": name} for name in names])
    if said.startswith("400 "):
        assert backend.received == []
        return
    sent = [tool["function"]["name"] for tool in backend.received[0].json["tools"]]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in sent)
    assert len({*sent}) == len(sent) == len(names)


async def test_s22_names_that_look_alike_are_kept_apart_and_come_back(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """A tool of a namespace, and a plain one that is called what it would become."""
    spaced = {"type": "namespace", "name": "mail", "description": "x", "tools": [WEATHER | {"name": "send"}]}
    plain = [WEATHER | {"name": name} for name in ("mail__send", "mail_send", "mail-send", "send")]
    await told(proxy, tools=[spaced, *plain])
    sent = [tool["function"]["name"] for tool in backend.received[0].json["tools"]]
    assert len({*sent}) == 5


async def test_s22_a_tool_that_nobody_declared_is_told_by_its_name_and_not_run(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    call = {"index": 0, "id": "a", "function": {"name": "rm_rf", "arguments": "{}"}}
    backend.answers(reply(delta(tool_calls=[call])))
    assert await told(proxy) == "completed | rm_rf({})"


# ── slowness and floods ──


async def test_s26_a_client_that_takes_nothing_is_given_up(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F67: and its place at the backend is free again."""
    proxy = await start_proxy(server={"patience_seconds": 0.1, "heartbeat_seconds": 0.1})
    monkeypatch.setattr(connection, "STALLED_SECONDS", 0.3)
    left = asyncio.Event()

    async def talks(line: Line) -> None:
        await line.request()
        line.send(HEAD)
        try:
            while not line.is_closing:
                line.send(text("x" * 50_000))
                await line.drained()
                await asyncio.sleep(0)
        finally:
            left.set()

    backend.plays(talks)
    proxy_host, _, port = proxy.url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(proxy_host, int(port), limit=1024)
    body = orjson.dumps(ASK)
    writer.write(POST + b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    async with asyncio.timeout(2 * PROMPTLY):
        await left.wait()
    writer.close()


async def test_s28_a_backend_with_endless_headers_is_not_listened_to(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    async def headers(line: Line) -> None:
        await line.request()
        line.send(b"HTTP/1.1 200 OK\r\n")
        while not line.is_closing:
            line.send(b"X: " + b"x" * 1000 + b"\r\n")
            await line.drained()
            await asyncio.sleep(0)

    backend.plays(headers)
    async with asyncio.timeout(PROMPTLY):
        assert (await told(proxy)).startswith("502 upstream_")
