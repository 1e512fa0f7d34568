"""One complaint, in every shape that an error body comes in."""

from typing import Any

from proxy.core import jsontext
from proxy.core.dialects.reading import error_body
from proxy.core.dialects.reading.error_body import ErrorBody
from tests.support.tables import table

SHAPES: list[tuple[str, Any, tuple[str, str, str, str | None, int | None]]] = [
    (
        "OpenAI",
        {"error": {"message": "No.", "type": "t", "param": "p", "code": "c"}},
        ("No.", "c", "t", "p", None),
    ),
    (
        "vLLM",
        {"error": {"message": "No.", "type": "t", "param": None, "code": 400}},
        ("No.", "400", "t", None, 400),
    ),
    (
        "SGLang",
        {"object": "error", "message": "No.", "type": "t", "code": 404},
        ("No.", "404", "t", None, 404),
    ),
    (
        "Ollama",
        {"error": {"message": "No.", "type": "t", "param": None, "code": None}},
        ("No.", "", "t", None, None),
    ),
    (
        "LiteLLM",
        {"error": {"message": "No.", "type": "None", "param": "None", "code": "400"}},
        ("No.", "400", "None", None, 400),
    ),
    (
        "Groq in a stream",
        {"error": {"message": "No.", "type": "t", "code": "c", "status_code": 400}},
        ("No.", "c", "t", None, 400),
    ),
    (
        "TGI in a stream",
        {"error": {"message": "No.", "http_status_code": 422}},
        ("No.", "", "", None, 422),
    ),
    ("LM Studio", {"error": "No."}, ("No.", "", "", None, None)),
    ("xAI", {"code": "c", "error": "No."}, ("No.", "c", "", None, None)),
    ("Cerebras", {"message": "No.", "type": "t", "param": "p", "code": "c"}, ("No.", "c", "t", "p", None)),
    ("TGI", {"error": "No.", "error_type": "validation"}, ("No.", "", "", None, None)),
    ("Z.ai", {"error": {"code": "1214", "message": "No."}}, ("No.", "1214", "", None, None)),
    (
        "MiniMax",
        {"type": "error", "error": {"type": "t", "message": "No.", "http_code": "400"}, "request_id": "r"},
        ("No.", "", "t", None, 400),
    ),
    (
        "MiniMax in a 200",
        {"base_resp": {"status_code": 1008, "status_msg": "No."}},
        ("No.", "", "", None, 402),
    ),
    ("MiniMax unknown", {"base_resp": {"status_code": 77, "status_msg": "No."}}, ("No.", "", "", None, None)),
    ("FastAPI", {"detail": "No."}, ("No.", "", "", None, None)),
    (
        "Mistral",
        {
            "object": "Error",
            "detail": [{"loc": ["body", "messages", 0, "x"], "msg": "Extra", "type": "extra_forbidden"}],
        },
        ("Extra: messages[0].x (extra_forbidden)", "", "extra_forbidden", "messages[0].x", None),
    ),
    (
        "Mistral nested in message",
        {
            "object": "error",
            "message": {"detail": [{"loc": ["x"], "msg": "Extra", "type": "e"}]},
            "type": "t",
            "code": 3230,
        },
        ("Extra: x (e)", "3230", "e", "x", None),
    ),
    (
        "several details",
        {"detail": [{"msg": "a"}, {"msg": "b"}, {"msg": ""}, {"msg": "d"}]},
        ("a; b", "", "", None, None),
    ),
    ("Fireworks", {"fault": {"faultstring": "No."}}, ("No.", "", "", None, None)),
    ("a list", [{"error": {"code": 400, "message": "No."}}], ("No.", "400", "", None, 400)),
    (
        "OpenRouter, raw text",
        {
            "error": {
                "code": 502,
                "message": "Provider returned error",
                "metadata": {"raw": "No.", "provider_name": "x"},
            }
        },
        ("No.", "502", "", None, 502),
    ),
    (
        "OpenRouter, raw JSON",
        {
            "error": {
                "code": 400,
                "message": "Provider returned error",
                "metadata": {"raw": '{"error":{"message":"No.","code":"c","type":"t"}}'},
            }
        },
        ("No.", "c", "t", None, 400),
    ),
    (
        "OpenRouter in a choice",
        {"choices": [{"error": {"code": 502, "message": "No."}}]},
        ("No.", "502", "", None, 502),
    ),
    ("JSON in a string", {"error": '{"message": "No.", "code": 429}'}, ("No.", "429", "", None, 429)),
    ("almost JSON in a string", {"error": "{No.}"}, ("{No.}", "", "", None, None)),
    ("plain text", " No.\n", ("No.", "", "", None, None)),
    ("a web page", "<!DOCTYPE html><html>No.", ("", "", "", None, None)),
    ("no status", {"message": "No.", "status": 200, "code": 99999}, ("No.", "99999", "", None, None)),
    (
        "nonsense",
        {"message": None, "error": True, "code": 1.5, "type": [], "param": 3, "loc": 4},
        ("", "", "", None, None),
    ),
    ("no message", {"error": {"code": "c", "type": "t"}, "detail": None}, ("", "c", "t", None, None)),
    ("an empty list", {"detail": []}, ("", "", "", None, None)),
    ("nothing", None, ("", "", "", None, None)),
    ("a number", 7, ("", "", "", None, None)),
]


@table(("said", "fields"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_shapes(said: Any, fields: tuple[Any, ...]) -> None:
    complaint = error_body.of(said)
    assert (complaint.message, complaint.code, complaint.type, complaint.param, complaint.status) == fields


def test_a_body_is_read_whatever_its_bytes() -> None:
    assert error_body.read(jsontext.dumps({"error": "No."})).message == "No."
    assert error_body.read(b"No\xff.").message == "No\ufffd."
    assert error_body.read(b"") == ErrorBody()


def test_the_words_hold_what_was_said_at_every_level() -> None:
    said = {
        "error": {"message": "OUTER", "code": "C1", "metadata": {"raw": '{"message":"INNER","type":"T2"}'}}
    }
    words = error_body.of(said).words
    assert {"outer", "c1", "inner", "t2"} <= set(words.split())


def test_nesting_has_an_end() -> None:
    said: Any = "No."
    for _ in range(1000):
        said = {"error": said}
    assert error_body.of(said).message == ""


@table(
    "said",
    [
        {"error": {"message": "x"}},
        {"error": "x", "choices": [{}]},
        {"object": "error", "message": "x"},
        {"object": "Error"},
        {"type": "error"},
        {"message": "x"},
        {"detail": "x"},
        {"detail": [{}]},
        {"fault": {"faultstring": "x"}},
        {"base_resp": {"status_code": 1002}, "choices": None},
        {"base_resp": {"status_code": 1027}, "choices": [{}]},
        {"choices": [{}, {"error": {"code": 502}}]},
    ],
)
def test_complaints_are_known(said: Any) -> None:
    assert error_body.is_one(said)


@table(
    "said",
    [
        None,
        [],
        "error",
        {},
        {"error": None},
        {"choices": []},
        {"choices": [{}], "message": "x", "detail": "y", "object": "error"},
        {"choices": [{"error": None}, None]},
        {"choices": [{}], "error": {"message": "", "type": "", "param": "", "code": None}},
        {"choices": "x"},
        {"base_resp": {"status_code": 0}},
        {"base_resp": 7},
        {"type": "message_start", "message": {}},
        {"object": "chat.completion.chunk"},
        {"object": 3},
    ],
)
def test_everything_else_is_none(said: Any) -> None:
    assert not error_body.is_one(said)
