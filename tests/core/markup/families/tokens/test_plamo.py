"""R08: PLaMo's tokens."""

from proxy.core.markup.families.tokens import plamo
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = plamo.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"city": "Oslo"}'
MESSAGE = "<|plamo:constrain|>json<|plamo:msg|>"


def token(word: str) -> str:
    return f"<|plamo:{word}:plamo|>"


def call(name: str, arguments: str = "{}", message: str = MESSAGE) -> str:
    return (
        f"{token('begin_tool_request')}{token('begin_tool_name')}{name}{token('end_tool_name')}"
        f"{token('begin_tool_arguments')}{message}{arguments}{token('end_tool_arguments')}{token('end_tool_request')}"
    )


def section(*calls: str) -> str:
    return f"{token('begin_tool_requests')}{''.join(calls)}{token('end_tool_requests')}"


WEATHER = call("get_weather", JSON)

CASES: dict[str, tuple[str, Calls, str]] = {
    "a section": (section(WEATHER), [OSLO], ""),
    "a call alone": (WEATHER, [OSLO], ""),
    "prose on both sides": (f"a {section(WEATHER)} b", [OSLO], "a  b"),
    "two": (section(WEATHER, call("get_time")), [OSLO, ("get_time", {})], ""),
    "newlines": (section(f"\n{WEATHER}\n", call("get_time")), [OSLO, ("get_time", {})], ""),
    "no constraint": (section(call("get_weather", JSON, "<|plamo:msg|>")), [OSLO], ""),
    "no end of the section": (section(WEATHER).removesuffix(token("end_tool_requests")), [OSLO], ""),
    "no end of the request": (section(WEATHER.removesuffix(token("end_tool_request"))), [OSLO], ""),
    "no ends": (WEATHER.removesuffix(token("end_tool_arguments") + token("end_tool_request")), [OSLO], ""),
    "blanks": (section(WEATHER.replace("get_weather", " get_weather ").replace("json", "json ")), [OSLO], ""),
    "a token in a string": (
        call("get_weather", f'{{"city": "{token("end_tool_request")}"}}'),
        [("get_weather", {"city": token("end_tool_request")})],
        "",
    ),
    "no arguments": (call("get_time", ""), [("get_time", {})], ""),
}

TEXTS = (
    f"The token {token('begin_tool_request')} opens a call.",
    section("text"),
    token("begin_tool_request") + token("begin_tool_name"),
    WEATHER.partition(MESSAGE)[0],
    WEATHER.partition("json")[0],
    WEATHER.partition("{")[0],
    call("get_weather", '{"city": "Os').partition(token("end_tool_arguments"))[0],
    call("get_weather", "{<b>}"),
    call("two words", JSON),
    call("get_weather", JSON, "<|plamo:constrain|>xml<|plamo:msg|>"),
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    begin = token("begin_tool_request")
    for text in (f"{begin} is the", f"{begin}{token('begin_tool_name')}two words"):
        assert plamo.FORMATS[0].read(text, 0, False, TOOLS) is None
