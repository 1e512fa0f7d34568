"""R08: GLM's keys and values, and Hunyuan's."""

from proxy.core.markup.families.objects import hermes
from proxy.core.markup.families.tags import glm, qwen
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = (*hermes.FORMATS, *qwen.FORMATS, *glm.FORMATS)

OSLO = ("get_weather", {"city": "Oslo"})


def call(name: str, **values: str) -> str:
    pairs = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in values.items()
    )
    return f"<tool_call>{name}\n{pairs}</tool_call>"


def iquest(text: str) -> str:
    return text.replace("tool_call>", "iquest_tool_call>")


def iquest_coder(text: str) -> str:
    return text.replace("tool_call>", "iquestcoder_tool_call>")


def ifm(text: str) -> str:
    """The same call as K2 Horizon writes it."""
    for tag in ("tool_call", "arg_key", "arg_type", "arg_value"):
        text = text.replace(f"{tag}>", f"ifm|{tag}>")
    return text


def hunyuan(*calls: str, suffix: str = "") -> str:
    """The same calls as Hunyuan writes them."""
    text = "".join(one.replace("\n", "<tool_sep>", 1) for one in calls)
    text = f"<tool_calls>{text}</tool_calls>"
    return text.replace(">", f"{suffix}>") if suffix else text


CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (call("get_weather", city="Oslo"), [OSLO], ""),
    "prose on both sides": (f"Look. {call('get_weather', city='Oslo')} So.", [OSLO], "Look.  So."),
    "IQuest's": (f"a {iquest(call('get_weather', city='Oslo'))} b", [OSLO], "a  b"),
    "IQuest's, verbatim": (
        iquest(call("get_weather", city='  "1"\n')),
        [("get_weather", {"city": '  "1"\n'})],
        "",
    ),
    "IQuest Coder's": (f"a {iquest_coder(call('get_weather', city='Oslo'))} b", [OSLO], "a  b"),
    "IQuest Coder's, on one line": (
        iquest_coder(call("get_weather", city="Oslo").replace("\n", "")),
        [OSLO],
        "",
    ),
    "IQuest Coder's, no arguments": (
        "<iquestcoder_tool_call>get_time</iquestcoder_tool_call>",
        [("get_time", {})],
        "",
    ),
    "IQuest Coder's, two": (
        iquest_coder(call("get_weather", city="Oslo") + call("get_time")),
        [OSLO, ("get_time", {})],
        "",
    ),
    "IQuest Coder's, typed": (
        iquest_coder(call("get_weather", city="12", days="3", metric="true", tags='["a"]')),
        [("get_weather", {"city": "12", "days": 3, "metric": True, "tags": ["a"]})],
        "",
    ),
    "IQuest Coder's, verbatim": (
        iquest_coder(call("get_weather", city=' "1" & 2\n')),
        [("get_weather", {"city": ' "1" & 2\n'})],
        "",
    ),
    "IQuest Coder's, a closer in a value": (
        iquest_coder(call("get_weather", city="a</arg_value>b")),
        [("get_weather", {"city": "a</arg_value>b"})],
        "",
    ),
    "IQuest Coder's, a sample in a value": (
        iquest_coder(call("write_file", path="p", content=call("get_time") + " so")),
        [("write_file", {"path": "p", "content": iquest_coder(call("get_time")) + " so"})],
        "",
    ),
    "IQuest Coder's, no arguments, with blanks": (
        "<iquestcoder_tool_call>\n  get_time\n</iquestcoder_tool_call>",
        [("get_time", {})],
        "",
    ),
    "IQuest's, no arguments": ("<iquest_tool_call>get_time</iquest_tool_call>", [("get_time", {})], ""),
    "K2 Horizon's": (f"a {ifm(call('get_weather', city='Oslo'))} b", [OSLO], "a  b"),
    "K2 Horizon's, with types": (
        ifm(
            call("get_weather", city="Oslo", days="3")
            .replace("city</arg_key>", "city</arg_key>\n<arg_type>string</arg_type>")
            .replace("days</arg_key>\n", "days</arg_key><arg_type>integer</arg_type>")
        ),
        [("get_weather", {"city": "Oslo", "days": 3})],
        "",
    ),
    "escaped once too often, on one line": (
        r"<tool_call>get_weather<arg_key>tags</arg_key><arg_value>[{\"a\": \"b\\\\c\"}]</arg_value></tool_call>",
        [("get_weather", {"tags": [{"a": "b\\c"}]})],
        "",
    ),
    "two calls": (call("get_weather", city="Oslo") + "\n" + call("get_time"), [OSLO, ("get_time", {})], "\n"),
    "no arguments, on one line": ("<tool_call>get_time</tool_call>", [("get_time", {})], ""),
    "no arguments, and a closer too many": (
        "<tool_call>get_time</arg_value>\n</tool_call>",
        [("get_time", {})],
        "",
    ),
    "one object, right behind the name": (
        '<tool_call>get_weather{"city": "Oslo"}</tool_call>',
        [OSLO],
        "",
    ),
    "a sign behind the name": ('<tool_call>get_weather>{"city": "Oslo"}</tool_call>', [OSLO], ""),
    "the kind before the name": (
        '<tool_call>function\nget_weather\n{"city": "Oslo"}</tool_call><tool_call>function\nget_time\n{}</tool_call>',
        [OSLO, ("get_time", {})],
        "",
    ),
    "a sign behind the name, no closer": (
        '<tool_call>get_weather>{"city": "Oslo"}<tool_call>get_time>{}',
        [OSLO, ("get_time", {})],
        "",
    ),
    "a sign behind the name, before pairs": (
        call("get_weather", city="Oslo").replace("weather", "weather>"),
        [OSLO],
        "",
    ),
    "no arguments, with blanks": ("<tool_call>  \n  get_time  \n  </tool_call>", [("get_time", {})], ""),
    "all on one line": (call("get_weather", city="Oslo").replace("\n", ""), [OSLO], ""),
    "typed by the schema": (
        call(
            "get_weather", city="12", days="3", ratio="1", metric="false", tags='["a"]', filters="{'b': True}"
        ),
        [
            (
                "get_weather",
                {"city": "12", "days": 3, "ratio": 1, "metric": False, "tags": ["a"], "filters": {"b": True}},
            )
        ],
        "",
    ),
    "values are verbatim": (
        call("get_weather", city="  a < b\n & c\n"),
        [("get_weather", {"city": "  a < b\n & c\n"})],
        "",
    ),
    "backslashes are data": (call("get_weather", city="C:\\new"), [("get_weather", {"city": "C:\\new"})], ""),
    "text in quotes": (
        call("get_weather", city='"Oslo"', days='"42"'),
        [("get_weather", {"city": "Oslo", "days": 42})],
        "",
    ),
    "quotes that are data": (
        call("get_weather", city='"a" and "b"'),
        [("get_weather", {"city": '"a" and "b"'})],
        "",
    ),
    "an empty value": (call("get_weather", city=""), [("get_weather", {"city": ""})], ""),
    "keys are trimmed": (
        "<tool_call>get_weather<arg_key> city </arg_key><arg_value>Oslo</arg_value></tool_call>",
        [OSLO],
        "",
    ),
    "signs in keys": (
        call("untyped", **{"a>1": "x", "b&c": "y"}),
        [("untyped", {"a>1": "x", "b&c": "y"})],
        "",
    ),
    "other scripts": (call("获取天气", 城市="北京"), [("获取天气", {"城市": "北京"})], ""),
    "escaped newlines": (call("get_weather", city="Oslo").replace("\n", "\\n"), [OSLO], ""),
    "objects escaped once too often": (
        call("get_weather", city="x", filters='{\\"a\\": 1}'),
        [("get_weather", {"city": "x", "filters": {"a": 1}})],
        "",
    ),
    "a closer in a value": (
        call("get_weather", city="a</arg_value>b</tool_call>c"),
        [("get_weather", {"city": "a</arg_value>b</tool_call>c"})],
        "",
    ),
    "a key without a value": (
        "<tool_call>get_weather<arg_key>days</arg_key>\n<arg_key>city</arg_key><arg_value>Oslo</arg_value></tool_call>",
        [OSLO],
        "",
    ),
    "a last key without a value": (
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value><arg_key>days</arg_key></tool_call>",
        [OSLO],
        "",
    ),
    "no closer of a value on a line": (
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo\n<arg_key>days</arg_key>\n"
        "<arg_value>2</arg_value>\n</tool_call>",
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "quoted, with escapes that JSON has not": (
        call("get_weather", city='"\\D+ \\"x\\""'),
        [("get_weather", {"city": '\\D+ \\"x\\"'})],
        "",
    ),
    "quoted, with a bare quote": (
        call("get_weather", city='"a" or "b"'),
        [("get_weather", {"city": '"a" or "b"'})],
        "",
    ),
    "a sample in a value": (
        call("write_file", path="p", content=call("get_weather", city="Oslo") + " so") + " ok",
        [("write_file", {"path": "p", "content": call("get_weather", city="Oslo") + " so"})],
        " ok",
    ),
    "no closer of a value, before a key that the tool does not have": (
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo<arg_key>town</arg_key><arg_value>x</arg_value>"
        "</tool_call>",
        [("get_weather", {"city": "Oslo", "town": "x"})],
        "",
    ),
    "tags in a value, named and in pairs": (
        call("get_weather", city="`<arg_value>`, <arg_key> or r'<arg_value>(.*)</arg_value>'"),
        [("get_weather", {"city": "`<arg_value>`, <arg_key> or r'<arg_value>(.*)</arg_value>'"})],
        "",
    ),
    "no closer of a value": (
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo<arg_key>days</arg_key><arg_value>2</tool_call>",
        [("get_weather", {"city": "Oslo", "days": 2})],
        "",
    ),
    "no closer, before the next": (
        f"{call('get_weather', city='Oslo')[:-12]}{call('get_time')}",
        [OSLO, ("get_time", {})],
        "\n",
    ),
    "Hunyuan's": (hunyuan(call("get_weather", city="Oslo")), [OSLO], ""),
    "Hunyuan's, two": (
        hunyuan(call("get_weather", city="Oslo"), call("get_time")),
        [OSLO, ("get_time", {})],
        "",
    ),
    "Hunyuan's, spaced": (
        f"So:\n{hunyuan(call('get_weather', city='Oslo')).replace('><', f'>{chr(10)}<')}\nok",
        [OSLO],
        "So:\n\nok",
    ),
    "Hunyuan's, without the separator": (
        hunyuan(call("get_weather", city="Oslo"), call("get_time"), suffix=":opensource").replace(
            "<tool_sep:opensource>", ""
        ),
        [OSLO, ("get_time", {})],
        "",
    ),
    "Hunyuan's, typed": (
        hunyuan(call("get_weather", city="1", days="1")),
        [("get_weather", {"city": "1", "days": 1})],
        "",
    ),
    "Hunyuan's, with a suffix": (hunyuan(call("get_weather", city="Oslo"), suffix=":v3"), [OSLO], ""),
    "Hunyuan's, a sample in a value": (
        hunyuan(call("write_file", path="p", content="</tool_call> x")),
        [("write_file", {"path": "p", "content": "</tool_call> x"})],
        "",
    ),
}

TEXTS = (
    "The <tool_call> tag is used by GLM.",
    "<tool_call>get_weather",
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Os",
    call("get_weather", city="Oslo")[:-1],
    "<tool_call>call get_time now</tool_call>",
    "<tool_call>get_weather<arg_key>city</arg_key>Oslo</tool_call>",
    "<tool_call>get_time<b></tool_call>",
    "<tool_call>get_time> is how it begins",
    "<tool_call>get_time>now</tool_call>",
    "<tool_call>get_time</arg_value> is how it ends",
    "<tool_call>get_time</arg_value>",
    "<tool_call></tool_call>",
    "<tool_call>function\nget_weather",
    "<tool_call>function\n{}</tool_call>",
    # ── tags that were lost: what is left of them belongs in no value
    "<tool_call>get_weather<arg_key>city<arg_value>Oslo</arg_value></tool_call>",
    call("get_weather", city="Oslo<arg_key>days<arg_value>2"),
    call("get_weather", city="Oslo\ndays</arg_key>\n<arg_value>2"),
    call("get_weather", city="Oslo\ndays\n<arg_value>2"),
    call("get_weather", city="Oslo days</arg_key><arg_value>2"),
    "<tool_call>get_weather<arg_key>ci<ty</arg_key><arg_value>Oslo</arg_value></tool_call>",
    call("get_weather", city="Oslo\ndays</arg_key>\n<arg_value>2", unit="C"),
    "<iquestcoder_tool_call> is IQuest Coder's opener.",
    "<iquestcoder_tool_call>get_time",
    "<iquestcoder_tool_call>get_weather<arg_key>city</arg_key>Oslo</iquestcoder_tool_call>",
    "<iquestcoder_tool_call>the weather of Oslo</iquestcoder_tool_call>",
    "<tool_calls><tool_call>get_time<tool_sep></tool_call>",
    "<tool_calls><tool_call>get_time<tool_sep></tool_call> then",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    if "<tool_calls>" in text:
        check(glm.FORMATS[1:], text, [], text)
    else:
        check(FORMATS, text, [], text)


@table("text", ["<tool_call> tag is", "<tool_call>{", "<tool_call><b>x", '<tool_call>"'])
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert glm.FORMATS[0].read(text, 0, False, TOOLS) is None
