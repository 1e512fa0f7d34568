"""Who gets in, whose keys go where, and what is kept apart (S01-S10, S23-S25, S29-S35)."""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from proxy.core.tenants import Tenants, digest
from proxy.shell.serving.routes import ROUTES
from tests.support.outcomes import ASK, WEATHER, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import (
    DONE,
    END,
    HEAD,
    ScriptedBackend,
    answer,
    delta,
    event,
    finish,
    reply,
    scripted,
    text,
)
from tests.support.two_tenants import KEYS, TENANTS, shown_by

ROOT = Path(__file__).parents[2]
CALL = delta(
    tool_calls=[{"index": 0, "id": "backends_id", "function": {"name": "get_weather", "arguments": "{}"}}]
)


async def spoken(proxy: Proxy, data: bytes) -> bytes:
    """The answer to raw bytes, until the connection is closed or nothing more comes with what was asked."""
    host, _, port = proxy.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write(data)
        async with asyncio.timeout(5):
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"(?i)content-length: (\d+)", head)
            return head + (await reader.readexactly(int(length[1])) if length else b"")
    finally:
        writer.close()


@pytest.fixture
async def guarded(start_proxy: StartProxy) -> Proxy:
    return await start_proxy(tenants=TENANTS, backend={"key": "canary-key-0123"})


# ── the door ──

DOORS = [
    ("POST", "/v1/responses"),
    ("GET", "/v1/responses"),
    ("POST", "/v1/responses/compact"),
    ("POST", "/v1/responses/input_tokens"),
    ("GET", "/v1/responses/resp_1"),
    ("DELETE", "/v1/responses/resp_1"),
    ("POST", "/v1/responses/resp_1/cancel"),
    ("GET", "/v1/responses/resp_1/input_items"),
    ("POST", "/v1/conversations"),
    ("GET", "/v1/conversations/conv_1"),
    ("POST", "/v1/conversations/conv_1"),
    ("DELETE", "/v1/conversations/conv_1"),
    ("GET", "/v1/conversations/conv_1/items"),
    ("POST", "/v1/conversations/conv_1/items"),
    ("GET", "/v1/conversations/conv_1/items/msg_1"),
    ("DELETE", "/v1/conversations/conv_1/items/msg_1"),
    ("POST", "/v1/chat/completions"),
    ("POST", "/native/v1/chat/completions"),
    ("GET", "/v1/models"),
    ("GET", "/v1/models/m"),
    ("GET", "/metrics"),
]
OPEN = ("/healthz", "/readyz", "/openapi.json", "/openapi\\.json")
NO_KEYS = [
    b"",
    b"Authorization: Bearer wrong\r\n",
    b"Authorization: Bearer \r\n",
    b"Authorization: Basic YTpi\r\n",
    b"Authorization: nonsense\r\n",
    b"Authorization: Bearer " + b"x" * 4000 + b"\r\n",
    b"Authorization: Bearer \xff\xfe\xc3\r\n",
    b"Authorization: Bearer ' OR '1'='1' --\r\n",
    b"X-Api-Key: wrong\r\n",
    b"Api-Key: null\r\n",
    b"Authorization: Bearer " + digest(KEYS["ann"]).encode() + b"\r\n",
]


@pytest.mark.parametrize(("method", "path"), DOORS)
async def test_s01_nobody_gets_in_without_a_key(
    method: str, path: str, guarded: Proxy, backend: ScriptedBackend
) -> None:
    """S02, S03: one answer for all of them, given before the body has come, whatever the key is made of."""
    answers = set()
    for key in NO_KEYS:
        line = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n".encode()
        said = await spoken(guarded, line + key + b"Content-Length: 9999\r\n\r\n{")
        answers.add(re.sub(rb"(?mi)^(date|x-request-id): .*\r\n", b"", said))
    (said,) = answers
    assert said.startswith(b"HTTP/1.1 401 ")
    assert b'"code":"invalid_api_key"' in said
    assert b"\r\nWWW-Authenticate: Bearer\r\n" in said
    assert backend.received == []


def test_s01_no_door_was_forgotten() -> None:
    """A new path needs its line above, or stands open with the two for whoever watches over the process. The
    inspector's door has tests of its own (`shell/inspector/test_door`, `shell/serving/test_inspection`)."""
    for path, *_ in ROUTES:
        known = [door for _, door in DOORS if path.fullmatch(door)]
        assert known or path.pattern in OPEN or path.pattern.startswith("/inspector"), path.pattern


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_s01_whoever_watches_needs_no_key(path: str, guarded: Proxy) -> None:
    async with guarded.session.get(guarded.url + path) as response:
        assert response.status == 200


@pytest.mark.parametrize("header", ["Authorization", "x-api-key", "Api-Key"])
async def test_s01_a_key_opens_it(header: str, guarded: Proxy) -> None:
    key = KEYS["ann"]
    shown = {header: f"bearer {key}" if header == "Authorization" else key}
    assert await told(guarded, shown) == "completed | Hello"


async def test_s02_a_key_may_be_any_text(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(tenants={"ann": {"keys": [digest("schlüssel-ключ")]}})
    body = b'{"model":"m","input":"Hi"}'
    head = "POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer schlüssel-ключ\r\n"
    length = f"Content-Length: {len(body)}\r\n\r\n"
    assert (await spoken(proxy, (head + length).encode() + body)).startswith(b"HTTP/1.1 200 ")


async def test_s04_no_key_is_nobodys_even_if_its_digest_is_configured(start_proxy: StartProxy) -> None:
    """What `sha256sum` makes of a variable that was not set."""
    proxy = await start_proxy(tenants={"ann": {"keys": [digest("")]}})
    for shown in ({}, {"Authorization": "Bearer "}, {"x-api-key": ""}):
        assert (await told(proxy, shown)).startswith("401 ")


async def test_s04_a_failure_to_find_out_who_asks_is_no_answer_to_it(
    guarded: Proxy, backend: ScriptedBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tenants, "of", lambda *_: 1 / 0)
    assert await told(guarded, shown_by("ann")) == "500 server_error"
    assert backend.received == []


@pytest.mark.parametrize(
    "line",
    [
        b"GET http://h/v1/models HTTP/1.1\r\nHost: localhost\r\n",
        b"GET //v1/models HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /healthz/../v1/models HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /healthz/%2e%2e/v1/models HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /healthz;/v1/models HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /healthz%2f..%2fv1/models HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /v1/models?/healthz HTTP/1.1\r\nHost: localhost\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: localhost/healthz?\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-Path: /healthz\r\nX-Original-URL: /healthz\r\n",
        b"GET /v1/models HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 127.0.0.1\r\n",
    ],
)
async def test_s31_no_spelling_of_host_or_path_opens_it(line: bytes, guarded: Proxy) -> None:
    status = (await spoken(guarded, line + b"\r\n")).split()[1]
    assert status in (b"400", b"401", b"404")


async def test_s30_there_is_no_back_door(guarded: Proxy) -> None:
    for path in ("/debug", "/admin", "/docs", "/.env", "/v1/../debug", "/debug/pprof", "/server-status"):
        async with guarded.session.get(guarded.url + path) as response:
            assert response.status in (401, 404)


# ── keys that stay where they belong ──

PRIVATE = {
    "Authorization": "Bearer canary-bearer",
    "X-Api-Key": "canary-x-api-key",
    "Api-Key": "canary-api-key",
    "Cookie": "session=canary-cookie",
    "Proxy-Authorization": "Basic canary",
    "X-Goog-Api-Key": "canary-goog",
    "OpenAI-Organization": "canary-organization",
    "X-Forwarded-For": "canary-address",
    "Referer": "http://canary/",
}


@pytest.mark.parametrize("path", ["/v1/responses", "/v1/chat/completions", "/native/v1/chat/completions"])
async def test_s05_nothing_of_the_clients_head_goes_to_the_backend(
    path: str, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """S12: what is sent is made from what is known here, never copied; hop-by-hop headers least of all."""
    headers = PRIVATE | {"Connection": "keep-alive, X-Secret", "X-Secret": "canary", "TE": "trailers"}
    body = {"model": "m", "input": "Hi", "messages": [{"role": "user", "content": "Hi"}]}
    del body["input" if "chat" in path else "messages"]
    async with proxy.session.post(proxy.url + path, json=body, headers=headers) as response:
        assert response.status == 200, await response.text()
    (sent,) = backend.received
    assert "canary" not in str(sent.headers)
    assert sent.headers.keys() <= {
        "host", "accept", "accept-encoding", "content-type", "content-length", "user-agent",
    }  # fmt: skip


async def test_s05_the_key_goes_along_only_where_that_is_switched_on(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """And to no other backend: that one gets its own, or none."""
    async with scripted() as other:
        other.answers(reply(text("Hello")))
        proxy = await start_proxy(
            backend={"forward_key": True},
            backends={"other": {"url": other.url, "profile": "default", "key": "key-of-other"}},
            routing={"models": {"theirs": "other"}},
        )
        await told(proxy, PRIVATE)
        await told(proxy, PRIVATE, model="theirs")
    (first,), (second,) = backend.received, other.received
    assert first.headers["authorization"] == "Bearer canary-bearer"
    assert second.headers["authorization"] == "Bearer key-of-other"
    assert "canary" not in str({**first.headers, "authorization": ""})
    assert "canary" not in str(second.headers)


async def test_s07_the_client_does_not_choose_where_its_request_goes(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Neither by the request line, nor by Host, nor by fields that other proxies obey."""
    async with scripted() as evil:
        evil.answers(reply(text("Evil")))
        chosen = {"api_base": evil.url, "base_url": evil.url, "api_key": "x", "custom_llm_provider": "openai"}
        assert await told(proxy, {"Host": evil.root[7:]}, **chosen) == "completed | Hello"
        body = b'{"model":"m","input":"Hi"}'
        for line in (
            b"POST %b/v1/responses HTTP/1.1\r\nHost: %b",
            b"POST %b/v1/responses HTTP/1.1\r\nHost: localhost%.0b",
        ):
            head = line % (evil.root.encode(), evil.root[7:].encode())
            said = await spoken(proxy, head + b"\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
            assert said.split()[1] in (b"200", b"400")
        assert evil.connections == 0
    assert all("api_base" not in sent.json for sent in backend.received)


async def test_s08_a_redirect_is_not_followed_by_any_question(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Nor by the one for the list of models."""
    async with scripted() as evil:
        evil.answers(answer(200, {"data": []}))
        backend.answers(answer(302, Location=f"{evil.url}/models"))
        proxy = await start_proxy(backend={"key": "canary-key-0123", "profile": "auto"})
        await told(proxy)
        async with proxy.session.get(f"{proxy.url}/v1/models") as response:
            await response.read()
        assert evil.connections == 0


async def test_s09_cookies_of_one_request_are_not_another_ones(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(answer(400, b"{}", Set_Cookie="session=canary; Path=/"), reply(text("Hello")))
    proxy = await start_proxy(backend={"url": backend.url.replace("127.0.0.1", "localhost")})
    for _ in range(2):
        async with proxy.post(ASK) as response:
            assert "Set-Cookie" not in response.headers
    assert all("cookie" not in sent.headers for sent in backend.received)


async def test_s10_nothing_is_taken_from_the_environment(
    backend: ScriptedBackend, start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login canary password canary\n", encoding="utf-8")
    async with scripted() as evil:
        evil.answers(reply(text("Evil")))
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, evil.root)
        monkeypatch.setenv("NETRC", str(netrc))
        proxy = await start_proxy()
        assert await told(proxy) == "completed | Hello"
        assert evil.connections == 0
    assert "authorization" not in backend.received[0].headers


# ── what is said of what is inside ──

COMPLAINTS = [
    answer(500, {"error": {"message": "Traceback: /srv/app.py at http://10.0.0.7:9/v1 with sk-canary-0123456789"}}),
    answer(400, {"error": {"message": "Invalid header 'Authorization: Bearer canary-0123456789'"}}),
    answer(401, {"error": {"message": "Incorrect API key provided: canary-key-0123"}}),
    answer(429, {"error": {"message": "Limit for key sk-canary-0123456789 reached"}}),
    HEAD + text("Hel") + event({"error": {"message": "https://u:canary@host/v1?key=canary0123456"}}) + END,
    HEAD + text("Hel") + event({"error": {"message": "x-api-key: canary-key-0123 is bad"}}) + END,
]  # fmt: skip


@pytest.mark.parametrize("said", COMPLAINTS)
@pytest.mark.parametrize("stream", [True, False])
async def test_s06_a_key_that_a_backend_quotes_is_not_passed_on(
    said: bytes, stream: bool, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(backend={"key": "canary-key-0123"}, logs={"level": "debug"})
    backend.answers(said)
    async with proxy.post(ASK | {"stream": stream}) as response:
        assert "canary" not in await response.text()
    assert "canary" not in proxy.log.text


@pytest.mark.parametrize(
    "request_line", ["GET /nowhere", "PUT /v1/responses", "POST /v1/responses", "GET /v1/models", "GET /\x01"]
)
async def test_s34_no_answer_tells_what_runs_here(
    request_line: str, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    await backend.stop()
    proxy = await start_proxy()
    said = await spoken(
        proxy, f"{request_line} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{{}}".encode()
    )
    await backend.start()
    assert b"Server: responses-proxy\r\n" in said
    for word in (b"aiohttp", b"Python", b"127.0.0.1", b"Traceback", b".py", b"/work", b"uvloop"):
        assert word not in said


async def test_s29_what_clients_say_names_no_metric(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """S06: models, paths, ids and keys of clients neither grow the page nor stand in it."""
    proxy = await start_proxy(backend={"key": "canary-key-0123"})

    async def page() -> list[str]:
        async with proxy.session.get(f"{proxy.url}/metrics") as response:
            assert response.status == 200
            return [
                line.rpartition(" ")[0] for line in (await response.text()).splitlines() if line[0] != "#"
            ]

    async def ask(number: int) -> None:
        asked = {"model": f"canary-model-{number}", "user": f"canary-user-{number}", "stream": True}
        await told(proxy, {"User-Agent": f"canary/{number}", "X-Request-Id": f"canary-{number}"}, **asked)
        async with proxy.session.get(f"{proxy.url}/canary/{number}"):
            pass

    await ask(0)
    backend.answers(answer(404, {"error": {"message": "no model"}}))
    await ask(1)
    before = await page()
    for number in range(2, 20):
        await ask(number)
    assert await page() == before
    assert "canary" not in "".join(before)


# ── what is kept apart ──


def chat(**more: Any) -> dict[str, Any]:
    tool = {"type": "function", "function": {**WEATHER, "description": "The weather."}}
    return {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "tools": [tool], **more}


def called(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The conversation after the call that the message makes."""
    call = message["tool_calls"][0]
    result = {"role": "tool", "tool_call_id": call["id"], "content": "Sunny."}
    said = {key: message[key] for key in ("role", "content", "tool_calls")}
    return [{"role": "user", "content": "Hi"}, said, result]


async def posted(proxy: Proxy, path: str, body: dict[str, Any], who: str) -> tuple[int, dict[str, Any]]:
    async with proxy.session.post(proxy.url + path, json=body, headers=shown_by(who)) as response:
        return response.status, await response.json()


async def test_s24_thoughts_are_recalled_for_whose_they_are(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Another tenant who knows the call's id does not get them put into the conversation."""
    proxy = await start_proxy(
        tenants=TENANTS,
        backend={"overrides": {"replay": "reasoning_content", "replay_scope": "all"}},
    )
    backend.answers(
        HEAD + delta(reasoning_content="canary-thought") + CALL + finish("tool_calls") + DONE + END
    )
    path = "/v1/chat/completions"
    _, said = await posted(proxy, path, chat(), "ann")
    going_on = chat(messages=called(said["choices"][0]["message"]))
    await posted(proxy, path, going_on, "bob")
    assert "canary-thought" not in backend.received[-1].body.decode()
    await posted(proxy, path, going_on, "ann")
    assert "canary-thought" in backend.received[-1].body.decode()


async def test_s24_a_conversation_is_one_tenants(backend: ScriptedBackend, start_proxy: StartProxy) -> None:
    """The same `conversation_id` of another tenant is another conversation, which knows nothing of the first one's
    calls."""
    proxy = await start_proxy(tenants=TENANTS)
    backend.answers(reply(CALL))
    path = "/native/v1/chat/completions"
    status, said = await posted(proxy, path, chat(conversation_id="c1"), "ann")
    assert status == 200, said
    going_on = chat(messages=called(said["choices"][0]["message"]), conversation_id="c1")
    backend.received.clear()
    status, _ = await posted(proxy, path, going_on, "bob")
    assert status in (400, 404)
    assert backend.received == []
    status, _ = await posted(proxy, path, going_on, "ann")
    assert status == 200
    assert "backends_id" in backend.received[-1].body.decode()


@pytest.mark.parametrize("method", ["GET", "DELETE"])
@pytest.mark.parametrize("beyond", ["", "/input_items"])
async def test_s24_anothers_response_is_as_unknown_as_none(method: str, beyond: str, guarded: Proxy) -> None:
    """S33: and so is one's own that was not to be stored."""
    headers = shown_by("ann")
    async with guarded.post({"model": "m", "input": "Hi", "store": False}, **headers) as response:
        own = (await response.json())["id"]
    async with guarded.post({"model": "m", "input": "Hi", "store": True}, **headers) as response:
        stored = (await response.json())["id"]
    answers = set()
    for who, known in (("bob", stored), ("bob", "resp_unknown"), ("ann", own)):
        url = f"{guarded.url}/v1/responses/{known}{beyond}"
        async with guarded.session.request(method, url, headers=shown_by(who)) as response:
            answers.add((response.status, (await response.text()).replace(known, "ID")))
    assert len(answers) == 1
    assert answers.pop()[0] in (404, 405)


async def test_s33_the_same_question_is_asked_again(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """No answer is kept, so none can be another tenant's."""
    proxy = await start_proxy(tenants=TENANTS)
    backend.answers(reply(text("For Ann.")), reply(text("For Bob.")))
    assert await told(proxy, shown_by("ann")) == "completed | For Ann."
    assert await told(proxy, shown_by("bob")) == "completed | For Bob."


async def test_s25_ids_cannot_be_guessed(backend: ScriptedBackend, proxy: Proxy) -> None:
    """192 random bits in each response's, of which its items share 128 and have 40 of their own; nothing of the
    backend's, no time, no more of a counter than the item's index."""
    backend.answers(reply(text("Hello"), CALL))
    ids: list[str] = []
    for _ in range(30):
        async with proxy.post({"model": "m", "input": "Hi", "tools": [WEATHER]}) as response:
            said = await response.json()
        ids += [said["id"], *(item["id"] for item in said["output"])]
    bits = [re.fullmatch(r"[a-z]+_([0-9a-f]{48})", id) for id in ids]
    assert all(bits)
    assert len({found[1] for found in bits if found}) == len(ids)
    own = {found[1][12:16] for found in bits if found}  # the ids of items begin with their index
    assert len(own) > len(ids) * 0.9
    assert len({found[1][-4:] for found in bits if found}) > 30 * 0.9


# ── what is never run ──


async def test_s23_nothing_that_is_asked_for_is_run_here(
    backend: ScriptedBackend, proxy: Proxy, tmp_path: Path
) -> None:
    """Neither by the request (an MCP server with a command) nor by the model (a call of a shell)."""
    trace = tmp_path / "trace"
    command = {"command": ["touch", str(trace)], "args": [str(trace)], "transport": "stdio"}
    mcp = {"type": "mcp", "server_label": "x", "server_url": f"stdio://touch {trace}", **command}
    arguments = f'{{"command":["touch","{trace}"]}}'
    call = {"index": 0, "id": "a", "function": {"name": "shell", "arguments": arguments}}
    backend.answers(reply(delta(tool_calls=[call])))
    shell = {"type": "function", "name": "shell", "parameters": {"type": "object", "properties": {}}}
    await told(proxy, tools=[mcp])
    assert await told(proxy, tools=[shell]) == f"completed | shell({arguments})"
    assert not trace.exists()
