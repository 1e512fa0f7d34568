"""R08: tools of MCP servers, as MiroThinker writes them."""

from proxy.core import jsontext
from proxy.core.markup.families.tags import mcp
from tests.core.markup.families.driver import Calls, check
from tests.support.tables import table

OSLO = ("get_weather", {"city": "Oslo"})
SERVER = "<server_name>tool-weather</server_name>\n"


def call(tool: str, server: str = SERVER, **arguments: object) -> str:
    written = jsontext.dumps(arguments).decode()
    return f"{server}<tool_name>{tool}</tool_name>\n<arguments>\n{written}\n</arguments>\n"


def wrapped(*calls: str) -> str:
    return f"<use_mcp_tool>\n{''.join(calls)}</use_mcp_tool>"


WEATHER = call("get_weather", city="Oslo")

CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (wrapped(WEATHER), [OSLO], ""),
    "prose on both sides": (f"Look. {wrapped(WEATHER)} So.", [OSLO], "Look.  So."),
    "two calls": (wrapped(WEATHER, call("get_time")), [OSLO, ("get_time", {})], ""),
    "two wrappers": (wrapped(WEATHER) + "\n" + wrapped(WEATHER), [OSLO, OSLO], "\n"),
    "on one line": (wrapped(WEATHER).replace("\n", ""), [OSLO], ""),
    "indented": (wrapped(WEATHER).replace("\n<", "\n    <"), [OSLO], ""),
    "without a server": (wrapped(call("get_weather", "", city="Oslo")), [OSLO], ""),
    "without arguments": (wrapped(call("get_time")).replace("{}", ""), [("get_time", {})], ""),
    "types are JSON's": (
        wrapped(call("get_weather", city="1", days=2, metric=True, tags=["a"])),
        [("get_weather", {"city": "1", "days": 2, "metric": True, "tags": ["a"]})],
        "",
    ),
    "closers in a text": (
        wrapped(call("write_file", path="p", content="</arguments>\n</use_mcp_tool>")),
        [("write_file", {"path": "p", "content": "</arguments>\n</use_mcp_tool>"})],
        "",
    ),
    "other scripts": (wrapped(call("get_weather", city="東京")), [("get_weather", {"city": "東京"})], ""),
}

TEXTS = (
    "Write <use_mcp_tool> and then the server.",
    "<use_mcp_tool>\n</use_mcp_tool>",
    wrapped(WEATHER).removesuffix("</use_mcp_tool>"),
    wrapped(WEATHER).removesuffix("</use_mcp_tool>") + "So.",
    wrapped(SERVER, "<tool_name>get_time</tool_name>\n"),
    wrapped("<server_name>server name here</server_name>\n<tool_name>tool name here</tool_name>\n"),
    wrapped(SERVER, "<tool_name>get_weather</tool_name>\n<arguments>\ncity: Oslo\n</arguments>\n"),
    wrapped(WEATHER).replace('"Oslo"}', '{"a": 1'),
    WEATHER,
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(mcp.FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(mcp.FORMATS, text, [], text)
