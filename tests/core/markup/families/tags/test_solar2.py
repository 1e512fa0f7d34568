"""R08: Solar Open 2's tokens around keys and values."""

from proxy.core.markup.families.tags import solar2
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = solar2.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})
BEGIN, END = "<|tool_call:start|>", "<|tool_call:end|>"
KEY, VALUE, GIVEN = "<|tool_arg:start|>", "<|tool_arg:value|>", "<|tool_arg:end|>"


def call(name: str, **values: str) -> str:
    inside = "".join(f"{KEY}{key}{VALUE}{value}{GIVEN}\n" for key, value in values.items())
    return f"{BEGIN}{name}\n{inside}{END}"


WEATHER = call("get_weather", city="Oslo")

CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (WEATHER, [OSLO], ""),
    "prose on both sides": (f"a {WEATHER} b", [OSLO], "a  b"),
    "two": (f"{WEATHER}\n{call('get_time')}", [OSLO, ("get_time", {})], "\n"),
    "typed": (
        call("get_weather", city="5", days="5", tags='["a"]'),
        [("get_weather", {"city": "5", "days": 5, "tags": ["a"]})],
        "",
    ),
    "verbatim": (call("get_weather", city=" a < b\n"), [("get_weather", {"city": " a < b\n"})], ""),
    "half a token in a value": (
        call("get_weather", city="<|tool_call: and <|tool_arg"),
        [("get_weather", {"city": "<|tool_call: and <|tool_arg"})],
        "",
    ),
    "no end of a value": (WEATHER.replace(f"{GIVEN}\n", ""), [OSLO], ""),
    "no end of a value before the next": (
        call("get_weather", city="Oslo", days="2").replace(GIVEN, "", 1),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "no end of the first call": (
        WEATHER.removesuffix(END) + call("get_time"),
        [OSLO, ("get_time", {})],
        "\n",
    ),
    "no end of the last call": (WEATHER.removesuffix(f"\n{END}"), [OSLO], ""),
}

TEXTS = (
    f"{BEGIN} begins a call, and {END} ends it.",
    f"{BEGIN}get_weather\n{KEY}city{VALUE}Os",
    f"{BEGIN}get_weather\n{KEY}city",
    f"{BEGIN}\n{KEY}city{VALUE}Oslo{GIVEN}\n{END}",
    f"{BEGIN}get_weather\nOslo\n{END}",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    assert FORMATS[0].read(f"{BEGIN} begins a", 0, False, TOOLS) is None
