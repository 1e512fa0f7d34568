"""What becomes of replies that are odd but no failure, on every way into the proxy and from every kind of backend."""

from dataclasses import replace

from proxy.core.stream.empty_reply import NO_ANSWER
from proxy.core.stream.stages.first_call import PARALLEL_CALL
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
    assert PARALLEL_CALL in answer.warnings


@every_way
@every_backend
async def test_v24_white_space_before_a_call_is_no_message(way: Way, backend_name: str) -> None:
    blank = replace(CALL_ROUND.says, text="\n\n")
    async with talking(way, backend_name, ONE_CALL.ask, [blank], None) as (talk, url, _):
        answer = await talk.round(url, replace(CALL_ROUND, says=blank))
    assert answer.outcome.text == ""
    assert len(answer.outcome.calls) == 1


@every_way
async def test_v25_a_closing_tag_teaches_and_a_reply_without_it_undoes_that(way: Way) -> None:
    """Whoever has not seen a reply yet gets it right at once. A stream tells it as it comes: the first with the tag in
    its text; and the first without it, once that is learned, as a thought, and then whole as the answer that it was."""
    seen = way[1]
    opened, plain = Say(text="Hm.</think>\n\nHello"), Say(text="Hello")
    heard = []
    async with talking(way, "chat", CASES["text"].ask, [opened, opened, plain, plain, opened], None) as (
        talk,
        url,
        _,
    ):
        for _ in range(5):
            answer = await talk.round(url, replace(CASES["text"].rounds[0], says=plain))
            assert answer.outcome.ending == "completed"
            heard.append((answer.outcome.reasoning, answer.outcome.text))
    first = ("", opened.text) if seen else ("Hm.", "Hello")
    assert heard == [first, ("Hm.", "Hello"), ("Hello" if seen else "", "Hello"), ("", "Hello"), first]
