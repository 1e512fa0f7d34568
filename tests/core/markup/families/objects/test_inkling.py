"""R08: Inkling, with and without its header."""

from proxy.core.markup.families.objects import inkling
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'

INKLING = f"<|content_invoke_tool_json|>{JSON.replace('arguments', 'args')}<|end_message|>"

CASES: dict[str, tuple[str, Calls, str]] = {
    "Inkling": (INKLING, [OSLO], ""),
    "Inkling, no arguments": (
        '<|content_invoke_tool_json|>{"name": "get_time", "args": {}}<|end_message|>',
        [("get_time", {})],
        "",
    ),
    "Inkling, with its author": (f"a<|message_model|>weather{INKLING}b", [OSLO], "ab"),
}

TEXTS = (
    "<|message_model|>Hello.<|end_message|>",
    "<|message_model|>weather<|content_inv",
    '<|content_invoke_tool_json|>{"name": "get_time"}<|end_message|>',
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(inkling.FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(inkling.FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    assert inkling.FORMATS[0].read("<|message_model|>\n", 0, False, TOOLS) is None
