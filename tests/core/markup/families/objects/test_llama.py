"""R08: Llama 3, with JSON and with a call that is built in."""

from proxy.core.markup.families.objects import llama
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
TIME = '{"name": "get_time", "arguments": {}}'

CASES: dict[str, tuple[str, Calls, str]] = {
    "Llama 3": (f"<|python_tag|>{JSON.replace('arguments', 'parameters')}", [OSLO], ""),
    "Llama 3, two": (f"<|python_tag|>{JSON}; {TIME}<|eom_id|>", [OSLO, ("get_time", {})], ""),
    "Llama 3, built in": ('<|python_tag|>get_weather.call(city="Oslo")', [OSLO], ""),
    "Llama 3, built in, and its end": (
        'a <|python_tag|>get_weather.call(city="Oslo")<|eom_id|> b',
        [OSLO],
        "a  b",
    ),
}

TEXTS = (
    "<|python_tag|>print('x')",
    "<|python_tag|>import math",
    "<|python_tag|>",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(llama.FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(llama.FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    assert llama.FORMATS[0].read("<|python_tag|>1", 0, False, TOOLS) is None
