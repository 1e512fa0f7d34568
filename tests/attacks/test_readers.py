"""What one request or one reply may cost where its text is read: no more than its length."""

import pytest

from proxy.core import jsontext
from tests.support.loop_delay import post_aside, watching
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import END, HEAD, ScriptedBackend, http_chunk

HELD_SECONDS = 0.2
"""What is read here took seconds before; what it takes now is hardly to be measured."""


async def test_attack_01_a_data_url_without_a_comma_holds_nobody(proxy: Proxy) -> None:
    part = {"type": "input_file", "filename": "a", "file_data": "data:" + "a" * 20_000}
    body = jsontext.dumps({"model": "m", "input": [{"role": "user", "content": [part]}]})
    async with watching() as watch:
        status, _ = await post_aside(f"{proxy.url}/v1/responses", body)
    assert status in (200, 400)
    assert watch.longest < HELD_SECONDS


async def test_attack_05_a_path_is_masked_quickly_and_logged_by_its_beginning(proxy: Proxy) -> None:
    path = "/-" + "eyJaaaaa-" * 890
    async with watching() as watch:
        for _ in range(10):
            status, _ = await post_aside(proxy.url + path, b"{}")
            assert status == 404
    assert watch.longest < HELD_SECONDS / 4
    assert [len(line["path"]) for line in proxy.log.named("refusal")] == [200] * 10


async def test_attack_05_no_key_is_cut_in_two_by_the_end_of_a_logged_path(proxy: Proxy) -> None:
    async with proxy.session.get(f"{proxy.url}/{'a' * 190}/sk-c4n4ry-{'b' * 100}"):
        pass
    assert "sk-" not in proxy.log.text


@pytest.mark.parametrize("profile", ["openrouter", "anthropic"])
async def test_attack_27_what_cannot_be_written_again_is_the_backends_fault(
    profile: str, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    deep = b'{"a":' * 400 + b"1" + b"}" * 400
    said = {
        "openrouter": b'{"choices":[{"index":0,"delta":{"reasoning_details":[%b]}}]}' % deep,
        "anthropic": b'{"type":"content_block_start","index":0,"content_block":'
        b'{"type":"redacted_thinking","data":%b}}' % deep,
    }[profile]
    backend.answers(HEAD + http_chunk(b"data: " + said + b"\n\n") + END)
    proxy = await start_proxy(backend={"profile": profile}, breaker={"consecutive_failures": 1})
    status, error = await proxy.refused(include=["reasoning.encrypted_content"])
    assert (status, error["code"]) == (502, "upstream_protocol_error")
    assert "Traceback" not in proxy.log.text
    status, error = await proxy.refused()
    assert (status, error["type"]) == (503, "server_error")
