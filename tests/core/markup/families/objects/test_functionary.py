"""R08: Functionary's recipient, which is optional."""

from proxy.core.markup.families.objects import functionary
from proxy.core.markup.formats import Tier
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.core.markup.scanning import Piece, cuts, scan
from tests.support.tables import table

OSLO = ("get_weather", {"city": "Oslo"})


@table(
    ("text", "calls", "left"),
    [
        ('>>>get_weather\n{"city": "Oslo"}', [OSLO], ""),
        ('a\n>>>get_weather \n{"city": "Oslo"}\n>>>get_time\n{}', [OSLO, ("get_time", {})], "a\n\n"),
        ('>>>get_weather\n\n{"city": "Oslo"} so', [OSLO], " so"),
        ('>>>get_weather\n{\n  "city": "Oslo"\n}\n', [OSLO], "\n"),
        ('Let me see.\n>>>get_weather\n{"city": "Oslo"}', [OSLO], "Let me see.\n"),
        ('>>>mcp.search-docs\n{"query": "a > b"}', [("mcp.search-docs", {"query": "a > b"})], ""),
        ('>>>untyped\n{"a": [1, {"b": null}]}', [("untyped", {"a": [1, {"b": None}]})], ""),
        (
            '>>>get_weather\n{"city": "Oslo", "days": 2}\n>>>get_weather\n{"city": "Oslo"}',
            [("get_weather", {"city": "Oslo", "days": 2}), OSLO],
            "\n",
        ),
        (">>>all\nHello", [], ">>>all\nHello"),
        (">>> get_time()\n{}", [], ">>> get_time()\n{}"),
        (">>>get_weather\n{city}", [], ">>>get_weather\n{city}"),
        ('>>>get_weather\n{"city": "Os', [], '>>>get_weather\n{"city": "Os'),
        ('>>>get_weather\n{"city": ]', [], '>>>get_weather\n{"city": ]'),
        (">>>get_time\n", [], ">>>get_time\n"),
        (">>>get_ti", [], ">>>get_ti"),
    ],
)
def test_a_recipient_on_its_line(text: str, calls: Calls, left: str) -> None:
    check(functionary.FORMATS, text, calls, left)


FIRST = 'get_weather\n{"city": "Oslo"}'


@table(
    ("text", "expected"),
    [
        (FIRST, [(FIRST, ["get_weather"])]),
        (f"\n{FIRST} so", ["\n", (FIRST, ["get_weather"]), " so"]),
        (f"{FIRST}\n>>>get_time\n{{}}", [(FIRST, ["get_weather"]), "\n", (">>>get_time\n{}", ["get_time"])]),
        (f"So:\n{FIRST}", [f"So:\n{FIRST}"]),
        ('get_whether\n{"city": "Oslo"}', ['get_whether\n{"city": "Oslo"}']),
        ("get_weather\nis a tool", ["get_weather\nis a tool"]),
        ("get_time is a tool", ["get_time is a tool"]),
        ("get_ti", ["get_ti"]),
    ],
)
def test_the_first_recipient_has_no_signs_since_the_prompt_ends_with_them(
    text: str, expected: list[Piece]
) -> None:
    for pieces in cuts(text):
        assert scan(pieces, formats=functionary.FORMATS, tools=TOOLS) == expected


def test_it_is_off_unless_that_is_asked_for() -> None:
    assert {format.tier for format in functionary.FORMATS} == {Tier.OPTIONAL}
