"""R08: messages to a function."""

from dataclasses import replace

from proxy.core.markup.families.objects import harmony
from tests.core.markup.families.driver import TOOLS, Calls, check
from tests.support.tables import table

FORMATS = {format.name: format for format in harmony.FORMATS}
WHOLE, WORDS = FORMATS["harmony"], FORMATS["harmony-words"]
OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"city": "Oslo"}'
HEAD = "<|channel|>commentary to=functions.get_weather"

CASES: dict[str, tuple[str, Calls, str]] = {
    "a call": (f"<|start|>assistant{HEAD} <|constrain|>json<|message|>{JSON}<|call|>", [OSLO], ""),
    "no start": (f"{HEAD} <|constrain|>json<|message|>{JSON}<|call|>", [OSLO], ""),
    "no constraint": (f"{HEAD}<|message|>{JSON}<|call|>", [OSLO], ""),
    "a word for a constraint": (f"{HEAD} json<|message|>{JSON}<|call|>", [OSLO], ""),
    "the recipient before the channel": (
        f"<|start|>assistant to=functions.get_weather<|channel|>commentary json<|message|>{JSON}<|call|>",
        [OSLO],
        "",
    ),
    "the channel twice": (
        f"<|start|>assistant{HEAD}<|channel|>commentary <|constrain|>json<|message|>{JSON}<|call|>",
        [OSLO],
        "",
    ),
    "in the channel of the analysis": (
        f"<|channel|>analysis to=functions.get_weather code<|message|>{JSON}<|call|>",
        [OSLO],
        "",
    ),
    "the format glued to the name": (f"{HEAD}json<|message|>{JSON}<|call|>", [OSLO], ""),
    "a blank behind each token": (
        "<|start|> assistant<|channel|> commentary to=functions.get_weather <|constrain|>  json<|message|> "
        f"{JSON}<|call|>",
        [OSLO],
        "",
    ),
    "a blank behind the first token": (HEAD.replace("|>", "|> ") + f"<|message|>{JSON}<|call|>", [OSLO], ""),
    "ended otherwise": (f"{HEAD}<|message|>{JSON}<|end|>", [OSLO], ""),
    "at the end of the text": (f"{HEAD}<|message|>{JSON}\n", [OSLO], "\n"),
    "no `functions.`": (f"{HEAD}<|message|>{JSON}<|call|>".replace("functions.", ""), [OSLO], ""),
    "two": (
        f"{HEAD}<|message|>{JSON}<|call|><|start|>assistant"
        "<|channel|>commentary to=functions.get_time<|message|>{}<|call|>",
        [OSLO, ("get_time", {})],
        "",
    ),
    "after some analysis": (
        f"<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant{HEAD}<|message|>{JSON}<|call|>",
        [OSLO],
        "<|channel|>analysis<|message|>Hm.<|end|>",
    ),
    "the one text that a tool takes": (
        "<|channel|>commentary to=functions.mcp.search-docs<|message|>how\nto<|call|> x",
        [("mcp.search-docs", {"query": "how\nto"})],
        " x",
    ),
    "the recipient first": (
        f"to=functions.get_weather<|channel|>commentary json<|message|>{JSON}<|call|>",
        [OSLO],
        "",
    ),
    "a token in a string": (
        f'{HEAD}<|message|>{{"city": "<|call|>"}}<|call|>x',
        [("get_weather", {"city": "<|call|>"})],
        "x",
    ),
}

TEXTS = (
    "<|channel|>commentary<|message|>I will look now.<|end|>",
    "<|start|>assistant is how a message begins",
    "<|start|>assistant\n\nis how a message begins",
    f"{HEAD}",
    f"{HEAD}<|message|>",
    f"{HEAD}<|message|>Oslo<|call|>",
    "<|channel|>commentary to=functions.mcp.search-docs<|message|>how to",
    "<|channel|>commentary to=functions.mcp.search-docs<|message|>[1]<|call|>",
    f"{HEAD}<|message|>{JSON[:-3]}",
    f"{HEAD}<|message|>{JSON} then",
    f'{HEAD}<|message|>{{"city": <b>}}<|call|>',
    f'{HEAD}<|message|>{{"city": Oslo}}<|call|>',
    f"{HEAD} and so on <|message|>{JSON}<|call|>",
    f"<|start|>assistant{' word' * 200}",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check([replace(WHOLE, openers=(*WHOLE.openers, *WHOLE.first))], text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check([WHOLE], text, [], text)


@table(
    ("text", "calls", "left"),
    [
        (f"assistant to=functions.get_weather commentary json {JSON}", [OSLO], ""),
        (f"assistantcommentary to=functions.get_weather json{JSON} x", [OSLO], " x"),
        (f"commentary to=functions.get_weather json\n{JSON}", [OSLO], ""),
        ("to=functions.get_weather is a recipient", [], "to=functions.get_weather is a recipient"),
        ("to=functions.get_weather {", [], "to=functions.get_weather {"),
    ],
)
def test_without_tokens_if_that_is_asked_for(text: str, calls: Calls, left: str) -> None:
    check([WORDS], text, calls, left)


@table(
    "text",
    ["<|channel|>analysis<|message|>", f"{HEAD}<|message|>x", "<|start|>assistant\n\nis", f"{HEAD} is"],
)
def test_what_contradicts_the_grammar_is_let_go_at_once(text: str) -> None:
    assert WHOLE.read(text, 0, False, TOOLS) is None


ELEMENT: dict[str, tuple[str, Calls, str]] = {
    "an element": (f"<assistant to=functions.get_weather json>{JSON}</assistant>", [OSLO], ""),
    "an element, without the prefix": (
        f"a <assistant to=get_weather>\n{JSON}\n</assistant> b",
        [OSLO],
        "a  b",
    ),
    "an element, of code": (f"<assistant to=get_weather code>{JSON}</assistant>", [OSLO], ""),
    "an element, closed by a token": (f"<assistant to=get_weather json>{JSON}<|call|>", [OSLO], ""),
    "an element, not closed": (f"<assistant to=get_weather json>{JSON}", [OSLO], ""),
    "an element, two": (
        f"<assistant to=get_weather>{JSON}</assistant>\n<assistant to=get_time>{{}}</assistant>",
        [OSLO, ("get_time", {})],
        "\n",
    ),
    "an element, on lines": (
        f"<assistant to=functions.get_weather json>\r\n{JSON}\r\n</assistant>\nSo.",
        [OSLO],
        "\nSo.",
    ),
    "an element, a closer in a string": (
        '<assistant to=get_weather>{"city": "</assistant>"}</assistant>',
        [("get_weather", {"city": "</assistant>"})],
        "",
    ),
    "an element, as Python writes it": (
        "<assistant to=untyped code>{'a': True, 'b': None}</assistant>",
        [("untyped", {"a": True, "b": None})],
        "",
    ),
    "an element, not closed, and a line": (
        f"So.\n<assistant to=get_weather json>{JSON}\n",
        [OSLO],
        "So.\n\n",
    ),
    "an element, not whole": (
        f"<assistant to=get_weather json>{JSON[:-1]}",
        [],
        f"<assistant to=get_weather json>{JSON[:-1]}",
    ),
    "an element, and prose": (
        f"<assistant to=get_weather>{JSON} so",
        [],
        f"<assistant to=get_weather>{JSON} so",
    ),
    "an element, text": (
        "<assistant to=get_weather>Oslo</assistant>",
        [],
        "<assistant to=get_weather>Oslo</assistant>",
    ),
    "an element, other": ("<assistant to=get_weather or>", [], "<assistant to=get_weather or>"),
    "an element, half": ("<assistant to=get_wea", [], "<assistant to=get_wea"),
}


@table(("text", "calls", "left"), ELEMENT.values(), ids=list(ELEMENT))
def test_the_header_as_an_element(text: str, calls: Calls, left: str) -> None:
    check([FORMATS["harmony-element"]], text, calls, left)


def test_the_header_in_brackets_if_that_is_asked_for() -> None:
    check([FORMATS["harmony-brackets"]], f"[assistant to=get_weather code<|message|>{JSON}", [OSLO], "")
