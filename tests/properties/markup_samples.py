"""One call in each of some forms, and what a reply with it becomes: for the tests of what is a call and what is not."""

from typing import Any

from proxy.core.model import Call, Reasoning, Text
from tests.support.replies import DONE, STOP, Run, chunk, run

HERMES = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>'
XML = "<tool_call>\n<function=get_weather>\n<parameter=city>\nRome\n</parameter>\n</function>\n</tool_call>"
GLM = "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Rome</arg_value>\n</tool_call>"
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>"
    '{"city": "Rome"}<|tool_call_end|><|tool_calls_section_end|>'
)
MISTRAL = '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Rome"}}]'
INVOKE = (
    '<function_calls>\n<invoke name="get_weather">\n<parameter name="city">Rome</parameter>\n</invoke>\n'
    "</function_calls>"
)
DSML = (
    '<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n'
    '<｜DSML｜parameter name="city" string="true">Rome</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>"
)
BLOCKS = {
    "hermes": HERMES, "xml": XML, "glm": GLM, "kimi": KIMI, "mistral": MISTRAL, "invoke": INVOKE, "dsml": DSML,
}  # fmt: skip


def reply(pieces: list[str], field: str = "content", end: bytes = STOP + DONE, **how: Any) -> Run:
    return run([*(chunk({field: piece}) for piece in pieces), end], **how)


def texts(got: Run) -> list[str]:
    return [ended.part.text for ended in got.reply.parts if isinstance(ended.part, Text | Reasoning)]


def calls(got: Run) -> list[str]:
    return [ended.part.tool.name for ended in got.reply.parts if isinstance(ended.part, Call)]
