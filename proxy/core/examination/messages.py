"""Which messages a backend takes, in which order, and with what in them."""

from proxy.core.examination import material, readers
from proxy.core.examination.aspects import CHAT, OPENAI, RESPONSES, Aspect
from proxy.core.examination.courses import Ladder, Step
from proxy.core.examination.findings import Answer, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import SHORT, ask, assistant, user, with_calls
from proxy.core.examination.question import Case, Course, Question
from proxy.core.model import Image, Part, Role, Text, Turn

INSTRUCTED = 15
"""Tokens that the instructions have at least."""
TALKED = 25
"""Tokens that a longer conversation with them has more."""

_TRIED = ("download", "fetch", "retriev", "resolv", "connect", "load", "reach", "open url", "dns")
"""Words of a server that has tried to get an image, and failed."""


def system_role(case: Case, name: str) -> Course:
    instructed: Turn = Role.SYSTEM, [material.INSTRUCTIONS]
    steps = [
        Step(
            word,
            [
                Question(
                    name,
                    ask(instructed, material.SKY, limit=SHORT),
                    readers.read_by_model(case, INSTRUCTED),
                    {"system_role": word},
                )
            ],
        )
        for word in ("system", "developer")
    ]
    return Ladder("system_role", steps, alike=True).course(case, name)


def late_system(case: Case, name: str) -> Course:
    request = ask(
        material.SKY,
        assistant(Text("Blue.")),
        (Role.SYSTEM, [material.INSTRUCTIONS]),
        user("And at night?"),
        limit=SHORT,
    )

    def put(value: str) -> Step:
        read = readers.read_by_model(case, TALKED)
        return Step(value, [Question(name, request, read, {"late_system": value, "join_users": True})])

    return Ladder("late_system", [put("keep"), put("user"), put("merge")]).course(case, name)


def neighbours(case: Case, name: str) -> Course:
    apart = Question(
        name, ask(user("Hello."), user(material.SKY), limit=SHORT), readers.accepted, {"join_users": False}
    )
    steps = [Step(False, [apart]), Step(True)]
    if case.assumed.join_users:  # to join them costs nothing, so there is nothing to gain
        steps.reverse()
    return Ladder("join_users", steps, words={True: "joined", False: "apart"}).course(case, name)


def after_tool(case: Case, name: str) -> Course:
    def put(value: str | None) -> Step:
        return Step(
            value,
            [
                Question(
                    name,
                    with_calls(after="Thanks.", choice=case.choice),
                    readers.accepted,
                    {"after_tool": value},
                )
            ],
        )

    words = {None: "directly", "Done.": "behind a word of the assistant"}
    return Ladder("after_tool", [put(None), put("Done.")], alike=True, plainest=True, words=words).course(
        case, name
    )


def images(case: Case, name: str) -> Course:
    def put(value: str, url: str) -> Step:
        request = ask(user(material.SKY, Image(url)), limit=SHORT)
        seen, refused = readers.read_by_model(case, 1), _of_address if value == "any" else None
        return Step(value, [Question(name, request, seen, {"images": value}, refusal=refused)])

    steps = [put("any", material.UNREACHABLE_IMAGE), put("data", material.RED_SQUARE), Step("none")]
    words = {"any": "by address", "data": "within the request", "none": "none"}
    return Ladder("images", steps, words=words).course(case, name)


def _of_address(heard: Heard) -> Answer:
    """A server that could not get the image takes addresses."""
    words = heard.fault.message if heard.fault else ""
    if any(word in words.lower() for word in _TRIED) and not heard.lesson:
        return readers.works(heard, "it tried to get one")
    return Answer(Verdict.REFUSED, words, heard)


def _taken(case: Case, name: str, field: str, part: Part) -> Course:
    question = Question(
        name, ask(user(material.SKY, part), limit=SHORT), readers.read_by_model(case, 1), {field: True}
    )
    return Ladder(field, [Step(True, [question]), Step(False)]).course(case, name)


def files(case: Case, name: str) -> Course:
    return _taken(case, name, "files", material.file())


def audio(case: Case, name: str) -> Course:
    return _taken(case, name, "audio", material.audio())


def call_ids(case: Case, name: str) -> Course:
    ids = {
        "any": material.LONG_ID,
        "word": material.WORD_ID,
        "len40": material.FORTY_ID,
        "alnum9": material.NINE_ID,
    }
    words = {
        "any": "any",
        "word": "64 letters and digits",
        "len40": "40 characters",
        "alnum9": "9 letters and digits",
    }

    def put(form: str) -> Step:
        request = with_calls(call_id=ids[form], choice=case.choice)
        return Step(form, [Question(name, request, readers.accepted, {"call_id": form})])

    steps = [put(form) for form in ids]
    alike = case.dialect in RESPONSES  # longer ones are taken there, and nobody gains by them
    return Ladder("call_id", steps, alike, plainest=True, words=words).course(case, name)


def orphans(case: Case, name: str) -> Course:
    """Agents that shorten their conversation send its calls, and no tools."""

    def put(value: str) -> Step:
        return Step(
            value, [Question(name, with_calls(tools=False), readers.accepted, {"orphan_tools": value})]
        )

    words = {"keep": "as they are", "declare": "beside a tool that does nothing", "flatten": "as text"}
    steps = [put("keep"), put("declare"), put("flatten")]
    ladder = Ladder("orphan_tools", steps, alike=True, plainest=True, words=words)
    return (yield from ladder.course(case, name))


def media_results(case: Case, name: str) -> Course:
    """May a tool show something, or must the user show it for the tool?"""
    if case.profile.images == "none":
        return None
    plain = yield Question(name, with_calls(choice=case.choice), readers.accepted)
    shown = with_calls(result=[Image(material.RED_SQUARE)], choice=case.choice)
    read = readers.read_beyond(plain.heard.input_tokens, 1)
    steps = [Step(True, [Question(name, shown, read, {"media_results": True})]), Step(False)]
    return (yield from Ladder("media_results", steps).course(case, name))


ASPECTS = (
    Aspect("word for instructions", system_role, 2, CHAT),
    Aspect("late instructions", late_system, 3, OPENAI | {"anthropic"}),
    Aspect("neighbouring user messages", neighbours, 1, OPENAI),
    Aspect("images", images, 2, OPENAI | {"google"}),
    Aspect("files", files, 1, OPENAI),
    Aspect("sound", audio, 1, CHAT | {"google"}),
)
OF_CALLS = (
    Aspect("user after a result", after_tool, 2, OPENAI, of_tools=True),
    Aspect("call ids", call_ids, 4, OPENAI | {"anthropic"}, of_tools=True),
    Aspect("calls without tools", orphans, 3, OPENAI | {"anthropic"}, of_tools=True),
    Aspect("media in results", media_results, 2, RESPONSES, of_tools=True),
)
"""They come later, because they need to know of tools."""
