"""R08: DeepSeek's DSML."""

from proxy.core.markup.families.tags import dsml
from proxy.core.markup.formats import Block, Tools
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = dsml.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})


def invoke(name: str, *parameters: str) -> str:
    return "\n".join((f'<｜DSML｜invoke name="{name}">', *parameters, "</｜DSML｜invoke>"))


def given(key: str, value: str, string: str = "true") -> str:
    return f'<｜DSML｜parameter name="{key}" string="{string}">{value}</｜DSML｜parameter>'


def section(*invokes: str, name: str = "function_calls") -> str:
    return "\n".join((f"<｜DSML｜{name}>", *invokes, f"</｜DSML｜{name}>"))


def stripped(text: str) -> str:
    return text.replace("｜DSML｜", "")


CALL = invoke("get_weather", given("city", "Oslo"))

CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (section(CALL), [OSLO], ""),
    "prose on both sides": (f"Look.\n\n{section(CALL)} So.", [OSLO], "Look.\n\n So."),
    "the other name of the section": (section(CALL, name="tool_calls"), [OSLO], ""),
    "a section under another name": (section(CALL, name="toolcalls"), [OSLO], ""),
    "a section under half a name": (
        section(CALL, name="tool_calls").replace("<｜DSML｜tool_calls>", "<｜DSML｜tool>", 1),
        [OSLO],
        "",
    ),
    "4.1's": (
        section(CALL, name="calls").replace("DSML｜", "DSML｜ "),
        [OSLO],
        "",
    ),
    "GigaChat's": (section(CALL, name="tool_calls").replace("DSML", "GCML"), [OSLO], ""),
    "behind a spoiled tag": (f"So.\n<｜DSML｜tool_calls...\n\n{section(CALL)}", [OSLO], "So.\n"),
    "behind one of another kind": (
        f"<｜DSML｜tool_calls<tool_calls>\n\n{section(CALL, invoke('get_time'))}",
        [OSLO, ("get_time", {})],
        "",
    ),
    "behind a name without its tag": (f"<｜DSML｜toolcalls>\n{section(CALL)}", [OSLO], ""),
    "a spoiled tag, no section": (f"<｜DSML｜tool_calls\n{CALL}", [OSLO], ""),
    "a spoiled tag that is spoken of": (
        f"'<｜DSML｜toolcalls>'\n{section(CALL)}",
        [OSLO],
        "'<｜DSML｜toolcalls>'\n",
    ),
    "two calls": (section(CALL, invoke("get_time")), [OSLO, ("get_time", {})], ""),
    "two sections": (section(CALL) + "\n" + section(CALL), [OSLO, OSLO], "\n"),
    "the schema types what is called a string": (
        section(invoke("get_weather", given("city", "5"), given("days", "5"), given("filters", '{"a": 1}'))),
        [("get_weather", {"city": "5", "days": 5, "filters": {"a": 1}})],
        "",
    ),
    "a string by the schema stays one": (
        section(invoke("get_weather", given("city", "42", "false"))),
        [("get_weather", {"city": "42"})],
        "",
    ),
    "without a schema the attribute decides": (
        section(
            invoke(
                "untyped",
                given("a", "1", "false"),
                given("b", "1"),
                given("c", "x", "false"),
                given("d", "[1]", "false"),
            )
        ),
        [("untyped", {"a": 1, "b": "1", "c": "x", "d": [1]})],
        "",
    ),
    "no attribute": (
        section(invoke("untyped", '<｜DSML｜parameter name="a">1</｜DSML｜parameter>')),
        [("untyped", {"a": "1"})],
        "",
    ),
    "values are verbatim": (
        section(invoke("get_weather", given("city", "\n a < b & c \n"))),
        [("get_weather", {"city": "\n a < b & c \n"})],
        "",
    ),
    "closed in itself": (section('<｜DSML｜invoke name="get_time"/>', CALL), [("get_time", {}), OSLO], ""),
    "one object": (section(invoke("get_weather", '{"city": "Oslo"}')), [OSLO], ""),
    "all in `arguments`": (
        section(invoke("get_weather", given("arguments", '{"city": "Oslo"}', "false"))),
        [OSLO],
        "",
    ),
    "all in `input`": (section(invoke("get_weather", given("input", '{"city": "Oslo"}'))), [OSLO], ""),
    "`input` that is no object": (
        section(invoke("get_weather", given("input", "Oslo"))),
        [("get_weather", {"input": "Oslo"})],
        "",
    ),
    "`input` beside others": (
        section(invoke("get_weather", given("input", "{}"), given("city", "Oslo"))),
        [("get_weather", {"input": "{}", "city": "Oslo"})],
        "",
    ),
    # ── what is missing or odd
    "no section": (f"Look. {CALL} So.", [OSLO], "Look.  So."),
    "no section, two": (CALL + CALL, [OSLO, OSLO], ""),
    "no begin of the section": (f"{CALL}\n</｜DSML｜tool_calls>", [OSLO], ""),
    "no end of the section": (f"<｜DSML｜function_calls>\n{CALL}", [OSLO], ""),
    "no end of the section, and prose": (f"<｜DSML｜function_calls>\n{CALL}\nSo.", [OSLO], "\nSo."),
    "the names of two sections": (section(CALL)[: -len("function_calls>")] + "tool_calls>", [OSLO], ""),
    "the end of the turn": (f"{CALL}<｜end▁of▁sentence｜>", [OSLO], ""),
    "doubled bars": (section(CALL).replace("｜", "｜｜"), [OSLO], ""),
    "joined bars": (section(CALL).replace("｜", "‖"), [OSLO], ""),
    "ASCII bars": (section(CALL).replace("｜", "|"), [OSLO], ""),
    "doubled ASCII bars": (section(CALL).replace("｜", "||"), [OSLO], ""),
    "no closer of a parameter": (
        section(
            '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜invoke>'
        ),
        [OSLO],
        "",
    ),
    "no closer of an invoke": (section(CALL.removesuffix("</｜DSML｜invoke>")), [OSLO], ""),
    "a sample in a value": (
        section(invoke("write_file", given("path", "p"), given("content", section(CALL) + "!"))),
        [("write_file", {"path": "p", "content": section(CALL) + "!"})],
        "",
    ),
    "a closer in a value": (
        section(invoke("get_weather", given("city", "a</｜DSML｜parameter> b"))),
        [("get_weather", {"city": "a</｜DSML｜parameter> b"})],
        "",
    ),
    "quotes": (section(CALL).replace('"', "'"), [OSLO], ""),
    # ── remains
    "a begin at the end": ("Done.\n<｜DSML｜function_calls", [], "Done.\n"),
    "half a begin at the end": ("Done.\n<｜DSML｜", [], "Done.\n"),
    "a begin and its sign": ("Done. <｜DSML｜tool_calls>\n", [], "Done. "),
    "a section without calls": ("a <｜DSML｜function_calls>\n</｜DSML｜function_calls> b", [], "a  b"),
    # ── without its tokens
    "stripped": (stripped(f"Look.\n{CALL} So."), [OSLO], "Look.\n So."),
    "stripped, in a section": (stripped(section(CALL, CALL, name="tool_calls")), [OSLO, OSLO], ""),
    "stripped, without the begin of the section": (
        stripped(section(CALL, name="tool_calls")).removeprefix("<tool_calls>\n"),
        [OSLO],
        "",
    ),
    "stripped, one parameter without the attribute": (
        stripped(invoke("get_weather", given("city", "Oslo"), given("days", "5"))).replace(
            ' string="true">5', ">5"
        ),
        [("get_weather", {"city": "Oslo", "days": 5})],
        "",
    ),
    "stripped, typed": (
        stripped(invoke("untyped", given("a", "5", "false"), given("b", "5"))),
        [("untyped", {"a": 5, "b": "5"})],
        "",
    ),
}

TEXTS = (
    "The token <｜DSML｜ begins a tag.",
    stripped(invoke("get_time")),
    stripped(CALL).replace(' string="true"', ""),
    stripped(CALL)[:-1],
    "<tool_calls> and <invoke name= are tags of theirs",
    "<｜DSML｜function_calls is what they write",
    '<｜DSML｜invoke name="get_weather">',
    '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Os',
    '<｜DSML｜invoke name="get_weather">\nOslo\n</｜DSML｜invoke>',
    section("get_weather"),
    section(invoke("get_weather", '{"city": Oslo}')),
    section(invoke("get_weather", "[1]")),
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    for text in ("<｜DSML｜ is", "<｜DSML｜invoke is a", f"<｜DSML｜tool_calls{' and so on' * 5}"):
        assert dsml.FORMATS[0].read(text, 0, False, TOOLS) is None


def test_a_tool_with_such_a_parameter_keeps_it() -> None:
    tools = Tools({"eval": {"properties": {"input": {"type": "string"}}}})
    verdict = dsml.FORMATS[0].read(section(invoke("eval", given("input", '{"a": 1}'))), 0, False, tools)
    assert isinstance(verdict, Block)
    assert verdict.calls[0].arguments == '{"input":"{\\"a\\": 1}"}'
