"""The mind of the demo model: what it answers to a request, by rules that can be read from top to bottom."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from proxy.demo.arguments import Filler
from proxy.demo.prompt import GRAMMAR, Prompt, is_said, said_by_user, words
from proxy.demo.refusals import Refused
from proxy.demo.wire import (
    AssistantMessage,
    ChatRequest,
    Function,
    SchemaFormat,
    TextFormat,
    ToolMessage,
)

MAX_QUOTE = 300
"""Of a prompt or a tool's result, in the demo's own sentences."""

NAMED = 100
"""The fitness of a tool when the prompt has a word of its name."""


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    reasoning: str = ""
    text: str = ""
    refusal: str = ""
    calls: Sequence[Call] = ()


@dataclass(frozen=True, slots=True)
class Persona:
    """What the name of a model selects, for those who cannot or do not want to say it in the prompt."""

    about: str
    thinks: bool = False
    talks: bool = False
    """Says a sentence before it calls tools."""
    leaks: bool = False
    """Writes its calls into its text."""
    guesses: bool = False
    """Calls what nobody has declared."""
    slow: bool = False
    """Takes long until it begins to answer."""
    busy: bool = False
    """Answers 429 before the first byte."""
    breaks: str | None = None
    """Stops half-way: with an `error` object, or by a `cut` connection."""


PERSONAS = {
    "demo": Persona("text, tool calls and structured output"),
    "demo-think": Persona("reasons before it answers", thinks=True),
    "demo-talk": Persona("says a sentence before it calls a tool", talks=True),
    "demo-leak": Persona("writes its tool calls into its text", leaks=True),
    "demo-guess": Persona("does so too, and makes up the names of the tools", leaks=True, guesses=True),
    "demo-slow": Persona("takes ten seconds until it begins to answer", slow=True),
    "demo-busy": Persona("refuses with 429", busy=True),
    "demo-error": Persona("reports an error half-way through its answer", breaks="error"),
    "demo-cut": Persona("loses the connection half-way through its answer", breaks="cut"),
}


def persona(model: str) -> Persona:
    """Clients come with a model name of their own; the demo plays all but those that claim to be one of its kind."""
    if model.startswith("demo-") and model not in PERSONAS:
        names = ", ".join(PERSONAS)
        raise Refused(
            f"The model {model!r} does not exist; there are: {names}",
            status=404,
            code="model_not_found",
            param="model",
        )
    return PERSONAS.get(model, PERSONAS["demo"])


def answer(request: ChatRequest) -> Answer:
    prompt = Prompt.of(request)
    who = persona(request.model)
    whole = spoken(request, prompt, who)
    if who.thinks or request.reasoning_effort not in (None, "none") or prompt.says("think"):
        return replace(whole, reasoning=reasoning(whole, prompt))
    return whole


def spoken(request: ChatRequest, prompt: Prompt, who: Persona) -> Answer:
    if prompt.says("refuse"):
        return Answer(refusal="I am sorry, but I cannot help with that: the prompt told me to refuse.")
    results = fresh_results(request)
    if calls := list(chosen_calls(request, prompt, answered=bool(results))):
        if who.leaks:
            return Answer(text="Let me look. " + "".join(leaked(call, who) for call in calls))
        return Answer(text=f"Let me ask {names_of(calls)}." if who.talks else "", calls=calls)
    if request.response_format is not None and request.response_format.type != "text":
        return Answer(text=orjson.dumps(structured(request.response_format, prompt, results)).decode())
    if results:
        return Answer(
            text=" ".join(
                f"{call.name}({call.arguments}) says: {shortened(output)}" for call, output in results
            )
        )
    return Answer(text=chat(request, prompt))


def leaked(call: Call, who: Persona) -> str:
    """A call as Hermes writes it. A guessed name is the end of the true one: `weather`, not `get_weather`."""
    name = call.name.rpartition("_")[2] if who.guesses else call.name
    return f'<tool_call>{{"name": "{name}", "arguments": {call.arguments}}}</tool_call>'


def reasoning(whole: Answer, prompt: Prompt) -> str:
    plan = f"I need {names_of(whole.calls)} for that." if whole.calls else "I can answer that directly."
    return f"The user said {quote(prompt.text)}. {plan}"


def chat(request: ChatRequest, prompt: Prompt) -> str:
    hint = "Declare a tool such as get_weather and ask for the weather in Paris to see a tool call."
    if request.tools:
        hint = "Nothing in it asks for one of your tools: name one to see it called."
    return f"This is the demo model, a script. You said {quote(prompt.text)}{before(request)}. {hint}"


def before(request: ChatRequest) -> str:
    """Shows that a conversation goes on, whether its client sends the history or the proxy has kept it."""
    earlier = said_by_user(request)[:-1]
    return f", and before that {quote(earlier[-1])}" if earlier else ""


def structured(wanted: TextFormat | SchemaFormat, prompt: Prompt, results: list[tuple[Call, str]]) -> Any:
    if isinstance(wanted, TextFormat):
        return {"answer": shortened(prompt.text)}
    known: dict[str, Any] = {}
    for _, output in results:
        known |= object_in(output)
    return Filler(wanted.json_schema.schema_, prompt, prompt.subjects, known).fill()


def object_in(text: str) -> dict[str, Any]:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}


def names_of(calls: Sequence[Call]) -> str:
    return " and ".join(dict.fromkeys(call.name for call in calls))


def quote(text: str) -> str:
    return f"“{shortened(text)}”"


def shortened(text: str) -> str:
    return text if len(text) <= MAX_QUOTE else text[:MAX_QUOTE] + "…"


# ── tools ──────────────────────────────────────────────────────────────────────────────────────────────────────


def fresh_results(request: ChatRequest) -> list[tuple[Call, str]]:
    """What tools have said since the user last spoke, each with its call."""
    calls: dict[str, Call] = {}
    results: list[tuple[Call, str]] = []
    for message in request.messages:
        if is_said(message):
            results = []
        elif isinstance(message, AssistantMessage):
            for call in message.tool_calls or ():
                calls[call.id] = Call(call.id, call.function.name, call.function.arguments)
        elif isinstance(message, ToolMessage):
            results.append((calls[message.tool_call_id], message.content))
    return results


def chosen_calls(request: ChatRequest, prompt: Prompt, *, answered: bool) -> Iterator[Call]:
    """For each tool one call per subject; a single one where the client does not want parallel calls."""
    earlier = sum(
        len(message.tool_calls or ()) for message in request.messages if isinstance(message, AssistantMessage)
    )
    for function in chosen_tools(request, prompt, answered=answered):
        for arguments in argument_sets(function, prompt):
            earlier += 1
            yield Call(f"call_demo_{earlier}", function.name, orjson.dumps(arguments).decode())
            if request.parallel_tool_calls is False:
                return


def chosen_tools(request: ChatRequest, prompt: Prompt, *, answered: bool) -> list[Function]:
    must = request.tool_choice == "required" or request.forced is not None
    if request.tool_choice == "none" or (answered and not must):
        return []
    offered = [tool.function for tool in request.tools or () if request.forced in (None, tool.function.name)]
    ranked = sorted(offered, key=lambda function: fitness(function, prompt), reverse=True)
    if not must and not prompt.says("tool", "tools"):
        ranked = [function for function in ranked if fitness(function, prompt)]
    named = [function for function in ranked if fitness(function, prompt) >= NAMED]
    several = ranked if prompt.says("both") else named if prompt.says("and") else []
    return several[:2] or ranked[:1]


def fitness(function: Function, prompt: Prompt) -> int:
    """How much of the prompt speaks of this tool: by its name above all, then its parameters, then its description."""
    if function.name in prompt.text:
        return 2 * NAMED
    spoken_of = prompt.words - GRAMMAR
    return sum(
        weight * len(spoken_of.intersection(words(text)))
        for weight, text in (
            (NAMED, function.name),
            (3, " ".join(function.parameters["properties"])),
            (1, function.description),
        )
    )


def argument_sets(function: Function, prompt: Prompt) -> Iterator[Any]:
    """Arguments for each subject in turn, until all are spent: a tool may want one at a time, or several at once."""
    subjects = [subject for subject in prompt.subjects if subject.lower() not in words(function.name)]
    while True:
        filler = Filler(function.parameters, prompt, subjects)
        yield filler.fill()
        subjects = subjects[filler.spent :]
        if not filler.spent or not subjects:
            return
