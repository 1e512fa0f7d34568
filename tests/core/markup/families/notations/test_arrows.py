"""R08: arrows and flags in brackets."""

from proxy.core.markup.families.notations import arrows
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = arrows.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})


def call(inside: str) -> str:
    return f"[TOOL_CALL]\n{inside}\n[/TOOL_CALL]"


def flags(name: str, *lines: str) -> str:
    written = "\n".join(f"  {line}" for line in lines)
    return call(f'{{tool => "{name}", args => {{\n{written}\n}}}}')


WEATHER = flags("get_weather", '--city "Oslo"')

CASES: dict[str, tuple[str, Calls, str]] = {
    "flags": (WEATHER, [OSLO], ""),
    "prose on both sides": (f"a {WEATHER} b", [OSLO], "a  b"),
    "two": (f"{WEATHER}\n{flags('get_time')}", [OSLO, ("get_time", {})], "\n"),
    "typed": (
        flags("get_weather", '--city "5"', "--days 5", '--ratio "0.5"', "--unit null"),
        [("get_weather", {"city": "5", "days": 5, "ratio": 0.5, "unit": None})],
        "",
    ),
    "a flag alone": (
        flags("get_weather", "--metric", '--city "x"'),
        [("get_weather", {"metric": True, "city": "x"})],
        "",
    ),
    "a flag alone at the end": (flags("get_weather", "--metric"), [("get_weather", {"metric": True})], ""),
    "keys with arrows": (
        call('{tool => "get_weather", args => {city => "Oslo", days => 2}}'),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "colons": (call('{"tool": "get_weather", "args": {city: "Oslo",}}'), [OSLO], ""),
    "signs of equality": (call('{tool = "get_weather" args = {city = "Oslo"}}'), [OSLO], ""),
    "quoted keys with arrows": (
        call('{"tool" => "get_weather", "args" => {"city" => "Oslo", "days" => 2}}'),
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "no arguments": (call('{tool => "get_time"}'), [("get_time", {})], ""),
    "an arrow in a string": (
        flags("get_weather", '--city "a => b \\"c\\""'),
        [("get_weather", {"city": 'a => b "c"'})],
        "",
    ),
    "a text on lines": (flags("get_weather", '--city "a\nb"'), [("get_weather", {"city": "a\nb"})], ""),
    "single quotes": (flags("get_weather", "--city 'Oslo'"), [OSLO], ""),
    "a list and an object": (
        flags("get_weather", '--tags ["a", 1]', '--filters {"b": {"c": 2}}'),
        [("get_weather", {"tags": ["a", 1], "filters": {"b": {"c": 2}}})],
        "",
    ),
    "nothing declared": (
        flags("untyped", "--a 5", '--b "5"', "--c true"),
        [("untyped", {"a": 5, "b": "5", "c": True})],
        "",
    ),
    "not closed": (f"{WEATHER.removesuffix('[/TOOL_CALL]')}", [OSLO], "\n"),
    "closed in the plural": (WEATHER.replace("TOOL_CALL]", "TOOL_CALLS]"), [OSLO], ""),
    "elements": (
        call('<invoke name="get_weather">\n<parameter name="city">Oslo</parameter>\n</invoke>'),
        [OSLO],
        "",
    ),
    "elements, not closed": (
        '[TOOL_CALL]<invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke>',
        [OSLO],
        "",
    ),
}

TEXTS = (
    "The words [TOOL_CALL] open a call.",
    "[TOOL_CALL]",
    call("text"),
    call('{tool => "get_weather", args => {--city Oslo}}'),
    call('{tool => "get_weather", args => {city "Oslo"}}'),
    call('{tool => "get_weather", args => {city => [1}}}'),
    call('{tool => "get_weather", args => {--city "x" ?}}'),
    call('{tool => "get_weather", more => {}}'),
    call('{tool => "untyped", args => {--a ' + "[" * 300 + "]" * 300 + "}}"),
    WEATHER.removesuffix("}}\n[/TOOL_CALL]"),
    WEATHER.removesuffix("[/TOOL_CALL]") + "So.",
    '[TOOL_CALL]\n{tool => "get_weather", args => {\n  --city "Os',
    '[TOOL_CALL]\n{tool => "get_weather", args => {\n  --tags ["Os',
    '[TOOL_CALL]\n{tool => "get_wea',
    "[TOOL_CALL]<invoke>x</invoke>[/TOOL_CALL]",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


@table("text", ["[TOOL_CALL] is", '[TOOL_CALL]{tool => "a" and', '[TOOL_CALL]{"name": "a"'])
def test_what_contradicts_the_notation_is_let_go_at_once(text: str) -> None:
    assert arrows.FORMATS[0].read(text, 0, False, TOOLS) is None
