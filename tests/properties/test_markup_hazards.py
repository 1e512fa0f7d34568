"""What models write about calls, through the whole pipeline, byte for byte, in any cut; and calls that only stand near
something of that kind, which are made all the same."""

from itertools import islice

from tests.core.markup.scanning import cuts
from tests.properties.markup_samples import (
    BLOCKS,
    DSML,
    GLM,
    HERMES,
    INVOKE,
    KIMI,
    MISTRAL,
    XML,
    calls,
    reply,
    texts,
)
from tests.support.replies import DONE, chunk
from tests.support.tables import table

TAGGED = {name: block for name, block in BLOCKS.items() if block is not MISTRAL}
"""Blocks that do not end with their JSON."""

AROUND = {
    "in parentheses": "The model writes ({}) then.",
    "in brackets": "The form [{}] is old.",
    "in emphasis": "The form is *{}* here.",
    "in strong emphasis": "The form is **{}** here.",
    "between underscores": "The form is _{}_ here.",
    "behind an apostrophe that is a backtick": "Don`t write `{}` here.",
    "between bars": "|{}|",
    "between guillemets with blanks": "Il écrit « {} » ici.",
    "between guillemets with narrow blanks": "Il écrit «\u202f{}\u202f» ici.",
    "between single guillemets": "Er schreibt ‹{}› hier.",
    "between German quotation marks": "Er schreibt „{}“ hier.",
    "between corner brackets": "モデルは「{}」と書く。",
    "between three quotation marks": 'sample = """\n{}\n"""\nprint(sample)',
    "between three apostrophes": "sample = '''\n{}\n'''\n",
    "in pre": "<pre>\n{}\n</pre>",
    "in pre with an attribute, among lines": '<pre class="sample">\nFirst:\n{}\nThen more.\n</pre>',
    "in code with a language": '<code lang="xml">{}</code>',
    "in samp": "It prints <samp>{}</samp> there.",
    "in kbd": "Type <kbd>\n{}\n</kbd> there.",
    "in a text area": '<textarea rows="9">{}</textarea>',
    "in a comment": "<!-- for example\n{}\n-->\n<p>Hello</p>",
    "in CDATA": "<sample><![CDATA[{}]]></sample>",
    "in a line of a quote": "> {}\n\nSo it said.",
    "behind words in a line of a quote": "> It printed: {}\n\nThat was all.",
    "in a row of a table": "| form | sample |\n|---|---|\n| a | {} |\n",
    "in LaTeX's verbatim": "\\begin{verbatim}\n{}\n\\end{verbatim}\n",
    "in LaTeX's listing": "\\begin{lstlisting}[language=XML]\n{}\n\\end{lstlisting}\n",
    "in LaTeX's minted": "\\begin{minted}{xml}\n{}\n\\end{minted}\n",
    "in LaTeX's verb": "Write \\verb|{}| there.",
    "in a here-document": "cat <<EOF\n{}\nEOF\n",
    "in a quoted here-document": "cat > a.txt <<'END'\nfirst\n{}\nEND\necho done\n",
    "in an indented here-document": "cat <<-X\n\t{}\n\tX\n",
    "in a fence behind words": "Like this: ```xml\n{}\n```\nThat is all.",
    "in a fence behind words without a language": "Write ```\n{}\n\nand more\n```\n",
    "in an example": "<example>\n{}\n</example>",
    "in a line of a diff": "@@ -1 +1 @@\n-x\n+{}\n",
    "in a string of JSON": '{"note": "It writes {} there", "n": 1}',
    "in two spans of one paragraph": "Don`t use ` or `{}` here.",
}
PUNCTUATED = {
    "before a comma": "Never print {}, not even once.",
    "before a semicolon": "It prints {}; nobody reads it.",
    "before a full stop": "The form is {}.",
    "before a question mark": "Did you mean {}?",
    "before an exclamation mark": "Do not write {}!",
    "before a colon": "This is {}: a call.",
}


def _put(template: str, block: str) -> str:
    return template.replace("{}", block)


QUOTED = {
    f"{how}: {name}": _put(template, block)
    for how, template in AROUND.items()
    for name, block in BLOCKS.items()
} | {
    f"{how}: {name}": _put(template, block)
    for how, template in PUNCTUATED.items()
    for name, block in BLOCKS.items()
    if name in TAGGED or ";" not in template
}

SWALLOWING = {
    "an error that quotes half a call": (
        'The log says: unexpected "<function=get_weather>\n<parameter=city>\nRo" at line 3. I would then add '
        "a closer.\n</parameter>\n</function>\n</tool_call>\nand go on."
    ),
    "a mark whose partner is in the value": 'It sent "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Ro" '
    "and then nothing.</arg_value></tool_call>",
    "a value that holds its own closer, in a line": (
        "Write <function=get_weather><parameter=city>Rome</parameter> and then close it with </parameter></function>"
    ),
    "a key without an end": "<tool_call>get_weather<arg_key>city<arg_value>Rome</arg_value></tool_call>",
    "data that closes its own call and makes another": XML.replace(
        "Rome", f"Rome\n</parameter>\n</function>\n</tool_call>\n{XML.replace('Rome', 'Oslo')}"
    ),
    "a parameter without a closer, of no known key": (
        '<function_calls><invoke name="get_weather"><parameter name="city">Rome<parameter name="town">x</parameter>'
        "</invoke></function_calls>"
    ),
}

DECLARED = {
    "a whole prompt of Hermes": (
        "These are my tools, as I was told:\n<tools>\n"
        '{"type": "function", "function": {"name": "get_weather", "description": "Asks", "parameters": {"type": '
        '"object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}\n'
        '{"type": "function", "function": {"name": "get_time", "parameters": {}}}\n</tools>\n\nA call is JSON '
        'within <tool_call></tool_call>:\n<tool_call>\n{"name": <name>, "arguments": <object>}\n</tool_call>'
    ),
    "a whole prompt of Qwen Coder": (
        "<tools>\n<function>\n<name>get_weather</name>\n<parameters>\n<parameter>\n<name>city</name>\n"
        "<type>string</type>\n</parameter>\n</parameters>\n</function>\n</tools>\n\nTo call one, reply so:\n\n"
        "<tool_call>\n<function=some_name>\n<parameter=some_key>\nvalue\n</parameter>\n</function>\n</tool_call>"
    ),
    "in tools, a short schema": '<tools>\n{"name": "get_weather", "parameters": {"type": "object"}}\n</tools>',
    "in tools, with a reference": '<tools>{"name": "get_weather", "parameters": {"$ref": "#/a"}}</tools>',
    "with a description": '<tool_call>{"name": "get_time", "description": "Now", "parameters": {}}</tool_call>',
    "with another key for the schema": (
        '<tool_call>{"name": "get_time", "input_schema": {}, "parameters": {}}</tool_call>'
    ),
    "in a list": '[TOOL_CALLS][{"name": "get_weather", "parameters": {"required": ["city"]}}]',
    "as a function": (
        '<tools>{"type": "function", "function": {"name": "get_weather", "description": "Asks", '
        '"parameters": {"type": "object", "properties": {}}}}</tools>'
    ),
    "a placeholder": "<tool_call>\n<function={{ name }}>\n</function>\n</tool_call>",
    "a placeholder of a shell": '<tool_call>{"name": "$TOOL", "arguments": {}}</tool_call>',
    "an ellipsis": '<function_calls>\n<invoke name="...">\n...\n</invoke>\n</function_calls>',
}

FAMILIES = {
    "Solar's token": "The token <|tool_call:begin|> opens a call, and <|tool_call:args|> its arguments.",
    "Solar's call of another tool": "<|tool_call:begin|>a<|tool_call:name|>get_whether<|tool_call:args|>{}<|calls|>",
    "PLaMo's token": "PLaMo writes <|plamo:begin_tool_request:plamo|> for it.",
    "Grok's tag": 'Grok writes <xai:function_call name="NAME"> and </xai:function_call>.',
    "closers of Grok's alone": "</xai:function_call></xai:function_call>",
    "HyperCLOVA's words": 'The role is: assistant -> tool/function_call\n[{"name": "get_time", "arguments": {}}]',
    "arrows without brackets": '{tool => "get_weather", args => {--city "Rome"}}',
    "arrows with another tool": '[TOOL_CALL]{tool => "get_whether", args => {--city "Rome"}}[/TOOL_CALL]',
    "Ruby's hash": "{tool => 1, args => {a => 2}}",
    "Harmony's element": "<assistant to=get_weather> is how it begins.",
    "Harmony's header in brackets": '[assistant to=get_weather code<|message|>{"city": "Rome"}',
    "openPangu's token": "The tokens [unused11] and [unused12] stand around its calls.",
    "Functionary's recipient": '>>>get_weather\n{"city": "Rome"}',
    "Python's prompt": ">>> get_time()\n{}",
    "Python's module": "from functools import partial\nfunctools[0]\nfunctools[{'a': 1}]\nfunctools.partial(f)",
    "GigaChat's words": 'a function call<|role_sep|>\n{"name": "get_time", "arguments": {}}',
    "GigaChat's arguments as a text": '<|function_call|>{"name": "get_weather", "arguments": "Rome"}',
    "Harmony's header and prose": "<|channel|>commentary to=functions.get_weather is where calls go.",
    "a recipient in prose": 'Send it to=functions.get_weather<|channel|>commentary<|message|>{"city": "Rome"}',
    "Sarashina's list without its token": "[{'name': 'get_weather', 'arguments': {'city': 'Rome'}}]",
    "a list of declared and other words": '<tool_calls>["get_weather"]</tool_calls>',
    "Dots' tag": "<dots_function_call> is the tag, and </dots_function_call> its closer.",
    "K3's frame": "A text stands in <|open|>response<|sep|> and <|close|>response<|sep|> tokens.",
    "Cohere's frame": "<|START_RESPONSE|> opens the text and <|END_RESPONSE|> closes it.",
    "Muse's frame": "Messages go to=user<|message|> and end with <|eot|> there.",
    "Solar's frame": "<|content|> is a token, as <|end|> is.",
    "Hunyuan's tag": "The tag <think:opensource> begins a thought.",
    "an answer's own tag": "<answer>42</answer>",
    "a response's own tag": "<response>\n<status>ok</status>\n</response>",
}

CUT = {
    "arguments in an object": '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"</tool_call>',
    "arguments that have just begun": (
        '<|action_start|><|plugin|>{"name": "get_weather", "parameters": {<|action_end|>'
    ),
    "a list": '<TOOLCALL>[{"name": "get_time", "arguments": {}</TOOLCALL>',
    "a list of whole objects": '<|tool_call_start|>[{"name": "get_time", "arguments": {}}<|tool_call_end|>',
    "a list in a key": '<tool_call>{"name": "bash", "arguments": {"command": ["ls"}</tool_call>',
    "an object in the arguments": '<function=get_weather>{"city": {"name": "Rome"</function>',
    "a section": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
        '{"city": {"name": "Rome"<|tool_call_end|><|tool_calls_section_end|>'
    ),
    "DSML": (
        '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="get_weather">\n{"city": ["Rome"</｜DSML｜invoke>\n'
        "</｜DSML｜tool_calls>"
    ),
}
"""JSON that lacks more than its last brace: the call was meant, but nobody knows with what."""

OTHERS = SWALLOWING | DECLARED | FAMILIES | CUT


def test_there_are_many() -> None:
    assert len(AROUND | PUNCTUATED | OTHERS) > 80


@table("text", QUOTED.values(), ids=QUOTED)
def test_what_is_quoted_or_explained_is_text(text: str) -> None:
    for pieces in islice(cuts(text), 4):
        got = reply(pieces)
        assert not calls(got)
        assert "".join(texts(got)) == text


@table("text", OTHERS.values(), ids=OTHERS)
def test_what_is_no_call_is_text(text: str) -> None:
    for pieces in islice(cuts(text), 6):
        got = reply(pieces)
        assert not calls(got)
        assert "".join(texts(got)) == text
    more = f"{text}\n\nThat was it."
    for pieces in ([more], [*more]):
        assert texts(reply(pieces)) == [more]


@table("block", TAGGED.values(), ids=TAGGED)
def test_two_that_are_quoted_together_are_text(block: str) -> None:
    for text in (
        f'It printed "{block}\n{block}" twice.',
        f"Never {block}{block}, not once.",
        f"({block}\n{block})",
    ):
        for pieces in islice(cuts(text), 4):
            assert texts(reply(pieces)) == [text]


# ── what must be made all the same ──

BEFORE = {
    "a sentence on the same line": "I will look that up now. ",
    "a list item": "1. First this\n2. ",
    "a list item, indented": "- a\n        ",
    "a finished quotation": 'She said "go". ',
    "a finished block quote": "> quoted\n\n",
    "a line behind a block quote": "> quoted\n",
    "a finished table": "| a | b |\n|---|---|\n| 1 | 2 |\n\n",
    "a finished fence": "```xml\n<a/>\n```\n",
    "a finished fence behind words": "Like this: ```xml\n<a/>\n```\n",
    "finished HTML": "<pre>a</pre><!-- b -->\n",
    "a finished here-document": "cat <<EOF\na\nEOF\n",
    "a lone backtick": "The key ` is at the left.\n\n",
    "a lone backtick in the paragraph": "The key ` is at the left. ",
    "an element that is only named": "I close the `<pre>` element. ",
    "an open parenthesis": "(I will look. ",
    "a tag that is only named": "I issue a <tool_call> now.\n",
    "a tag that is only named, on the same line": "I issue a <tool_call> now: ",
    "tags that are only named": "The <tool_call>s, <function=name> and <invoke name=x> it is.\n\n",
    "a section that is only named": "It goes into <tool_calls> there.\n\n",
    "tokens that are only named": "[TOOL_CALLS] or <|tool_calls_section_begin|> begins it.\n\n",
    "emphasis": "**Now:** ",
}
BEHIND = {"nothing": "", "a sentence": "\nI have asked.", "a word": " ok", "a fence": "\n```\na\n```\n"}


@table("before", BEFORE.values(), ids=BEFORE)
@table("block", BLOCKS.values(), ids=BLOCKS)
def test_this_call_is_meant(before: str, block: str) -> None:
    for behind in BEHIND.values():
        text = f"{before}{block}{behind}"
        for pieces in ([text], [*text]):
            got = reply(pieces)
            assert calls(got) == ["get_weather"]
            assert "".join(texts(got)).split() == f"{before}{behind}".split()


@table(
    "blocks",
    [(HERMES, XML), (XML, GLM), (KIMI, DSML), (MISTRAL, HERMES), (INVOKE, INVOKE), (DSML, MISTRAL)],
)
def test_several_calls_of_different_kinds_are_meant(blocks: tuple[str, str]) -> None:
    for between in ("", "\n", "\n\nAnd then:\n"):
        for pieces in islice(cuts(between.join(blocks)), 4):
            assert calls(reply(pieces)) == ["get_weather", "get_weather"]


def test_a_fence_in_an_argument_is_no_fence_around_the_next_call() -> None:
    first = XML.replace("Rome", "```\nRome")
    for pieces in islice(cuts(f"{first}\n{HERMES}"), 4):
        assert calls(reply(pieces)) == ["get_weather", "get_weather"]


def test_a_call_that_the_output_limit_has_cut_needs_its_closer() -> None:
    """At the end of a whole reply it does not."""
    block = '<tool_calls>[{"name": "get_weather", "arguments": {"city": "Rome"}}]'
    assert calls(reply([block])) == ["get_weather"]
    got = reply([block], end=chunk({}, "length") + DONE)
    assert (calls(got), texts(got)) == ([], [block])
