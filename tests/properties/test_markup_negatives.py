"""What must stay text: with the tools declared that it names, through the whole pipeline, byte for byte, in any cut.

Every text here holds something that a careless reader would take for a call.
"""

from dataclasses import replace
from itertools import islice
from typing import Any

from proxy.core.markup import registry
from proxy.core.markup.formats import Tools
from proxy.core.markup.openers import Openers
from proxy.core.markup.scanner import Scanner
from proxy.core.profile import DEFAULT
from tests.core.markup.scanning import cuts
from tests.properties.markup_samples import BLOCKS, HERMES, calls, reply, texts
from tests.support.replies import DONE, STOP, TIME, WEATHER, WITH_TOOLS, call_chunk, chunk, run
from tests.support.tables import table

OPENERS = Openers(registry.active())
TOOLS = Tools({tool["name"]: tool["parameters"] or {} for tool in (WEATHER, TIME)})


def undeclared(block: str) -> str:
    return block.replace("get_weather", "get_whether")


def indented(block: str, by: str) -> str:
    return "".join(by + line for line in block.splitlines(keepends=True))


QUOTED = {
    "in a fence": "Like this:\n\n```xml\n{}\n```\n\nThat is all.",
    "in a fence without a word": "```\n{}\n```",
    "in an unclosed fence": "Like this:\n```\n{}\n\nand so on",
    "in a tilde fence": "~~~\n{}\n~~~\n",
    "in a longer fence": "````md\n```xml\n{}\n```\n````\n",
    "after the inner fence": "````md\n```\nx\n```\n{}\n````\n",
    "in a backtick fence within tildes": "~~~\n```\n~~\n{}\n```\n~~~",
    "in a fence whose closer has a word": "```\n``` no closer\n{}\n```\n",
    "in an indented fence": "   ```\n{}\n   ```\n",
    "in a quoted fence": "> ```\n> {}\n> ```\n",
    "in a fence of a list": "1. Write:\n\n   ```\n{}\n   ```\n2. Send.",
    "in a span": "Write `{}` and send it.",
    "in a span of two": "Write ``{}`` and send it.",
    "in a span of three": "Write ```{}``` and send it.",
    "in a span beside a lone backtick": "A `` ` `` and then ``{} ` ``.",
    "between quotation marks": 'It prints "{}" then.',
    "between quotation marks of another language": "它会输出“{}”。",
    "between tags for code": "Write <code>{}</code> and send it.",
    "with another name": "UNDECLARED{}",
}
BY_SAMPLE = {
    f"{how}: {name}": template.replace("UNDECLARED{}", undeclared(block)).replace("{}", block)
    for how, template in QUOTED.items()
    for name, block in BLOCKS.items()
}

PROSE = {
    "a lone opener": "The model writes <tool_call> first.",
    "a lone closer": "The model writes </tool_call> last.",
    "both, with prose between": "Between <tool_call> and </tool_call> there is JSON.",
    "a pair with an ellipsis": "The format is <tool_call>...</tool_call>, once per call.",
    "a function tag in prose": "It begins with <function=NAME> and ends with </function>.",
    "a placeholder": '<tool_call>{"name": <function-name>, "arguments": <args-json-object>}</tool_call>',
    "a pair with a name in it": "Do not write <tool_call>the weather</tool_call> here.",
    "an opener at the end": "It all starts with <tool_call>",
    "half an opener at the end": "It all starts with <tool_",
    "an opener that a newline ends": "<tool_call>\n\nNo call follows.",
    "JSON that is not whole": '<tool_call>{"name": "get_weather", "arguments": {"city": "Ro',
    "JSON that is broken": '<tool_call>{"name" "get_weather"}</tool_call>',
    "JSON without a name": '<tool_call>{"arguments": {"city": "Rome"}}</tool_call>',
    "a list": "<tool_call>[1, 2, 3]</tool_call>",
    "token words": "The token <|tool_call_begin|> comes before the id.",
    "a section without calls, in prose": "<|tool_calls_section_begin|> opens the section.",
    "the word TOOL_CALLS": "Mistral uses [TOOL_CALLS] for that.",
    "the word TOOL_CALLS and a list": "Mistral uses [TOOL_CALLS] [1] for that.",
    "a channel token": "Harmony has <|channel|>commentary and <|channel|>final.",
    "an invoke tag": 'Claude writes <invoke name="X"> for each call.',
    "a function_calls tag": "Claude writes <function_calls> around them.",
    "XML of another kind": "<function_calls><item/></function_calls>",
    "bare JSON": '{"name": "get_weather", "arguments": {"city": "Rome"}}',
    "fenced JSON": '```json\n{"name": "get_weather", "parameters": {"city": "Rome"}}\n```',
    "a list of JSON": '[{"name": "get_weather", "arguments": {"city": "Rome"}}]',
    "a Python call": "get_weather(city='Rome')",
    "a list of Python calls": "[get_weather(city='Rome'), get_time()]",
    "a tag named like a tool": "<get_weather><city>Rome</city></get_weather>",
    "a transcript": '[Calling tool: get_weather({"city": "Rome"})]',
    "an action": "Action: get_weather\nAction Input: Rome",
}

CODE = {
    "JSX": "return <ToolCall onClick={() => call<string>(x)}>{items.map((i) => <Item key={i} />)}</ToolCall>;",
    "JSX with a function": "<Function name={x}><Parameter key='a'>1</Parameter></Function>",
    "C++ templates": "std::vector<std::pair<int, function<void(int)>>> tools; a << b >> c; if (a<b && c>d) {}",
    "generics": "Map<String, List<? extends Tool>> tools = new HashMap<>(); Optional<T> f<T>(T t);",
    "a heredoc": "cat <<EOF > a.txt\n<tool>\nEOF\ncat <<'EOF'\n<<<<\nEOF\n",
    "a comparison": "if a < b and b > c or a<b: pass",
    "arrows": "a <- b <-- c <=> d <|> e |> f",
    "a regex": r"re.compile(r'<tool_call>\s*(\{.*?\})\s*</tool_call>', re.DOTALL)",
    "a regex with a lookbehind": r"(?<=<)(?<!<tool)[a-z_]+(?=>)",
    "an e-mail": "Write to Bob <bob@example.org>, or to <mailto:bob@example.org>.",
    "an autolink": "See <https://example.org/tool_call?x=[TOOL]>.",
    "a merge conflict": "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> branch\n",
    "a diff of a template": "-<tool_call>\n+<tool_call>{{ call }}\n </tool_call>\n",
    "Jinja": "{% for call in calls %}<tool_call>{{ call | tojson }}</tool_call>{% endfor %}",
    "HTML": "<p>Hello <b>world</b> &lt;tool_call&gt;</p><!-- <tool -->",
    "XML with a namespace": '<ns:invoke name="get_weather"/> <minimax:x/> <｜x｜>',
    "Rust": "fn f<'a>(x: &'a [u8]) -> Result<[u8; 4], Box<dyn Error>> { x[..][0] }",
    "a shell test": "[[ -f x ]] && [ $a -lt 3 ] || echo '<|'",
    "a matrix": "[[1, 2], [3, 4]]",
    "Markdown links": "[TOOL](x) [TOOLS][1] ![TOOL_CALL](y)",
    "a table of tokens": "| <|im_start|> | <|im_end|> | <|tool| |",
    "pipes": "a <| b |> c <|| d",
}

LOOKALIKES = {
    "full-width brackets": HERMES.replace("<", "＜").replace(">", "＞"),
    "single guillemets": HERMES.replace("<", "‹").replace(">", "›"),
    "a Cyrillic letter": HERMES.replace("tool", "tооl"),
    "a zero-width blank": HERMES.replace("tool_call", "tool\u200b_call"),
    "a soft hyphen": HERMES.replace("tool_call", "tool\u00ad_call"),
    "entities": HERMES.replace("<", "&lt;").replace(">", "&gt;"),
    "another case": HERMES.replace("tool_call", "TOOL_CALL"),
    "a name of another case": HERMES.replace("get_weather", "Get_Weather"),
    "a longer name": HERMES.replace("get_weather", "get_weather_now"),
    "a shorter name": HERMES.replace("get_weather", "get_weathe"),
    "an empty name": HERMES.replace("get_weather", ""),
}

TEXTS = BY_SAMPLE | PROSE | CODE | LOOKALIKES


def test_there_are_many() -> None:
    assert len(PROSE | CODE | LOOKALIKES) > 60


@table("block", BLOCKS.values(), ids=BLOCKS)
def test_each_sample_is_a_call_where_it_is_meant(block: str) -> None:
    """Or else none of the tests below could fail."""
    for pieces in cuts(f"So:\n\n{block}"):
        assert calls(reply(pieces)) == ["get_weather"]
    assert calls(reply([indented(block, "    ")])) == ["get_weather"]


@table("text", TEXTS.values(), ids=TEXTS)
def test_this_is_text(text: str) -> None:
    for pieces in islice(cuts(text), 6):
        got = reply(pieces)
        assert texts(got) == [text]
        assert not calls(got)


@table("text", TEXTS.values(), ids=TEXTS)
def test_before_more_text_it_is_text_too(text: str) -> None:
    """What follows can close, end or complete nothing."""
    text = f"{text}\n\nThat was it."
    for pieces in ([text], list(text)):
        assert texts(reply(pieces)) == [text]


LONGEST_HELD = 64
"""Characters of a text without an open block: two tags that are named in one sentence."""
OPEN = {"JSON that is not whole"}
"""What begins like a call of a declared tool and may still become one."""


@table("text", [text for name, text in (PROSE | CODE).items() if name not in OPEN])
def test_no_more_of_it_is_held_than_may_become_a_call(text: str) -> None:
    text = f"{text} And so it goes on for a while, as sentences do."
    scanner = Scanner(OPENERS, TOOLS, count=lambda *_: None)
    given = 0
    for at, sign in enumerate(text, 1):
        given += sum(len(one) for one in scanner.feed(sign) if isinstance(one, str))
        assert at - given <= LONGEST_HELD


@table("text", (PROSE | LOOKALIKES).values(), ids=PROSE | LOOKALIKES)
def test_in_reasoning_it_is_reasoning(text: str) -> None:
    for pieces in ([text], list(text)):
        assert texts(reply([*pieces], "reasoning_content", chunk({"content": "."}) + STOP)) == [text, "."]


# ── the request decides ──

NO_TOOLS = {"model": "m", "input": "Hi", "stream": True}


@table("block", BLOCKS.values(), ids=BLOCKS)
@table(
    "how",
    [
        {"body": NO_TOOLS},
        {"body": WITH_TOOLS | {"tool_choice": "none"}},
        {"body": WITH_TOOLS | {"tool_choice": {"type": "function", "name": "get_time"}}},
        {"profile": replace(DEFAULT, markup=False)},
        {"profile": replace(DEFAULT, markup_without=registry.NAMES)},
    ],
    ids=["no tools", "tool_choice none", "another tool forced", "switched off", "all formats off"],
)
def test_where_it_cannot_be_meant_markup_is_text(block: str, how: dict[str, Any]) -> None:
    for pieces in cuts(f"a\n{block}\nb"):
        got = reply(pieces, **how)
        assert texts(got) == [f"a\n{block}\nb"]
        assert not calls(got)


@table("block", BLOCKS.values(), ids=BLOCKS)
def test_beside_a_structured_call_markup_is_neither_text_nor_a_second_call(block: str) -> None:
    structured = call_chunk(0, "s1", "get_weather", '{"city": "Rome"}')
    for pieces in cuts(f"So:\n\n{block}\n"):
        before = reply(pieces, end=structured + STOP + DONE)
        after = run([structured, *(chunk({"content": piece}) for piece in pieces), STOP, DONE])
        for got in (before, after):
            assert calls(got) == ["get_weather"]
            assert "".join(texts(got)).strip() == "So:"


@table("block", BLOCKS.values(), ids=BLOCKS)
def test_a_call_that_the_output_limit_cut_is_text(block: str) -> None:
    for size in range(1, len(block) - 20, 7):
        got = reply([f"a {block[:size]}"], end=chunk({}, "length") + DONE)
        assert texts(got) == [f"a {block[:size]}"]
