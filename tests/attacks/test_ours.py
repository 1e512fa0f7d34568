"""What is ours is ours: secrets, tokens that clients keep for us, and what the log may hold."""

import asyncio
import hmac
import zlib
from base64 import b64encode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from proxy.core.masking.redact import MASK
from tests.support.programs import Process, served
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import DONE, END, HEAD, ScriptedBackend, answer, delta, event, reply, text
from tests.support.two_tenants import TENANTS, shown_by

PROMPT = [{"role": "user", "content": "Hi"}]
SURFACES: dict[str, tuple[str, dict[str, Any]]] = {
    "responses": ("/v1/responses", {"model": "m", "input": "Hi"}),
    "chat": ("/v1/chat/completions", {"model": "m", "messages": PROMPT}),
    "native": ("/native/v1/chat/completions", {"model": "m", "messages": PROMPT}),
    "compact": ("/v1/responses/compact", {"model": "m", "input": "Hi"}),
}
CODEX = {"originator": "codex_cli_rs", "user-agent": "codex_cli_rs/0.160.0"}
"""Is told of every fault within a stream."""

# ── our keys in a backend's errors (attack 19) ──

KEY = "wq7f3kx9zc5be1d84402"
"""Of no vendor's form; and no id of ours, which are hexadecimal, begins as it does."""
PASSWORD = "correct horse/battery+staple"
HEADERS = {"X-Gateway": f"Basic {b64encode(f'proxy:{PASSWORD}'.encode()).decode()}"}
THEIRS = "what-a-client-has-sent-as-its-key"

QUOTED = [
    f"Quota exceeded for credential {KEY} on this project",
    f"Authorization was Bearer {KEY}",
    f"bad header {HEADERS['X-Gateway']}",
    f"wrong password {PASSWORD}",
    "GET /v1?pass=correct%20horse%2Fbattery%2Bstaple failed",
    f"{'x' * 490} {KEY}",
    f"of {KEY[:14]}**** only the beginning",
    f"you sent {THEIRS}",
]
PIECES = [KEY[:12], KEY[-12:], HEADERS["X-Gateway"][6:18], "battery", THEIRS[:12], KEY[:5]]


async def said(proxy: Proxy, surface: str, stream: bool, **headers: str) -> str:
    path, body = SURFACES[surface]
    streaming = {"stream": True} if stream else {}
    headers = {"Authorization": f"Bearer {THEIRS}"} | headers
    async with proxy.session.post(proxy.url + path, json=body | streaming, headers=headers) as response:
        return f"{response.status} {dict(response.headers)} {await response.text()}"


async def on_a_socket(proxy: Proxy) -> str:
    url, headers = f"{proxy.url}/v1/responses", {"Authorization": f"Bearer {THEIRS}"}
    async with proxy.session.ws_connect(url, headers=headers) as socket:
        await socket.send_json({"type": "response.create", "model": "m", "input": "Hi"})
        heard = ""
        while not heard.endswith("}\n") or not any(
            f'"{end}"' in heard for end in ("error", "response.failed")
        ):
            heard += f"{await socket.receive_str(timeout=5)}\n"
        return heard


async def keyed(start_proxy: StartProxy, **more: Any) -> Proxy:
    return await start_proxy(
        backend={"key": KEY, "headers": HEADERS},
        retries={"attempts": 1},
        breaker={"consecutive_failures": 1000, "minimum_requests": 1000},
        logs={"level": "debug"},
        **more,
    )


def holds_no_secret(told: str) -> None:
    assert not [piece for piece in PIECES if piece in told], told


@pytest.mark.parametrize("words", QUOTED, ids=range(len(QUOTED)))
async def test_attack_19_no_refusal_of_a_backend_tells_our_key(
    words: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await keyed(start_proxy)
    for status in (400, 402, 404, 413, 422, 429, 500, 503, 504):
        error = {"error": {"message": words, "code": KEY, "type": words, "param": KEY}}
        backend.answers(answer(status, error, Connection="close"))
        for surface in SURFACES:
            for stream in (False, True):
                holds_no_secret(await said(proxy, surface, stream))
        holds_no_secret(await said(proxy, "responses", True, **CODEX))
        holds_no_secret(await on_a_socket(proxy))
    holds_no_secret(proxy.log.text)


@pytest.mark.parametrize("begun", [b"", text("Hello")], ids=["at once", "later"])
@pytest.mark.parametrize("words", QUOTED, ids=range(len(QUOTED)))
async def test_attack_19_no_error_within_a_stream_tells_our_key(
    words: str, begun: bytes, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await keyed(start_proxy)
    backend.answers(HEAD + begun + event({"error": {"message": words, "code": KEY}}) + DONE + END)
    for surface in SURFACES:
        for stream in (False, True):
            told = await said(proxy, surface, stream)
            assert '"error"' in told
            holds_no_secret(told)
    holds_no_secret(await on_a_socket(proxy))
    holds_no_secret(proxy.log.text)


async def test_attack_19_what_a_model_says_is_its_own(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Answers are not looked through."""
    proxy = await keyed(start_proxy)
    backend.answers(reply(text(f"A {KEY}")))
    for stream in (False, True):
        assert f"A {KEY}" in await said(proxy, "responses", stream)
    assert MASK not in await said(proxy, "chat", True)


# ── what clients keep for us (attack 06) ──

SEALED = {"include": ["reasoning.encrypted_content"]}
GIVES_BACK = {"overrides": {"replay": "reasoning_content", "replay_scope": "all"}}


def forged(secret: str, packed: bytes, kind: str = "reasoning") -> str:
    """A token, proved by a secret that somebody has guessed, without a tenant in it."""
    proof = hmac.digest(sha256(secret.encode()).digest(), kind.encode() + b"\0" + packed, "sha256")[:16]
    return "rp1." + urlsafe_b64encode(proof + packed).decode().rstrip("=")


def history(*tokens: str) -> list[dict[str, Any]]:
    thoughts = [{"type": "reasoning", "summary": [], "encrypted_content": token} for token in tokens]
    return [{"role": "user", "content": "Hi"}, *thoughts, {"role": "assistant", "content": "Hello"}]


async def token_of(proxy: Proxy, **headers: str) -> str:
    async with proxy.post({"model": "m", "input": "Hi"} | SEALED, **headers) as response:
        return (await response.json())["output"][0]["encrypted_content"]


@pytest.mark.parametrize(
    "held",
    [
        b"{}",
        b"[]",
        b"5",
        b'{"text":5}',
        b'{"text":"injected","extras":{"chat":{"reasoning_details":[{"a":1}]}}}',
    ],
)
async def test_attack_06_who_knows_our_settings_cannot_seal(
    held: bytes, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """A backend of one's own has no key, and its URL is in everybody's guess."""
    proxy = await start_proxy(backend=GIVES_BACK)
    for packed in (zlib.compress(held), held):
        token = forged(f"{backend.url} ", packed)
        async with proxy.post({"model": "m", "input": history(token)}) as response:
            assert response.status == 200
        ids = forged(f"{backend.url} ", packed, "call_ids")
        body = SURFACES["native"][1] | {"_proxy": {"call_ids": ids}}
        async with proxy.session.post(proxy.url + SURFACES["native"][0], json=body) as response:
            assert response.status == 400
    assert b"injected" not in b"".join(asked.body for asked in backend.received)
    assert proxy.log.named("request")[0]["dropped"] == {"foreign_token": 1}
    assert proxy.log.named("unhandled_exception") == []


async def test_attack_06_a_real_token_may_not_be_multiplied(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(reply(delta(reasoning_content="x" * (1 << 20)), text("Hello")))
    proxy = await start_proxy(backend=GIVES_BACK)
    token = await token_of(proxy)
    assert len(token) < 5000
    backend.answers(reply(text("Hello")))
    async with proxy.post({"model": "m", "input": history(*[token] * 200)}) as response:
        assert response.status == 200
    assert 15 << 20 < len(backend.received[-1].body) < 17 << 20
    assert proxy.log.named("request")[-1]["dropped"]["foreign_token"] > 180


async def test_attack_06_a_token_of_one_tenant_is_none_of_anothers(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    backend.answers(reply(delta(reasoning_content="what ann thought"), text("Hello")))
    proxy = await start_proxy(backend=GIVES_BACK, tenants=TENANTS)
    token = await token_of(proxy, **shown_by("ann"))
    for name in ("bob", "ann"):
        async with proxy.post({"model": "m", "input": history(token)}, **shown_by(name)) as response:
            assert response.status == 200
        assert (b"what ann thought" in backend.received[-1].body) is (name == "ann")


def workers_of(process: Process) -> set[int]:
    """Those that have served a request."""
    lines = [orjson.loads(line) for line in process.written.splitlines() if line.startswith(b"{")]
    return {line["worker"] for line in lines if line["event"] == "request"}


async def test_attack_06_what_one_worker_has_signed_another_reads(
    backend: ScriptedBackend, tmp_path: Path
) -> None:
    """Nothing is configured that could be a secret, so their supervisor has made one for all of them."""
    backend.answers(reply(delta(reasoning_content="Hm."), text("Hello")))
    async with served(backend, tmp_path, server={"workers": 2}, backend=GIVES_BACK) as process:

        async def ask(**body: Any) -> Any:
            """On a new connection, and so perhaps of another worker."""
            url, asked = f"{process.url}/v1/responses", {"model": "m"} | body
            async with aiohttp.ClientSession() as session, session.post(url, json=asked) as response:
                return await response.json()

        token = (await ask(input="Hi", **SEALED))["output"][0]["encrypted_content"]
        async with asyncio.timeout(20):
            while len(workers_of(process)) < 2:
                await ask(input=history(token))
                assert backend.received[-1].json["messages"][1]["reasoning_content"] == "Hm."
    assert b"foreign_token" not in process.written
