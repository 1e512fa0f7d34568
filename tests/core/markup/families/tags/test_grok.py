"""R08: Grok's element."""

from proxy.core.markup.families.tags import grok
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = grok.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})


def call(name: str, closer: str = "</xai:function_call>", **values: str) -> str:
    inside = "".join(f'<parameter name="{key}">{value}</parameter>\n' for key, value in values.items())
    return f'<xai:function_call name="{name}">\n{inside}{closer}'


WEATHER = call("get_weather", city="Oslo")

CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (WEATHER, [OSLO], ""),
    "prose on both sides": (f"a {WEATHER} b", [OSLO], "a  b"),
    "two": (f"{WEATHER}\n{call('get_time')}", [OSLO, ("get_time", {})], "\n"),
    "no parameters": ('<xai:function_call name="get_time"></xai:function_call>', [("get_time", {})], ""),
    "typed": (
        call("get_weather", city="5", days="5", metric="true"),
        [("get_weather", {"city": "5", "days": 5, "metric": True})],
        "",
    ),
    "nothing is escaped": (call("untyped", a="<b> & \"c\" 'd'"), [("untyped", {"a": "<b> & \"c\" 'd'"})], ""),
    "a newline at each end": (call("get_weather", city="\nOslo\n"), [OSLO], ""),
    "a newline at one end": (call("get_weather", city="Oslo\n"), [("get_weather", {"city": "Oslo\n"})], ""),
    "a quote in the closer": (
        call("get_weather", '</xai:function_call">', city="Oslo") + "\nx",
        [OSLO],
        "\nx",
    ),
    "a question mark in the closer": (
        call("get_weather", "</xai:function_call?", city="Oslo") + "\n",
        [OSLO],
        "\n",
    ),
    "two signs in the closer": (
        call("get_weather", '</xai:function_call"?>', city="Oslo") + " x",
        [OSLO],
        " x",
    ),
    "more than two signs in the closer": (
        call("get_weather", '</xai:function_call""">', city="Oslo") + " x",
        [OSLO],
        '"> x',
    ),
    "no end of the closer": (call("get_weather", "</xai:function_call", city="Oslo") + " x", [OSLO], " x"),
    "no end of the closer at the end": (call("get_weather", "</xai:function_call", city="Oslo"), [OSLO], ""),
    "no closer of the last value": (WEATHER.replace("</parameter>", ""), [OSLO], ""),
    "no closer of a value": (
        call("get_weather", city="Oslo", days="2").replace("</parameter>", "", 1),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "no closer at the end": (call("get_weather", "", city="Oslo"), [OSLO], "\n"),
    "a closer of a value in a value": (
        call("untyped", a="x</parameter> y"),
        [("untyped", {"a": "x</parameter> y"})],
        "",
    ),
    "one parameter that holds all": (call("get_weather", args='{"city": "Oslo"}'), [OSLO], ""),
}

TEXTS = (
    "The tag <xai:function_call> is Grok's.",
    '<xai:function_call name="get_weather">',
    '<xai:function_call name="get_weather">\n<parameter name="city">Oslo',
    "</xai:function_call>",
    '<xai:function_call name="get_time">text</xai:function_call>',
    call("get_weather", "", city="Oslo") + "So.",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    assert grok.FORMATS[0].read("<xai:function_call> is Grok's", 0, False, TOOLS) is None


@table("mark", ["'", '"', "?"])
def test_what_stands_behind_a_whole_closer_is_no_junk_of_it(mark: str) -> None:
    check(FORMATS, WEATHER + mark, [OSLO], mark)
