"""What becomes of replies that are odd but no failure, on every way into the proxy and from every kind of backend."""

from dataclasses import replace

from proxy.core.stream.first_call import TOLD
from proxy.core.stream.verdict import NO_ANSWER
from tests.contract.cases import CASES
from tests.contract.tenancy import CALL_ROUND, ONE_CALL, Way, every_backend, every_way, says, talking
from tests.scripted.say import Say

PARALLEL = CASES["parallel_calls"]


@every_way
@every_backend
async def test_v21_thoughts_alone_are_told_as_they_are(way: Way, backend_name: str) -> None:
    thought = Say(thinking="Hm, so.")
    async with talking(way, backend_name, CASES["text"].ask, [thought], None) as (talk, url, _):
        answer = await talk.round(url, replace(CASES["text"].rounds[0], says=thought))
    assert (answer.outcome.ending, answer.outcome.text) == ("completed", "")
    assert answer.outcome.reasoning == "Hm, so."
    assert NO_ANSWER in answer.warnings


@every_way
@every_backend
async def test_v21_of_nothing_comes_a_failure(way: Way, backend_name: str) -> None:
    """V24: white space alone is nothing, too."""
    for nothing in (Say(), Say(text="\n\n")):
        async with talking(way, backend_name, CASES["text"].ask, [nothing], None) as (talk, url, _):
            answer = await talk.round(url, replace(CASES["text"].rounds[0], says=nothing))
        assert answer.outcome.error == "upstream_empty_reply"


@every_way
@every_backend
async def test_v23_where_one_call_is_wanted_one_comes(way: Way, backend_name: str) -> None:
    async with talking(way, backend_name, PARALLEL.ask, says(PARALLEL), None) as (talk, url, _):
        talk.body["parallel_tool_calls"] = False
        answer = await talk.round(url, PARALLEL.rounds[0])
    assert [name for name, _ in answer.outcome.calls] == ["get_weather"]
    assert TOLD in answer.warnings


@every_way
@every_backend
async def test_v24_white_space_before_a_call_is_no_message(way: Way, backend_name: str) -> None:
    blank = replace(CALL_ROUND.says, text="\n\n")
    async with talking(way, backend_name, ONE_CALL.ask, [blank], None) as (talk, url, _):
        answer = await talk.round(url, replace(CALL_ROUND, says=blank))
    assert answer.outcome.text == ""
    assert len(answer.outcome.calls) == 1
