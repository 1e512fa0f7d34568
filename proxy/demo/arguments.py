"""Values that satisfy a JSON schema, made from what a prompt says: tool arguments, and structured answers.

Covers what people write by hand and what SDKs generate. The common keywords it does not obey are `pattern`,
`uniqueItems` and `not`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from jsonschema import Draft202012Validator

from proxy.demo.prompt import Prompt, words

Schema = dict[str, Any]

MAX_DEPTH = 4
"""A schema may contain itself. Below this depth what may be null or empty is."""
HOPELESS_DEPTH = 32
"""And it may be impossible to satisfy. Below this depth it is no longer obeyed."""
MAX_SIZE = 10_000
"""Of a string or a list, whatever its least size is said to be."""

# Properties whose meaning is known by their name. What a client might execute is harmless.
BY_NAME: dict[str, str] = {
    "cmd": "echo hello from the demo model",
    "command": "echo hello from the demo model",
    "code": "print('hello from the demo model')",
    "script": "echo hello from the demo model",
    "input": "hello from the demo model",
    "unit": "celsius",
    "units": "metric",
    "language": "en",
    "path": "README.md",
    "file": "README.md",
    "filename": "README.md",
    "cwd": ".",
    "workdir": ".",
}
WANTS_THE_PROMPT = frozenset({"query", "question", "prompt", "text", "message", "expression", "q"})
BY_FORMAT = {
    "date": "2025-01-31",
    "time": "12:00:00Z",
    "date-time": "2025-01-31T12:00:00Z",
    "duration": "PT1H",
    "email": "demo@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
PLAIN_WORD = "demo"


class Filler:
    """Makes one value. Subjects and numbers of the prompt are spent in the order in which the schema wants them."""

    def __init__(
        self, root: Schema, prompt: Prompt, subjects: Sequence[str], known: Mapping[str, Any] | None = None
    ) -> None:
        self.root = root
        self.prompt = prompt
        self.subjects = subjects
        self.spent = 0
        """How many of the subjects are used up."""
        self.known = known or {}
        """Values by property name, for example from a tool's result; used where the schema allows them."""
        self.numbers = iter(prompt.numbers)

    def fill(self) -> Any:
        return self.value(self.root, "", 0)

    def value(self, schema: Any, name: str, depth: int) -> Any:
        schema = self.resolved(schema, depth)
        if name in self.known and self.allows(schema, self.known[name]):
            return self.known[name]
        if "const" in schema:
            return schema["const"]
        if "enum" in schema:
            return self.mentioned(schema) or next(iter(schema["enum"]), None)
        if "default" in schema:
            return schema["default"]
        return MAKERS[kind(schema)](self, schema, name, depth)

    # ── reading the schema ─────────────────────────────────────────────────────────────────────────────────────

    def resolved(self, schema: Any, depth: int) -> Schema:
        """The same schema without references and alternatives; what satisfies this satisfies that."""
        if not isinstance(schema, dict) or depth > HOPELESS_DEPTH:
            return {}
        if "$ref" in schema:
            return self.resolved(self.target(schema["$ref"]) | without(schema, "$ref"), depth + 1)
        for keyword in ("anyOf", "oneOf"):
            if keyword in schema:
                branch = min(schema[keyword], key=lambda branch: is_null(branch) != (depth >= MAX_DEPTH))
                return merged(without(schema, keyword), self.resolved(branch, depth + 1))
        if "allOf" in schema:
            whole = without(schema, "allOf")
            for part in schema["allOf"]:
                whole = merged(whole, self.resolved(part, depth + 1))
            return whole
        return schema

    def target(self, reference: str) -> Schema:
        found: Any = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return dict(found) if isinstance(found, dict) and reference.startswith("#") else {}

    def allows(self, schema: Schema, value: Any) -> bool:
        return bool(Draft202012Validator({"$defs": self.root.get("$defs", {}), **schema}).is_valid(value))

    def mentioned(self, schema: Schema) -> Any:
        """The first of the schema's values that the prompt names."""
        return next((value for value in schema.get("enum", ()) if self.prompt.says(*words(str(value)))), None)

    # ── making values ──────────────────────────────────────────────────────────────────────────────────────────

    def an_object(self, schema: Schema, name: str, depth: int) -> dict[str, Any]:
        properties = schema.get("properties", {})
        wanted = set(schema.get("required", ())) or set(list(properties)[:1])
        wanted |= {key for key, value in properties.items() if self.mentioned(self.resolved(value, depth))}
        return {
            key: self.value(properties.get(key, {}), key, depth + 1)
            for key in [*properties, *(key for key in schema.get("required", ()) if key not in properties)]
            if key in wanted
        }

    def an_array(self, schema: Schema, name: str, depth: int) -> list[Any]:
        least = min(schema.get("minItems", 0), MAX_SIZE)
        items = self.resolved(schema.get("items", {}), depth)
        free = kind(items) == "string" and not items.keys() & {"enum", "const"}
        if free and name in BY_NAME:
            return list(BY_NAME[name].split())
        count = max(least, 0 if depth >= MAX_DEPTH else 1)
        if free:
            count = max(count, len(self.subjects) - self.spent)
        return [self.value(items, name, depth + 1) for _ in range(min(count, schema.get("maxItems", count)))]

    def a_string(self, schema: Schema, name: str, depth: int) -> str:
        if schema.get("format") in BY_FORMAT:
            return BY_FORMAT[schema["format"]]
        text = BY_NAME.get(name) or self.words_of_the_prompt(name)
        return text.ljust(min(schema.get("minLength", 0), MAX_SIZE), ".")[: schema.get("maxLength")]

    def words_of_the_prompt(self, name: str) -> str:
        if name in WANTS_THE_PROMPT or not self.subjects:
            return self.prompt.text
        if self.spent < len(self.subjects):
            self.spent += 1
            return self.subjects[self.spent - 1]
        return PLAIN_WORD

    def a_number(self, schema: Schema, name: str, depth: int) -> float:
        inside = 1 if kind(schema) == "integer" else 0.5  # how far from an exclusive bound
        least = max(schema.get("minimum", -math.inf), schema.get("exclusiveMinimum", -math.inf) + inside)
        most = min(schema.get("maximum", math.inf), schema.get("exclusiveMaximum", math.inf) - inside)
        number: float = min(max(next(self.numbers, 1), least), most)
        if "multipleOf" in schema:
            number = math.ceil(number / schema["multipleOf"]) * schema["multipleOf"]
        return int(number) if kind(schema) == "integer" or number == int(number) else number


MAKERS: dict[str, Callable[[Filler, Schema, str, int], Any]] = {
    "object": Filler.an_object,
    "array": Filler.an_array,
    "string": Filler.a_string,
    "number": Filler.a_number,
    "integer": Filler.a_number,
    "boolean": lambda filler, schema, name, depth: True,
    "null": lambda filler, schema, name, depth: None,
}


def kind(schema: Schema) -> str:
    declared = schema.get(
        "type", "object" if "properties" in schema else "array" if "items" in schema else "string"
    )
    if isinstance(declared, list):
        declared = next((word for word in declared if word != "null"), "null")
    return str(declared)


def is_null(branch: Any) -> bool:
    return isinstance(branch, dict) and branch.get("type") == "null"


def without(schema: Schema, keyword: str) -> Schema:
    return {key: value for key, value in schema.items() if key != keyword}


def merged(one: Schema, other: Schema) -> Schema:
    """Both at once: properties and required names add up, anything else the second says last."""
    whole = one | other
    if "properties" in one and "properties" in other:
        whole["properties"] = one["properties"] | other["properties"]
    if "required" in one and "required" in other:
        whole["required"] = [*one["required"], *other["required"]]
    return whole
