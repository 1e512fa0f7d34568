"""How the backends and the tenants stand now, as far as this worker knows."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from proxy.core.policy.quota import UNITS
from proxy.core.tenants import Tenant
from proxy.shell.backend import Backend


def backend(each: Backend) -> dict[str, Any]:
    breaker = each.breaker.standing
    return {
        "name": each.name,
        "breaker": {
            "state": breaker.state.value,
            "why": breaker.why,
            "seconds": breaker.seconds,
            "requests": breaker.requests,
            "failures": breaker.failures,
        },
        "places": each.slot_counts._asdict(),
    }


def tenants(
    all_of_them: Iterable[Tenant], remaining: Callable[[Tenant], Mapping[str, str]]
) -> list[dict[str, Any]]:
    """`remaining` gives the headers that tell a tenant's clients what is left."""
    return [
        {
            "name": tenant.name,
            "limits": [
                {
                    "unit": unit,
                    "most": int(headers[f"x-ratelimit-limit-{unit}"]),
                    "left": int(headers[f"x-ratelimit-remaining-{unit}"]),
                    "full_in": float(headers[f"x-ratelimit-reset-{unit}"].rstrip("s")),
                }
                for unit in UNITS
                if f"x-ratelimit-limit-{unit}" in (headers := remaining(tenant))
            ],
        }
        for tenant in all_of_them
    ]
