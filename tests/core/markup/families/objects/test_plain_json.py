"""R08: the small families, and the optional forms without a token."""

from proxy.core.markup.families.objects import plain_json
from proxy.core.markup.families.tags import elements, step
from proxy.core.markup.formats import Tier, Tools
from tests.core.markup.families.driver import TOOLS, Calls, check, recover
from tests.core.markup.scanning import cuts, scan
from tests.support.tables import table

FORMATS = (*plain_json.FORMATS, *step.FORMATS, *elements.FORMATS)
WRAPPED = tuple(format for format in FORMATS if format.tier is not Tier.OPTIONAL)
OPTIONAL = {format.name: format for format in FORMATS if format.tier is Tier.OPTIONAL}
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
TIME = '{"name": "get_time", "arguments": {}}'


def step3(*invokes: str) -> str:
    calls = "\n".join(
        f"<｜tool_call_begin｜>function<｜tool_sep｜>{one}<｜tool_call_end｜>" for one in invokes
    )
    return f"<｜tool_calls_begin｜>\n{calls}\n<｜tool_calls_end｜>"


def steptml(name: str, **values: str) -> str:
    inside = "".join(
        f'<steptml:parameter name="{key}">{value}</steptml:parameter>\n' for key, value in values.items()
    )
    return f'<steptml:invoke name="{name}">\n{inside}</steptml:invoke>'


def minicpm(name: str, **values: str) -> str:
    inside = "".join(f"<param name={key!r}>{value}</param>" for key, value in values.items())
    return f'<function name="{name}">{inside}</function>'


CASES: dict[str, tuple[str, Calls, str]] = {
    "Granite 3": (f"<|tool_call|>[{JSON}]", [OSLO], ""),
    "MiniCPM, more attributes": (
        minicpm("get_weather", city="Oslo")
        .replace("'city'", "'city' type='string'")
        .replace('weather"', 'weather" id="3"'),
        [OSLO],
        "",
    ),
    "Granite 3, two, and prose": (f"a <|tool_call|> [{JSON}, {TIME}] b", [OSLO, ("get_time", {})], "a  b"),
    "Granite 20B": (f"<function_call> {JSON}", [OSLO], ""),
    "Granite 20B, two": (f"<function_call> {JSON} <function_call> {TIME}", [OSLO, ("get_time", {})], " "),
    "Granite 20B, closed": (f"<function_call>{JSON}</function_call>x", [OSLO], "x"),
    "Jamba": (f"<tool_calls>[{JSON}, {TIME}]</tool_calls>", [OSLO, ("get_time", {})], ""),
    "Hunyuan A13B": (f"a\n<tool_calls>\n[{JSON}]\n</tool_calls>", [OSLO], "a\n"),
    "MiniMax M1": (f"<tool_calls>\n{JSON}\n{TIME}\n</tool_calls>", [OSLO, ("get_time", {})], ""),
    "Hermes in another tag": (f"<tools>\n{JSON}\n</tools>", [OSLO], ""),
    "InternLM 2": (
        f"<|action_start|><|plugin|>\n{JSON.replace('arguments', 'parameters')}<|action_end|>",
        [OSLO],
        "",
    ),
    "InternLM 2, with a blank": (f"<|action_start|> <|plugin|> {JSON} <|action_end|>", [OSLO], ""),
    "Nemotron": (f"<TOOLCALL>[{JSON}]</TOOLCALL>", [OSLO], ""),
    "Nemotron, a string": (
        f"<TOOLCALL>[{JSON.replace('Oslo', '</TOOLCALL>')}]</TOOLCALL>",
        [("get_weather", {"city": "</TOOLCALL>"})],
        "",
    ),
    "Apertus": (
        '<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}, {"get_time": {}}]<|tools_suffix|>',
        [OSLO, ("get_time", {})],
        "",
    ),
    "Apertus, junk beside a call": (
        '<|tools_prefix|>[{"get_time": {}, "x": 5}]<|tools_suffix|>',
        [("get_time", {})],
        "",
    ),
    "GigaChat": (f"<|function_call|>{JSON} b", [OSLO], " b"),
    "Cohere, not closed": (
        '<|START_ACTION|>[{"tool_name": "get_time", "parameters": {}}]',
        [("get_time", {})],
        "",
    ),
    "Jamba, not closed": (f"a <tool_calls>[{JSON}]\n", [OSLO], "a \n"),
    "Nemotron, not closed": (f"<TOOLCALL>[{JSON}]", [OSLO], ""),
    "InternLM 2, not closed": (f"<|action_start|><|plugin|>{JSON}", [OSLO], ""),
    "Apertus, not closed": ('<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}]', [OSLO], ""),
    "Sarashina": ("<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}]", [OSLO], ""),
    "Sarashina, two and Python's words": (
        "a <|tool_calls|>\n[{'name': 'get_time', 'arguments': {}}, "
        "{'name': 'untyped', 'arguments': {'a': True, 'b': None, 'c': \"it's\"}}] b",
        [("get_time", {}), ("untyped", {"a": True, "b": None, "c": "it's"})],
        "a  b",
    ),
    "Sarashina, one object": ("<|tool_calls|> {'name': 'get_time', 'arguments': {}}", [("get_time", {})], ""),
    "Sarashina, as JSON writes it": (f"<|tool_calls|>[{JSON}]", [OSLO], ""),
    "Sarashina, on lines": (
        "<|tool_calls|>\r\n[\n  {'name': 'get_weather',\n   'arguments': {'city': 'Oslo'}},\n]\n",
        [OSLO],
        "\n",
    ),
    "Sarashina, brackets and the token in a string": (
        "<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': ']}<|tool_calls|>'}}]",
        [("get_weather", {"city": "]}<|tool_calls|>"})],
        "",
    ),
    "Sarashina, escapes": (
        r"<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'it\'s \n \x41 \u00e9'}}]",
        [("get_weather", {"city": "it's \n A é"})],
        "",
    ),
    "Sarashina, nested": (
        "<|tool_calls|>[{'name': 'untyped', 'arguments': {'a': [1, {'b': None}], 'c': [2.5, False]}}]",
        [("untyped", {"a": [1, {"b": None}], "c": [2.5, False]})],
        "",
    ),
    "Sarashina, a name and no arguments": (
        "<|tool_calls|>[{'name': 'get_time'}] so",
        [("get_time", {})],
        " so",
    ),
    "openPangu": (f"a [unused11][{JSON}, {TIME}][unused12] b", [OSLO, ("get_time", {})], "a  b"),
    "openPangu, not closed": (f"[unused11] [{JSON}]", [OSLO], ""),
    "GigaChat's words": (f"a <|message_sep|>\n\nfunction call<|role_sep|>\n{JSON}", [OSLO], "a "),
    "Phi 4": (f"functools[{JSON}] x", [OSLO], " x"),
    "Phi 4, two": (f"functools[{JSON}, {TIME}]", [OSLO, ("get_time", {})], ""),
    "Phi 4, with parameters": (f"functools[{JSON.replace('arguments', 'parameters')}]", [OSLO], ""),
    "Cohere": (
        '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "get_weather", "parameters": {"city": "Oslo"}}]'
        "<|END_ACTION|>",
        [OSLO],
        "",
    ),
    "Step 3": (step3(steptml("get_weather", city="Oslo")), [OSLO], ""),
    "Step 3, two": (
        step3(steptml("get_weather", city="Oslo"), steptml("get_time")),
        [OSLO, ("get_time", {})],
        "",
    ),
    "Step 3, typed": (
        step3(steptml("get_weather", city="5", days="5")),
        [("get_weather", {"city": "5", "days": 5})],
        "",
    ),
    "Step 3, a newline at each end": (step3(steptml("get_weather", city="\nOslo\n")), [OSLO], ""),
    "Step 3, prose on both sides": (f"a {step3(steptml('get_time'))} b", [("get_time", {})], "a  b"),
    "Step 3, a closer in a value": (
        step3(steptml("get_weather", city="a</steptml:parameter>b")),
        [("get_weather", {"city": "a</steptml:parameter>b"})],
        "",
    ),
    "MiniCPM 5": (minicpm("get_weather", city="Oslo"), [OSLO], ""),
    "MiniCPM 5, two": (
        minicpm("get_weather", city="Oslo") + minicpm("get_time"),
        [OSLO, ("get_time", {})],
        "",
    ),
    "MiniCPM 5, CDATA": (
        minicpm("get_weather", city="<![CDATA[a < b\n]]>"),
        [("get_weather", {"city": "a < b\n"})],
        "",
    ),
    "MiniCPM 5, typed": (
        minicpm("get_weather", city="5", days="5"),
        [("get_weather", {"city": "5", "days": 5})],
        "",
    ),
    "MiniCPM 5, without the blanks": (
        minicpm("get_weather", city="Oslo").replace(" name", "name"),
        [OSLO],
        "",
    ),
    "MiniCPM 5, prose on both sides": (f"a {minicpm('get_time')} b", [("get_time", {})], "a  b"),
}

TEXTS = (
    "<|tool_call|> is a token",
    f"<|tool_call|>[{JSON}",
    "<|tool_call|>[{]",
    "[unused11] is a token, and [unused12] is one",
    "[{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}]",
    "<|tool_calls|>[{'name': 'get_weather', 'arguments': {'city': 'Oslo'}}",
    "<|tool_calls|>[1, 'get_time']",
    "<|tool_calls|> is Sarashina's token, and Solar's",
    "<tool_calls>[1]</tool_calls>",
    f"<tool_calls>[{JSON}",
    f'<tool_calls>[{JSON}, {{"name": "get_time"',
    "functools[1] is none, and functools[] as well",
    f"functools[{JSON}, 1]",
    f"functools[{JSON.replace('get_weather', 'other')}]",
    'functools[{"name": "get_time"}]',
    'functools[{"name": "get_weather", "arguments": "Oslo"}]',
    '<|function_call|>{"name": "get_time"}',
    '<|function_call|>{"name": "get_weather", "arguments": "{}"}',
    '<tools>{"name": "get_time"}</tools>',
    '<|message_sep|>function call<|role_sep|>\n{"name": "get_time"}',
    '<|message_sep|>function call<|role_sep|>\n{"name": "get_weather", "arguments": "{}"}',
    "<|message_sep|>\n\nfunction calls are",
    "<|message_sep|> and no more",
    "<|message_sep|>",
    "<|message_sep|>function ca",
    f"<tool_calls>[{JSON}] then",
    "<function_call> {}",
    # what the prompt tells of the tools
    '<tools>\n{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", '
    '"properties": {"city": {"type": "string"}}}}}\n</tools>',
    "<|tools_prefix|>[]<|tools_suffix|>",
    "<function name=x> in XML",
    minicpm("get_weather", city="Oslo").removesuffix("</function>"),
    step3("nothing"),
    step3(steptml("get_time")).removesuffix("<｜tool_calls_end｜>"),
)


@table(
    "key",
    [
        "type",
        "properties",
        "$ref",
        "required",
        "$schema",
        "$defs",
        "additionalProperties",
        "anyOf",
        "oneOf",
        "allOf",
    ],
)
def test_one_key_of_a_schema_shows_that_a_tool_is_only_declared(key: str) -> None:
    """Unless the tool has such a parameter, or the arguments stand where no schema does."""
    declared = f'{{"name": "get_weather", "parameters": {{"{key}": "object"}}}}'
    for text in (
        f"<tools>{declared}</tools>",
        f"<TOOLCALL>[{declared}]</TOOLCALL>",
        f"<|tool_calls|>[{declared}]",
    ):
        check(WRAPPED, text, [], text)
        called = text.replace("parameters", "arguments")
        check(WRAPPED, called, [("get_weather", {key: "object"})], "")
    tools = Tools({"get_weather": {"type": "object", "properties": {key: {}}}})
    assert recover(WRAPPED, f"<tools>{declared}</tools>", tools=tools)[0] == [
        ("get_weather", {key: "object"})
    ]


def test_what_stands_beside_a_declaration_is_one_as_well() -> None:
    declared = '{"name": "get_weather", "parameters": {"type": "object"}}'
    for beside in ('{"name": "get_time", "parameters": {}}', '{"name": "get_time"}', JSON):
        for text in (f"<tools>{declared}\n{beside}</tools>", f"<TOOLCALL>[{beside}, {declared}]</TOOLCALL>"):
            check(WRAPPED, text, [], text)


@table("key", ["description", "input_schema"])
def test_what_stands_beside_a_name_in_a_declaration_shows_it_too(key: str) -> None:
    text = f'<TOOLCALL>[{{"name": "get_time", "{key}": "x", "parameters": {{}}}}]</TOOLCALL>'
    check(WRAPPED, text, [], text)
    check(WRAPPED, text.replace("parameters", "arguments"), [("get_time", {})], "")


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(WRAPPED, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(WRAPPED, text, [], text)


@table(
    ("before", "text", "called"),
    [
        ("", f"function call<|role_sep|>\n{JSON}", True),
        ("\n", f"function call<|role_sep|>\n{JSON}", True),
        ("a ", f"function call<|role_sep|>\n{JSON}", False),
        ("", f"functools[{JSON}]", True),
        ("So: ", f"functools[{JSON}]", True),
        ("So:\n", f"functools[{JSON}]", True),
        ("my", f"functools[{JSON}]", False),
        ("(", f"functools[{JSON}]", False),
        ("import ", "functools[0]", False),
    ],
)
def test_what_begins_with_words_counts_at_its_place_only(before: str, text: str, called: bool) -> None:
    whole = [before + text] if not called else [before, (text, ["get_weather"])]
    for pieces in cuts(before + text):
        assert scan(pieces, formats=WRAPPED, tools=TOOLS) == [one for one in whole if one]


def element(name: str, **values: str) -> str:
    return (
        f"<{name}>\n" + "".join(f"<{key}>{value}</{key}>\n" for key, value in values.items()) + f"</{name}>"
    )


OPTIONAL_CASES: dict[str, tuple[str, str, Calls, str]] = {
    "GigaChat's words": ("gigachat-words", f"function call<|role_sep|>\n{JSON}", [OSLO], ""),
    "a fence": ("xlam-fence", f"So:\n```json\n[{JSON}]\n```\nok", [OSLO], "So:\n\nok"),
    "a fence with other JSON": (
        "xlam-fence",
        '```json\n{"name": "x"}\n```',
        [],
        '```json\n{"name": "x"}\n```',
    ),
    "bare": ("bare-json", f"{JSON}", [OSLO], ""),
    "bare, with prose": ("bare-json", f"Look.\n{JSON}\nSo.", [OSLO], "Look.\n\nSo."),
    "bare, an array": ("bare-json", f"[{JSON}, {TIME}]", [OSLO, ("get_time", {})], ""),
    "bare, two": ("bare-json", f"{JSON}; {TIME}", [OSLO, ("get_time", {})], "; "),
    "bare, an answer": ("bare-json", '{"name": "Ann", "age": 5}', [], '{"name": "Ann", "age": 5}'),
    "bare, in an answer": (
        "bare-json",
        f'{{"calls": [{JSON}], "one": {JSON}}}',
        [],
        f'{{"calls": [{JSON}], "one": {JSON}}}',
    ),
    "bare, code": ("bare-json", "if (a) { return [b]; }", [], "if (a) { return [b]; }"),
    "an element": (
        "element",
        f"a {element('get_weather', city='Oslo', days='2')} b",
        [("get_weather", {"city": "Oslo", "days": 2})],
        "a  b",
    ),
    "an element, without keys": ("element", "<get_time></get_time>", [("get_time", {})], ""),
    "an element, with markup in it": (
        "element",
        element("write_file", path="a.html", content="\n<p>x</p></content> \n"),
        [("write_file", {"path": "a.html", "content": "<p>x</p></content> "})],
        "",
    ),
    "an element, with JSON": ("element", '<get_weather>{"city": "Oslo"}</get_weather>', [OSLO], ""),
    "an element, broken JSON": (
        "element",
        "<get_weather>{city}</get_weather>",
        [],
        "<get_weather>{city}</get_weather>",
    ),
    "an element, wrong JSON": (
        "element",
        "<get_weather>{]</get_weather>",
        [],
        "<get_weather>{]</get_weather>",
    ),
    "an element, half the JSON": ("element", '<get_weather>{"city', [], '<get_weather>{"city'),
    "an element, text": ("element", "<get_weather>Oslo</get_weather>", [], "<get_weather>Oslo</get_weather>"),
    "an element, another key": (
        "element",
        element("get_weather", town="Oslo"),
        [],
        element("get_weather", town="Oslo"),
    ),
    "an element, unclosed": ("element", "<get_weather><city>Oslo", [], "<get_weather><city>Oslo"),
    "an element, not a tool": ("element", "a < b, <b>c</b>, <x", [], "a < b, <b>c</b>, <x"),
}


@table(("name", "text", "calls", "left"), OPTIONAL_CASES.values(), ids=list(OPTIONAL_CASES))
def test_what_is_only_read_if_that_is_asked_for(name: str, text: str, calls: Calls, left: str) -> None:
    check([OPTIONAL[name]], text, calls, left)


@table(
    "text",
    [
        "<|tool_call|> is",
        "<|tool_calls|> is",
        "<TOOLCALL> is",
        "<function name=x>y",
        "<｜tool_calls_begin｜><｜tool_call_begin｜> is",
        "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜> is",
    ],
)
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    for format in WRAPPED:
        if text.startswith(format.openers):
            assert format.read(text, 0, False, TOOLS) is None


def test_an_element_that_is_too_deep_to_be_written_is_no_call() -> None:
    deep = "[" * 300 + "]" * 300
    text = f"<get_weather><tags>{deep}</tags></get_weather>"
    assert OPTIONAL["element"].read(text, 0, True, TOOLS) is None
