"""Failures as Codex must be told: in the stream, in codes that make it try again or stop."""

from typing import Any

import pytest

from tests.support.proxies import Proxy, StartProxy, events, final, names
from tests.support.sockets import (
    ScriptedBackend,
    answer,
    delta,
    reply,
)

# ── failures as Codex must be told ──

CODEX = {"originator": "codex_exec"}


async def told_codex(proxy: Proxy, **body: Any) -> dict[str, Any]:
    """The error of a stream that failed, as the only news in it."""
    async with proxy.post({"model": "m", "input": "Hi", "stream": True} | body, **CODEX) as response:
        assert response.status == 200, await response.text()
        found = events(await response.read())
    assert names(found) == ["response.created", "response.in_progress", "error", "response.failed", "done"]
    error: dict[str, Any] = final(found)["error"]
    return error


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (answer(500, b"oops"), "upstream_error"),
        (answer(503, b""), "slow_down"),
        (answer(429, {"error": {"message": "Slow down."}}), "rate_limit_exceeded"),
        (
            answer(429, {"error": {"message": "No credit.", "code": "insufficient_quota"}}),
            "insufficient_quota",
        ),
        (answer(400, {"error": {"message": "The prompt is too long."}}), "context_length_exceeded"),
        (answer(400, {"error": {"message": "Bad words."}}), "invalid_prompt"),
        (answer(401, b""), "invalid_prompt"),
        (answer(404, {"error": {"message": "The model `m` does not exist."}}), "invalid_prompt"),
    ],
)
async def test_a_refused_stream_tells_codex_in_the_code_whether_to_try_again(
    backend: ScriptedBackend, proxy: Proxy, refusal: bytes, code: str
) -> None:
    """Any status from 500 up is asked again 29 times, and of the others only 400 shows what we say."""
    backend.answers(refusal)
    assert (await told_codex(proxy))["code"] == code
    assert proxy.log.request["client"] == "codex"
    assert proxy.log.request["ending"] == "failed"


async def test_codex_reads_the_delay_of_a_limit_in_its_message(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """F11: it has no header to look at."""
    backend.answers(answer(429, {"error": {"message": "Slow down."}}, retry_after="7"))
    assert (await told_codex(proxy))["message"].endswith("try again in 7s.")


async def test_the_log_has_the_code_that_it_was(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(answer(503, b""))
    await told_codex(proxy)
    assert proxy.log.request["code"] == "server_is_overloaded"


async def test_a_spared_backend_is_told_to_codex_too(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(breaker={"consecutive_failures": 1, "open_seconds": 30})
    backend.answers(answer(500, b"oops"))
    await told_codex(proxy)
    assert (await told_codex(proxy))["code"] == "slow_down"
    assert len(backend.received) == 1


async def test_a_request_that_no_backend_can_serve_is_told_to_codex_once(
    backend: ScriptedBackend, proxy: Proxy
) -> None:
    """It was understood; what stands in the way is found when it is put into the backend's words."""
    file = {"type": "input_file", "filename": "a.bin", "file_data": "data:application/x-thing;base64,AAAA"}
    asked = [{"role": "user", "content": [file]}]
    error = await told_codex(proxy, input=asked)
    assert error["code"] == "invalid_prompt"
    assert "cannot be read by the backend" in error["message"]
    assert backend.received == []
    assert (await proxy.refused(input=asked, stream=True))[0] == 400


async def test_what_cannot_be_understood_is_a_status_for_codex_as_well(proxy: Proxy) -> None:
    async with proxy.post({"model": "m", "stream": True, "input": 7}, **CODEX) as response:
        assert response.status == 400


async def test_without_streaming_codex_gets_a_status(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(answer(503, b""))
    async with proxy.post({"model": "m", "input": "Hi"}, **CODEX) as response:
        assert response.status == 503
        assert (await response.json())["error"]["code"] == "server_is_overloaded"


async def test_a_refusal_is_shown_by_codex(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(reply(delta(refusal="I won't.")))
    async with proxy.post({"model": "m", "input": "Hi", "stream": True}, **CODEX) as response:
        found = events(await response.read())
    assert final(found)["output"][0]["content"][0]["type"] == "output_text"
    assert not any("refusal" in name for name in names(found))
