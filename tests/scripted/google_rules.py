"""What Gemini refuses, so that no test passes with a request that the real one would answer with 400.

Fields may be written in camelCase or in snake_case, as there; whatever is not listed is unknown. Objects of the
client's own (arguments, results, schemas) are never renamed.
"""

import re
from base64 import b64decode, urlsafe_b64decode
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

Fields = dict[str, Any]
Check = Callable[[Any, str], Any]

PATH = re.compile(
    r"/v1(?:beta|alpha)?/models/(?P<model>[^/:]+):(?P<method>generateContent|streamGenerateContent)"
)
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
MAX_DECLARED = 512
MAX_STOPS = 5
MODES = {"AUTO", "ANY", "NONE", "VALIDATED"}
LEVELS = {"MINIMAL", "LOW", "MEDIUM", "HIGH", "XHIGH"}
TYPES = {"string", "number", "integer", "boolean", "array", "object", "null"}
MEDIA_IN_RESULTS = {"image/png", "image/jpeg", "image/webp", "application/pdf", "text/plain"}
SKIP = "skip_thought_signature_validator"

OLD = re.compile(r"gemini-(?:1|2)|gemma")
"""Before the third generation."""
WITHOUT_THINKING = re.compile(r"image|gemini-(?:1|2\.0)|gemma")
WITHOUT_MINIMAL = re.compile(r"gemini-3\.[78]-flash|gemini-4|gemini-3(?:\.\d+)?-pro|flash-latest")
WITHOUT_MEDIUM = re.compile(r"gemini-3-pro-preview")


def refuse(path: str, headers: Mapping[str, str], body: Any) -> None:
    """AssertionError, in words, for what Gemini would refuse or misunderstand."""
    url = urlsplit(path)
    found = PATH.fullmatch(url.path)
    assert found, f"no such path: {url.path}"
    query = dict(parse_qsl(url.query))
    assert "key" not in query, "the key stands in the URL, and so in logs"
    assert (found["method"] == "streamGenerateContent") == (query == {"alt": "sse"}), f"query {query}"
    assert "authorization" not in headers, "the key is in the form of another API"
    assert headers["content-type"] == "application/json"
    refuse_body(body, unquote(found["model"]))


def refuse_body(body: Any, model: str) -> None:
    asked = _object(body, "the request", BODY, needs={"contents"})
    assert asked["contents"], "contents is empty"
    _order(asked["contents"])
    declared = [one["name"] for tool in asked.get("tools", ()) for one in tool["functionDeclarations"]]
    assert len(declared) <= MAX_DECLARED, "too many declarations"
    assert len(set(declared)) == len(declared), f"two functions of one name: {declared}"
    _choice(asked.get("toolConfig"), declared)
    _for_model(asked, model, bool(declared))


# ── objects ──


def _camel(name: str) -> str:
    head, *rest = name.split("_")
    return head + "".join(word.capitalize() for word in rest)


def _object(value: Any, place: str, fields: Mapping[str, Check], needs: set[str] | None = None) -> Fields:
    """Its fields under their camelCase names, each checked; nothing unknown, nothing null."""
    assert isinstance(value, dict), f"{place} is not an object"
    named = {_camel(name): inner for name, inner in value.items()}
    assert len(named) == len(value), f"{place} has a field in both spellings"
    unknown = named.keys() - fields.keys()
    assert not unknown, f'Invalid JSON payload received. Unknown name "{min(unknown)}" at {place}'
    missing = (needs or set()) - named.keys()
    assert not missing, f"{place} lacks {missing}"
    return {name: fields[name](inner, f"{place}.{name}") for name, inner in named.items()}


def _of(kind: type | tuple[type, ...]) -> Check:
    def check(value: Any, place: str) -> Any:
        assert isinstance(value, kind), f"{place} is of the wrong type: {value!r}"
        assert kind is bool or not isinstance(value, bool) or bool in _kinds(kind), f"{place} is a boolean"
        return value

    return check


def _kinds(kind: type | tuple[type, ...]) -> tuple[type, ...]:
    return kind if isinstance(kind, tuple) else (kind,)


def _between(low: float, high: float) -> Check:
    def check(value: Any, place: str) -> Any:
        _number(value, place)
        assert low <= value <= high, f"{place} is {value}, not between {low} and {high}"
        return value

    return check


def _one_of(words: set[str]) -> Check:
    def check(value: Any, place: str) -> Any:
        assert value in words, f"{place} is {value!r}, not one of {sorted(words)}"
        return value

    return check


def _list(of: Check) -> Check:
    def check(value: Any, place: str) -> Any:
        assert isinstance(value, list), f"{place} is not a list"
        assert value, f"{place} is empty"
        return [of(inner, f"{place}[{index}]") for index, inner in enumerate(value)]

    return check


def _fields(fields: Mapping[str, Check], *needs: str) -> Check:
    return lambda value, place: _object(value, place, fields, set(needs))


_text, _flag, _number, _integer = _of(str), _of(bool), _of((int, float)), _of(int)


def _word(value: Any, place: str) -> str:
    assert _text(value, place), f"{place} is empty"
    return str(value)


def _name(value: Any, place: str) -> str:
    assert NAME.fullmatch(_text(value, place)), f"{place} is no name of a function: {value!r}"
    return str(value)


def _base64(value: Any, place: str) -> str:
    assert b64decode(_word(value, place), validate=True), f"{place} holds nothing"
    return str(value)


def _signature(value: Any, place: str) -> str:
    """Bytes, and as those of any field of this API in either alphabet of base64."""
    assert urlsafe_b64decode(_word(value, place).replace("+", "-").replace("/", "_")), (
        f"{place} holds nothing"
    )
    return str(value)


# ── contents ──


def _response_body(value: Any, place: str) -> Any:
    assert isinstance(value, dict), f"{place} is not an object"
    assert not _has_key(value, "$ref"), f"{place}: a reference to a part that is not there"
    return value


def _has_key(value: Any, key: str) -> bool:
    match value:
        case dict():
            return key in value or any(_has_key(inner, key) for inner in value.values())
        case list():
            return any(_has_key(inner, key) for inner in value)
        case _:
            return False


BLOB = _fields({"mimeType": _word, "data": _base64}, "mimeType", "data")
FILE = _fields({"mimeType": _word, "fileUri": _word}, "fileUri")
CALL = _fields({"id": _word, "name": _name, "args": _of(dict)}, "name")
RESPONSE = _fields(
    {
        "id": _word,
        "name": _name,
        "response": _response_body,
        "parts": _list(_fields({"inlineData": BLOB}, "inlineData")),
    },
    "name",
    "response",
)
DATA = {
    "text": _text,
    "inlineData": BLOB,
    "fileData": FILE,
    "functionCall": CALL,
    "functionResponse": RESPONSE,
}
PART = DATA | {"thought": _flag, "thoughtSignature": _signature}


def _part(value: Any, place: str) -> Fields:
    part = _object(value, place, PART)
    held = part.keys() & DATA.keys()
    assert len(held) == 1, f"{place} must have one data field, not {sorted(held)}"
    assert part.get("text", "x") or "thoughtSignature" in part, f"{place} is empty"
    return part


CONTENT = _fields({"role": _one_of({"user", "model"}), "parts": _list(_part)}, "role", "parts")


def _instruction(value: Any, place: str) -> Fields:
    content = _object(value, place, {"parts": _list(_part), "role": _text}, {"parts"})
    assert all(part.keys() == {"text"} for part in content["parts"]), f"{place} holds more than text"
    return content


def _order(contents: list[Fields]) -> None:
    assert contents[0]["role"] == "user", "the conversation must begin with a user turn"
    assert contents[-1]["role"] == "user", "the conversation must end with a user turn"
    for content in contents:
        kinds = {"functionResponse" in part for part in content["parts"]}
        assert kinds != {True, False}, "a function response turn holds something else"
        assert kinds == {False} or content["role"] == "user", "a function response of the model"
        assert not (_calls(content) and content["role"] == "user"), "a function call of the user"
        assert content["role"] == "model" or not any(
            "thoughtSignature" in part or "thought" in part for part in content["parts"]
        ), "a thought of the user"
    assert not _responses(contents[0]), (
        "a function response turn comes immediately after a function call turn"
    )
    for before, after in pairwise(contents):
        if _calls(after):
            assert before["role"] == "user", (
                "a function call turn comes immediately after a user turn or after a function response turn"
            )
        called, answered = _calls(before), _responses(after)
        assert len(called) == len(answered), (
            "the number of function response parts is equal to the number of function call parts"
        )
        assert [one["name"] for one in called] == [one["name"] for one in answered], "names or order differ"
        assert [one.get("id") for one in called] == [one.get("id") for one in answered], "ids or order differ"
    ids = [one["id"] for content in contents for one in _calls(content) if "id" in one]
    assert len(set(ids)) == len(ids), f"two calls of one id: {ids}"


def _calls(content: Fields) -> list[Fields]:
    return [part["functionCall"] for part in content["parts"] if "functionCall" in part]


def _responses(content: Fields) -> list[Fields]:
    return [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]


# ── tools ──


def _json_schema(value: Any, place: str) -> Any:
    assert isinstance(value, dict), f"{place} is not an object"
    assert value.get("type") == "object", f"{place} does not describe an object"
    return value


def _map_of_schemas(value: Any, place: str) -> Any:
    assert isinstance(value, dict), f"{place} is not an object"
    for name, inner in value.items():
        _schema(inner, f"{place}.{name}")
    return value


def _schema(value: Any, place: str) -> Fields:
    schema = _object(value, place, SCHEMA)
    assert schema.get("type") != "array" or "items" in schema, f"{place}.items: missing field"
    return schema


def _type(value: Any, place: str) -> str:
    assert _text(value, place).lower() in TYPES, f"{place} is no type: {value!r}"
    return str(value)


def _anything(value: Any, place: str) -> Any:
    return value


SCHEMA: dict[str, Check] = {
    "type": _type,
    "nullable": _flag,
    "anyOf": _list(lambda value, place: _schema(value, place)),
    "enum": _list(_word),
    "format": _text,
    "title": _text,
    "description": _text,
    "default": _anything,
    "example": _anything,
    "items": lambda value, place: _schema(value, place),
    "minItems": _integer,
    "maxItems": _integer,
    "minLength": _integer,
    "maxLength": _integer,
    "pattern": _text,
    "minProperties": _integer,
    "maxProperties": _integer,
    "minimum": _number,
    "maximum": _number,
    "properties": _map_of_schemas,
    "propertyOrdering": _list(_word),
    "required": _list(_word),
}
"""The older form: a subset of OpenAPI."""


def _parameters(value: Any, place: str) -> Fields:
    schema = _schema(value, place)
    assert schema.get("properties"), f"{place}.properties: should be non-empty for OBJECT type"
    return schema


def _declaration(value: Any, place: str) -> Fields:
    fields = {
        "name": _name,
        "description": _word,
        "parameters": _parameters,
        "parametersJsonSchema": _json_schema,
    }
    declared = _object(value, place, fields, {"name"})
    assert not declared.keys() >= {"parameters", "parametersJsonSchema"}, f"{place} has two schemas"
    return declared


CALLING = _fields({"mode": _one_of(MODES), "allowedFunctionNames": _list(_name)}, "mode")


def _choice(config: Fields | None, declared: list[str]) -> None:
    if config is None:
        return
    assert declared, "Function calling config is set without function_declarations."
    calling = config["functionCallingConfig"]
    if allowed := calling.get("allowedFunctionNames"):
        assert calling["mode"] in ("ANY", "VALIDATED"), "names are allowed where nothing is restricted"
        assert set(allowed) <= set(declared), "allowed, but not declared"


# ── generation ──

THINKING = _fields(
    {"thinkingLevel": _one_of(LEVELS), "thinkingBudget": _between(-1, 32768), "includeThoughts": _flag}
)
GENERATION: dict[str, Check] = {
    "temperature": _between(0, 2),
    "topP": _between(0, 1),
    "topK": _number,
    "maxOutputTokens": _between(1, 2**31 - 1),
    "stopSequences": _list(_word),
    "seed": _between(-(2**31), 2**31 - 1),
    "presencePenalty": _between(-2, 2),
    "frequencyPenalty": _between(-2, 2),
    "responseLogprobs": _flag,
    "logprobs": _between(0, 20),
    "candidateCount": _between(1, 1),
    "responseMimeType": _one_of({"application/json", "text/plain"}),
    "responseJsonSchema": _of(dict),
    "responseSchema": _schema,
    "thinkingConfig": THINKING,
}
BODY: dict[str, Check] = {
    "contents": _list(CONTENT),
    "systemInstruction": _instruction,
    "tools": _list(_fields({"functionDeclarations": _list(_declaration)}, "functionDeclarations")),
    "toolConfig": _fields({"functionCallingConfig": CALLING}, "functionCallingConfig"),
    "generationConfig": lambda value, place: _generation(value, place),
    "safetySettings": _of(list),
    "cachedContent": _word,
    "serviceTier": _word,
}


def _generation(value: Any, place: str) -> Fields:
    config = _object(value, place, GENERATION)
    assert len(config.get("stopSequences", ())) <= MAX_STOPS, "too many stop sequences"
    assert "logprobs" not in config or config.get("responseLogprobs"), "logprobs without responseLogprobs"
    schemas = config.keys() & {"responseJsonSchema", "responseSchema"}
    assert len(schemas) < 2, "two schemas for the response"
    assert not schemas or config.get("responseMimeType") == "application/json", "a schema, but no JSON"
    return config


# ── what hangs on the model ──


def _for_model(asked: Fields, model: str, declared: bool) -> None:
    config = asked.get("generationConfig", {})
    old = OLD.search(model)
    if "cachedContent" in asked:
        assert not asked.keys() & {"systemInstruction", "tools", "toolConfig"}, "a cache holds these itself"
    assert "gemma" not in model or "systemInstruction" not in asked, "Developer instruction is not enabled"
    if declared and old:
        assert config.get("responseMimeType") != "application/json", (
            "Function calling with a response mime type: 'application/json' is unsupported"
        )
    if old:
        media = [one for content in asked["contents"] for one in _responses(content) if "parts" in one]
        assert not media, "an image inside a function response"
    else:
        _signatures(asked["contents"])
        for content in asked["contents"]:
            for one in _responses(content):
                kinds = {part["inlineData"]["mimeType"] for part in one.get("parts", ())}
                assert kinds <= MEDIA_IN_RESULTS, f"{kinds} inside a function response"
    if thinking := config.get("thinkingConfig"):
        _thinking(thinking, model)


def _thinking(config: Fields, model: str) -> None:
    assert not WITHOUT_THINKING.search(model), f"thinking is not supported by {model}"
    assert not config.keys() >= {"thinkingLevel", "thinkingBudget"}, "a thinking level and a budget"
    level, budget = config.get("thinkingLevel"), config.get("thinkingBudget")
    assert level is None or "gemini-2" not in model, "Thinking level is not supported for this model."
    assert level != "MINIMAL" or not WITHOUT_MINIMAL.search(model), "Thinking level MINIMAL is not supported"
    assert level != "MEDIUM" or not WITHOUT_MEDIUM.search(model), "Thinking level MEDIUM is not supported"
    assert budget != 0 or "2.5-pro" not in model, (
        "Budget 0 is invalid. This model only works in thinking mode."
    )
    assert budget != 0 or not config.get("includeThoughts"), "thoughts without thinking"


def _signatures(contents: list[Fields]) -> None:
    """In the current turn, which begins where the user last said something."""
    spoken = [place for place, one in enumerate(contents) if one["role"] == "user" and not _responses(one)]
    for place, content in enumerate(contents[spoken[-1] :], spoken[-1]):
        first = next((part for part in content["parts"] if "functionCall" in part), None)
        assert first is None or "thoughtSignature" in first, (
            f"Function call is missing a thought_signature in functionCall parts, position {place}"
        )
