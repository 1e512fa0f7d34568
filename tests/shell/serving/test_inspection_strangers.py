"""What strangers and other programs cannot get out of the inspector, nor put into the proxy by it."""

from pathlib import Path

from proxy.core.masking.redact import MASK
from tests.support.inspecting import asked, only_request, recorded
from tests.support.proxies import Proxy, backend, proxy, start_proxy
from tests.support.sockets import ScriptedBackend, answer, reply, text
from tests.support.two_backends import ASKED, StartBoth, other, start_both

__all__ = ["backend", "other", "proxy", "start_both", "start_proxy"]

FIRST, SECOND, CLIENTS = "horse-battery-staple", "correct-tractor-rug", "the-own-key-of-the-client"
"""None of them looks like a key."""
CANARY = "canary"


async def test_no_backends_key_is_in_any_of_its_data(
    start_both: StartBoth, backend: ScriptedBackend, other: ScriptedBackend, tmp_path: Path
) -> None:
    """S05, S06: of one that fails and quotes its key, of the one in its place, and of the client, which a backend
    repeats."""
    backend.answers(answer(503, {"error": {"message": f"Not now, Bearer {FIRST} and {CLIENTS}"}}))
    other.answers(reply(text(f"Are they {FIRST}, {SECOND} and {CLIENTS}?")))
    proxy = await start_both({"key": SECOND}, backend={"key": FIRST}, **recorded(tmp_path))
    async with proxy.post(ASKED | {"user": SECOND}, Authorization=f"Bearer {CLIENTS}") as response:
        assert response.status == 200
    assert backend.received[0].headers["authorization"] == f"Bearer {FIRST}"
    assert other.received[0].headers["authorization"] == f"Bearer {SECOND}"
    id = (await only_request(proxy))["id"]
    told = [await asked(proxy, name, id=id) for name in ("requests", "request", "standing")]
    contents = [await asked(proxy, "content", id=id, attempt=number) for number in (0, 1)]
    assert MASK in str(contents[0])
    assert MASK in str(contents[1])
    for key in (FIRST, SECOND, CLIENTS):
        assert key not in str(told + contents)


async def test_nothing_that_is_asked_of_it_becomes_a_label(proxy: Proxy) -> None:
    """S29."""
    await proxy.stream(model=f"{CANARY}-model")
    for path in (
        f"{CANARY}.js",
        f"data/{CANARY}",
        f"data/request?id={CANARY}",
        f"data/stored?tenant={CANARY}",
    ):
        async with proxy.session.get(f"{proxy.url}/inspector/{path}") as response:
            assert response.status == 404
    async with proxy.session.get(f"{proxy.url}/metrics") as response:
        assert CANARY not in await response.text()
