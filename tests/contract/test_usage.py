"""P10: what each tenant has used is counted, whatever way it asks and whoever answers, and whatever came of it."""

import aiohttp
from prometheus_client.parser import text_string_to_metric_families

from proxy.core.tenants import digest
from tests.contract.cases import CASES, failed
from tests.contract.tenancy import TEXT_ROUND, Way, every_backend, every_way, says, talking

OTHER = {"keys": [digest("of another")]}
OPEN = {"metrics": {"open": True}}


async def used(url: str, tenant: str = "one") -> dict[str, float]:
    """What is counted for it, by what it is."""
    async with aiohttp.ClientSession() as session, session.get(f"{url}/metrics") as response:
        families = text_string_to_metric_families(await response.text())
    return {
        sample.labels.get("status") or sample.labels.get("kind") or "calls": sample.value
        for family in families
        for sample in family.samples
        if sample.labels.get("tenant") == tenant
    }


@every_way
@every_backend
async def test_requests_tokens_and_calls(way: Way, backend_name: str) -> None:
    case = CASES["parallel_calls"]
    async with talking(way, backend_name, case.ask, says(case), {}, **OPEN) as (talk, url, _):
        for each in case.rounds:
            assert (await talk.round(url, each)).outcome == each.outcome
        assert await used(url) == {"2xx": 2, "input": 18, "output": 6, "calls": 2}
        assert await used(url, "anybody") == {}


@every_way
@every_backend
async def test_a_reply_that_is_not_accepted_has_been_paid_for(way: Way, backend_name: str) -> None:
    """The model answered, though not as it was asked to: that is an error for the client, and costs all the same."""
    case = CASES["required_unmet"]
    async with talking(way, backend_name, case.ask, says(case), {}, **OPEN) as (talk, url, _):
        wanted = case.rounds[0].outcome
        assert (await talk.round(url, case.rounds[0])).outcome == (wanted if way[1] else wanted.whole())
        assert await used(url) == {"2xx" if way[1] else "5xx": 1, "input": 9, "output": 3}


@every_way
async def test_what_is_refused_counts_as_a_request(way: Way) -> None:
    case = CASES["one_call"]
    rules = {"tool_allowlist": []}
    async with talking(way, "chat", case.ask, [], rules, **OPEN) as (talk, url, _):
        assert (await talk.round(url, case.rounds[0])).outcome == failed("tool_not_allowed")
        assert await used(url) == {"4xx": 1}


async def test_every_tenant_is_counted_for_itself() -> None:
    case = CASES["text"]
    way = ("chat", False)
    async with talking(way, "chat", case.ask, says(case), {}, key="of another", other=OTHER, **OPEN) as (
        talk,
        url,
        _,
    ):
        assert (await talk.round(url, TEXT_ROUND)).outcome == TEXT_ROUND.outcome
        assert await used(url, "other") == {"2xx": 1, "input": 9, "output": 3}
        assert await used(url, "one") == {}
