"""R08: which declared tool a model means by what it wrote."""

from proxy.core.markup.formats import Tools
from tests.support.tables import table

TOOLS = Tools({name: {} for name in ("get_weather", "mcp.search", "functions.odd", "a:1")})


@table(
    ("said", "meant"),
    [
        ("get_weather", "get_weather"),
        (" get_weather\n", "get_weather"),
        ("functions.get_weather", "get_weather"),
        ("functions.get_weather:0", "get_weather"),
        ("get_weather<|channel|>analysis", "get_weather"),
        ("mcp.search", "mcp.search"),
        ("functions.mcp.search:12", "mcp.search"),
        ("functions.odd", "functions.odd"),
        ("a:1", "a:1"),
    ],
)
def test_affixes_that_models_add_are_removed(said: str, meant: str) -> None:
    assert TOOLS.declared(said) == meant


@table(
    "said",
    ["", "Get_Weather", "get_weathe", "get_weather2", "functions.", "functions", ":0", "search", "<|x|>"],
)
def test_any_other_name_is_nobodys(said: str) -> None:
    assert TOOLS.declared(said) is None


def test_the_schema_of_a_tool_is_found_by_what_a_model_calls_it() -> None:
    tools = Tools({"run": {"type": "object"}})
    assert tools.schema("functions.run:0") == {"type": "object"}
    assert tools.schema("walk") == {}
