"""R08: calls as Python writes them."""

from proxy.core.markup.families.notations import pythonic
from proxy.core.markup.formats import Tier
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

WRAPPED = tuple(format for format in pythonic.FORMATS if format.tier is Tier.WRAPPED)
BARE = tuple(format for format in pythonic.FORMATS if format.tier is Tier.OPTIONAL)
OSLO = ("get_weather", {"city": "Oslo"})
CALL = "get_weather(city='Oslo')"


def lfm2(body: str) -> str:
    return f"<|tool_call_start|>{body}<|tool_call_end|>"


CASES: dict[str, tuple[str, Calls, str]] = {
    "LFM2's": (lfm2(f"[{CALL}]"), [OSLO], ""),
    "LFM2's, prose on both sides": (f"a {lfm2(f'[{CALL}]')}\nb", [OSLO], "a \nb"),
    "LFM2's, two": (lfm2(f"[{CALL}, get_time()]"), [OSLO, ("get_time", {})], ""),
    "LFM2's, without brackets": (lfm2(CALL), [OSLO], ""),
    "LFM2's, blanks": (lfm2(f" [ {CALL} ] "), [OSLO], ""),
    "LFM2's, as JSON": (lfm2('[{"name": "get_weather", "arguments": {"city": "Oslo"}}]'), [OSLO], ""),
    "LFM2's, one JSON object": (lfm2('{"name": "get_weather", "arguments": {"city": "Oslo"}}'), [OSLO], ""),
    "all kinds of literals": (
        lfm2(
            "[untyped(a=37, b=-1.5, c=None, d=True, e=['x', \"y\"], f={'g': {}, 2: ()}, h=[], i={'s', 't'})]"
        ),
        [
            (
                "untyped",
                {
                    "a": 37,
                    "b": -1.5,
                    "c": None,
                    "d": True,
                    "e": ["x", "y"],
                    "f": {"g": {}, "2": []},
                    "h": [],
                    "i": ["s", "t"],
                },
            )
        ],
        "",
    ),
    "zeros in front": (lfm2("[untyped(month=07, day=0)]"), [("untyped", {"month": 7, "day": 0})], ""),
    "escapes": (
        lfm2(r"[get_weather(city='Martha\'s \"x\" \n \x41 \d')]"),
        [("get_weather", {"city": 'Martha\'s "x" \n A \\d'})],
        "",
    ),
    "brackets and newlines in a string": (
        lfm2("[get_weather(city='grep \"]\" (x\nEOF')]"),
        [("get_weather", {"city": 'grep "]" (x\nEOF'})],
        "",
    ),
    "quotes in a string that nobody escaped": (
        lfm2("[get_weather(city='sed -n '3,5p' f.py')]"),
        [("get_weather", {"city": "sed -n '3,5p' f.py"})],
        "",
    ),
    "a name with dots": (lfm2("[mcp.search-docs(query='x')]"), [("mcp.search-docs", {"query": "x"})], ""),
    "a call that cannot be read beside one that can": (
        lfm2(f"[{CALL}, untyped(x=b'z'), untyped('x')]"),
        [OSLO],
        "",
    ),
    "tokens in a string": (
        lfm2("[get_weather(city='<|tool_call_end|>')]"),
        [("get_weather", {"city": "<|tool_call_end|>"})],
        "",
    ),
    "OLMo's": (f"<function_calls>\n{CALL}\nget_time()\n</function_calls>", [OSLO, ("get_time", {})], ""),
    "OLMo's, one": (f"<function_calls>{CALL}</function_calls>", [OSLO], ""),
    "OLMo's, typed by Python": (
        "<function_calls>\nget_weather(city='x', days=3, metric=true)\n</function_calls>",
        [("get_weather", {"city": "x", "days": 3, "metric": True})],
        "",
    ),
    "OLMo's, double quotes": ('a<function_calls>get_weather(city="Oslo")</function_calls>b', [OSLO], "ab"),
    "OLMo's, a nested list": (
        "<function_calls>\nget_weather(city='x', tags=[1, [2]])\n</function_calls>",
        [("get_weather", {"city": "x", "tags": [1, [2]]})],
        "",
    ),
    "OLMo's, the same twice": (f"<function_calls>\n{CALL}\n{CALL}\n</function_calls>", [OSLO, OSLO], ""),
    "Llama's": (f"<|python_start|>[{CALL}]<|python_end|>", [OSLO], ""),
}
CASES |= {
    "not closed": (f"a <|tool_call_start|>[{CALL}]\n", [("get_weather", {"city": "Oslo"})], "a "),
    "JSON, not closed": (
        '<|tool_call_start|>[{"name": "get_weather", "arguments": {"city": "Oslo"}}]',
        [("get_weather", {"city": "Oslo"})],
        "",
    ),
    "Llama 4, not closed": (f"<|python_start|>[{CALL}]", [("get_weather", {"city": "Oslo"})], ""),
    "an echo": (
        lfm2(f"[{CALL}]") + f"[{CALL}]<|tool_call_end|> So.",
        [("get_weather", {"city": "Oslo"})],
        " So.",
    ),
    "an echo on a line": (
        lfm2(f"[{CALL}]") + f"\n[{CALL}]<|tool_call_end|>",
        [("get_weather", {"city": "Oslo"})],
        "",
    ),
    "no echo": (lfm2(f"[{CALL}]") + f"[{CALL}] So.", [("get_weather", {"city": "Oslo"})], f"[{CALL}] So."),
}

TEXTS = (
    "<|tool_call_start|> is a token",
    lfm2("[]"),
    lfm2("[ ]"),
    lfm2(""),
    lfm2("[untyped(x=b'z')]"),
    lfm2("[untyped(x=f(1))]"),
    lfm2("[untyped"),
    lfm2(f"[{CALL}; x]"),
    lfm2("[get_weather(city=<b>)]"),
    "<|tool_call_start|>",
    "<|tool_call_start|>[",
    f"<|tool_call_start|>[{CALL}",
    f"<|tool_call_start|>{CALL}",
    f"<|tool_call_start|>[{CALL}] then",
    f"<|tool_call_start|>[{CALL}, get_t",
    "<|tool_call_start|>[get_weather(city='Os",
    f"<function_calls>\n{CALL}",
    lfm2(f"[untyped(a={'[' * 300}{']' * 300})]"),
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
        (f"[{CALL}]", [OSLO], ""),
        (f"a [{CALL}, get_time()] b", [OSLO, ("get_time", {})], "a  b"),
        ("[1, 2] and [x](y) and [a, b]", [], "[1, 2] and [x](y) and [a, b]"),
        (f"[{CALL}", [], f"[{CALL}"),
    ],
)
def test_without_tokens_if_that_is_asked_for(text: str, calls: Calls, left: str) -> None:
    check(BARE, text, calls, left)


@table("text", ["<|tool_call_start|> is a", "<function_calls><b", "<|python_start|>[1"])
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    for format in WRAPPED:
        if text.startswith(format.openers):
            assert format.read(text, 0, False, TOOLS) is None
