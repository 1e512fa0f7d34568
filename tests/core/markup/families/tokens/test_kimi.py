"""R08: Kimi's tokens."""

from dataclasses import replace

from proxy.core.markup.families.tokens import deepseek, kimi
from proxy.core.markup.formats import Block, Tools
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.core.markup.scanning import scan
from tests.support.tables import table

FORMATS = (*deepseek.FORMATS, *kimi.FORMATS)
OSLO = ("get_weather", {"city": "Oslo"})
BEGIN, END = "<|tool_calls_section_begin|>", "<|tool_calls_section_end|>"
CALL, ARGUMENTS, CALLED = "<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"


def call(said: str, arguments: str = '{"city": "Oslo"}') -> str:
    return f"{CALL}{said}{ARGUMENTS}{arguments}{CALLED}"


def section(*calls: str) -> str:
    return f"{BEGIN}{''.join(calls)}{END}"


def k3(*calls: str) -> str:
    return f"<|open|>tools<|sep|>{''.join(calls)}<|close|>tools<|sep|>"


def k3_call(name: str, *arguments: tuple[str, str, str]) -> str:
    inside = "".join(
        f'<|open|>argument key="{key}" type="{kind}"<|sep|>{value}<|close|>argument<|sep|>'
        for key, kind, value in arguments
    )
    return f'<|open|>call tool="{name}" index="0"<|sep|>{inside}<|close|>call<|sep|>'


CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (section(call("functions.get_weather:0")), [OSLO], ""),
    "prose on both sides": (f"Look. {section(call('functions.get_weather:0'))} So.", [OSLO], "Look.  So."),
    "two calls": (
        section(call("functions.get_weather:0"), call("functions.get_time:1", "{}")),
        [OSLO, ("get_time", {})],
        "",
    ),
    "a short id of another kind": (section(call("call_3")), [OSLO], ""),
    "two sections": (section(call("functions.get_weather:0")) * 2, [OSLO, OSLO], ""),
    "blanks around every token": (
        f'{BEGIN}\n {CALL} functions.get_weather:0 \n{ARGUMENTS}\n{{"city": "Oslo"}} \n {CALLED} \n{END}',
        [OSLO],
        "",
    ),
    "no prefix": (section(call("get_weather:3")), [OSLO], ""),
    "no number": (section(call("functions.get_weather")), [OSLO], ""),
    "a name with dots": (section(call("functions.mcp.search-docs:0", "{}")), [("mcp.search-docs", {})], ""),
    "a name that is not declared": (
        section(call("functions.other.thing:12", "{}")),
        [("other.thing", {})],
        "",
    ),
    "a number alone": (
        section(call("0", '{"path": "p", "content": "c"}')),
        [("write_file", {"path": "p", "content": "c"})],
        "",
    ),
    "an id with other signs": (section(call("functions_get_weather_1")), [OSLO], ""),
    "an id without signs": (section(call("functionsget_weather12")), [OSLO], ""),
    "an id without a colon": (section(call("functions.get_weather3")), [OSLO], ""),
    "another API's id": (
        section(call("call_abc123def456", '{"path": "p", "content": "c"}')),
        [("write_file", {"path": "p", "content": "c"})],
        "",
    ),
    "a name that only looks like another API's id": (
        section(call("call_everyone", '{"path": "p", "content": "c"}')),
        [("call_everyone", {"path": "p", "content": "c"})],
        "",
    ),
    "no arguments": (section(call("functions.get_time:0", "")), [("get_time", {})], ""),
    "no arguments, two, and a newline": (
        section(call("functions.get_time:0", "\n"), call("get_time:1", "")),
        [("get_time", {}), ("get_time", {})],
        "",
    ),
    "markup and tokens in a string": (
        section(call("functions.get_weather:0", '{"city": "<div>' + CALLED + END + '"}')),
        [("get_weather", {"city": "<div>" + CALLED + END})],
        "",
    ),
    "JSON on several lines": (section(call("get_weather:0", '{\n  "city": "Oslo"\n}')), [OSLO], ""),
    "a singular section": (
        section(call("get_weather:0")).replace("calls_section", "call_section"),
        [OSLO],
        "",
    ),
    "no section": (f"Look. {call('functions.get_weather:0')} So.", [OSLO], "Look.  So."),
    "no begin of the section": (f"{call('functions.get_weather:0')}{END} so", [OSLO], " so"),
    "no end of the section": (f"{BEGIN}{call('functions.get_weather:0')}", [OSLO], ""),
    "no end of the call": (f"{BEGIN}{call('get_weather:0').removesuffix(CALLED)}{END}", [OSLO], ""),
    "no ends": (f"{BEGIN}{call('get_weather:0').removesuffix(CALLED)}", [OSLO], ""),
    "no begin of the call": (section(call("functions.get_weather:0").removeprefix(CALL)), [OSLO], ""),
    "a bracket too few": (
        section(call("get_weather:0", '{"city": "Oslo"'), call("get_time:1", "{}")),
        [OSLO, ("get_time", {})],
        "",
    ),
    "a broken call before a good one": (
        section(call("get_weather:0", "{city}"), call("get_time:1", "{}")),
        [("get_time", {})],
        f"{BEGIN}{call('get_weather:0', '{city}')}",
    ),
    "a section without calls": (f"a{BEGIN}\n{END}b", [], "ab"),
    "a begin at the end": (f"a{BEGIN}", [], "a"),
    # ── K3
    "K3's": (k3(k3_call("get_weather", ("city", "string", "Oslo"))), [OSLO], ""),
    "K3's, two": (k3(k3_call("get_time"), k3_call("get_time")), [("get_time", {}), ("get_time", {})], ""),
    "K3's, not closed": (
        k3(k3_call("get_weather", ("city", "string", "Oslo"))).removesuffix("<|close|>tools<|sep|>"),
        [OSLO],
        "",
    ),
    "K3's, with prose": (f"a {k3(k3_call('get_time'))} b", [("get_time", {})], "a  b"),
    "K3's, typed by the tag": (
        k3(k3_call("untyped", ("a", "string", "1"), ("b", "number", "1"), ("c", "object", '{"d": []}'))),
        [("untyped", {"a": "1", "b": 1, "c": {"d": []}})],
        "",
    ),
    "K3's, attributes are escaped and values are not": (
        k3(k3_call("untyped", ("a&amp;b&quot;", "string", "x &amp; <y>"))),
        [("untyped", {'a&b"': "x &amp; <y>"})],
        "",
    ),
    "K3's, blanks": (
        k3(k3_call("get_weather", ("city", "string", "Oslo"))).replace("<|sep|><|", "<|sep|>\n<|"),
        [OSLO],
        "",
    ),
    "K3's, no closer of a value": (
        k3(k3_call("get_weather", ("city", "string", "Oslo"), ("days", "integer", "2"))).replace(
            "Oslo<|close|>argument<|sep|>", "Oslo"
        ),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "K3's, a token that a value names": (
        k3(k3_call("get_weather", ("city", "string", "the <|sep|> token"))),
        [("get_weather", {"city": "the <|sep|> token"})],
        "",
    ),
    "K3's, a closer in a value": (
        k3(k3_call("get_weather", ("city", "string", "a<|close|>argument<|sep|> b"))),
        [("get_weather", {"city": "a<|close|>argument<|sep|> b"})],
        "",
    ),
}

TEXTS = (
    k3(k3_call("get_weather", ("city", "string", "Oslo"), ("days", "integer", "2"))).replace(
        "Oslo<|close|>", "Oslo"
    ),
    f"The token {BEGIN} opens a section.",
    f"{CALL}functions.get_weather:0",
    f'{CALL}functions.get_weather:0{ARGUMENTS}{{"city": "Os',
    section(call("0", '{"x": 1}')),
    section(call("0", "{}").replace("0", "")),
    section(call("0", "")),
    f"{CALL}functions.get_time:0{ARGUMENTS} begins the arguments",
    f"{CALL}functions.get_time:0{ARGUMENTS}",
    section("text"),
    "functions.get_time:0 is for it, or functions.get_weather.",
    f"Call {call('functions.get_weather:0')}".replace(CALL, ""),
    f"functions.get_time:0 {ARGUMENTS} begins the arguments",
    f"{CALL}get_weather:0{ARGUMENTS}{{<b>}}{CALLED}",
    "<|open|>tools<|sep|>",
    k3(k3_call("get_time")).removesuffix("<|close|>tools<|sep|>") + " then",
    k3("text"),
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


def test_at_the_start_of_a_reply_all_may_be_missing_before_the_id() -> None:
    """Elsewhere `functions.` is a word, for which no text waits."""
    first = tuple(replace(format, openers=(*format.openers, *format.first)) for format in kimi.FORMATS)
    check(first, f"{call('functions.get_weather:0')}{END} So.".replace(CALL, ""), [OSLO], " So.")
    check(
        first,
        f"functions.get_weather:0 {ARGUMENTS} begins",
        [],
        f"functions.get_weather:0 {ARGUMENTS} begins",
    )


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    k2, k3_format = kimi.FORMATS
    assert k2.read(f"{CALL}get weather", 0, False, TOOLS) is None
    assert k3_format.read("<|open|>tools<|sep|>text", 0, False, TOOLS) is None


def test_a_tool_may_have_a_name_like_an_id() -> None:
    tools = Tools({"call": {}, "get_weather": TOOLS.schemas["get_weather"]})
    for said, name in (("call_3", "call"), ("functions.call:3", "call"), ("4", "get_weather")):
        verdict = kimi.FORMATS[0].read(section(call(said)), 0, True, tools)
        assert isinstance(verdict, Block)
        assert [one.name for one in verdict.calls] == [name]


def test_tokens_too_many_go_with_the_block() -> None:
    text = section(call("functions.get_weather:0")) + CALLED + END
    assert scan([text], formats=kimi.FORMATS, tools=TOOLS) == [(text, ["get_weather"])]
