"""What is ours is ours: secrets, tokens that clients keep for us, and what the log may hold."""

from base64 import b64encode
from typing import Any

import pytest

from proxy.core.redact import MASK
from tests.shell.backend import DONE, END, HEAD, ScriptedBackend, answer, event, reply, text
from tests.shell.conftest import Proxy, StartProxy

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
        backend.answers(answer(status, error))
        for surface in SURFACES:
            for stream in (False, True):
                holds_no_secret(await said(proxy, surface, stream))
        holds_no_secret(await said(proxy, "responses", True, **CODEX))
        holds_no_secret(await on_a_socket(proxy))
    holds_no_secret(proxy.log.text)


@pytest.mark.parametrize("words", QUOTED, ids=range(len(QUOTED)))
async def test_attack_19_no_error_within_a_stream_tells_our_key(
    words: str, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await keyed(start_proxy)
    error = event({"error": {"message": words, "code": KEY}})
    for begun in (b"", text("Hello")):
        backend.answers(HEAD + begun + error + DONE + END)
        for surface in SURFACES:
            for stream in (False, True):
                told = await said(proxy, surface, stream)
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
