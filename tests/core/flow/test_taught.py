"""What is taught in one language is known in the other; and an endpoint that is missing teaches to ask at the other."""

from dataclasses import replace
from typing import Any

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.dialects.reading import lessons
from proxy.core.dialects.reading.lessons import Lesson
from proxy.core.flow.request import Preparation, prepared_for
from proxy.core.flow.taught import as_taught, lesson_in, lessons_of, other_endpoint
from proxy.core.ledger import Ledger
from proxy.core.model import Request, ToolName, ToolSpec
from proxy.core.model import Role as R
from tests.support.tables import table

OPENAI = replace(PROFILES["openai"], thinks_beside_tools=False)
CALLING = Request("gpt-5.6", [(R.USER, ["Hi"])], tools=[ToolSpec(ToolName("f"))])
URL = "http://b.test/v1/chat/completions"


def prepared(**changes: Any) -> Preparation:
    target = Target("b", "http://b.test/v1", replace(OPENAI, **changes))
    return prepared_for(CALLING, target, "gpt-5.6", URL, Ledger())


def test_each_language_has_its_endpoint() -> None:
    assert prepared().post.url == "http://b.test/v1/responses"
    assert prepared(wire="chat").post.url == URL
    assert prepared().url == prepared(wire="chat").url == URL


def test_a_lesson_changes_the_profile_of_the_model() -> None:
    """In Responses it was learned, and the model is asked in Chat tomorrow."""
    preparation = prepared()
    assert preparation.profile.dialect == "responses"
    lesson = Lesson("x", replace(preparation.profile, tuning=frozenset({"top_p"}), summaries=True))
    assert as_taught(preparation, lesson).profile == replace(
        OPENAI, tuning=frozenset({"top_p"}), summaries=True
    )


@table(
    ("changes", "status", "words", "wire"),
    [
        ({}, 404, b"404 page not found", "chat"),
        ({}, 404, b'{"detail":"Not Found"}', "chat"),
        ({}, 404, b"", "chat"),
        ({}, 405, b"", "chat"),
        ({}, 501, b'{"error":{"message":"not implemented"}}', "chat"),
        ({}, 404, b'{"error":{"message":"The model x does not exist","code":"model_not_found"}}', None),
        ({}, 400, b"404 page not found", None),
        ({"wire": "responses"}, 404, b"404 page not found", None),
        ({"wire": "chat"}, 404, b"404 page not found", None),
        ({"thinks_beside_tools": True}, 404, b"404 page not found", "responses"),
    ],
)
def test_a_missing_endpoint(changes: dict[str, Any], status: int, words: bytes, wire: str | None) -> None:
    lesson = other_endpoint(prepared(**changes), status, {}, words, [(Lesson("x", OPENAI), OPENAI)])
    assert (lesson and lesson.profile.wire) == wire
    assert other_endpoint(prepared(**changes), status, {}, words, [(Lesson("wire", OPENAI), OPENAI)]) is None


def test_a_counter_is_no_endpoint() -> None:
    assert other_endpoint(replace(prepared(), counter=object()), 405, {}, b"", []) is None  # type: ignore[arg-type]


def test_where_a_model_is_not_found_only_its_language_can_be_learned() -> None:
    assert {row.name for row in lessons_of(OPENAI, 404)} == {"wire"}
    assert len(lessons_of(OPENAI, 400)) > 10


def test_a_refusal_teaches_by_its_words_or_puts_a_supposition_in_doubt() -> None:
    asked = prepared(wire="chat", replay="reasoning_content", replay_by_evidence=True)
    told = lesson_in(asked, 400, "Unknown parameter: 'stream_options'.", [])
    assert told is not None
    assert told.profile.usage == "never"
    for status, learned in ((404, []), (400, ["evidence"])):
        assert lesson_in(asked, status, "Go away.", learned) is None
    assert lesson_in(asked, 400, "Go away.", []) == lessons.without_evidence(asked.profile)
