"""The inspector over HTTP: who gets what, and with which headers."""

from pathlib import Path
from typing import Any

import pytest

from proxy.core.tenants import digest
from proxy.shell.inspector.files import HEADERS, all_files
from tests.support.inspecting import asked, only_request, recorded
from tests.support.proxies import Proxy, StartProxy, backend, proxy, start_proxy
from tests.support.sockets import ScriptedBackend, answer

__all__ = ["backend", "proxy", "start_proxy"]

DATA = ("requests", "request", "content", "standing", "stored")
KEY = "key-of-the-inspector"


@pytest.mark.parametrize("path", ["", "/", *(f"/{name}" for name in all_files())])
async def test_the_page_is_served_with_a_strict_policy(proxy: Proxy, path: str) -> None:
    async with proxy.session.get(f"{proxy.url}/inspector{path}") as response:
        assert response.status == 200
        assert HEADERS.items() <= response.headers.items()
        assert await response.read()


@pytest.mark.parametrize("name", DATA)
async def test_data_are_served_with_it_too(proxy: Proxy, name: str) -> None:
    await proxy.stream()
    request = await only_request(proxy)
    async with proxy.session.get(
        f"{proxy.url}/inspector/data/{name}", params={"id": request["id"]}
    ) as response:
        if name != "stored":
            assert response.status == 200
            assert HEADERS.items() <= response.headers.items()
        assert "Access-Control-Allow-Origin" not in response.headers


@pytest.mark.parametrize(
    "path", ["/none.js", "/__init__.py", "/..%2fdoor.py", "/%2e%2e/ring.py", "/page/app.js", "/data/none"]
)
async def test_nothing_else_is(proxy: Proxy, path: str) -> None:
    async with proxy.session.get(f"{proxy.url}/inspector{path}") as response:
        assert response.status == 404


@pytest.mark.parametrize("name", DATA)
async def test_a_page_of_another_origin_reads_nothing(proxy: Proxy, name: str) -> None:
    """S31."""
    for headers in ({"Origin": "http://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
        told = await asked(proxy, name, headers, id="0")
        assert told["error"]["code"] == "origin_not_allowed"


@pytest.mark.parametrize("name", DATA)
async def test_a_host_that_is_not_this_machines_gets_nothing(proxy: Proxy, name: str) -> None:
    """S31. A page whose name resolves to this machine sends that name."""
    told = await asked(proxy, name, {"Host": "evil.test"}, id="0")
    assert told["error"]["code"] == "host_not_allowed"


@pytest.mark.parametrize("name", DATA)
async def test_without_its_key_nobody_sees_data(start_proxy: StartProxy, name: str) -> None:
    """S30."""
    proxy = await start_proxy(inspector={"keys": [digest(KEY)]})
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Bearer "}):
        told = await asked(proxy, name, headers, id="0")
        assert told["error"]["code"] == "invalid_api_key"
    seen = (await asked(proxy, "requests", {"Authorization": f"Bearer {KEY}"}))["requests"]
    assert [request["path"] for request in seen] == [f"/inspector/data/{name}"] * 3


@pytest.mark.parametrize("name", DATA)
async def test_where_there_are_tenants_and_no_key_nobody_looks(start_proxy: StartProxy, name: str) -> None:
    """S30. Nothing is kept for it either."""
    proxy = await start_proxy(tenants={"ann": {"keys": [digest("key-of-ann")]}})
    told = await asked(proxy, name, {"Authorization": "Bearer key-of-ann"}, id="0")
    assert told["error"]["code"] == "permission_denied"
    assert "inspector.keys" in told["error"]["message"]


async def test_it_can_be_switched_off(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(inspector={"enabled": False})
    for path in ("", "/app.js", "/data/requests"):
        async with proxy.session.get(f"{proxy.url}/inspector{path}") as response:
            assert response.status == 404
            assert "inspector.enabled" in await response.text()


async def test_a_request_that_is_not_there_is_said_to_be_so(proxy: Proxy) -> None:
    assert (await asked(proxy, "request", id="0-none-1"))["error"]["code"] == "not_found"
    assert await asked(proxy, "content", id="0-none-1") is None


async def test_without_a_recorder_nothing_of_what_was_said_is_shown(proxy: Proxy) -> None:
    """S06."""
    await proxy.stream(input="my secret prompt", instructions="and instructions")
    request = await only_request(proxy)
    assert request["has_content"] is False
    told = [await asked(proxy, name, id=request["id"]) for name in ("requests", "request", "content")]
    assert told[2] is None
    for secret in ("secret", "instructions", "Hello"):
        assert secret not in str(told)


@pytest.mark.parametrize(
    ("recorder", "is_shown", "why"),
    [
        ({}, False, "recorder.keep"),
        ({"content": "masked"}, False, "masked"),
        ({"keep": "faults"}, False, "Only what failed"),
        ({"keep": "sampled", "share": 1}, True, "recorder.share"),
        ({"keep": "all"}, True, "inspector.memory_mib"),
    ],
)
async def test_what_was_said_is_shown_where_the_recorder_keeps_it(
    tmp_path: Path, start_proxy: StartProxy, recorder: dict[str, Any], is_shown: bool, why: str
) -> None:
    """S24: and nowhere else, nor while it is under way."""
    sections = recorded(tmp_path, **recorder) if recorder else {}
    proxy = await start_proxy(**sections)
    await proxy.stream(input="a secret")
    request = await only_request(proxy)
    assert request["has_content"] is is_shown
    assert ("a secret" in str(await asked(proxy, "content", id=request["id"]))) is is_shown
    assert why in (await asked(proxy, "requests"))["settings"]["content"]


async def test_of_a_request_that_failed_all_is_shown_if_only_failures_are_kept(
    tmp_path: Path, start_proxy: StartProxy, backend: ScriptedBackend
) -> None:
    proxy = await start_proxy(**recorded(tmp_path, keep="faults"))
    backend.answers(answer(400, {"error": {"message": "No."}}))
    await proxy.refused(input="a secret")
    request = await only_request(proxy)
    assert "a secret" in str(await asked(proxy, "content", id=request["id"]))


@pytest.mark.parametrize("attempt", ["", "-1", "0", "x", "²", "9" * 9])
async def test_any_number_of_an_attempt_is_taken(
    tmp_path: Path, start_proxy: StartProxy, attempt: str
) -> None:
    proxy = await start_proxy(**recorded(tmp_path))
    await proxy.stream()
    request = await only_request(proxy)
    assert (await asked(proxy, "content", id=request["id"], attempt=attempt))["attempt"] == 0


async def test_other_methods_are_refused(proxy: Proxy) -> None:
    async with proxy.session.post(f"{proxy.url}/inspector/data/requests", json={}) as response:
        assert response.status == 405
        assert response.headers["Allow"] == "GET, HEAD"


async def test_no_number_of_requests_makes_the_ring_larger(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(inspector={"requests": 2})
    for name in "abcd":
        await proxy.stream(model=name)
    told = await asked(proxy, "requests")
    assert [request["model"] for request in told["requests"]] == ["c", "d"]
