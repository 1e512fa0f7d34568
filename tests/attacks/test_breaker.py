"""V20: whatever one client makes the backend do to its own requests, everybody else is served."""

import pytest

from proxy.core.policy.breaker import BreakerRules
from tests.support.outcomes import ASK, sse, told
from tests.support.proxies import Proxy, StartProxy
from tests.support.sockets import END, HEAD, Line, Script, ScriptedBackend, answer, delta, reply, text
from tests.support.two_tenants import TENANTS, shown_by

ANN, BOB = shown_by("ann"), shown_by("bob")
MANY = 2 * BreakerRules().volume

CRASH = answer(500, {"error": {"message": "Unexpected item at row 12.", "type": "server_error"}})
CRASH_IN_STREAM = sse(b'data: {"error": {"code": 500, "message": "Unexpected item"}}\n\n')
NOTHING = reply()
THOUGHTS = reply(delta(reasoning_content="Hm."))
GARBAGE = sse(b"data: garbage\n\n")


def poisoned_by(said: bytes) -> Script:
    async def plays(line: Line) -> None:
        while True:
            asked = await line.request()
            line.send(said if b"poison" in asked.body else reply(text("Hello")))

    return plays


@pytest.mark.parametrize("variations", [False, True], ids=["the same", "variations"])
@pytest.mark.parametrize(
    "said",
    [CRASH, CRASH_IN_STREAM, NOTHING, THOUGHTS, GARBAGE, answer(500, b"")],
    ids=["500", "error in the stream", "nothing", "thoughts", "garbage", "500 without a word"],
)
async def test_v20_a_poisoned_request_closes_the_backend_to_nobody(
    said: bytes, variations: bool, backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    """Known besides the attacks: five 500s that one client's request causes opened the breaker for all."""
    proxy = await start_proxy(tenants=TENANTS)
    backend.plays(poisoned_by(said))
    assert await told(proxy, BOB) == "completed | Hello"
    for number in range(MANY):
        await told(proxy, ANN, input=f"poison {number if variations else ''}", tools=[], stream=False)
    assert len(backend.received) == 1 + MANY, "nor to herself"
    assert await told(proxy, BOB) == "completed | Hello"


@pytest.mark.parametrize("said", [NOTHING, THOUGHTS], ids=["nothing", "thoughts"])
async def test_v20_a_model_with_nothing_to_say_is_no_sick_backend(
    said: bytes, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Small models end so, whatever they are asked."""
    backend.answers(said)
    for number in range(MANY):
        await told(proxy, input=str(number), stream=False)
    assert len(backend.received) == MANY


async def test_v20_nor_is_one_whose_calls_are_wrong(backend: ScriptedBackend, proxy: Proxy) -> None:
    backend.answers(reply(text("No.")))
    for number in range(MANY):
        said = await told(proxy, input=str(number), tool_choice="required", stream=False)
        assert said == "502 tool_call_required"
    assert len(backend.received) == MANY


async def test_v20_500s_of_different_requests_are_evidence(backend: ScriptedBackend, proxy: Proxy) -> None:
    """Of one who uses it alone as well: there is nobody else to be harmed."""
    backend.answers(CRASH)
    for number in range(BreakerRules().consecutive):
        assert await told(proxy, input=str(number)) == "502 upstream_error"
    async with proxy.post(ASK) as response:
        assert (response.status, response.headers["Retry-After"]) == (503, "1")
        error = (await response.json())["error"]
    assert error["message"] == (
        "The backend 'backend' failed 5 times in a row (last: 500) and is left alone for 1 s more."
    )
    assert len(backend.received) == BreakerRules().consecutive


async def test_v20_so_are_those_of_different_owners(
    backend: ScriptedBackend, start_proxy: StartProxy
) -> None:
    proxy = await start_proxy(tenants=TENANTS)
    backend.answers(CRASH)
    for number, who in enumerate([ANN, BOB, ANN, BOB, ANN]):
        assert await told(proxy, who, input=str(number)) == "502 upstream_error"
    assert await told(proxy, BOB) == "503 server_is_overloaded"


@pytest.mark.parametrize(
    "said",
    [answer(502, b""), answer(504, b""), HEAD + text("Hel") + END],
    ids=["502", "504", "cut"],
)
async def test_v20_what_no_request_can_bring_about_is_evidence_at_once(
    said: bytes, backend: ScriptedBackend, proxy: Proxy
) -> None:
    """Though it be the same request each time, as from a client that asks again."""
    backend.answers(said)
    for _ in range(BreakerRules().consecutive):
        assert await told(proxy) != "503 server_is_overloaded"
    assert await told(proxy) == "503 server_is_overloaded"
