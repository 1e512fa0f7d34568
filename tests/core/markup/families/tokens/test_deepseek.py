"""R08: DeepSeek's tokens."""

from proxy.core.markup.families.tokens import deepseek, kimi
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.core.markup.scanning import scan
from tests.support.tables import table

FORMATS = (*deepseek.FORMATS, *kimi.FORMATS)
OSLO = ("get_weather", {"city": "Oslo"})
BEGIN, END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
CALL, SEP, CALLED = "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"


def v3(name: str, arguments: str) -> str:
    return f"{CALL}function{SEP}{name}\n```json\n{arguments}\n```{CALLED}"


def v31(name: str, arguments: str) -> str:
    return f"{CALL}{name}{SEP}{arguments}{CALLED}"


OSLO_V3, OSLO_V31 = (form("get_weather", '{"city": "Oslo"}') for form in (v3, v31))

CASES: dict[str, tuple[str, Calls, str]] = {
    "3": (f"{BEGIN}{OSLO_V3}{END}", [OSLO], ""),
    "3.1": (f"{BEGIN}{OSLO_V31}{END}", [OSLO], ""),
    "prose on both sides": (f"Look. {BEGIN}{OSLO_V31}{END} So.", [OSLO], "Look.  So."),
    "3, two": (f"{BEGIN}{OSLO_V3}\n{v3('get_time', '{}')}{END}", [OSLO, ("get_time", {})], ""),
    "3.1, two": (f"{BEGIN}{OSLO_V31}{v31('get_time', '{}')}{END}", [OSLO, ("get_time", {})], ""),
    "both forms in one section": (f"{BEGIN}{OSLO_V31}{OSLO_V3}{END}", [OSLO, OSLO], ""),
    "3, no arguments": (BEGIN + v3("get_time", "") + END, [("get_time", {})], ""),
    "3.1, no arguments": (BEGIN + v31("get_time", "") + END, [("get_time", {})], ""),
    "blanks around the tokens": (
        f"{BEGIN}\n{CALL}\nget_weather\n{SEP}\n {{}} \n{CALLED}\n{END}",
        [("get_weather", {})],
        "",
    ),
    "typing is JSON's": (
        BEGIN + v31("get_weather", '{"city": 5, "tags": [null]}') + END,
        [("get_weather", {"city": 5, "tags": [None]})],
        "",
    ),
    "tokens in a string": (
        BEGIN + v31("get_weather", '{"city": "' + CALLED + END + '"}') + END,
        [("get_weather", {"city": CALLED + END})],
        "",
    ),
    "fences in a string": (
        BEGIN + v3("get_weather", '{"city": "```\\n```json"}') + END,
        [("get_weather", {"city": "```\n```json"})],
        "",
    ),
    "no section": (f"Look. {OSLO_V31} So.", [OSLO], "Look.  So."),
    "no begin of the section": (f"{OSLO_V3}{END}x", [OSLO], "x"),
    "no end of the section": (f"{BEGIN}{OSLO_V3}", [OSLO], ""),
    "no end of the section, and prose": (f"{BEGIN}{OSLO_V3} So.", [OSLO], " So."),
    "no end of the call": (f"{BEGIN}{OSLO_V31.removesuffix(CALLED)}{END}", [OSLO], ""),
    "no end at all": (f"{BEGIN}{OSLO_V31.removesuffix(CALLED)}", [OSLO], ""),
    "no begin of the call": (f"{BEGIN}{OSLO_V31.removeprefix(CALL)}{END}", [OSLO], ""),
    "singular for plural": (f"{BEGIN}{OSLO_V31}".replace("calls", "call"), [OSLO], ""),
    "plural for singular": (f"{BEGIN}{OSLO_V31}{END}".replace("call▁begin", "calls▁begin"), [OSLO], ""),
    "plural for singular, and no section": (OSLO_V31.replace("call▁begin", "calls▁begin"), [OSLO], ""),
    "the end of the turn": (f"{OSLO_V31}<｜end▁of▁sentence｜>", [OSLO], ""),
    "ASCII bars": (f"{BEGIN}{OSLO_V3}{END}".replace("｜", "|"), [OSLO], ""),
    "ASCII throughout": (f"{BEGIN}{OSLO_V31}{END}".replace("｜", "|").replace("▁", "_"), [OSLO], ""),
    "underscores": (f"{BEGIN}{OSLO_V31}{END}".replace("▁", "_"), [OSLO], ""),
    "json glued to the arguments": (
        f"{BEGIN}{CALL}get_weather{SEP}json{{}}{CALLED}{END}",
        [("get_weather", {})],
        "",
    ),
    "3 without a fence": (
        f"{BEGIN}{CALL}function{SEP}get_weather\n{{}}{CALLED}{END}",
        [("get_weather", {})],
        "",
    ),
    "a bracket too few": (f'{BEGIN}{CALL}get_weather{SEP}{{"city": "Oslo"{CALLED}{END}', [OSLO], ""),
    "a bracket too many": (f'{BEGIN}{CALL}get_weather{SEP}{{"city": "Oslo"}}}}{CALLED}{END}', [OSLO], ""),
    "a second call without a name": (
        f"{BEGIN}{OSLO_V31}{CALL}{SEP}{{}}{CALLED}{END}",
        [OSLO],
        f"{CALL}{SEP}{{}}{CALLED}{END}",
    ),
    "a section without calls": (f"a{BEGIN}{END}b", [], "ab"),
    "a begin at the end": (f"a{BEGIN}\n", [], "a"),
}

TEXTS = (
    f"The token {BEGIN} opens a section.",
    f"{CALL}get_weather",
    f"{CALL}get_weather{SEP}Oslo{CALLED}",
    f'{CALL}get_weather{SEP}{{"city": "Os',
    f'{CALL}get_weather{SEP}{{"city": "Os" and so on',
    f'{CALL}get_weather{SEP}{{"city": Oslo}}{CALLED}',
    f"{CALL}get_weather{SEP}other{{}}{CALLED}",
    f"{CALL}function{SEP}{{}}{CALLED}",
    f"{CALL}{CALLED}",
    f"{BEGIN}text{END}",
    f"{BEGIN}get_weather",
    f"{BEGIN}get_time{SEP}{{}}{END}",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


@table("text", [f"{BEGIN} is a", f"{CALL}a b", f"{CALL}get_time{SEP}x y"])
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert deepseek.FORMATS[0].read(text, 0, False, TOOLS) is None


def test_a_token_too_many_goes_with_the_block() -> None:
    text = f"{BEGIN}{OSLO_V31}{END}".replace("calls", "call")
    for pieces in ([text], [*text]):
        assert scan(pieces, formats=deepseek.FORMATS, tools=TOOLS) == [(text, ["get_weather"])]
