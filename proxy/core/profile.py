"""In what backends differ: one field for each oddity, and what it decides.

The defaults are what is safest with an unknown OpenAI-compatible server. All code reads the field, never the name of
the backend: a new oddity is a new field here, a new backend a new entry in `profiles`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

Auth = Literal["bearer", "api-key", "x-api-key", "x-goog-api-key", "none"]
Wire = Literal["auto", "chat", "responses"]
SystemRole = Literal["system", "developer"]
LateSystem = Literal["user", "merge", "keep"]
Images = Literal["none", "data", "any"]
LengthField = Literal["max_tokens", "max_completion_tokens"]
AskUsage = Literal["ask", "never"]
Parallel = Literal["omit", "obey", "false"]
ForceTool = Literal["object", "required", "any", "auto"]
SchemaRule = Literal[
    "plain", "inline", "moonshot", "gemini", "bounded", "anthropic", "google", "google_proto"
]
ToolNames = Literal["any", "letter_first"]
AnswerFormat = Literal["json_schema", "json_object"]
EffortField = Literal["none", "reasoning_effort", "thinking", "enable_thinking", "template", "reasoning"]
Replay = Literal["none", "reasoning_content", "reasoning", "reasoning_details", "think_tags"]
ReplayScope = Literal["calls", "all"]
CallIdForm = Literal["any", "len40", "alnum9", "word"]
CallIdentity = Literal["id", "index"]
Counter = Literal["none", "anthropic", "google", "llamacpp", "openai", "sglang", "vllm"]
OrphanTools = Literal["flatten", "declare", "keep"]
NativeTool = Literal["custom", "local_shell", "shell", "apply_patch", "namespace", "allowed_tools"]

TUNING = frozenset(
    {
        "temperature",
        "top_p",
        "presence_penalty",
        "frequency_penalty",
        "seed",
        "stop",
        "logprobs",
        "top_logprobs",
    }
)
"""The tuning that most servers take or ignore. `verbosity` is not among them: strict hosts refuse it."""

NOTHING: frozenset[NativeTool] = frozenset()

PATIENCE_S = 600
"""Queues of hosted models are long: DeepSeek documents that it holds a request for ten minutes before it starts."""

OPENAI_MAX_TOOLS = 128
"""OpenAI and Groq refuse more; no server is known to need fewer."""


@dataclass(frozen=True, slots=True)
class BackendProfile:
    name: str = "default"
    dialect: str = "chat"
    """The language it speaks: a name in the table of `dialects.registry`."""

    # ── where it is ─────────────────────────────────────────────────────────────────────────────────────────────
    hosts: tuple[str, ...] = ()
    """Patterns of the URL's host, or of host and path, that select this profile without asking the backend."""
    path: str = "/chat/completions"
    """The endpoint below the base URL."""
    root: str = "/v1"
    """What belongs between host and `path` when the URL that was given has no path of its own."""
    auth: Auth = "bearer"
    """The header form of the key; without a key there is no header."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent with every request."""
    query: Mapping[str, str] = field(default_factory=dict)
    """Added to the URL's query unless it is there already."""
    wire: Wire = "auto"
    """Which of OpenAI's two APIs is asked. `auto`: Responses where a request needs it and that is offered, else Chat;
    and the other one where an endpoint is missing."""
    offers_responses: bool = False
    """Is the Responses API known to be there, beside Chat?"""
    thinks_beside_tools: bool = True
    """May a request by Chat have tools and think? Where it may not, it needs Responses, or must not think."""
    first_byte_s: int = PATIENCE_S
    """How long the first byte may take."""
    counter: Counter = "none"
    """Whose form its counter of tokens has; each dialect knows its own. Without one, no tokens are counted."""

    # ── messages ────────────────────────────────────────────────────────────────────────────────────────────────
    system_role: SystemRole = "system"
    """The word for instructions."""
    late_system: LateSystem = "user"
    """Instructions after the conversation began: turn into user text, go into the first message, or stay."""
    join_users: bool = True
    """Neighbouring user messages become one, for templates that want the roles to alternate."""
    after_tool: str | None = None
    """The assistant's words that are put between a tool message and a user message, where the backend refuses that
    order."""
    images: Images = "any"
    """In user messages: none at all, data URLs only, or any URL. A note stands for an image that may not pass."""
    files: bool = False
    """Takes `file` parts. Elsewhere only files of text can be passed on, as text."""
    audio: bool = True
    """Takes sound in user messages. Elsewhere such a request is refused, because nothing can replace it."""
    replay: Replay = "none"
    """The field that carries the model's own reasoning back to it."""
    replay_by_evidence: bool = True
    """Nobody knows whether it wants reasoning back. So the field that its own replies have it in carries it, until it
    refuses that."""
    replay_scope: ReplayScope = "calls"
    """The assistant messages that carry it: those with calls, or all."""
    replay_blank: str | None = None
    """What stands for reasoning that was lost, where its absence is refused."""
    signed_calls: bool = False
    """Calls carry `extra_content`, a proof of the model's own, and are refused later without it: Gemini, anywhere."""
    call_id: CallIdForm = "len40"
    """The form that call ids take upstream."""
    orphan_tools: OrphanTools = "keep"
    """A history with calls in a request without tools: told as text, given a dummy tool, or left as it is."""

    # ── tools ───────────────────────────────────────────────────────────────────────────────────────────────────
    max_tools: int = OPENAI_MAX_TOOLS
    """Tools beyond it are not declared. 0: this backend has no tools, and requests that need them are refused."""
    schema: frozenset[SchemaRule] = frozenset({"plain"})
    """The reductions that tool schemas go through."""
    tool_names: ToolNames = "any"
    """May a tool's name begin with any of its characters, or only with a letter or an underscore?"""
    strict_tools: bool = False
    """Takes `strict` of a tool, and holds the model to its schema. Elsewhere it is left out: some refuse the word."""
    force_tool: ForceTool = "object"
    """The strongest way to force a call that is understood: one function, the words required or any, or nothing."""
    parallel: Parallel = "obey"
    """`parallel_tool_calls`: never sent, sent when the client says false, or always sent as false."""

    # ── what else is asked for ──────────────────────────────────────────────────────────────────────────────────
    length_field: LengthField = "max_tokens"
    """The name of the output limit."""
    length_default: int | None = None
    """The limit when the client gives none, where the backend's own is too small to work with."""
    usage: AskUsage = "ask"
    """Whether token counts have to be asked for in a stream."""
    usage_when_whole: bool = False
    """Sends token counts only with whole answers: the proxy then asks for such an answer where the client does not
    stream."""
    formats: frozenset[AnswerFormat] = frozenset({"json_schema", "json_object"})
    """What `response_format` takes. Other formats become an instruction."""
    format_with_tools: bool = True
    """May `response_format` stand beside tools? Where it may not, it wins and no call can be made: there the model is
    told of the form in words."""
    format_by_evidence: bool = True
    """It is not known whether it may. So it does until that is refused, or until an answer comes before any call has;
    and answers are held against the form."""
    calls_beside_format: bool = False
    """Has a reply shown that calls are made beside it?"""
    effort_field: EffortField = "none"
    """Where the wish for more or less thinking goes."""
    effort_map: Mapping[str, str | None] = field(default_factory=dict)
    """Maps the client's word for effort to the vendor's. Null is not sent, and a word that is not listed is sent as it
    is."""
    tuning: frozenset[str] = TUNING
    """The optional fields that are passed on."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """A JSON merge patch (RFC 7396) over the finished body: constants to add, null for fields to remove."""

    # ── what is asked for by Responses only ─────────────────────────────────────────────────────────────────────
    sealed_thoughts: bool = False
    """Its models seal what they think, if they are asked to, and think on from it when it comes back."""
    sealed_back: bool = True
    """What its models have sealed, asked or not, goes back to them."""
    summaries: bool = False
    """Takes the wish for a summary of the thoughts."""
    ways_of_thinking: bool = False
    """Takes the wishes which thoughts the model sees again, and in which mode it thinks."""
    tuning_beside_api: frozenset[str] = frozenset()
    """Tuning that it takes by Responses too, although the API does not have it."""
    length_least: int = 0
    """The smallest limit that it takes. A client's smaller one is raised."""
    hosted_tools: frozenset[str] = frozenset()
    """Types of tools that it runs itself. All others are left out of a request."""
    native_tools: frozenset[NativeTool] = frozenset()
    """Kinds of tools that are declared, called and answered there as clients do it, and whether it knows namespaces and
    a choice among some of the tools. Elsewhere functions stand for all of them."""
    media_results: bool = False
    """What a tool returned may hold images and files. Elsewhere the user shows them, behind it."""

    # ── answers ─────────────────────────────────────────────────────────────────────────────────────────────────
    call_identity: CallIdentity = "id"
    """What identifies the call of a fragment: the id first, or the index alone."""
    calls_in_other_choices: bool = False
    """Calls also arrive in choices after the first."""
    thoughts_until: str | None = None
    """The tag that ends the thoughts of replies which begin inside them, because the prompt's template opens them."""
    markup: bool = True
    """The proxy makes calls that the backend leaves in its text into real ones. False: it does not search the text."""
    markup_formats: frozenset[str] = frozenset()
    """Formats of such calls that the proxy looks for besides the usual ones, because they resemble ordinary text."""
    markup_without: frozenset[str] = frozenset()
    """Usual formats that it does not look for."""

    @property
    def as_declared(self) -> frozenset[NativeTool]:
        """What of `native_tools` counts for a request: no other language has words for them."""
        return self.native_tools if self.dialect == "responses" else NOTHING


DEFAULT = BackendProfile()
FIELDS = frozenset(each.name for each in fields(BackendProfile))
_SAID_BY_REPLIES = {"replay": "replay_by_evidence", "format_with_tools": "format_by_evidence"}


@cache
def _adapter() -> TypeAdapter[BackendProfile]:
    """Made when somebody sets a field by hand: it takes 7 ms and half a megabyte, and most never do."""
    return TypeAdapter(BackendProfile)


def overridden(profile: BackendProfile, overrides: Mapping[str, Any]) -> BackendProfile:
    """Returns the profile with some fields set by hand. ValueError, in one line, for a wrong name or value."""
    if not overrides:
        return profile
    for name in overrides:
        if name not in FIELDS:
            raise ValueError(f"{name}: no such profile field; there are {', '.join(sorted(FIELDS))}")
    for name, by_evidence in _SAID_BY_REPLIES.items():
        if name in overrides:  # what is said by hand needs no evidence
            overrides = {by_evidence: False, **overrides}
    try:
        return _adapter().validate_python({name: getattr(profile, name) for name in FIELDS} | dict(overrides))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None
