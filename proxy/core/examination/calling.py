"""Tools: whether they are called, how a call can be forced, and which tools may be declared."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from proxy.core.examination import material, readers
from proxy.core.examination.aspects import CHAT, OPENAI, Aspect
from proxy.core.examination.courses import Ladder, Step
from proxy.core.examination.findings import ReportRow, Standing, Verdict, written
from proxy.core.examination.material import CLOCK_TOOL, REQUIRED, SHORT, WEATHER_TOOL, ask, one_string, tool
from proxy.core.examination.question import Case, Course, Question
from proxy.core.markup import registry
from proxy.core.model import Request, ToolChoice, ToolName, ToolSpec
from proxy.core.profile import OPENAI_MAX_TOOLS, SchemaRule

FEWER = (64, 32, 16)

ONLY_FORCED = "Tools work only where a call is required."


def _choice(case: Case) -> ToolChoice:
    """A call is required where that is possible: what is declared is then used, by the least of models."""
    return ToolChoice() if case.profile.force_tool == "auto" and not case.must_force else REQUIRED


def _declaring(case: Case, tools: list[ToolSpec], limit: int = SHORT) -> Request:
    return ask(material.WEATHER_IN_PARIS, limit=limit, tools=tools, choice=_choice(case))


def tools(case: Case, name: str) -> Course:
    assumed = case.assumed.max_tools
    asked = ask(material.WEATHER_IN_PARIS, tools=[WEATHER_TOOL])
    there_are = {} if assumed else {"max_tools": OPENAI_MAX_TOOLS}
    question = Question(name, asked, readers.may_call, there_are)
    answer = yield question
    said = "tools" if assumed else "no tools"
    if answer.verdict is Verdict.UNCLEAR and answer.heard.fault is not None:
        return ReportRow(name, answer.words, said, Standing.UNKNOWN)
    if answer.verdict is not Verdict.REFUSED:
        seen = "called" if answer.works else answer.words
        standing = Standing.SAME if assumed else Standing.BETTER
        return ReportRow(name, seen, said, standing, there_are)
    if not assumed:
        return ReportRow(name, f"refused ({answer.words})", said, Standing.SAME)
    forced = yield replace(question, request=replace(asked, choice=REQUIRED), read=readers.calls())
    if not forced.fails:
        case.must_force = True
        return ReportRow(name, f"refused ({answer.words})", said, Standing.WORSE, remark=ONLY_FORCED)
    return ReportRow(name, f"refused ({answer.words})", said, Standing.WORSE, {"max_tools": 0}, answer.remark)


def forced(case: Case, name: str) -> Course:
    def put(value: str) -> Step:
        request = ask(material.GREETING, tools=[WEATHER_TOOL], choice=REQUIRED)
        return Step(value, [Question(name, request, readers.calls(), {"force_tool": value})])

    named = ask(material.WEATHER_IN_PARIS, tools=[WEATHER_TOOL, CLOCK_TOOL], choice=material.FORCED_CLOCK)
    forces = case.dialect in OPENAI  # in other dialects, a model may only be urged in words
    read = readers.calls({material.CLOCK}) if forces else readers.may_call
    first = Step("object", [Question(name, named, read, {"force_tool": "object"})])
    between = [put(word) for word in _WORDS.get(case.dialect, ())]
    words = {"object": "by name", "required": "by `required`", "any": "by `any`", "auto": "not at all"}
    return Ladder("force_tool", [first, *between, Step("auto")], words=words).course(case, name)


_WORDS: Mapping[str, Sequence[str]] = {"chat": ("required", "any"), "responses": ("required",)}
"""The words that force a call of any tool, by dialect."""


def parallel(case: Case, name: str) -> Course:
    """Does it take, and heed, the wish for one call at a time? A few models refuse to be asked without it."""
    request = ask(material.WEATHER_TWICE, tools=[WEATHER_TOOL], choice=_choice(case))
    assumed = case.assumed.parallel
    free = yield Question(name, request, readers.may_call, {"parallel": "omit"})
    alone = replace(request, parallel_calls=False)
    single = yield Question(name, alone, readers.one_call, {"parallel": "obey"})
    several = f"{len(free.heard.calls)} calls at once; " if len(free.heard.calls) > 1 else ""
    words = f" ({single.words})" if single.words else ""
    seen = f"{several}one at a time: {single.verdict}{words}"
    if free.verdict is Verdict.REFUSED and not single.fails:
        standing = Standing.SAME if assumed == "false" else Standing.WORSE
        return _changed(name, f"only one at a time ({free.words})", assumed, standing, {"parallel": "false"})
    if single.fails:
        standing = Standing.SAME if assumed == "omit" else Standing.WORSE
        return _changed(name, seen, assumed, standing, {"parallel": "omit"})
    if single.works and several and assumed == "omit":
        return _changed(name, seen, assumed, Standing.BETTER, {"parallel": "obey"})
    return ReportRow(name, seen, assumed, Standing.SAME if single.works else Standing.UNKNOWN)


def _changed(name: str, seen: str, assumed: Any, standing: Standing, fields: Mapping[str, Any]) -> ReportRow:
    return ReportRow(name, seen, written(assumed), standing, {} if standing is Standing.SAME else fields)


def strict(case: Case, name: str) -> Course:
    request = ask(material.NO_SUCH_CITY, tools=[material.CHOSEN_CITY], choice=_choice(case))
    question = Question(name, request, readers.fits(material.CITIES, "city"), {"strict_tools": True})
    return Ladder("strict_tools", [Step(True, [question]), Step(False)]).course(case, name)


def names(case: Case, name: str) -> Course:
    tools = [tool(ToolName("7_days"), one_string("city"))]
    question = Question(name, _declaring(case, tools), readers.accepted, {"tool_names": "any"})
    words = {"any": "may begin with a digit", "letter_first": "begin with a letter"}
    return Ladder("tool_names", [Step("any", [question]), Step("letter_first")], words=words).course(
        case, name
    )


def many(case: Case, name: str) -> Course:
    most = case.profile.max_tools

    def put(count: int) -> Step:
        tools = [
            tool(ToolName(f"tool_{index}"), {"type": "object", "properties": {}}) for index in range(count)
        ]
        return Step(count, [Question(name, _declaring(case, tools), readers.accepted, {"max_tools": count})])

    steps = [put(count) for count in dict.fromkeys((min(most, OPENAI_MAX_TOOLS), *FEWER)) if count <= most]
    return (yield from Ladder("max_tools", steps, plainest=True).course(case, name))


SCHEMAS: Mapping[SchemaRule, Mapping[str, Any]] = {
    "inline": {
        "type": "object",
        "$defs": {"place": {"type": "object", "properties": {"city": {"type": "string"}}}},
        "properties": {"place": {"$ref": "#/$defs/place"}},
        "required": ["place"],
    },
    "moonshot": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "anyOf": [{"type": "string"}, {"type": "null"}]},
            "zone": {"description": "Anything."},
        },
        "required": ["city"],
    },
    "gemini": {
        "type": "object",
        "properties": {
            "days": {"type": ["integer", "null"], "enum": [1, 2, 3, None]},
            "cities": {"type": "array"},
        },
        "required": ["days"],
    },
    "bounded": {
        "type": "object",
        "properties": {
            "city": {"type": "string", "minLength": 2, "maxLength": 4000, "pattern": "^[A-Z][a-z]{1,500}$"},
            "days": {"type": "array", "items": {"type": "string"}, "maxItems": 2001},
        },
        "required": ["city"],
    },
}
"""What each reduction is there for."""


def schemas(case: Case, name: str) -> Course:
    """Which forms of schemas must be reduced? A reduction that is assumed costs little, so it is not questioned."""
    added: list[SchemaRule] = []
    refused: list[str] = []
    for rule, parameters in SCHEMAS.items():
        if rule in case.assumed.schema:
            continue
        request = _declaring(case, [tool(material.WEATHER, dict(parameters))])
        answer = yield Question(name, request, readers.accepted)
        if answer.verdict is not Verdict.REFUSED:
            continue
        refused.append(f"{_KINDS[rule]} ({answer.words})")
        reduced = {"schema": case.assumed.schema | {rule}}
        answer = yield Question(name, request, readers.accepted, reduced)
        if answer.works:
            added.append(rule)
    assumed = written(case.assumed.schema)
    if not refused:
        return ReportRow(name, "takes all that were tried", assumed, Standing.SAME)
    fields = {"schema": case.assumed.schema.union(added)} if added else {}
    return ReportRow(name, f"refused: {'; '.join(refused)}", assumed, Standing.WORSE, fields)


_KINDS = {
    "inline": "references",
    "moonshot": "unions beside a type",
    "gemini": "lists of types",
    "bounded": "large bounds",
}


def leaks(case: Case, name: str) -> Course:
    """Calls that a model wrote into its text."""
    yield from ()  # the replies so far have shown it
    leaked, assumed = frozenset(case.leaked), case.assumed
    said = "searched" if assumed.markup else "not searched"
    if not leaked:
        return ReportRow(name, "none", said, Standing.SAME)
    seen = f"calls as {written(leaked)}"
    if not assumed.markup:
        return ReportRow(name, seen, said, Standing.WORSE, {"markup": True})
    searched = registry.active(assumed.markup_formats, assumed.markup_without)
    unknown = leaked.difference(format.name for format in searched)
    fields: dict[str, Any] = {}
    if unknown:
        fields["markup_formats"] = assumed.markup_formats | unknown
    if unknown & assumed.markup_without:
        fields["markup_without"] = assumed.markup_without - unknown
    remark = "" if unknown else "The proxy makes real calls of them."
    return ReportRow(name, seen, said, Standing.WORSE if unknown else Standing.SAME, fields, remark)


def numbering(case: Case, name: str) -> Course:
    """What the calls of all replies so far have shown of how they are told apart."""
    yield from ()
    spelling, assumed = case.spelling, case.assumed
    fields: dict[str, Any] = {}
    seen = []
    if spelling.ids_change and assumed.call_identity == "id":
        fields["call_identity"] = "index"
        seen.append("one call has several ids")
    if spelling.other_choices and not assumed.calls_in_other_choices:
        fields["calls_in_other_choices"] = True
        seen.append("calls stand in other choices")
    if spelling.proofs and not assumed.signed_calls:
        fields["signed_calls"] = True
        seen.append("calls carry a proof that is wanted back")
    said = "by their index" if assumed.call_identity == "index" else "by their ids"
    standing = Standing.WORSE if fields else Standing.SAME
    return ReportRow(name, "; ".join(seen) or said, said, standing, fields)


ASPECTS = (
    Aspect("tools", tools, 2),
    Aspect("forced calls", forced, 3, of_tools=True),
    Aspect("one call at a time", parallel, 2, OPENAI | {"anthropic"}, of_tools=True),
    Aspect("strict tools", strict, 1, OPENAI, of_tools=True),
    Aspect("names of tools", names, 1, of_tools=True),
    Aspect("number of tools", many, 1 + len(FEWER), of_tools=True),
    Aspect("schemas of tools", schemas, 2 * len(SCHEMAS), OPENAI, of_tools=True),
)
AT_LAST = (
    Aspect("calls in the text", leaks, 0),
    Aspect("how calls are told apart", numbering, 0, CHAT),
)
