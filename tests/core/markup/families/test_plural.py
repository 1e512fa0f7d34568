"""R08: several calls in one wrapper more."""

from proxy.core.markup.families import plural
from proxy.core.markup.formats import FOREIGN, LONGEST_FOREIGN, MORE
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = plural.FORMATS
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
XML = "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"
GLM = "<tool_call>get_time</tool_call>"


def wrapped(*calls: str) -> str:
    return f"<tool_calls>\n{''.join(calls)}\n</tool_calls>"


CASES: dict[str, tuple[str, Calls, str]] = {
    "one": (wrapped(JSON), [OSLO], ""),
    "two": (wrapped(JSON, "\n", JSON), [OSLO, OSLO], ""),
    "K2 Horizon's": (
        wrapped(JSON, "\n", GLM).replace("<tool", "<ifm|tool").replace("</tool", "</ifm|tool"),
        [OSLO, ("get_time", {})],
        "",
    ),
    "of several kinds": (f"a {wrapped(JSON, XML, GLM)} b", [OSLO, OSLO, ("get_time", {})], "a  b"),
    "not closed": (f"<tool_calls>{JSON}\n", [OSLO], "\n"),
    "not closed, and text": (f"<tool_calls>{JSON}\nSo.", [OSLO], "\nSo."),
}

TEXTS = (
    "<tool_calls> is the wrapper",
    wrapped(),
    wrapped("<tool_call>some text</tool_call>"),
    f"<tool_calls>{JSON[:-20]}",
    f"<tool_calls>{JSON}<tool_call>x",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)


def test_what_contradicts_the_grammar_is_let_go_at_once() -> None:
    assert plural.FORMATS[0].read("<tool_calls> is", 0, False, TOOLS) is None


def test_a_wrapper_waits_for_a_declared_call_but_not_for_ever() -> None:
    text = wrapped(JSON.replace("get_weather", "other").replace("Oslo", "x" * LONGEST_FOREIGN))
    for size, verdict in ((200, MORE), (LONGEST_FOREIGN - 1, MORE), (LONGEST_FOREIGN, FOREIGN)):
        assert plural.FORMATS[0].read(text[:size], 0, False, TOOLS) is verdict
    declared = wrapped(JSON, JSON.replace("get_weather", "other").replace("Oslo", "x" * LONGEST_FOREIGN))
    assert plural.FORMATS[0].read(declared[:LONGEST_FOREIGN], 0, False, TOOLS) is MORE
