"""R08: JSON between `<tool_call>` tags, and LongCat's."""

from proxy.core.markup.families.objects import hermes
from proxy.core.markup.families.tags import glm, qwen
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = (*hermes.FORMATS, *qwen.FORMATS, *glm.FORMATS)

OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'

DECLARED = (
    '{"name": "get_weather", "description": "Its weather.", "parameters": '
    '{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}'
)


def tag(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (tag(JSON), [OSLO], ""),
    "prose on both sides": (f"I look. {tag(JSON)} Done.", [OSLO], "I look.  Done."),
    "two tags": (f"{tag(JSON)}\n{tag(JSON)}", [OSLO, OSLO], "\n"),
    "two objects in one tag": (tag(f"{JSON}\n{JSON}"), [OSLO, OSLO], ""),
    "an array": (tag(f"[{JSON}, {JSON}]"), [OSLO, OSLO], ""),
    "no blanks": (f"<tool_call>{JSON}</tool_call>", [OSLO], ""),
    "LongCat's": (f"<longcat_tool_call>\n{JSON}\n</longcat_tool_call>", [OSLO], ""),
    "K2 Horizon's": (f"<ifm|tool_call>{JSON}</ifm|tool_call>", [OSLO], ""),
    "a closer in a string": (
        tag('{"name": "get_weather", "arguments": {"city": "</tool_call> \\" {"}}'),
        [("get_weather", {"city": '</tool_call> " {'})],
        "",
    ),
    "types are JSON's": (
        tag(
            '{"name": "get_weather", "arguments": {"city": "1", "days": "2", "unit": null, "tags": [1.5, true]}}'
        ),
        [("get_weather", {"city": "1", "days": "2", "unit": None, "tags": [1.5, True]})],
        "",
    ),
    "keys in another order, and more of them": (
        tag('{"id": "x", "arguments": {"name": "Ann"}, "type": "function", "name": "untyped"}'),
        [("untyped", {"name": "Ann"})],
        "",
    ),
    # ── what models get wrong
    "no closer": (f"<tool_call>\n{JSON}\n", [OSLO], "\n"),
    "no closer before the next": (f"<tool_call>\n{JSON}\n{tag(JSON)}", [OSLO, OSLO], "\n"),
    "the end of the turn as closer": (f"<tool_call>{JSON}<|im_end|>", [OSLO], ""),
    "a bracket too many": (tag(JSON + "}"), [OSLO], ""),
    "a bracket too few": (tag(JSON[:-1]), [OSLO], ""),
    "parameters": (tag('{"name": "get_weather", "parameters": {"city": "Oslo"}}'), [OSLO], ""),
    "arguments as text": (
        tag('{"name": "get_weather", "arguments": "{\\"city\\": \\"Oslo\\"}"}'),
        [OSLO],
        "",
    ),
    "parameters as text": (
        tag('{"name": "get_weather", "parameters": "{\\"city\\": \\"Oslo\\"}"}'),
        [OSLO],
        "",
    ),
    "the one text that a tool takes": (
        tag('{"name": "mcp.search-docs", "arguments": "how to {begin}"}'),
        [("mcp.search-docs", {"query": "how to {begin}"})],
        "",
    ),
    "the one text, as an input": (
        tag('{"name": "mcp.search-docs", "input": "*** Begin\\n"}'),
        [("mcp.search-docs", {"query": "*** Begin\n"})],
        "",
    ),
    "arguments as text twice over": (
        tag('{"name": "get_weather", "arguments": "\\"{\\\\\\"city\\\\\\": \\\\\\"Oslo\\\\\\"}\\""}'),
        [OSLO],
        "",
    ),
    "arguments as empty text": (tag('{"name": "get_time", "arguments": ""}'), [("get_time", {})], ""),
    "arguments null": (tag('{"name": "get_time", "arguments": null}'), [("get_time", {})], ""),
    "no arguments": (tag('{"name": "get_time"}'), [("get_time", {})], ""),
    "no arguments, but an id": (
        tag('{"id": "1", "type": "function", "name": "get_time"}'),
        [("get_time", {})],
        "",
    ),
    "arguments beside the name": (
        tag('{"name": "get_weather", "city": "Oslo", "days": 2}'),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "closed in the plural": (tag(JSON).replace("</tool_call>", "</tool_calls>"), [OSLO], ""),
    "a function and no type": (tag(f'{{"function": {JSON}}}'), [OSLO], ""),
    "JSON closed as a function": (tag(JSON).replace("</tool_call>", "</function>"), [OSLO], ""),
    "the name as the key": (tag('{"get_weather": {"city": "Oslo"}}'), [OSLO], ""),
    "two names as keys": (
        tag('{"get_weather": {"city": "Oslo"}, "get_time": {}}'),
        [OSLO, ("get_time", {})],
        "",
    ),
    "a name as a key, of something else": (
        tag('{"get_weather": "Oslo"}'),
        [],
        tag('{"get_weather": "Oslo"}'),
    ),
    "arguments that look like a declaration": (
        tag('{"name": "untyped", "arguments": {"type": "object", "properties": {}}}'),
        [("untyped", {"type": "object", "properties": {}})],
        "",
    ),
    "trailing commas": (tag('{"name": "get_weather", "arguments": {"city": "Oslo",},}'), [OSLO], ""),
    "a fence": (tag(f"```json\n{JSON}\n```"), [OSLO], ""),
    "a fence without a language": (tag(f"```\n{JSON}\n```"), [OSLO], ""),
    "a fence, no closer": (f"<tool_call>\n```json\n{JSON}\n```", [OSLO], ""),
    "backticks": (tag(f"`{JSON}`"), [OSLO], ""),
    "the wrapper of the API": (tag(f'{{"type": "function", "function": {JSON}}}'), [OSLO], ""),
    "the name under `function`": (
        tag('{"function": "get_weather", "arguments": {"city": "Oslo"}}'),
        [OSLO],
        "",
    ),
    "Python's literals": (
        tag("{'name': 'get_weather', 'arguments': {'city': 'Oslo', 'metric': True, 'unit': None}}"),
        [("get_weather", {"city": "Oslo", "metric": True, "unit": None})],
        "",
    ),
    "a raw newline in a string": (
        tag('{"name": "get_weather", "arguments": {"city": "Os\nlo"}}'),
        [("get_weather", {"city": "Os\nlo"})],
        "",
    ),
    "an escape that JSON does not know": (
        tag('{"name": "get_weather", "arguments": {"city": "C:\\dir"}}'),
        [("get_weather", {"city": "C:\\dir"})],
        "",
    ),
    "junk beside a call": (tag(f'[{JSON}, "junk", 1, null, []]'), [OSLO], ""),
    "a key twice": (
        tag('{"name": "get_weather", "arguments": {"city": "a", "city": "b"}}'),
        [("get_weather", {"city": "b"})],
        "",
    ),
}

TEXTS = (
    tag(JSON[:-2]),
    tag('{"name": "get_weather", "arguments": {'),
    tag(f"[{JSON}"),
    tag("I would call get_weather."),
    tag("[1, 2]"),
    tag("[]"),
    tag("{}"),
    tag('{"name": 5, "arguments": {}}'),
    tag('{"name": "get_weather", "arguments": [1]}'),
    tag('{"name": "get_weather", "arguments": "Oslo"}'),
    tag('{"name": "get_weather", "arguments": "[1]"}'),
    tag('{"name": "mcp.search-docs", "arguments": "{\\"query\\": "}'),
    tag('{"name": "mcp.search-docs", "arguments": 5}'),
    tag('{"name": "get_weather", "arguments": {"city": Oslo}}'),
    tag('{"name": "get_weather" "arguments" {}}'),
    # ── arguments that the tool does not have, or not all that it needs
    tag('{"name": "get_weather", "town": "Oslo"}'),
    tag('{"name": "get_weather", "days": 2}'),
    # ── a tool as the prompt declares it
    tag(DECLARED),
    tag(f'{{"type": "function", "function": {DECLARED}}}'),
    tag(f"[{DECLARED}]"),
    tag('{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {}}}}'),
    tag('{"name": "get_time", "description": "The time.", "parameters": {}}'),
    tag('{"name": "get_weather", "description": "Its weather.", "parameters": {"city": {"type": "string"}}}'),
    tag('{"name": "get_time", "description": "The time."}'),
    tag('{"name": "get_weather", "arguments": {"city": "Oslo"}} and more'),
    tag(f"{JSON}\n{{broken}}"),
    "<tool_call>",
    "<tool_call>\n```json\n",
    "<tool_call>``",
    f"<tool_call>{JSON} is what it prints.",
    f"<tool_call>{JSON[:-2]}",
    f"<tool_call>{JSON[:30]}",
    f"<tool_call>{JSON}</tool_ca",
    '<tool_call>{"name": </b>}</tool_call>',
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
        "<tool_call> tag",
        "<tool_call>\n<b>",
        '<tool_call>{"a": 1} then',
        "<tool_call>`x`",
        "<tool_call>[see",
        "<tool_call>{see below",
    ],
)
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert hermes.FORMATS[0].read(text, 0, False, TOOLS) is None


def test_arguments_that_are_too_deep_to_be_written_are_no_call() -> None:
    deep = "[" * 300 + "]" * 300
    text = tag(f'{{"name": "untyped", "arguments": {{"a": {deep}}}}}')
    assert hermes.FORMATS[0].read(text, 0, True, TOOLS) is None
