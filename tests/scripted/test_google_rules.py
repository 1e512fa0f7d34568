"""The strict Gemini refuses every single thing that the real one does; what is right passes in either spelling."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.scripted.google_rules import refuse, refuse_body

NEW, OLD = "gemini-3.5-flash", "gemini-2.5-flash"
PATH = f"/v1beta/models/{NEW}:streamGenerateContent?alt=sse"
HEADERS = {"content-type": "application/json", "x-goog-api-key": "k"}
BLOB = {"inlineData": {"mimeType": "image/png", "data": "QUJD"}}


def right() -> dict[str, Any]:
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "Hi"}, BLOB]},
            {
                "role": "model",
                "parts": [
                    {"text": "Both."},
                    {"functionCall": {"id": "a", "name": "f", "args": {}}, "thoughtSignature": "U0lH"},
                    {"functionCall": {"id": "b", "name": "g"}},
                ],
            },
            {
                "role": "user",
                "parts": [
                    {
                        "functionResponse": {
                            "id": "a",
                            "name": "f",
                            "response": {"output": 1},
                            "parts": [BLOB],
                        }
                    },
                    {"functionResponse": {"id": "b", "name": "g", "response": {"error": "no"}}},
                ],
            },
        ],
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "f", "parametersJsonSchema": {"type": "object", "oneOf": []}},
                    {
                        "name": "g",
                        "description": "G.",
                        "parameters": {
                            "type": "OBJECT",
                            "properties": {
                                "a": {"type": "array", "items": {"type": "string", "enum": ["x"]}}
                            },
                            "required": ["a"],
                        },
                    },
                ]
            }
        ],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["f"]}},
        "generationConfig": {
            "temperature": 1,
            "stopSequences": ["x"],
            "responseMimeType": "application/json",
            "responseJsonSchema": {},
            "thinkingConfig": {"thinkingLevel": "LOW", "includeThoughts": True},
        },
    }


def test_a_right_request_passes() -> None:
    refuse(PATH, HEADERS, right())
    refuse(f"/v1/models/{NEW}:generateContent", HEADERS, right())


def test_both_spellings_are_understood_also_mixed() -> None:
    body = right()
    body["system_instruction"] = body.pop("systemInstruction")
    body["tools"][0]["function_declarations"] = body["tools"][0].pop("functionDeclarations")
    body["contents"][2]["parts"][0] = {
        "function_response": body["contents"][2]["parts"][0]["functionResponse"]
    }
    body["contents"][1]["parts"][1]["thought_signature"] = body["contents"][1]["parts"][1].pop(
        "thoughtSignature"
    )
    refuse_body(body, NEW)


def put(*path: Any, value: Any) -> Callable[[Any], None]:
    def change(body: Any) -> None:
        for step in path[:-1]:
            body = body[step]
        body[path[-1]] = value

    return change


def remove(*path: Any) -> Callable[[Any], None]:
    def change(body: Any) -> None:
        for step in path[:-1]:
            body = body[step]
        del body[path[-1]]

    return change


CALL, ANSWER = ("contents", 1, "parts", 1), ("contents", 2, "parts", 0)
DECLARED = ("tools", 0, "functionDeclarations")
CONFIG = ("generationConfig",)
USER = {"role": "user", "parts": [{"text": "x"}]}
MODEL = {"role": "model", "parts": [{"text": "x"}]}


def _by_model(body: Any) -> Any:
    return {**body["contents"].pop(), "role": "model"}


WRONG: list[tuple[str, Callable[[Any], None]]] = [
    ("lacks {'contents'}", remove("contents")),
    ("is empty", put("contents", value=[])),
    ('Unknown name "model"', put("model", value=NEW)),
    ("both spellings", put("tool_config", value={})),
    ("not one of", put("contents", 0, "role", value="assistant")),
    ("is empty", put("contents", 0, "parts", value=[])),
    ("is empty", put("contents", 0, "parts", 0, value={"text": ""})),
    ("one data field", put("contents", 0, "parts", 0, value={"thoughtSignature": "U0lH"})),
    ("one data field", put("contents", 0, "parts", 0, value={"text": "x", **BLOB})),
    ("wrong type", put("contents", 0, "parts", 0, value={"text": None})),
    ("Incorrect padding|Invalid base64", put("contents", 0, "parts", 1, "inlineData", "data", value="QUJ")),
    ("begin with a user", put("contents", 0, value=MODEL)),
    ("end with a user", lambda body: body["contents"].append(MODEL)),
    ("immediately after a user turn", lambda body: body["contents"].insert(1, MODEL)),
    ("number of function response parts", lambda body: body["contents"].insert(2, USER)),
    ("number of function response parts", lambda body: body["contents"][2]["parts"].pop()),
    ("something else", lambda body: body["contents"][2]["parts"].append({"text": "x"})),
    ("names or order", lambda body: body["contents"][2]["parts"].reverse()),
    ("ids or order", put(*ANSWER, "functionResponse", "id", value="c")),
    ("ids or order", remove(*ANSWER, "functionResponse", "id")),
    ("no name of a function", put(*ANSWER, "functionResponse", "name", value="")),
    ("no name of a function", put(*DECLARED, 0, "name", value="3d")),
    ("reference to a part", put(*ANSWER, "functionResponse", "response", value={"output": [{"$ref": "x"}]})),
    ("not an object", put(*ANSWER, "functionResponse", "response", value="ok")),
    ("wrong type", put(*CALL, "functionCall", "args", value="{}")),
    ("missing a thought_signature", remove(*CALL, "thoughtSignature")),
    ("a function call of the user", put("contents", 1, "role", value="user")),
    ("a function response of the model", lambda body: body["contents"].extend([_by_model(body), USER])),
    ("a thought of the user", put("contents", 0, "parts", 0, "thought", value=True)),
    ("more than text", put("systemInstruction", "parts", 0, value=BLOB)),
    ("two functions of one name", put(*DECLARED, 1, "name", value="f")),
    ("two schemas", put(*DECLARED, 1, "parametersJsonSchema", value={"type": "object"})),
    ("does not describe an object", put(*DECLARED, 0, "parametersJsonSchema", value={})),
    ('Unknown name "\\$schema"', put(*DECLARED, 1, "parameters", "$schema", value="x")),
    ('Unknown name "const"', put(*DECLARED, 1, "parameters", "properties", "a", value={"const": 1})),
    ("missing field", remove(*DECLARED, 1, "parameters", "properties", "a", "items")),
    ("wrong type", put(*DECLARED, 1, "parameters", "properties", "a", "items", "enum", value=[1])),
    ("should be non-empty", put(*DECLARED, 1, "parameters", "properties", value={})),
    ("without function_declarations", remove("tools")),
    ("nothing is restricted", put("toolConfig", "functionCallingConfig", "mode", value="AUTO")),
    ("not declared", put("toolConfig", "functionCallingConfig", "allowedFunctionNames", value=["h"])),
    ("not one of", put("toolConfig", "functionCallingConfig", "mode", value="any")),
    ("not between", put(*CONFIG, "temperature", value=2.5)),
    ("is a boolean", put(*CONFIG, "temperature", value=True)),
    ('Unknown name "maxTokens"', put(*CONFIG, "maxTokens", value=5)),
    ("too many stop", put(*CONFIG, "stopSequences", value=list("abcdef"))),
    ("without responseLogprobs", put(*CONFIG, "logprobs", value=3)),
    ("no JSON", remove(*CONFIG, "responseMimeType")),
    ("two schemas", put(*CONFIG, "responseSchema", value={"type": "object"})),
    ("a level and a budget|level and a budget", put(*CONFIG, "thinkingConfig", "thinkingBudget", value=5)),
    ("a cache holds", put("cachedContent", value="cachedContents/x")),
]


@pytest.mark.parametrize(
    ("words", "change"), WRONG, ids=[f"{n}-{words[:20]}" for n, (words, _) in enumerate(WRONG)]
)
def test_what_is_wrong_is_refused(words: str, change: Callable[[Any], None]) -> None:
    body = deepcopy(right())
    change(body)
    with pytest.raises((AssertionError, ValueError), match=words):
        refuse_body(body, NEW)


THINKING = ("generationConfig", "thinkingConfig")
IMAGE = (*ANSWER, "functionResponse", "parts", 0, "inlineData", "mimeType")
OF_A_MODEL: list[tuple[str, str, Callable[[Any], None]]] = [
    ("gemini-2.5-flash", "response mime type", lambda body: None),
    ("gemini-2.5-flash", "inside a function response", remove("generationConfig")),
    ("gemini-2.5-flash", "Thinking level is not", put(*THINKING, value={"thinkingLevel": "LOW"})),
    ("gemini-2.5-pro", "Budget 0", put(*THINKING, value={"thinkingBudget": 0})),
    ("gemini-2.5-flash", "thoughts without", put(*THINKING, value={"thinkingBudget": 0, "includeThoughts": True})),
    ("gemini-2.0-flash", "not supported by", lambda body: None),
    ("gemini-3.7-flash", "MINIMAL", put(*THINKING, "thinkingLevel", value="MINIMAL")),
    ("gemini-3-pro-preview", "MEDIUM", put(*THINKING, "thinkingLevel", value="MEDIUM")),
    ("gemini-3.5-flash", "inside a function response", put(*IMAGE, value="image/gif")),
    ("gemma-3-27b-it", "Developer instruction", lambda body: None),
]  # fmt: skip


@pytest.mark.parametrize(("model", "words", "change"), OF_A_MODEL)
def test_what_one_model_does_not_take(model: str, words: str, change: Callable[[Any], None]) -> None:
    body = deepcopy(right())
    if words in ("Thinking level is not", "Budget 0", "thoughts without", "not supported by"):
        for field in ("tools", "toolConfig"):
            del body[field]
        body["contents"] = [USER]
    change(body)
    with pytest.raises(AssertionError, match=words):
        refuse_body(body, model)


@pytest.mark.parametrize(
    ("words", "path", "headers"),
    [
        ("no such path", "/v1beta/chat/completions", {}),
        ("no such path", "/v1beta/models/a/b:generateContent", {}),
        ("query", PATH.partition("?")[0], {}),
        ("query", f"/v1beta/models/{NEW}:generateContent?alt=sse", {}),
        ("the key stands in the URL", f"{PATH}&key=k", {}),
        ("form of another API", PATH, {"authorization": "Bearer k"}),
    ],
)
def test_where_and_how_it_is_asked(words: str, path: str, headers: dict[str, str]) -> None:
    with pytest.raises(AssertionError, match=words):
        refuse(path, HEADERS | headers, right())
