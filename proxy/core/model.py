"""The words of a request: one neutral language of turns and parts.

Every surface decodes into it, every dialect encodes from it, and it has no dialect's schema. What only one dialect
understands travels in `extras` under that dialect's name, and is given back to that dialect alone (see the module of
that name).

Objects are read-only by rule: a stage that needs another value makes another object. Only `Request.let_go` ends one.

What a backend may have to refuse has a `path`: where it stands in the client's request, in the surface's words.
"""

from collections.abc import Set
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

Extras = dict[str, Any]


class Role(StrEnum):
    SYSTEM = "system"
    DEVELOPER = "developer"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolKind(StrEnum):
    """How the client declared a tool, and therefore how a call to it must come back."""

    FUNCTION = "function"
    CUSTOM = "custom"
    TOOL_SEARCH = "tool_search"
    """The client's own search for more tools, which it declares by that type."""
    LOCAL_SHELL = "local_shell"
    """The client's own shell, which it declares by that type."""
    SHELL = "shell"
    """Its successor, which takes whole command lines."""
    APPLY_PATCH = "apply_patch"
    """The client's own editor of files."""


SYSTEM, USER, ASSISTANT, TOOL = Role.SYSTEM, Role.USER, Role.ASSISTANT, Role.TOOL
FUNCTION, CUSTOM = ToolKind.FUNCTION, ToolKind.CUSTOM
TOOL_SEARCH, SHELL = ToolKind.TOOL_SEARCH, ToolKind.SHELL
"""Constants for code that needs them with each request or item: on Python 3.11 the lookup of a member through its class
takes 0.1 µs, as long as reading a field. Other members that are needed so often are constants of their modules."""

UNNAMED: frozenset[str] = frozenset(
    {ToolKind.TOOL_SEARCH, ToolKind.LOCAL_SHELL, ToolKind.SHELL, ToolKind.APPLY_PATCH}
)
"""Types with one tool each, which has the name of its type."""


# ── parts ──


@dataclass(slots=True)
class Text:
    """What the model says. The words of all others, with which nothing comes along, are plain strings."""

    text: str
    logprobs: list[Any] | None = None
    """One entry per token, in the form of the Responses API: in replies, if the client wants them."""
    annotations: list[Any] | None = None
    """What the backend says of places in the text, such as its sources, in the form of the Responses API."""
    phase: str | None = None
    """Some models say whether a message of theirs is the answer, or a remark on the way to it, and want to know it
    again."""


@dataclass(slots=True)
class Refusal:
    text: str


@dataclass(slots=True)
class Reasoning:
    text: str
    extras: Extras = field(default_factory=dict)


@dataclass(slots=True)
class HostedItem:
    """What a tool did that the backend itself runs: an item of the Responses API, as it is. No other API has it."""

    item: dict[str, Any]


@dataclass(slots=True)
class Summary:
    """Stands for the conversation before it. Only the reply to a compaction has one."""

    text: str


@dataclass(slots=True)
class Image:
    url: str
    """An https or a data URL. The proxy never fetches it."""
    detail: str | None = None
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class Audio:
    data: str
    """Base64."""
    format: str
    path: str = field(default="", compare=False)


@dataclass(slots=True)
class File:
    name: str | None = None
    data: str | None = None
    """A data URL."""
    url: str | None = None
    id: str | None = None
    path: str = field(default="", compare=False)


class ToolName(NamedTuple):
    """The client's own name of a tool. Two namespaces may hold the same inner name.

    It is a tuple because tools are looked up by it, for each call of a history: its hash takes a fifth of the time.
    """

    name: str
    namespace: str | None = None

    @property
    def dotted(self) -> str:
        """The whole name, as people write it."""
        return self.name if self.namespace is None else f"{self.namespace}.{self.name}"


@dataclass(slots=True)
class Call:
    call_id: str
    tool: ToolName
    kind: ToolKind
    arguments: str
    """The raw input for custom tools, JSON text for all others. Always what the model wrote, never repaired."""
    backend_id: str | None = field(default=None, compare=False)
    """The id that the backend gave the call. Surfaces may show clients other ids."""


@dataclass(slots=True)
class Result:
    call_id: str
    content: "list[UserPart]"
    is_error: bool | None = None
    """Has the tool failed? None: the client has no field for it."""
    extras: Extras = field(default_factory=dict)
    """The same in the words of one dialect, where those say more."""


UserPart = str | Image | Audio | File
ReplyPart = Text | Refusal | Reasoning | Call | HostedItem | Summary
Part = str | Text | Image | Audio | File | Refusal | Reasoning | Call | HostedItem | Result


Turn = tuple[Role, list[Part]]
"""Who says what: consecutive parts of one role. `surfaces.reading.history` promises that the next turn answers all its
calls. It is a pair because a long history has hundreds of them: an object would take five times as long to make."""


# ── tools ──


@dataclass(slots=True)
class ToolSpec:
    tool: ToolName
    kind: ToolKind = ToolKind.FUNCTION
    description: str | None = None
    parameters: dict[str, Any] | None = None
    """The JSON Schema as the client sent it. `schemas` reduces it for a backend."""
    strict: bool | None = None
    grammar: dict[str, Any] | None = None
    """A custom tool's `format`."""
    path: str = field(default="", compare=False)
    written: bytes | None = field(default=None, init=False, compare=False, repr=False)
    """The parameters as JSON, by which is remembered what was found of them before; None where nobody has written them
    yet."""


class ChoiceMode(StrEnum):
    AUTO = "auto"
    NONE = "none"
    REQUIRED = "required"


@dataclass(slots=True)
class ToolChoice:
    """Holds a mode, and optionally the only tools that may be called. A forced function is REQUIRED with one tool."""

    mode: ChoiceMode = ChoiceMode.AUTO
    only: frozenset[ToolName] | None = None


@dataclass(slots=True)
class Hosted:
    """Tools that the backend itself is to run, in the form of the Responses API: no other has them."""

    tools: list[dict[str, Any]]
    choice: dict[str, Any] | str | None = None
    """The one of them that must be used, or that some tool must be."""
    include: list[str] = field(default_factory=list)
    """What of their results the client wants to see."""
    max_calls: int | None = None
    """How often they may be called in all."""


# ── the request ──


class FormatKind(StrEnum):
    TEXT = "text"
    JSON_OBJECT = "json_object"
    JSON_SCHEMA = "json_schema"


@dataclass(slots=True)
class OutputFormat:
    kind: FormatKind = FormatKind.TEXT
    name: str | None = None
    schema: dict[str, Any] | None = None
    description: str | None = None
    strict: bool | None = None
    path: str = field(default="", compare=False)
    """The path of the schema."""


@dataclass(slots=True)
class Sampling:
    """Options that are passed on if the backend knows them, and otherwise dropped with a warning."""

    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    seed: int | None = None
    stop: list[str] | None = None
    max_tokens: int | None = None
    logprobs: bool = False
    top_logprobs: int = 0


UNTUNED = Sampling()
"""The options of most requests."""


@dataclass(slots=True)
class ReasoningWish:
    effort: str | None = None
    summary: str | None = None
    wants_token: bool = False
    """Does the client ask for a token of what the backend will want back, to keep it and send it again?"""
    ways: dict[str, str] = field(default_factory=dict)
    """How the model is to think, as only OpenAI's API has words for it: `context` and `mode`."""


@dataclass(slots=True)
class Request:
    model: str
    turns: list[Turn]
    tools: list[ToolSpec] = field(default_factory=list)
    choice: ToolChoice = field(default_factory=ToolChoice)
    parallel_calls: bool = True
    sampling: Sampling = field(default_factory=Sampling)
    reasoning: ReasoningWish = field(default_factory=ReasoningWish)
    format: OutputFormat = field(default_factory=OutputFormat)
    verbosity: str | None = None
    user: str | None = None
    """The client's own label for its user."""
    service_tier: str | None = None
    cache: dict[str, str] = field(default_factory=dict)
    """What the client says of the backend's cache of its prompts, in the words of OpenAI's APIs."""
    generate: bool = True
    """False for a warm-up, which prepares everything and does not ask the model."""
    stream: bool = False
    compact: bool = False
    """The answer is to be a summary of the conversation, and nothing else."""
    validate_arguments: bool | None = None
    """Are calls whose arguments break their schema withheld from the client (P05)? Default: the tenant's setting."""
    parallel_wanted: bool = False
    """Did the client ask for parallel calls explicitly?"""
    strict_alone: bool = False
    """Do the request's strict tools rule out parallel calls on this surface (C03)?"""
    hosted: Hosted | None = None
    namespaces: dict[str, str] = field(default_factory=dict)
    """What the client says of the namespaces that its tools are in."""
    extras: Extras = field(default_factory=dict)
    _call_ids: Set[str] = field(default=frozenset(), init=False, compare=False, repr=False)
    """Those of calls that were let go."""

    def call_ids(self) -> Set[str]:
        """The ids of all calls in it, which those of the reply must not repeat."""
        found = {part.call_id for _, parts in self.turns for part in parts if isinstance(part, Call)}
        return found or self._call_ids

    def let_go(self) -> None:
        """Its reply has begun, and nobody is asked again: of what was said there stay the ids of its calls."""
        if found := self.call_ids():
            self._call_ids = found
        self.turns.clear()


@dataclass(slots=True)
class Usage:
    input_tokens: int
    output_tokens: int
    total_tokens: int
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    cache_write_tokens: int = 0
