"""Structured output: which formats are enforced, and whether calls survive beside them."""

from collections.abc import Mapping

from proxy.core.examination import material, readers
from proxy.core.examination.aspects import OPENAI, Aspect
from proxy.core.examination.courses import Ladder, Members, Step
from proxy.core.examination.material import ANY_OBJECT, ENFORCED, REQUIRED, WEATHER_TOOL, ask
from proxy.core.examination.question import Case, Course, Question

OBJECTS = OPENAI | {"google"}
"""Dialects that have a form for any object."""


def _formats(case: Case) -> Mapping[str, Question]:
    both = {"formats": frozenset({"json_schema", "json_object"})}
    schema = Question("json_schema", ask(material.SKY, format=ENFORCED), readers.is_enforced, both)
    if case.dialect not in OBJECTS:
        return {"json_schema": schema}
    anything = Question("json_object", ask(material.IN_JSON, format=ANY_OBJECT), readers.is_object, both)
    return {"json_schema": schema, "json_object": anything}


def formats(case: Case, name: str) -> Course:
    return Members("formats", _formats).course(case, name)


def beside_tools(case: Case, name: str) -> Course:
    """Two questions: can a call still be made, and has an answer the form?"""
    if "json_schema" not in case.profile.formats:
        return None
    beside = {"format_with_tools": True}
    steps = []
    if case.profile.force_tool != "auto":
        calling = ask(material.WEATHER_IN_PARIS, tools=[WEATHER_TOOL], choice=REQUIRED, format=ENFORCED)
        steps.append(Question(name, calling, readers.calls(), beside))
    answering = ask(material.SKY, tools=[WEATHER_TOOL], format=ENFORCED)
    steps.append(Question(name, answering, readers.is_enforced, beside))
    ladder = Ladder("format_with_tools", [Step(True, steps), Step(False)])
    return (yield from ladder.course(case, name))


ASPECTS = (
    Aspect("structured output", formats, 2),
    Aspect("structured output beside tools", beside_tools, 2, of_tools=True),
)
