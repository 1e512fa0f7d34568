"""From a Responses request, as JSON, to the neutral Request. An error in it is found here, before anything is sent, and
becomes one ClientFault with its path.
"""

from collections.abc import Callable, Collection
from typing import Any

from proxy.core.caches.consequences import found_of
from proxy.core.ledger import Ledger
from proxy.core.model import (
    SYSTEM,
    UNTUNED,
    USER,
    ChoiceMode,
    Hosted,
    OutputFormat,
    ReasoningWish,
    Request,
    Sampling,
    ToolChoice,
    Turn,
)
from proxy.core.stored.faults import nothing_to_answer
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.reading.checks import missing, wrong_type, wrong_value
from proxy.core.surfaces.reading.content import InputCursor
from proxy.core.surfaces.reading.fields import (
    ANY_TEXT,
    cache_labels,
    json_object,
    output_format,
    user_id,
)
from proxy.core.surfaces.reading.history import OrphanOutputs, canonical
from proxy.core.surfaces.reading.tool_choice import read_choice
from proxy.core.surfaces.reading.tools import Toolbox, read_tools
from proxy.core.surfaces.responses.envelope import (
    MAX_INPUT_TEXT,
    ResponsesEnvelope,
    TextWish,
    Thinking,
    model_in,
    read_envelope,
)
from proxy.core.surfaces.responses.items import read_items
from proxy.core.surfaces.responses.tools import READERS, unheeded
from proxy.core.surfaces.responses.whole_input import WholeInput
from proxy.core.work import Work

LOGPROBS = "message.output_text.logprobs"

REASONING_TOKEN = "reasoning.encrypted_content"

HOSTED_RESULTS = ("web_search_call.", "file_search_call.", "code_interpreter_call.", "computer_call_output.")
"""How the words begin that ask for more of what hosted tools find."""

USUAL_WAYS = {"context": "auto", "mode": "standard"}

NO_WISH = ReasoningWish()
"""The wish of a request that says nothing about reasoning."""

NO_TOOLS = Toolbox(READERS)
"""Those of a request that declares none: nothing is ever put into it."""


def decode(
    body: Any,
    ledger: Ledger,
    orphan_outputs: OrphanOutputs = "refuse",
    signer: TokenSigner | None = None,
    whole: WholeInput | None = None,
    *,
    background: bool = False,
    run: Callable[[], Collection[str]] = tuple,
) -> Request:
    """`whole`: what the input is, if the client has not sent all of it. `background`: may work go on in the
    background? `run`: returns the types of tools that the backend runs itself."""
    envelope = read_envelope(json_object(body, ledger.work.levels(body)), ledger, background=background)
    model = model_in(envelope)
    cursor = InputCursor(ledger, signer.reader() if signer else None)
    cursor.run = run
    if whole is not None:
        cursor.before, cursor.indices = len(whole.history), whole.indices
    said = _said(envelope, cursor)
    declared = envelope.get("tools") or []
    toolbox = NO_TOOLS
    if declared or cursor.tools:
        toolbox = read_tools([(declared, "tools"), *cursor.tools], ledger, READERS, run=run())
    if declared:
        wishes = found_of(toolbox.tools, "unheeded", lambda: unheeded(declared))
        for _ in range(wishes["defer_loading"]):
            ledger.drop("defer_loading")
        for _ in range(wishes["async"]):
            ledger.drop("async")
    choice = read_choice(envelope.get("tool_choice"), toolbox, ledger)
    turns = canonical(said, ledger, orphan_outputs, cursor.path_of_call, toolbox.unawaited)
    if instructions := envelope.get("instructions"):
        turns.insert(0, (SYSTEM, [instructions]))
    if not turns:
        raise wrong_value(
            "input", "holds nothing that can be sent to a model: give it a message with content."
        )
    text, options = envelope.get("text"), envelope.get("request_options")
    return Request(
        model,
        turns,
        toolbox.tools,
        ToolChoice(ChoiceMode.NONE) if cursor.compact else choice,
        envelope.get("parallel_tool_calls") is not False,
        _sampling(envelope),
        _reasoning(envelope, cursor.effort),
        ANY_TEXT if cursor.compact else cursor.format or _format(text, ledger.work),
        verbosity=text.verbosity if text else None,
        user=user_id(envelope.get("safety_identifier"), envelope.get("user")),
        service_tier=envelope.get("service_tier"),
        generate=envelope.get("generate") is not False and not _prewarms(body),
        stream=bool(envelope.get("stream")),
        compact=cursor.compact,
        validate_arguments=options.validate_tool_arguments if options else None,
        cache=cache_labels(body),
        hosted=_hosted(toolbox, envelope, ledger),
        namespaces=toolbox.spaces,
    )


def _prewarms(body: dict[str, Any]) -> bool:
    """Is the prompt only to be cached? That goes before `generate`."""
    options = body.get("prompt_cache_options")
    return isinstance(options, dict) and options.get("prewarm") is True


def _hosted(toolbox: Toolbox, envelope: ResponsesEnvelope, ledger: Ledger) -> Hosted | None:
    """A choice among functions, or against all calls, is one against these too."""
    most = envelope.get("max_tool_calls")
    if not toolbox.kept or envelope.get("tool_choice") == "none":
        if most is not None:
            ledger.drop("max_tool_calls")
        return None
    wanted = [word for word in envelope.get("include") or () if word.startswith(HOSTED_RESULTS)]
    return Hosted(toolbox.kept, toolbox.chosen, wanted, most)


def _said(envelope: ResponsesEnvelope, cursor: InputCursor) -> list[Turn]:
    match envelope.get("input"):
        case list() as items if items or envelope.get("instructions"):
            return read_items(items, cursor)
        case None:
            raise missing("input", "a string or an array of items")
        case str() as text if len(text) > MAX_INPUT_TEXT:
            raise wrong_value("input", f"may have at most {MAX_INPUT_TEXT} characters: send less.")
        case str() as text:  # an empty one too: the API has no lower bound, and instructions may say it all
            return [(USER, [text])]
        case list():
            raise nothing_to_answer()
        case other:
            raise wrong_type("input", "a string or an array of items", other)


TUNING = frozenset(
    {
        "temperature", "top_p", "presence_penalty", "frequency_penalty", "max_output_tokens", "top_logprobs",
        "include",
    }
)  # fmt: skip
"""The fields that make these options."""


def _sampling(envelope: ResponsesEnvelope) -> Sampling:
    if TUNING.isdisjoint(envelope):
        return UNTUNED
    top_logprobs = envelope.get("top_logprobs") or 0
    return Sampling(
        envelope.get("temperature"),
        envelope.get("top_p"),
        envelope.get("presence_penalty"),
        envelope.get("frequency_penalty"),
        max_tokens=envelope.get("max_output_tokens"),
        logprobs=top_logprobs > 0 or LOGPROBS in (envelope.get("include") or ()),
        top_logprobs=top_logprobs,
    )


def _reasoning(envelope: ResponsesEnvelope, effort: str | None) -> ReasoningWish:
    """`effort`: the one that goes before the request's own."""
    thinking = envelope.get("reasoning")
    wants_token = REASONING_TOKEN in (envelope.get("include") or ())
    if thinking is not None:
        summary = thinking.summary or thinking.generate_summary
        return ReasoningWish(effort or thinking.effort, summary, wants_token, _ways(thinking))
    return ReasoningWish(effort, wants_token=wants_token) if wants_token or effort else NO_WISH


def _ways(thinking: Thinking) -> dict[str, str]:
    """What is not as models think anyway."""
    said = {"context": thinking.context, "mode": thinking.mode}
    return {name: word for name, word in said.items() if word and word != USUAL_WAYS[name]}


def _format(text: TextWish | None, work: Work) -> OutputFormat:
    wish = text.format if text else None
    return output_format(wish.type, wish, "text.format", work) if wish else ANY_TEXT
