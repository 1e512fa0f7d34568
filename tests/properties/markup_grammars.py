"""How each family writes a call, as its own parsers and templates say: for cases that nobody has thought of."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from proxy.core import jsontext

Arguments = Mapping[str, Any]
Writer = Callable[[str, Arguments], str]


def _json(value: Any) -> str:
    return jsontext.compact(value)


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else _json(value)


def _python(value: Any) -> str:
    return repr(value)


def _object(name: str, arguments: Arguments, key: str = "arguments") -> str:
    return _json({"name": name, key: arguments})


def _between(opener: str, closer: str, inside: Writer = _object) -> Writer:
    return lambda name, arguments: f"{opener}{inside(name, arguments)}{closer}"


def _tags(
    opener: str, call: str, parameter: str, closed: str, closer: str, value: Callable[[Any], str] = _plain
) -> Writer:
    def write(name: str, arguments: Arguments) -> str:
        inside = "".join(
            parameter.replace("KEY", key).replace("VALUE", value(one)) for key, one in arguments.items()
        )
        return f"{opener}{call.replace('NAME', name)}{inside}{closed}{closer}"

    return write


def _listed(name: str, arguments: Arguments) -> str:
    return f"[{_object(name, arguments)}]"


def _with_parameters(name: str, arguments: Arguments) -> str:
    return _object(name, arguments, "parameters")


def _keyed(name: str, arguments: Arguments) -> str:
    return _json([{name: arguments}])


def _pythonic(name: str, arguments: Arguments) -> str:
    return f"[{name}({', '.join(f'{key}={_python(value)}' for key, value in arguments.items())})]"


def _gemma(mark: str) -> Callable[[Any], str]:
    def write(value: Any) -> str:
        match value:
            case str():
                return f"{mark}{value}{mark}"
            case list():
                return f"[{','.join(write(one) for one in value)}]"
            case dict():
                return f"{{{','.join(f'{key}:{write(one)}' for key, one in value.items())}}}"
            case _:
                return _json(value)

    return write


def _notation(opener: str, mark: str, closer: str) -> Writer:
    return lambda name, arguments: f"{opener}call:{name}{_gemma(mark)(dict(arguments))}{closer}"


def _dsml(name: str, arguments: Arguments) -> str:
    given = "".join(
        f'<｜DSML｜parameter name="{key}" string="{_json(isinstance(value, str))}">{_plain(value)}'
        "</｜DSML｜parameter>\n"
        for key, value in arguments.items()
    )
    return f'<｜DSML｜tool_calls>\n<｜DSML｜invoke name="{name}">\n{given}</｜DSML｜invoke>\n</｜DSML｜tool_calls>'


def _k3(name: str, arguments: Arguments) -> str:
    given = "".join(
        f'<|open|>argument key="{key}" type="{"string" if isinstance(value, str) else "object"}"<|sep|>{_plain(value)}'
        "<|close|>argument<|sep|>"
        for key, value in arguments.items()
    )
    return (
        f'<|open|>tools<|sep|><|open|>call tool="{name}" index="0"<|sep|>{given}<|close|>call<|sep|>'
        "<|close|>tools<|sep|>"
    )


def _m3(name: str, arguments: Arguments) -> str:
    token = "]<]minimax[>["

    def element(key: str, value: Any) -> str:
        inside = (
            "".join(element(inner, one) for inner, one in value.items())
            if isinstance(value, dict)
            else "".join(element("item", one) for one in value)
            if isinstance(value, list)
            else _plain(value)
        )
        return f"{token}<{key}>{inside}{token}</{key}>"

    given = "".join(element(key, value) for key, value in arguments.items())
    return f'{token}<tool_call>\n{token}<invoke name="{name}">{given}{token}</invoke>\n{token}</tool_call>'


def _arrows(name: str, arguments: Arguments) -> str:
    lines = "".join(f"  --{key} {_json(value)}\n" for key, value in arguments.items())
    return f'[TOOL_CALL]\n{{tool => "{name}", args => {{\n{lines}}}}}\n[/TOOL_CALL]'


def _kimi(name: str, arguments: Arguments) -> str:
    return (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>"
        f"{_json(arguments)}<|tool_call_end|><|tool_calls_section_end|>"
    )


def _deepseek(name: str, arguments: Arguments) -> str:
    return (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{_json(arguments)}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜>"
    )


def _deepseek_fenced(name: str, arguments: Arguments) -> str:
    return (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{_json(arguments)}\n```"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )


def _solar(name: str, arguments: Arguments) -> str:
    return (
        f"<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>{name}<|tool_call:args|>{_json(arguments)}"
        "<|tool_call:end|><|calls|>"
    )


def _plamo(name: str, arguments: Arguments) -> str:
    def token(word: str) -> str:
        return f"<|plamo:{word}:plamo|>"

    return (
        f"{token('begin_tool_requests')}{token('begin_tool_request')}{token('begin_tool_name')}{name}"
        f"{token('end_tool_name')}{token('begin_tool_arguments')}<|plamo:constrain|>json<|plamo:msg|>{_json(arguments)}"
        f"{token('end_tool_arguments')}{token('end_tool_request')}{token('end_tool_requests')}"
    )


def _headed(header: str, closer: str) -> Writer:
    return lambda name, arguments: f"{header.replace('NAME', name)}{_json(arguments)}{closer}"


_QWEN: Final = ("<function=NAME>\n", "<parameter=KEY>\nVALUE\n</parameter>\n", "</function>")
_INVOKE: Final = ('<invoke name="NAME">\n', '<parameter name="KEY">VALUE</parameter>\n', "</invoke>\n")
_MUSE: Final = (
    '<atem:invoke name="NAME">\n', '<atem:parameter name="KEY">VALUE</atem:parameter>\n', "</atem:invoke>\n",
)  # fmt: skip
_PAIR: Final = "<arg_key>KEY</arg_key>\n<arg_value>VALUE</arg_value>\n"

WRITERS: Final[Mapping[str, Writer]] = {
    "Qwen Coder": _tags("<tool_call>\n", *_QWEN, "\n</tool_call>"),
    "Qwen Coder, bare": _tags("", *_QWEN, ""),
    "Seed": _tags("<seed:tool_call>\n", *_QWEN, "\n</seed:tool_call>"),
    "Hermes": _between("<tool_call>\n", "\n</tool_call>"),
    "Hermes, parameters": _between("<tool_call>", "</tool_call>", _with_parameters),
    "LongCat": _between("<longcat_tool_call>\n", "\n</longcat_tool_call>"),
    "Llama's function": _headed("<function=NAME>", "</function>"),
    "Llama's token": _between("<|python_tag|>", "", _with_parameters),
    "GLM": _tags("", "<tool_call>NAME\n", _PAIR, "", "</tool_call>"),
    "Hunyuan": _tags("<tool_calls>\n", "<tool_call>NAME<tool_sep>\n", _PAIR, "</tool_call>\n", "</tool_calls>"),
    "DSML": _dsml,
    "DeepSeek": _deepseek,
    "DeepSeek, fenced": _deepseek_fenced,
    "Kimi K2": _kimi,
    "Kimi K3": _k3,
    "Mistral, older": _between("[TOOL_CALLS]", "", _listed),
    "Mistral": _headed("[TOOL_CALLS]NAME[ARGS]", ""),
    "MiniMax M2": _tags("<minimax:tool_call>\n", *_INVOKE, "</minimax:tool_call>"),
    "Anthropic": _tags("<function_calls>\n", *_INVOKE, "</function_calls>"),
    "Anthropic, oldest": _tags(
        "<function_calls>\n", "<invoke>\n<tool_name>NAME</tool_name>\n<parameters>\n", "<KEY>VALUE</KEY>\n",
        "</parameters>\n</invoke>\n", "</function_calls>",
    ),
    "Dots": _tags("<dots_function_call>\n", *_INVOKE, "</dots_function_call>"),
    "Muse": _tags("<atem:function_calls>\n", *_MUSE, "</atem:function_calls>"),
    "Muse, with recipients": _tags(
        "<atem:function_calls>\n", _MUSE[0].replace("NAME", "NAME<|message|>"), *_MUSE[1:], "</atem:function_calls>"
    ),
    "Step 3": _tags(
        "<｜tool_calls_begin｜>\n<｜tool_call_begin｜>function<｜tool_sep｜>", '<steptml:invoke name="NAME">\n',
        '<steptml:parameter name="KEY">VALUE</steptml:parameter>\n', "</steptml:invoke>",
        "<｜tool_call_end｜>\n<｜tool_calls_end｜>",
    ),
    "Solar 2": _tags(
        "", "<|tool_call:start|>NAME\n", "<|tool_arg:start|>KEY<|tool_arg:value|>VALUE<|tool_arg:end|>\n", "",
        "<|tool_call:end|>",
    ),
    "Grok": _tags("", '<xai:function_call name="NAME">\n', _INVOKE[1], "", "</xai:function_call>"),
    "MiniCPM": _tags("", '<function name="NAME">', '<param name="KEY">VALUE</param>', "", "</function>"),
    "Harmony": _headed("<|channel|>commentary to=functions.NAME <|constrain|>json<|message|>", "<|call|>"),
    "Harmony's element": _headed("<assistant to=functions.NAME json>", "</assistant>"),
    "Gemma": _notation("<|tool_call>", '<|"|>', "<tool_call|>"),
    "FunctionGemma": _notation("<start_function_call>", "<escape>", "<end_function_call>"),
    "LFM2": _between("<|tool_call_start|>", "<|tool_call_end|>", _pythonic),
    "Llama 4": _between("<|python_start|>", "<|python_end|>", _pythonic),
    "Granite": _between("<|tool_call|>", "", _listed),
    "Granite 20B": _between("<function_call> ", ""),
    "Jamba": _between("<tool_calls>", "</tool_calls>", _listed),
    "InternLM": _between("<|action_start|><|plugin|>", "<|action_end|>", _with_parameters),
    "Nemotron": _between("<TOOLCALL>", "</TOOLCALL>", _listed),
    "Apertus": _between("<|tools_prefix|>", "<|tools_suffix|>", _keyed),
    "GigaChat": _between("<|function_call|>", ""),
    "GigaChat 3.0": _between("<|message_sep|>\n\nfunction call<|role_sep|>\n", ""),
    "Sarashina": _between("<|tool_calls|>", "", lambda name, given: repr([{"name": name, "arguments": dict(given)}])),
    "Phi": _between("functools", "", _listed),
    "Inkling": _between("<|message_model|>tool<|content_invoke_tool_json|>", "<|end_message|>"),
    "Solar": _solar,
    "PLaMo": _plamo,
    "arrows": _arrows,
    "MiniMax M3": _m3,
    "one wrapper more": _between("<tool_calls>\n<tool_call>", "</tool_call>\n</tool_calls>"),
}  # fmt: skip

MAY_STAY_OPEN: Final = {
    "Jamba": "</tool_calls>", "InternLM": "<|action_end|>", "Nemotron": "</TOOLCALL>", "Apertus": "<|tools_suffix|>",
    "LFM2": "<|tool_call_end|>", "Llama 4": "<|python_end|>", "Anthropic": "</function_calls>",
    "Hermes": "\n</tool_call>", "Kimi K2": "<|tool_calls_section_end|>", "Solar": "<|tool_call:end|><|calls|>",
    "Gemma": "<tool_call|>", "Harmony": "<|call|>", "Inkling": "<|end_message|>", "Qwen Coder": "\n</tool_call>",
}  # fmt: skip
"""What may be missing at the end of a reply."""
