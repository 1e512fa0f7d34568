"""R08: Qwen's tags, Seed-OSS's wrapper, Llama's function tag."""

from proxy.core.markup.families.objects import hermes
from proxy.core.markup.families.tags import glm, qwen
from tests.core.markup.families.driver import TOOLS, Calls, check, first_block
from tests.core.markup.scanning import scan
from tests.support.tables import table

FORMATS = (*hermes.FORMATS, *qwen.FORMATS, *glm.FORMATS)

WEATHER = "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>"
OSLO = ("get_weather", {"city": "Oslo"})


def wrapped(*calls: str) -> str:
    return "<tool_call>\n" + "\n".join(calls) + "\n</tool_call>"


def call(name: str, **values: str) -> str:
    parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in values.items())
    return f"<function={name}>\n{parameters}</function>"


SAMPLE = wrapped(WEATHER)


def seed(text: str) -> str:
    return text.replace("tool_call>", "seed:tool_call>")


CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (wrapped(WEATHER), [OSLO], ""),
    "prose on both sides": (f"I look.\n{wrapped(WEATHER)}\nDone.", [OSLO], "I look.\n\nDone."),
    "no sign before the name": (SAMPLE.replace("function=", "function "), [OSLO], ""),
    "nothing before the name": (SAMPLE.replace("function=", "function"), [OSLO], ""),
    "a tag that begins like one in a value": (
        wrapped(call("get_weather", city="<functions>\n<function x>\n</functions>")),
        [("get_weather", {"city": "<functions>\n<function x>\n</functions>"})],
        "",
    ),
    "names between marks": (
        SAMPLE.replace("=get_weather", '="get_weather"').replace("=city", "='city'"),
        [OSLO],
        "",
    ),
    "a name that is empty": (wrapped('<function="">\n</function>', WEATHER), [("", {}), OSLO], ""),
    "a key with its tag twice": (SAMPLE.replace("parameter=", "parameter=parameter=", 1), [OSLO], ""),
    "Seed's, a newline at the end of a value": (
        seed(
            "<tool_call>\n<function=get_weather>\n<parameter=city>Oslo\n</parameter>\n</function>\n</tool_call>"
        ),
        [("get_weather", {"city": "Oslo\n"})],
        "",
    ),
    "two blocks": (wrapped(WEATHER) + "\n" + wrapped(call("get_time")), [OSLO, ("get_time", {})], "\n"),
    "two calls in one wrapper": (wrapped(WEATHER, call("get_time")), [OSLO, ("get_time", {})], ""),
    "the same call twice": (wrapped(WEATHER, WEATHER), [OSLO, OSLO], ""),
    "on one line": (
        "<tool_call><function=get_weather><parameter=city>Oslo</parameter></function></tool_call>",
        [OSLO],
        "",
    ),
    "typed by the schema": (
        wrapped(
            call(
                "get_weather",
                city="7",
                days="7",
                ratio="2.5",
                metric="True",
                filters='{"a": [1]}',
                unit="null",
            )
        ),
        [
            (
                "get_weather",
                {"city": "7", "days": 7, "ratio": 2.5, "metric": True, "filters": {"a": [1]}, "unit": None},
            )
        ],
        "",
    ),
    "Python literals": (
        wrapped(call("get_weather", city="x", filters="{'on': True, 'of': None}", tags="('a', 'b')")),
        [("get_weather", {"city": "x", "filters": {"on": True, "of": None}, "tags": ["a", "b"]})],
        "",
    ),
    "one newline at each end is not data, the next one is": (
        wrapped(call("get_weather", city="\n  Oslo \n")),
        [("get_weather", {"city": "\n  Oslo \n"})],
        "",
    ),
    "lines that end as in Windows": (
        wrapped(call("get_weather", city="a\r\nb")).replace("\n", "\r\n").replace("\r\r", "\r"),
        [("get_weather", {"city": "a\r\nb"})],
        "",
    ),
    "a value whose lines end so": (
        wrapped(call("get_weather", city="a\r\nb\r\n")),
        [("get_weather", {"city": "a\r\nb\r\n"})],
        "",
    ),
    "nothing is unescaped": (
        wrapped(call("get_weather", city='a &amp;&amp; b < "c" > \\n')),
        [("get_weather", {"city": 'a &amp;&amp; b < "c" > \\n'})],
        "",
    ),
    "an empty value": (wrapped(call("get_weather", city="")), [("get_weather", {"city": ""})], ""),
    "a key twice": (
        wrapped(
            "<function=get_weather><parameter=city>a</parameter><parameter=city>b</parameter></function>"
        ),
        [("get_weather", {"city": "b"})],
        "",
    ),
    "other scripts": (
        wrapped("<function=获取天气><parameter=城市>北京</parameter></function>"),
        [("获取天气", {"城市": "北京"})],
        "",
    ),
    "quotes and blanks in tags": (
        "<tool_call>\n<function = \"get_weather\" >\n<parameter = 'city' >Oslo</parameter >\n"
        "</function >\n</tool_call >",
        [OSLO],
        "",
    ),
    "attributes instead": (
        wrapped('<function name="get_weather"><parameter name="city">Oslo</parameter></function>'),
        [OSLO],
        "",
    ),
    "escaped newlines between the tags": (SAMPLE.replace(">\n<", ">\\n<"), [OSLO], ""),
    # ── wrappers that are missing
    "no wrapper": (f"Look: {WEATHER} so", [OSLO], "Look:  so"),
    "no opener": (f"Look: {WEATHER}\n</tool_call>\nso", [OSLO], "Look: \nso"),
    "no opener, two calls": (f"{WEATHER}\n{WEATHER}\n</tool_call>", [OSLO, OSLO], "\n"),
    "no closer, at the end": (f"<tool_call>\n{WEATHER}\n", [OSLO], "\n"),
    "no closer, before prose": (f"<tool_call>\n{WEATHER}\nDone.", [OSLO], "\nDone."),
    "no closer, before the next": (f"<tool_call>\n{WEATHER}\n{wrapped(WEATHER)}", [OSLO, OSLO], "\n"),
    "the end of the turn as closer": (f"{WEATHER}<|im_end|>", [OSLO], ""),
    # ── closers that are missing
    "no closer of a parameter before the next": (
        wrapped(
            "<function=get_weather>\n<parameter=city>\nOslo\n<parameter=days>\n2\n</parameter>\n</function>"
        ),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "a closer that is none": (
        wrapped(
            "<function=get_weather>\n<parameter=city>\nOslo\n</parameter_1>\n"
            "<parameter=days>\n2\n</parameter>\n</function>"
        ),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "a closer without its last sign": (
        wrapped(
            "<function=get_weather>\n<parameter=city>\nOslo\n</parameter\n"
            "<parameter=days>\n2\n</parameter>\n</function>"
        ),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "what looks like that, in a value that is closed": (
        wrapped(call("get_weather", city="<a>\n</parameters>")),
        [("get_weather", {"city": "<a>\n</parameters>"})],
        "",
    ),
    "no closer of the last parameter": (
        wrapped("<function=get_weather>\n<parameter=city>\nOslo\n</function>"),
        [OSLO],
        "",
    ),
    "no closer of the function": (
        wrapped("<function=get_weather>\n<parameter=city>\nOslo\n</parameter>"),
        [OSLO],
        "",
    ),
    "no closer of the function before the next": (
        wrapped("<function=get_weather>\n<parameter=city>\nOslo\n</parameter>", WEATHER),
        [OSLO, OSLO],
        "",
    ),
    "no closers but the wrapper's": (
        "<tool_call><function=get_weather><parameter=city>Oslo</tool_call>",
        [OSLO],
        "",
    ),
    "no parameter and no closer of the function": (
        "<tool_call><function=get_time></tool_call>",
        [("get_time", {})],
        "",
    ),
    "tags without their last sign": (
        "<tool_call>\n<function=get_weather\n<parameter=city\nOslo\n</parameter>\n</function>\n</tool_call>",
        [OSLO],
        "",
    ),
    # ── markup in values
    "a closer in a value": (
        wrapped(call("get_weather", city="a </parameter> b </function> c </tool_call> d")),
        [("get_weather", {"city": "a </parameter> b </function> c </tool_call> d"})],
        "",
    ),
    "a parameter that the tool does not have, in a value": (
        wrapped(call("write_file", path="p", content="use <parameter=city> here")),
        [("write_file", {"path": "p", "content": "use <parameter=city> here"})],
        "",
    ),
    "a whole sample in a value": (
        wrapped(call("write_file", path="p", content=f"Write\n{SAMPLE}\nor\n{WEATHER}\nso.")) + " ok",
        [("write_file", {"path": "p", "content": f"Write\n{SAMPLE}\nor\n{WEATHER}\nso."})],
        " ok",
    ),
    "half a sample in a value": (
        wrapped(call("write_file", path="p", content="Begin with <tool_call> and <function=x>.")) + " ok",
        [("write_file", {"path": "p", "content": "Begin with <tool_call> and <function=x>."})],
        " ok",
    ),
    # ── Llama's
    "Llama's object": ('<function=get_weather>{"city": "Oslo"}</function>', [OSLO], ""),
    "Llama's, several, with the end of the turn": (
        '<function=get_weather>{"city": "Oslo"}</function><function=get_time>{}</function><|eom_id|>',
        [OSLO, ("get_time", {})],
        "",
    ),
    "Llama's, with its closer in a string": (
        '<function=get_weather>{"city": "</function>"}</function>',
        [("get_weather", {"city": "</function>"})],
        "",
    ),
    "Llama's, without the last sign of the tag": (
        '<function=get_weather{"city": "Oslo"}</function>',
        [OSLO],
        "",
    ),
    "Llama's, at the end of the text": ('<function=get_weather>{"city": "Oslo"}', [OSLO], ""),
    "Llama's, a bracket too many": ('<function=get_weather>{"city": "Oslo"}}\n</function>', [OSLO], ""),
    "Llama's, a bracket too few": ('<function=get_weather>{"city": "Oslo"</function>', [OSLO], ""),
    # ── Seed's
    "Seed's": (f"<seed:tool_call>\n{WEATHER}\n</seed:tool_call>", [OSLO], ""),
    "Seed's, two": (f"<seed:tool_call>{WEATHER}{WEATHER}</seed:tool_call> x", [OSLO, OSLO], " x"),
    "Seed's, no closer": (f"<seed:tool_call>\n{WEATHER}", [OSLO], ""),
    "Seed's, typed": (
        f"<seed:tool_call>{call('get_weather', city='1', days='1')}</seed:tool_call>",
        [("get_weather", {"city": "1", "days": 1})],
        "",
    ),
    # ── a second call that is broken
    "the second call is cut off": (
        f"<tool_call>\n{WEATHER}\n<function=get_weather>\n<parameter=city>\nBer",
        [OSLO],
        "\n<function=get_weather>\n<parameter=city>\nBer",
    ),
}

TEXTS = (
    "the tag <function=foo is documented here",
    "<function=<<no>></function>",
    "Put <tool_call> first, then </tool_call>.",
    "<tool_call>\nI would call get_weather now.\n</tool_call>",
    "<function=get_weather> is how it starts",
    "<function=get_weather>\n<parameter=city>\nOsl",
    "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>",
    "<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</func",
    "<tool_call>\n<function=get_weather>\n<parameter=city>",
    "<tool_call>",
    "<function=get_weather>{city}</function>",
    "<function=get_weather{city}</function>",
    "<function=get_weather{ is odd",
    "<function=get_weather>[1]</function>",
    '<function=get_weather>{"city": </b></function>',
    "<function=get_weather><function=get_time></function>"[:24],
    "<seed:tool_call>text</seed:tool_call>",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


def test_a_newline_at_one_end_only_is_no_data() -> None:
    """But Seed-OSS keeps it."""
    text = wrapped(
        "<function=write_file><parameter=path>a\n</parameter><parameter=content>\nb</parameter></function>"
    )
    check(FORMATS, text, [("write_file", {"path": "a", "content": "b"})], "")
    check(FORMATS, seed(text), [("write_file", {"path": "a\n", "content": "\nb"})], "")


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


@table("text", ["<tool_call>no", "<function=get_weather>\nno", "<tool_call>\n<function=get_weather>\nx"])
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert qwen.FORMATS[0].read(text, 0, False, TOOLS) is None


def test_a_block_is_found_wherever_it_stands() -> None:
    text = "....." + SAMPLE
    block = first_block(FORMATS, text, 5, False)
    assert block is not None
    assert block.end == len(text)


@table("closer", ["</tool_call>", "\n</tool_call>", "\n</tool_calls>"])
def test_a_closer_too_many_goes_with_the_block(closer: str) -> None:
    assert scan([SAMPLE + closer], formats=qwen.FORMATS, tools=TOOLS) == [(SAMPLE + closer, ["get_weather"])]
