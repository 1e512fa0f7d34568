"""R08: Gemma's objects."""

from proxy.core.markup.families.notations import gemma
from proxy.core.markup.formats import MORE
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.core.markup.scanning import Piece, cuts, scan
from tests.support.tables import table

OSLO = ("get_weather", {"city": "Oslo"})
Q = '<|"|>'


def g4(*calls: str) -> str:
    return f"<|tool_call>{''.join(f'call:{call}' for call in calls)}<tool_call|>"


def fg(call: str) -> str:
    return f"<start_function_call>call:{call}<end_function_call>"


CASES: dict[str, tuple[str, Calls, str]] = {
    "4": (g4(f"get_weather{{city:{Q}Oslo{Q}}}"), [OSLO], ""),
    "4, prose on both sides": (f"a {g4(f'get_weather{{city:{Q}Oslo{Q}}}')} b", [OSLO], "a  b"),
    "4, closed by the end of the turn": (
        f"<|tool_call>call:get_weather{{city:{Q}Oslo{Q}}}<turn|>",
        [OSLO],
        "",
    ),
    "4, closed by the begin of the answer": (
        f"<|tool_call>call:get_weather{{city:{Q}Oslo{Q}}}<|tool_response>",
        [OSLO],
        "",
    ),
    "4, closed by both": (g4(f"get_weather{{city:{Q}Oslo{Q}}}") + "\n<|tool_response>", [OSLO], ""),
    "4, a colon too many": (f"<|tool_call>:call:get_weather{{city:{Q}Oslo{Q}}}<tool_call|>", [OSLO], ""),
    "4, two blocks": (g4(f"get_weather{{city:{Q}Oslo{Q}}}") + g4("get_time{}"), [OSLO, ("get_time", {})], ""),
    "4, a text without its first mark": (
        g4(f"get_weather{{city:Oslo, Norway{Q},days:2}}"),
        [("get_weather", {"city": "Oslo, Norway", "days": 2})],
        "",
    ),
    "4, such texts in an object and a list": (
        g4(f"untyped{{a:{{b:c d{Q}}},e:[{Q}f{Q},g{Q}],h:1,i:{Q}j, k{Q}}}"),
        [("untyped", {"a": {"b": "c d"}, "e": ["f", "g"], "h": 1, "i": "j, k"})],
        "",
    ),
    "4, two in one": (g4(f"get_weather{{city:{Q}Oslo{Q}}}", "get_time{}"), [OSLO, ("get_time", {})], ""),
    "4, all kinds": (
        g4(f"untyped{{a:42,b:-3.5,c:true,d:null,e:{{f:{Q}x{Q}}},g:[{Q}y{Q},1,[false]],h:108.}}"),
        [
            (
                "untyped",
                {
                    "a": 42,
                    "b": -3.5,
                    "c": True,
                    "d": None,
                    "e": {"f": "x"},
                    "g": ["y", 1, [False]],
                    "h": 108.0,
                },
            )
        ],
        "",
    ),
    "4, anything in a text": (
        g4(f'get_weather{{city:{Q}a, "b" {{c}}:]\n<tool_call|>{Q}}}'),
        [("get_weather", {"city": 'a, "b" {c}:]\n<tool_call|>'})],
        "",
    ),
    "4, keys as texts": (g4(f"untyped{{{Q}1 a{Q}:{Q}x{Q}}}"), [("untyped", {"1 a": "x"})], ""),
    "4, a text without marks": (
        g4("get_weather{city:New York,days:2}"),
        [("get_weather", {"city": "New York", "days": 2})],
        "",
    ),
    "4, words that the schema declares to be texts": (
        g4("get_weather{city:null,days:007,metric:True,unit:null,ratio:5}"),
        [("get_weather", {"city": "null", "days": 7, "metric": True, "unit": None, "ratio": 5})],
        "",
    ),
    "4, a number for a text": (g4("get_weather{city:12.50}"), [("get_weather", {"city": "12.50"})], ""),
    "4, words in lists and objects": (
        g4("get_weather{tags:[a,1],filters:{x:true,y:z}}"),
        [("get_weather", {"tags": ["a", 1], "filters": {"x": True, "y": "z"}})],
        "",
    ),
    "4, quotes": (g4('get_weather{"city": "Oslo"}'), [OSLO], ""),
    "4, blanks": (f"<|tool_call> call : get_weather {{ city : {Q}Oslo{Q} }} <tool_call|>", [OSLO], ""),
    "4, no closer": (f"<|tool_call>call:get_weather{{city:{Q}Oslo{Q}}}\n", [OSLO], "\n"),
    "4, paths": (
        g4(f"get_weather{{city:{Q}C:\\users\\n{Q}}}"),
        [("get_weather", {"city": "C:\\users\\n"})],
        "",
    ),
    "4, names with signs": (g4("mcp.search-docs{}"), [("mcp.search-docs", {})], ""),
    "Function": (fg("get_weather{city:<escape>Oslo<escape>}"), [OSLO], ""),
    "Function, two": (
        fg("get_weather{city:<escape>Oslo<escape>}") + fg("get_time{}"),
        [OSLO, ("get_time", {})],
        "",
    ),
    "Function, two, the second without its opener": (
        fg("get_weather{city:<escape>Oslo<escape>}")
        + "\n"
        + fg("get_time{}").removeprefix("<start_function_call>"),
        [OSLO, ("get_time", {})],
        "",
    ),
    "Function, two, the second not whole": (
        fg("get_time{}") + "call:get_weather{city:",
        [("get_time", {})],
        "call:get_weather{city:",
    ),
    "Function, two, the second broken": (
        fg("get_time{}") + "call:get_weather{city:<b>}",
        [("get_time", {})],
        "call:get_weather{city:<b>}",
    ),
    "Function, and words": (fg("get_time{}") + " call: me", [("get_time", {})], " call: me"),
    "Function, typed by the schema": (
        fg("get_weather{city:<escape>5<escape>,days:<escape>5<escape>,metric:true,filters:{a:1}}"),
        [("get_weather", {"city": "5", "days": 5, "metric": True, "filters": {"a": 1}})],
        "",
    ),
    "Function, without a schema": (
        fg("untyped{a:<escape>42<escape>,b:<escape>true<escape>,c:<escape>x y<escape>}"),
        [("untyped", {"a": 42, "b": True, "c": "x y"})],
        "",
    ),
    "Function, no commas": (
        fg("untyped{a:<escape>x<escape>b:<escape>y<escape>}"),
        [("untyped", {"a": "x", "b": "y"})],
        "",
    ),
    "Function, prose on both sides": (f"a {fg('get_time{}')} b", [("get_time", {})], "a  b"),
}

TEXTS = (
    "<|tool_call> is a token",
    "<|tool_call>",
    "<|tool_call>call:get_weather",
    f"<|tool_call>call:get_weather{{city:{Q}Os",
    f"<|tool_call>call:get_weather{{city:{Q}Oslo{Q}}} then",
    g4("get_weather{city:<b>}"),
    g4("get_weather{city}"),
    g4("get_weather{,:}"),
    "<|tool_call><tool_call|>",
    fg("get_weather"),
    g4(f"untyped{{a:{'[' * 300}{']' * 300}}}"),
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(gemma.FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(gemma.FORMATS, text, [], text)


@table("text", ["<|tool_call> is a", "<|tool_call><b", "<|tool_call>call:x y"])
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert gemma.FORMATS[0].read(text, 0, False, TOOLS) is None


def test_what_follows_a_block_may_be_a_call_without_its_opener() -> None:
    function = gemma.FORMATS[1]
    for behind in ("", "\n", "ca", "call:get_ti"):
        assert function.read(fg("get_time{}") + behind, 0, False, TOOLS) is MORE


BARE = f"call:get_weather{{city:{Q}Oslo{Q}}}"


@table(
    ("text", "expected"),
    [
        (BARE, [(BARE, ["get_weather"])]),
        (f"\n{BARE}\n", ["\n", (BARE, ["get_weather"]), "\n"]),
        (f"{BARE} and so on", [f"{BARE} and so on"]),
        (f"So {BARE}", [f"So {BARE}"]),
        ("call:get_weather{city:Oslo}", ["call:get_weather{city:Oslo}"]),
        ("call: me {later}", ["call: me {later}"]),
    ],
)
def test_at_the_begin_of_a_reply_gemma_4_may_forget_the_opener(text: str, expected: list[Piece]) -> None:
    for pieces in cuts(text):
        assert scan(pieces, formats=gemma.FORMATS, tools=TOOLS) == expected
