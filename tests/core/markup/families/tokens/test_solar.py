"""R08: Solar Open's tokens."""

from proxy.core.markup.families.tokens import solar
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = solar.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"city": "Oslo"}'


def call(name: str, arguments: str = "{}", id: str = "q1w2e3r4t5") -> str:
    return f"<|tool_call:begin|>{id}<|tool_call:name|>{name}<|tool_call:args|>{arguments}<|tool_call:end|>"


def section(*calls: str) -> str:
    return f"<|begin|>assistant<|tool_calls|>{''.join(calls)}<|calls|>"


WEATHER = call("get_weather", JSON)

CASES: dict[str, tuple[str, Calls, str]] = {
    "a section": (section(WEATHER), [OSLO], ""),
    "a call alone": (WEATHER, [OSLO], ""),
    "prose on both sides": (f"a {section(WEATHER)} b", [OSLO], "a  b"),
    "two": (section(WEATHER, call("get_time")), [OSLO, ("get_time", {})], ""),
    "two without a section": (f"{WEATHER}\n{call('get_time')}", [OSLO, ("get_time", {})], "\n"),
    "no begin": (section(WEATHER).removeprefix("<|begin|>assistant"), [OSLO], ""),
    "no end": (section(WEATHER).removesuffix("<|calls|>"), [OSLO], ""),
    "no ends": (section(WEATHER).removesuffix("<|tool_call:end|><|calls|>"), [OSLO], ""),
    "ended otherwise": (section(WEATHER).replace("<|calls|>", "<|flush|>"), [OSLO], ""),
    "a counter for an id": (call("get_weather", JSON, "0"), [OSLO], ""),
    "no id": (call("get_weather", JSON, ""), [OSLO], ""),
    "as Python writes it": (
        call("untyped", "{'a': True, 'b': None}"),
        [("untyped", {"a": True, "b": None})],
        "",
    ),
    "newlines": (section(WEATHER).replace("<|tool", "\n<|tool"), [OSLO], ""),
    "a token in a string": (
        call("get_weather", '{"city": "<|tool_call:end|>"}'),
        [("get_weather", {"city": "<|tool_call:end|>"})],
        "",
    ),
    "no arguments": (call("get_time", ""), [("get_time", {})], ""),
}

TEXTS = (
    "The token <|tool_call:begin|> opens a call.",
    "<|begin|>assistant<|content|>Hello<|end|>",
    "<|begin|>assistant",
    "<|begin|>assistant<|tool_c",
    section("text"),
    WEATHER.partition("<|tool_call:args|>")[0],
    f"{WEATHER.partition('<|tool_call:args|>')[0]}<|tool_call:args|>",
    call("get_weather", '{"city": "Os').removesuffix("<|tool_call:end|>"),
    call("get_weather", "{<b>}"),
    call("two words", JSON),
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


@table(
    "text",
    [
        "<|tool_call:begin|> is the",
        "<|begin|>assistant is",
        "<|tool_call:begin|>a<|tool_call:name|>two words",
    ],
)
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert solar.FORMATS[0].read(text, 0, False, TOOLS) is None
