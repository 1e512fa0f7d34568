"""How backends and tenants stand."""

from proxy.core.tenants import Tenant
from proxy.shell.inspector import standing
from tests.support.inspecting import asked
from tests.support.proxies import Proxy, StartProxy, backend, proxy, start_proxy

__all__ = ["backend", "proxy", "start_proxy"]


def test_limits_are_numbers() -> None:
    remaining: dict[str, dict[str, str]] = {
        "ann": {
            "x-ratelimit-limit-requests": "60",
            "x-ratelimit-remaining-requests": "59",
            "x-ratelimit-reset-requests": "1.000s",
        },
        "bob": {},
    }
    assert standing.tenants([Tenant("ann"), Tenant("bob")], lambda tenant: remaining[tenant.name]) == [
        {"name": "ann", "limits": [{"unit": "requests", "most": 60, "left": 59, "full_in": 1.0}]},
        {"name": "bob", "limits": []},
    ]


async def test_a_backend_has_a_breaker_and_places(proxy: Proxy) -> None:
    await proxy.stream()
    told = await asked(proxy, "standing")
    (found,) = told["workers"]["0"]["backends"]
    assert found["name"] == "backend"
    assert found["places"] == {"slots": None, "working": 0, "waiting": 0}
    assert found["breaker"] == {"state": "closed", "why": "", "seconds": 0.0, "requests": 1, "failures": 0}


async def test_a_breaker_that_is_open_says_why(start_proxy: StartProxy) -> None:
    proxy = await start_proxy(
        backend={"url": "http://127.0.0.1:1/v1", "max_concurrent": 3},
        breaker={"consecutive_failures": 1},
        retries={"attempts": 1},
        limits={"requests_per_minute": 60},
    )
    await proxy.refused()
    here = (await asked(proxy, "standing"))["workers"]["0"]
    (found,) = here["backends"]
    assert found["breaker"]["state"] == "open"
    assert found["breaker"]["why"] == "failed once (last: no connection)"
    assert found["breaker"]["seconds"] > 0
    assert found["places"]["slots"] == 3
    assert here["tenants"][0]["name"] == "anybody"
    assert here["tenants"][0]["limits"][0]["left"] == 59
