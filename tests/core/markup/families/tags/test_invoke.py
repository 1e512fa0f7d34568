"""R08: `invoke` elements, of MiniMax, Anthropic, Dots, and without a wrapper."""

from proxy.core.markup.families.notations import pythonic
from proxy.core.markup.families.tags import elements, invoke, minimax_m3
from proxy.core.markup.formats import Tier
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.core.markup.scanning import scan
from tests.support.tables import table

WRAPPED = tuple(
    format
    for format in (*invoke.FORMATS, *pythonic.FORMATS, *elements.FORMATS, *minimax_m3.FORMATS)
    if format.tier is not Tier.OPTIONAL and (format.behind is None or format.name == "muse")
)
BARE = tuple(format for format in invoke.FORMATS if format.tier is Tier.OPTIONAL)
OSLO = ("get_weather", {"city": "Oslo"})


def element(name: str, **values: str) -> str:
    parameters = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in values.items())
    return f'<invoke name="{name}">\n{parameters}</invoke>\n'


def m2(*calls: str) -> str:
    return f"<minimax:tool_call>\n{''.join(calls)}</minimax:tool_call>"


def anthropic(*calls: str) -> str:
    return f"<function_calls>\n{''.join(calls)}</function_calls>"


def oldest(name: str, **values: str) -> str:
    parameters = "".join(f"<{key}>{value}</{key}>\n" for key, value in values.items())
    return f"<invoke>\n<tool_name>{name}</tool_name>\n<parameters>\n{parameters}</parameters>\n</invoke>\n"


WEATHER = element("get_weather", city="Oslo")
T = "]<]minimax[>["


def m3(*calls: str) -> str:
    return f"{T}<tool_call>\n{''.join(calls)}{T}</tool_call>"


def m3_call(name: str, *inside: str) -> str:
    return f'{T}<invoke name="{name}">{"".join(inside)}{T}</invoke>\n'


def m3_element(key: str, *inside: str) -> str:
    return f"{T}<{key}>{''.join(inside)}{T}</{key}>"


def plural(*calls: str) -> str:
    return f"<tool_calls>\n{''.join(calls)}</tool_calls>"


CASES: dict[str, tuple[str, Calls, str]] = {
    # ── in a wrapper of others
    "tool_calls": (plural(WEATHER), [OSLO], ""),
    "tool_calls, prose on both sides": (f"Look. {plural(WEATHER)} So.", [OSLO], "Look.  So."),
    "tool_calls, two": (plural(WEATHER, element("get_time")), [OSLO, ("get_time", {})], ""),
    "tool_calls, typed": (
        plural(element("get_weather", city="5", days="5", metric="true")),
        [("get_weather", {"city": "5", "days": 5, "metric": True})],
        "",
    ),
    "tool_calls, on one line": (plural(WEATHER).replace("\n", ""), [OSLO], ""),
    "tool_calls, with a hint of the type": (
        plural(WEATHER.replace('"city"', '"city" string="true"')),
        [OSLO],
        "",
    ),
    "tool_calls, a newline at each end of a value": (
        plural(element("get_weather", city="\nOslo\n")),
        [OSLO],
        "",
    ),
    "tool_calls, closed as one": (plural(WEATHER).replace("</tool_calls>", "</tool_call>"), [OSLO], ""),
    "tool_calls, no arguments": (plural(element("get_time")), [("get_time", {})], ""),
    # ── MiniMax M2
    "M2": (m2(WEATHER), [OSLO], ""),
    "M2, prose on both sides": (f"Look. {m2(WEATHER)} So.", [OSLO], "Look.  So."),
    "M2, two calls": (m2(WEATHER, element("get_time")), [OSLO, ("get_time", {})], ""),
    "M2, two blocks": (m2(WEATHER) + m2(WEATHER), [OSLO, OSLO], ""),
    "M2, typed": (
        m2(element("get_weather", city="5", days="5", metric="true", unit="null", tags="[1]")),
        [("get_weather", {"city": "5", "days": 5, "metric": True, "unit": None, "tags": [1]})],
        "",
    ),
    "M2, no schema": (m2(element("untyped", a="5")), [("untyped", {"a": "5"})], ""),
    "M2, all in one parameter": (m2(element("get_weather", input='{"city": "Oslo"}')), [OSLO], ""),
    "M2, all in one, as Python writes it": (m2(element("get_weather", args="{'city': 'Oslo'}")), [OSLO], ""),
    "M2, all in one, as a text": (
        m2(element("get_weather", arguments='"{\\"city\\": \\"Oslo\\"}"')),
        [OSLO],
        "",
    ),
    "M2, an object that is not all": (
        m2(element("get_weather", input='{"town": "Oslo"}')),
        [("get_weather", {"input": '{"town": "Oslo"}'})],
        "",
    ),
    "M2, no object": (m2(element("get_weather", input="x")), [("get_weather", {"input": "x"})], ""),
    "M2, a newline at one end": (
        m2(element("get_weather", city="Oslo\n")),
        [("get_weather", {"city": "Oslo\n"})],
        "",
    ),
    "M2, a newline alone": (m2(element("get_weather", city="\n")), [("get_weather", {"city": "\n"})], ""),
    "M2, a parameter of another kind in a value": (
        m2(element("write_file", path="p", content='<x>\n<parameter name="a">1</parameter>\n</x>')),
        [("write_file", {"path": "p", "content": '<x>\n<parameter name="a">1</parameter>\n</x>'})],
        "",
    ),
    "Anthropic's, not closed": (anthropic(WEATHER).removesuffix("</function_calls>"), [OSLO], "\n"),
    "Dots, JSON": (
        '<dots_function_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</dots_function_call>',
        [OSLO],
        "",
    ),
    "in a tag of Hermes": (f"a <tool_call>\n{WEATHER}</tool_call> b", [OSLO], "a  b"),
    "Muse's": (
        anthropic(WEATHER)
        .replace("</", "</atem:")
        .replace("<f", "<atem:f")
        .replace("<i", "<atem:i")
        .replace("<p", "<atem:p"),
        [OSLO],
        "",
    ),
    "Muse's, with a recipient": (
        '<atem:function_calls><atem:invoke name="get_weather<|message|>"><atem:parameter name="city">Oslo'
        "</atem:parameter></atem:invoke></atem:function_calls>",
        [OSLO],
        "",
    ),
    "Muse's, with a namespace": (
        '<atem:function_calls><atem:invoke name="weather.get_time"></atem:invoke></atem:function_calls>',
        [("get_time", {})],
        "",
    ),
    "Muse's, with a namespace and a recipient": (
        '<atem:function_calls><atem:invoke name="weather.get_time<|message|>"></atem:invoke></atem:function_calls>',
        [("get_time", {})],
        "",
    ),
    "Muse's, of nobody": (
        '<atem:function_calls><atem:invoke name="weather.other"></atem:invoke></atem:function_calls>',
        [("weather.other", {})],
        "",
    ),
    "M2, on one line": (m2(WEATHER).replace("\n", ""), [OSLO], ""),
    "M2, single quotes": (m2(WEATHER).replace('"', "'"), [OSLO], ""),
    "M2, no quotes": (m2(WEATHER).replace('"', ""), [OSLO], ""),
    "M2, blanks in tags": (m2(WEATHER).replace('">', '" >').replace("name=", "name = "), [OSLO], ""),
    "M2, more attributes": (
        m2(WEATHER.replace('">', '" id="1" type="x" n="3">')),
        [OSLO],
        "",
    ),
    "M2, a newline at each end": (m2(element("get_weather", city="\nOslo\n")), [OSLO], ""),
    "M2, no closer of a parameter": (
        m2(
            '<invoke name="get_weather"><parameter name="city">Oslo<parameter name="days">2</parameter></invoke>'
        ),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "M2, no closer of the wrapper": (m2(WEATHER).removesuffix("\n</minimax:tool_call>"), [OSLO], ""),
    "M2, a sample in a value": (
        m2(element("write_file", path="p", content=f"{m2(WEATHER)}!")),
        [("write_file", {"path": "p", "content": f"{m2(WEATHER)}!"})],
        "",
    ),
    "M2, a closer in a value": (
        m2(element("get_weather", city="a</parameter>b</invoke>c")),
        [("get_weather", {"city": "a</parameter>b</invoke>c"})],
        "",
    ),
    "M2, closed in itself": (m2('<invoke name="get_time" />'), [("get_time", {})], ""),
    # ── Anthropic
    "Anthropic's": (anthropic(WEATHER), [OSLO], ""),
    "Anthropic's, two": (f"a {anthropic(WEATHER, WEATHER)} b", [OSLO, OSLO], "a  b"),
    "Anthropic's, typed": (
        anthropic(element("get_weather", city="x", days="3", filters='{"a": 1}')),
        [("get_weather", {"city": "x", "days": 3, "filters": {"a": 1}})],
        "",
    ),
    "Anthropic's, with a namespace": (
        anthropic(WEATHER)
        .replace("</", "</minimax:")
        .replace("<f", "<minimax:f")
        .replace("<i", "<minimax:i")
        .replace("<p", "<minimax:p"),
        [OSLO],
        "",
    ),
    "Anthropic's, a namespace inside": (anthropic(WEATHER).replace("invoke", "x:invoke"), [OSLO], ""),
    "Anthropic's, a word before": (f"call\n{anthropic(WEATHER)}", [OSLO], "call\n"),
    "Anthropic's, one object": (
        anthropic('<invoke name="get_weather">{"city": "Oslo"}</invoke>'),
        [OSLO],
        "",
    ),
    "Dots'": (anthropic(WEATHER).replace("function_calls", "dots_function_call"), [OSLO], ""),
    # ── the oldest
    "oldest": (anthropic(oldest("get_weather", city="Oslo")), [OSLO], ""),
    "oldest, two": (
        anthropic(oldest("get_weather", city="Oslo"), oldest("get_time")),
        [OSLO, ("get_time", {})],
        "",
    ),
    "oldest, typed": (
        anthropic(oldest("get_weather", city="1", days="1")),
        [("get_weather", {"city": "1", "days": 1})],
        "",
    ),
    "oldest, on one line": (anthropic(oldest("get_weather", city="Oslo")).replace("\n", ""), [OSLO], ""),
    "oldest, markup in a value": (
        anthropic(oldest("get_weather", city="<b>x</b> </city> y")),
        [("get_weather", {"city": "<b>x</b> </city> y"})],
        "",
    ),
    "oldest, all in one": (anthropic(oldest("get_weather", arguments='{"city": "Oslo"}')), [OSLO], ""),
    "oldest, prose on both sides": (f"a {anthropic(oldest('get_time'))} b", [("get_time", {})], "a  b"),
    # ── MiniMax M3
    "M3": (m3(m3_call("get_weather", m3_element("city", "Oslo"))), [OSLO], ""),
    "M3, prose on both sides": (f"a {m3(m3_call('get_time'))} b", [("get_time", {})], "a  b"),
    "M3, two calls": (m3(m3_call("get_time"), m3_call("get_time")), [("get_time", {}), ("get_time", {})], ""),
    "M3, typed": (
        m3(
            m3_call(
                "get_weather",
                m3_element("city", "018"),
                m3_element("days", "018"),
                m3_element("metric", "true"),
            )
        ),
        [("get_weather", {"city": "018", "days": 18, "metric": True})],
        "",
    ),
    "M3, objects and lists": (
        m3(
            m3_call(
                "get_weather",
                m3_element("filters", m3_element("a", "1"), m3_element("b", m3_element("c", "x"))),
                m3_element("tags", m3_element("item", "x"), m3_element("item", m3_element("k", "v"))),
            )
        ),
        [("get_weather", {"filters": {"a": "1", "b": {"c": "x"}}, "tags": ["x", {"k": "v"}]})],
        "",
    ),
    "M3, a key twice": (
        m3(m3_call("untyped", m3_element("tag", "a"), m3_element("tag", "b"))),
        [("untyped", {"tag": ["a", "b"]})],
        "",
    ),
    "M3, an element called item of an object": (
        m3(m3_call("get_weather", m3_element("filters", m3_element("item", "a")))),
        [("get_weather", {"filters": {"item": "a"}})],
        "",
    ),
    "M3, nothing in an object, a list and a text": (
        m3(m3_call("get_weather", m3_element("filters"), m3_element("tags", "\n"), m3_element("city"))),
        [("get_weather", {"filters": {}, "tags": [], "city": ""})],
        "",
    ),
    "M3, all in one, as JSON": (
        m3(m3_call("get_weather", m3_element("arguments", '{"city": "Oslo"}'))),
        [OSLO],
        "",
    ),
    "M3, all in one, as elements": (
        m3(m3_call("get_weather", m3_element("input", m3_element("city", "5"), m3_element("days", "5")))),
        [("get_weather", {"city": "5", "days": 5})],
        "",
    ),
    "M3, elements that are not all": (
        m3(m3_call("get_weather", m3_element("input", m3_element("town", "Oslo")))),
        [("get_weather", {"input": {"town": "Oslo"}})],
        "",
    ),
    "M3, a text under such a key": (
        m3(m3_call("get_weather", m3_element("input", "Oslo"))),
        [("get_weather", {"input": "Oslo"})],
        "",
    ),
    "M3, blanks between token and tag": (
        m3(m3_call("get_weather", m3_element("city", "Oslo"))).replace(f"{T}<", f"{T} \n<"),
        [OSLO],
        "",
    ),
    "M3, markup without the token is data": (
        m3(m3_call("get_weather", m3_element("city", "<b>a</b> ]<] </city>"))),
        [("get_weather", {"city": "<b>a</b> ]<] </city>"})],
        "",
    ),
}

TEXTS = (
    "<tool_calls>\n</tool_calls>",
    "<tool_calls>\n<invoke/>\n</tool_calls>",
    plural(WEATHER).removesuffix("</tool_calls>") + "So.",
    "Put <invoke name=x> into <tool_calls> please.",
    "Wrap it in <function_calls> please.",
    "<function_calls>\n</function_calls>",
    "<function_calls>\nNothing.\n</function_calls>",
    anthropic(WEATHER).removesuffix("</function_calls>") + "So.",
    m2('<invoke name="get_weather"><parameter name="city">a<parameter name="town">b</parameter></invoke>'),
    "<atem:function_calls> is Muse's",
    anthropic(WEATHER).removesuffix("</invoke>\n</function_calls>"),
    anthropic("<invoke>get_time</invoke>"),
    anthropic("<invoke><tool_name>get_time</tool_name></invoke>"),
    anthropic("<invoke><tool_name>get_time</tool_name><parameters>x</parameters></invoke>"),
    anthropic("<invoke><tool_name>get_time</tool_name><parameters></parameters>x"),
    anthropic(oldest("get_weather", city="Oslo"))[:90],
    anthropic(oldest("get_weather", city="Oslo")).removesuffix("</function_calls>"),
    '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>',
    "<minimax:tool_call> is MiniMax's",
    '<invoke name="get_time"></invoke>',
    f"{T} and text",
    f"{T}<tool_call>",
    f"{T}<other>{T}</other>",
    f"{T}<tool_call>{T}</user_id>",
    f"{T}</tool_call>",
    f"{T}<tool_call>text{T}</tool_call>",
    f"{T}<tool_call>text",
    f"{T}<tool_call>{T}<city>",
    f"{T}<tool_call>{T}</tool_call>",
    m3(f"{T}<invoke>{T}</invoke>"),
    m3(m3_call("get_weather", "text", m3_element("city", "x"))),
    m3(m3_call("get_weather", m3_element("city", "Oslo")))[:70],
    m3(m3_call("untyped", *[f"{T}<a>"] * 120, *[f"{T}</a>"] * 120)),
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(WRAPPED, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(WRAPPED, text, [], text)


@table(
    ("text", "calls", "left"),
    [
        (f"Look. {WEATHER}So.", [OSLO], "Look. \nSo."),
        (f"{WEATHER}</function_calls>", [OSLO], ""),
        (WEATHER.replace("invoke", "minimax:invoke"), [OSLO], "\n"),
        ("Use <invoke name=x> here.", [], "Use <invoke name=x> here."),
    ],
)
def test_without_a_wrapper_if_that_is_asked_for(text: str, calls: Calls, left: str) -> None:
    check(BARE, text, calls, left)


@table("text", ["<function_calls> x y", "<function_calls><b>", '<function_calls><invoke name="x">y'])
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    for format in WRAPPED:
        if text.startswith(format.openers):
            assert format.read(text, 0, False, TOOLS) is None


@table("between", ["", "x" * 200, "x" * 3000])
def test_a_wrapper_for_several_waits_for_the_first_declared_call(between: str) -> None:
    text = anthropic(element("other", a=between), WEATHER)
    usual = [format for format in invoke.FORMATS if format.tier is not Tier.OPTIONAL]
    for pieces in ([text], [*text]):
        assert scan(pieces, formats=usual, tools=TOOLS) == [(text, ["get_weather"])]


def muse(name: str = "get_weather", **values: str) -> str:
    text = anthropic(element(name, **values))
    return (
        text.replace("</", "</atem:")
        .replace("<f", "<atem:f")
        .replace("<i", "<atem:i")
        .replace("<p", "<atem:p")
    )


@table(
    ("before", "calls"),
    [
        ("", ["get_weather"]),
        ("I look.", ["get_weather"]),
        ("<|start|>assistant to=get_weather<|message|>", ["get_weather"]),
        (" to=user<|message|>I look.<|eom|><|start|>assistant to=get_weather<|message|>", ["get_weather"]),
        (" to=user<|message|>One writes:\n", []),
        ("a<|eom|><|start|>assistant to=user<|message|><|start|>assistant to=get_weather<|message|>", []),
    ],
)
def test_muse_calls_nothing_in_a_message_to_the_user(before: str, calls: list[str]) -> None:
    text = before + muse(city="Oslo")
    usual = [format for format in invoke.FORMATS if format.tier is not Tier.OPTIONAL]
    found = [one for one in scan([text], formats=usual, tools=TOOLS) if not isinstance(one, str)]
    assert [name for _, names in found for name in names] == calls


def test_muse_writes_json_where_nothing_is_declared() -> None:
    check(
        WRAPPED,
        muse("untyped", a="1", b="true", c='{"d": []}', e="f g"),
        [("untyped", {"a": 1, "b": True, "c": {"d": []}, "e": "f g"})],
        "",
    )
