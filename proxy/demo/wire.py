"""What a strict Chat Completions backend accepts.

Stricter than any single vendor on purpose: closed schemas for the request and for each message, as the pickiest hosts
have them, and the pairing rules of tool calls. A test that passes here has sent nothing that a real backend refuses.
"""

from itertools import pairwise
from typing import Annotated, Any, Literal

import jsonschema
import orjson
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

MAX_TOOLS = 128
MAX_CALL_ID = 40
ToolIdentifier = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]


def broken(rule: str) -> PydanticCustomError:
    # Braces are pydantic's own placeholders, and the rule may quote what the client sent.
    return PydanticCustomError("rule", "{rule}", {"rule": rule})


class Wire(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


# ── messages ───────────────────────────────────────────────────────────────────────────────────────────────────


class TextPart(Wire):
    type: Literal["text"]
    text: str


class ImageUrl(Wire):
    url: Annotated[str, Field(pattern=r"^(https?://|data:)")]
    detail: Literal["auto", "low", "high"] = "auto"


class ImagePart(Wire):
    type: Literal["image_url"]
    image_url: ImageUrl


class Audio(Wire):
    data: str
    format: Literal["wav", "mp3"]


class AudioPart(Wire):
    type: Literal["input_audio"]
    input_audio: Audio


class FileContent(Wire):
    filename: str | None = None
    file_data: str | None = None
    file_id: str | None = None


class FilePart(Wire):
    type: Literal["file"]
    file: FileContent


UserPart = Annotated[TextPart | ImagePart | AudioPart | FilePart, Field(discriminator="type")]


UserContent = Annotated[
    list[UserPart],
    Field(min_length=1),
    BeforeValidator(
        lambda content: [{"type": "text", "text": content}] if isinstance(content, str) else content
    ),
]
"""A string is one text part: nobody behind this line needs to know both forms."""


class Instruction(Wire):
    role: Literal["system", "developer"]
    content: str


class UserMessage(Wire):
    role: Literal["user"]
    content: UserContent

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.content if isinstance(part, TextPart))


class CalledFunction(Wire):
    name: ToolIdentifier
    arguments: str

    @field_validator("arguments")
    @classmethod
    def is_an_object(cls, arguments: str) -> str:
        try:
            value = orjson.loads(arguments)
        except orjson.JSONDecodeError as error:
            raise broken("the arguments of a tool call must be JSON") from error
        if not isinstance(value, dict):
            raise broken("the arguments of a tool call must be a JSON object")
        return arguments


class ToolCall(Wire):
    id: Annotated[str, Field(min_length=1, max_length=MAX_CALL_ID)]
    type: Literal["function"]
    function: CalledFunction


class AssistantMessage(Wire):
    role: Literal["assistant"]
    content: str | None = None
    refusal: str | None = None
    tool_calls: Annotated[list[ToolCall], Field(min_length=1)] | None = None

    @model_validator(mode="after")
    def says_something(self) -> "AssistantMessage":
        if not (self.content or self.refusal or self.tool_calls):
            raise broken("an assistant message needs content, a refusal or tool_calls")
        return self


class ToolMessage(Wire):
    role: Literal["tool"]
    tool_call_id: str
    content: str


Message = Annotated[Instruction | UserMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]

# ── tools and formats ──────────────────────────────────────────────────────────────────────────────────────────


class Function(Wire):
    name: ToolIdentifier
    description: str = ""
    parameters: dict[str, Any]
    strict: bool = False

    @field_validator("parameters")
    @classmethod
    def is_an_object_schema(cls, parameters: dict[str, Any]) -> dict[str, Any]:
        if parameters.get("type") != "object" or not isinstance(parameters.get("properties"), dict):
            raise broken('parameters need "type": "object" and "properties"')
        return valid_schema(parameters)


class Tool(Wire):
    type: Literal["function"]
    function: Function


class NamedFunction(Wire):
    name: ToolIdentifier


class ForcedTool(Wire):
    type: Literal["function"]
    function: NamedFunction


class TextFormat(Wire):
    type: Literal["text", "json_object"]


class JsonSchema(Wire):
    name: ToolIdentifier
    description: str = ""
    schema_: Annotated[dict[str, Any], Field(alias="schema")]
    strict: bool = False

    @field_validator("schema_")
    @classmethod
    def is_a_schema(cls, schema: dict[str, Any]) -> dict[str, Any]:
        return valid_schema(schema)


class SchemaFormat(Wire):
    type: Literal["json_schema"]
    json_schema: JsonSchema


def valid_schema(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except jsonschema.SchemaError as error:
        raise broken(f"not a JSON schema: {error.message}") from error
    return schema


class StreamOptions(Wire):
    include_usage: bool = False


# ── the request ────────────────────────────────────────────────────────────────────────────────────────────────


class ChatRequest(Wire):
    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[Message], Field(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: Annotated[list[Tool], Field(min_length=1, max_length=MAX_TOOLS)] | None = None
    tool_choice: Literal["none", "auto", "required"] | ForcedTool | None = None
    parallel_tool_calls: bool | None = None
    response_format: Annotated[TextFormat | SchemaFormat, Field(discriminator="type")] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    top_p: Annotated[float, Field(ge=0, le=1)] | None = None
    presence_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    frequency_penalty: Annotated[float, Field(ge=-2, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: str | Annotated[list[str], Field(max_length=4)] | None = None
    seed: int | None = None
    logprobs: bool = False
    top_logprobs: Annotated[int, Field(ge=0, le=20)] | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    service_tier: str | None = None
    prompt_cache_key: str | None = None
    prompt_cache_retention: str | None = None
    safety_identifier: Annotated[str, Field(max_length=64)] | None = None

    @model_validator(mode="after")
    def fields_agree(self) -> "ChatRequest":
        if self.stream_options is not None and not self.stream:
            raise broken("stream_options is only allowed when stream is true")
        if self.top_logprobs is not None and not self.logprobs:
            raise broken("top_logprobs is only allowed when logprobs is true")
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            raise broken("max_tokens and max_completion_tokens exclude each other")
        return self

    @model_validator(mode="after")
    def choice_is_declared(self) -> "ChatRequest":
        names = [tool.function.name for tool in self.tools or ()]
        if not names and (self.tool_choice is not None or self.parallel_tool_calls is not None):
            raise broken("tool_choice and parallel_tool_calls are only allowed when tools are specified")
        if self.forced is not None and self.forced not in names:
            raise broken(f"tool_choice names an undeclared tool: {self.forced!r}")
        return self

    @field_validator("tools")
    @classmethod
    def names_differ(cls, tools: list[Tool] | None) -> list[Tool] | None:
        names = {tool.function.name for tool in tools or ()}
        if len(names) < len(tools or ()):
            raise broken("tool names must be unique")
        return tools

    @field_validator("messages")
    @classmethod
    def results_follow_calls(cls, messages: list[Message]) -> list[Message]:
        unanswered: list[str] = []
        for message in messages:
            if isinstance(message, ToolMessage):
                if message.tool_call_id not in unanswered[:1]:
                    raise broken(
                        "tool messages must directly follow their calls, one each, in the order of the calls"
                    )
                unanswered.pop(0)
            elif unanswered:
                break
            elif isinstance(message, AssistantMessage):
                unanswered = [call.id for call in message.tool_calls or ()]
        if unanswered:
            raise broken(f"tool calls without a tool message: {', '.join(unanswered)}")
        return messages

    @field_validator("messages")
    @classmethod
    def call_ids_differ(cls, messages: list[Message]) -> list[Message]:
        calls = [
            call.id
            for message in messages
            if message.role == "assistant"
            for call in message.tool_calls or ()
        ]
        if len(set(calls)) < len(calls):
            raise broken("tool call ids must be unique")
        return messages

    @field_validator("messages")
    @classmethod
    def turns_alternate(cls, messages: list[Message]) -> list[Message]:
        if any(one.role == other.role == "assistant" for one, other in pairwise(messages)):
            raise broken("two assistant messages in a row")
        if messages[-1].role not in ("user", "tool"):
            raise broken("the last message must be from the user or a tool")
        return messages

    @property
    def limit(self) -> int | None:
        return self.max_tokens or self.max_completion_tokens

    @property
    def forced(self) -> str | None:
        return self.tool_choice.function.name if isinstance(self.tool_choice, ForcedTool) else None
