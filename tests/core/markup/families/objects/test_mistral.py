"""R08: Mistral's token, in both forms."""

from proxy.core.markup.families.objects import mistral
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = mistral.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'

CASES: dict[str, tuple[str, Calls, str]] = {
    "older": (f"[TOOL_CALLS][{JSON}]", [OSLO], ""),
    "older, with a blank": (f"[TOOL_CALLS] [{JSON}]", [OSLO], ""),
    "older, two": (f"[TOOL_CALLS] [{JSON}, {JSON}]", [OSLO, OSLO], ""),
    "older, the end of the turn": (f"[TOOL_CALLS] [{JSON}]</s>", [OSLO], ""),
    "older, closed": (f"[TOOL_CALLS] [{JSON}] [/TOOL_CALLS]x", [OSLO], "x"),
    "older, prose on both sides": (f"Hello[TOOL_CALLS] [{JSON}]\nSo.", [OSLO], "Hello\nSo."),
    "older, other order": (
        '[TOOL_CALLS] [{"arguments": {"name": "Ann"}, "id": "a1b2", "name": "untyped"}]',
        [("untyped", {"name": "Ann"})],
        "",
    ),
    "older, one object": (f"[TOOL_CALLS]{JSON}", [OSLO], ""),
    "older, brackets in strings": (
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "]}[/TOOL_CALLS]"}}]',
        [("get_weather", {"city": "]}[/TOOL_CALLS]"})],
        "",
    ),
    "older, junk beside a call": (f"[TOOL_CALLS][{JSON}, 5]", [OSLO], ""),
    "newer": ('[TOOL_CALLS]get_weather{"city": "Oslo"}', [OSLO], ""),
    "newer, two": (
        '[TOOL_CALLS]get_weather{"city": "Oslo"}[TOOL_CALLS]get_time{}',
        [OSLO, ("get_time", {})],
        "",
    ),
    "newer, marked": ('[TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"}', [OSLO], ""),
    "newer, with an id": ('[TOOL_CALLS]get_weather[CALL_ID]a1b2c3[ARGS]{"city": "Oslo"}', [OSLO], ""),
    "newer, with blanks": ('[TOOL_CALLS] get_weather [ARGS] {"city": "Oslo"} So.', [OSLO], " So."),
    "newer, prose on both sides": ('a [TOOL_CALLS]get_weather[ARGS]{"city": "Oslo"} b', [OSLO], "a  b"),
    "newer, a name with signs": ("[TOOL_CALLS]mcp.search-docs[ARGS]{}", [("mcp.search-docs", {})], ""),
    "newer, nested": (
        '[TOOL_CALLS]get_weather{"city": "{", "filters": {"a": {"b": [1, {}]}}}',
        [("get_weather", {"city": "{", "filters": {"a": {"b": [1, {}]}}})],
        "",
    ),
    "without arguments, at the end": ("a [TOOL_CALLS]get_time", [("get_time", {})], "a "),
    "without arguments, marked, at the end": ("[TOOL_CALLS]get_time[ARGS]\n", [("get_time", {})], "\n"),
    "a relative, as MiniMax writes JSON": (
        'a [TOOL_CALL]\n{"tool": "get_weather", "args": {"city": "Oslo"}}\n[/TOOL_CALL] b',
        [OSLO],
        "a  b",
    ),
    "a relative, other keys, not closed": (
        '[TOOL_CALL]{"tool": "get_weather", "parameters": {"city": "Oslo"}}',
        [OSLO],
        "",
    ),
    "a relative": ('[TOOL_CALL]get_weather[ARGS]{"city": "Oslo"}', [OSLO], ""),
}

TEXTS = (
    '[TOOL_CALLS][{"name": get weather}]',
    "[TOOL_CALLS] not json at all",
    "The token [TOOL_CALLS] marks calls.",
    "[TOOL_CALLS]",
    "[TOOL_CALLS]get_weather",
    "[TOOL_CALLS] get_time",
    "[TOOL_CALLS]get_time is how",
    "[TOOL_CALLS]get_tim",
    "[TOOL_CALLS]get_weather[ARGS]",
    '[TOOL_CALLS]get_weather{"city": "Os',
    '[TOOL_CALLS]get_weather{"city": <b>}',
    "[TOOL_CALLS]get_weather{city Oslo}",
    "[TOOL_CALLS]get_weather[1]",
    "[TOOL_CALLS][1, 2]",
    '[TOOL_CALLS][{"name": "get_time", "parameters": {}}, {"name": "untyped", "parameters": {"type": "object"}}]',
    f"[TOOL_CALLS][{JSON}",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    for text in ("[TOOL_CALLS] is a", "[TOOL_CALLS] [see", "[TOOL_CALLS][[see"):
        assert mistral.FORMATS[0].read(text, 0, False, TOOLS) is None


def test_arguments_that_are_too_deep_to_be_written_are_no_call() -> None:
    text = f'[TOOL_CALLS]untyped{{"a": {"[" * 300}{"]" * 300}}}'
    assert mistral.FORMATS[0].read(text, 0, True, TOOLS) is None
