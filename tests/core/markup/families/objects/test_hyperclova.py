"""R08: HyperCLOVA's recipient."""

from dataclasses import replace

from proxy.core.markup.families.objects import hyperclova
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.core.markup.scanning import cuts, scan
from tests.support.tables import table

FORMAT = hyperclova.FORMATS[0]
FORMATS = (replace(FORMAT, openers=(*FORMAT.openers, *FORMAT.first)),)
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
ROLE = "<|im_start|>assistant"

CASES: dict[str, tuple[str, Calls, str]] = {
    "at the start": (f"-> tool/function_call\n[{JSON}]", [OSLO], ""),
    "behind the role": (f"{ROLE} -> tool/function_call\n[{JSON}]", [OSLO], ""),
    "behind a turn": (f"a<|im_end|>\n{ROLE} -> tool/function_call\n[{JSON}]", [OSLO], "a"),
    "an object": (f"-> tool/function_call\n{JSON}", [OSLO], ""),
    "parameters": (f"-> tool/function_call\n[{JSON.replace('arguments', 'parameters')}]", [OSLO], ""),
    "two": (f"-> tool/function_call\n[{JSON}, {JSON}]", [OSLO, OSLO], ""),
    "on lines": (
        '-> tool/function_call\n[\n  {"name": "get_time",\n "arguments": {}}\n]',
        [("get_time", {})],
        "",
    ),
    "no arguments": ('-> tool/function_call\n[{"name": "get_time"}]', [("get_time", {})], ""),
    "text behind": (f"-> tool/function_call\n[{JSON}] So.", [OSLO], " So."),
}

TEXTS = (
    "-> tool/function_call is the recipient",
    "-> tool/function_call\n[1]",
    f"-> tool/function_call\n[{JSON}",
    f"{ROLE} -> tool/function_call",
    "<|im_end|>\n<|im_start|>assistant Hello",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


def test_the_end_of_the_turn_goes_with_the_call() -> None:
    text = f" -> tool/function_call\n[{JSON}]<|im_end|>"
    for pieces in cuts(text):
        assert scan(pieces, formats=(FORMAT,), tools=TOOLS) == [" ", (text[1:], ["get_weather"])]


def test_the_words_count_at_the_very_start_only() -> None:
    text = f"So: -> tool/function_call\n[{JSON}]"
    for pieces in cuts(text):
        assert scan(pieces, formats=(FORMAT,), tools=TOOLS) == [text]


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)
