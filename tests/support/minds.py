"""Scripted providers with a mind: each answers any right request as a model that obeys would, without sockets."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from proxy.core import jsontext
from proxy.core.backends.post import Post
from proxy.core.examination.heard import Received
from proxy.demo.arguments import Filler
from proxy.demo.prompt import Prompt
from tests.scripted import anthropic, google, responses
from tests.scripted.say import Say, SayCall
from tests.scripted.serving import Provider, Recorded

Json = dict[str, Any]


@dataclass(frozen=True)
class Wish:
    """What a request wants, in no provider's words."""

    prompt: str
    tools: Mapping[str, Json]
    """Schemas by name."""
    only: frozenset[str] = frozenset()
    must: bool = False
    single: bool = False
    form: Json | None = None
    limit: int = 1000
    told: bool = False
    """Are the thoughts to be told?"""
    sealed: bool = False
    """Are they to be sealed?"""


@dataclass
class Mind:
    provider: Provider
    understood: Callable[[Json], Wish]
    counting: str
    """The end of the path of its counter."""
    count: str
    unlearned: Callable[[Json], bool] = lambda body: False
    """What this one cannot do, though its provider can."""
    changed: Callable[[Json], None] = lambda body: None
    """What this one does not hear of a request."""
    seen: list[Json] = field(default_factory=list)

    def __call__(self, post: Post) -> Received:
        body = jsontext.strict(post.body)
        tokens = len(post.body) // 4
        path = urlsplit(post.url)
        if path.path.endswith(self.counting):
            return Received(200, {}, jsontext.dumps({self.count: tokens}))
        self.seen.append(body)
        headers = {name.lower(): value for name, value in post.headers.items()}
        asked = Recorded(f"{path.path}?{path.query}" if path.query else path.path, headers, body)
        try:
            self.provider.check(asked)
            assert not self.unlearned(body), "This model cannot do that."
        except (AssertionError, LookupError, TypeError, ValueError) as error:
            return Received(400, {}, jsontext.dumps(self.provider.error(400, str(error))))
        self.changed(body)
        say = said(self.understood(body), len(jsontext.dumps(body)) // 4)
        return Received(200, {}, b"".join(self.provider.stream(say)))


def said(wish: Wish, tokens: int) -> Say:
    thought = {"thinking": "Hm." if wish.told else "", "signature": "c2VhbGVk" if wish.sealed else ""}
    return replace(_answered(wish, tokens), **thought)


def _answered(wish: Wish, tokens: int) -> Say:
    offered = {name: schema for name, schema in wish.tools.items() if not wish.only or name in wish.only}
    named = [name for name in offered if name in wish.prompt]
    if offered and (wish.must or named):
        name = named[0] if named else next(iter(offered))
        times = 2 if "twice" in wish.prompt and not wish.single else 1
        filled = Filler(offered[name], Prompt("Lisbon"), ["Lisbon"]).fill()
        return Say(
            calls=[SayCall(f"call_{index}", name, filled) for index in range(times)], usage=(tokens, 9)
        )
    if wish.form is not None:
        return Say(
            text=jsontext.compact(Filler(wish.form, Prompt(wish.prompt), []).fill()), usage=(tokens, 9)
        )
    words = " ".join(str(number) for number in range(1, 41)) if "Count" in wish.prompt else "It is blue."
    if wish.limit < len(words) // 4:
        return Say(text=words[: wish.limit * 4], finish="length", usage=(tokens, wish.limit))
    return Say(text=words, usage=(tokens, len(words) // 4))


def _of_messages(body: Json) -> Wish:
    choice = body.get("tool_choice", {"type": "auto"})
    texts = [
        block["text"]
        for message in body["messages"]
        for block in message["content"]
        if message["role"] == "user" and block["type"] == "text"
    ]
    return Wish(
        texts[-1],
        {tool["name"]: tool["input_schema"] for tool in body.get("tools", ()) if choice["type"] != "none"},
        frozenset({choice["name"]} if "name" in choice else ()),
        must=choice["type"] in ("any", "tool"),
        single=choice.get("disable_parallel_tool_use", False),
        form=body.get("output_config", {}).get("format", {}).get("schema"),
        limit=body["max_tokens"],
    )


def _of_contents(body: Json) -> Wish:
    calling = body.get("toolConfig", {}).get("functionCallingConfig", {"mode": "AUTO"})
    generation = body.get("generationConfig", {})
    is_json = generation.get("responseMimeType") == "application/json"
    texts = [
        part["text"]
        for content in body["contents"]
        for part in content["parts"]
        if content["role"] == "user" and "text" in part
    ]
    return Wish(
        texts[-1],
        {
            declared["name"]: declared.get("parametersJsonSchema", {"type": "object", "properties": {}})
            for tool in body.get("tools", ())
            for declared in tool["functionDeclarations"]
        },
        frozenset(calling.get("allowedFunctionNames", ())),
        must=calling["mode"] == "ANY",
        form=generation.get("responseJsonSchema", {"type": "object"} if is_json else None),
        limit=generation.get("maxOutputTokens", 1000),
    )


def _of_items(body: Json) -> Wish:
    choice = body.get("tool_choice", "auto")
    form = body.get("text", {}).get("format", {})
    reasoning = body.get("reasoning", {})
    thinks = reasoning.get("effort", "none") != "none"
    texts = [
        text
        for item in body["input"]
        if item["type"] == "message" and item["role"] == "user"
        for text in _texts(item["content"])
    ]
    return Wish(
        texts[-1],
        {tool["name"]: tool["parameters"] for tool in body.get("tools", ()) if choice != "none"},
        frozenset({choice["name"]} if isinstance(choice, dict) else ()),
        must=choice == "required" or isinstance(choice, dict),
        single=body.get("parallel_tool_calls") is False,
        form=form.get("schema", {"type": "object"}) if form else None,
        limit=body.get("max_output_tokens", 1000),
        told=thinks and "summary" in reasoning,
        sealed=thinks and responses.SEALED in body.get("include", ()),
    )


def _texts(content: str | list[Json]) -> list[str]:
    return [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]


def claude(unlearned: Callable[[Json], bool] = lambda body: False) -> Mind:
    return Mind(anthropic.PROVIDER, _of_messages, "/count_tokens", "input_tokens", unlearned)


def gemini(unlearned: Callable[[Json], bool] = lambda body: False) -> Mind:
    return Mind(google.provider(), _of_contents, ":countTokens", "totalTokens", unlearned)


def gpt(
    unlearned: Callable[[Json], bool] = lambda body: False,
    changed: Callable[[Json], None] = lambda body: None,
) -> Mind:
    """By Responses."""
    return Mind(
        responses.provider(), _of_items, "/responses/input_tokens", "input_tokens", unlearned, changed
    )
