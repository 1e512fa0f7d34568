"""How the tokens of a request are counted by those servers that can: the Chat Completions API itself has no counter."""

from collections.abc import Mapping

from proxy.core.backends.counter import Body, TokenCounter, picked
from proxy.core.dialects.chat.urls import count_url, root_tokenize_url, tokenize_url

IN_PROMPT = ("model", "messages", "tools", "chat_template_kwargs")
"""The fields that decide what the model reads."""


def of_llamacpp(asked: Body, model: str) -> Body:
    """Its counter takes what it would answer."""
    return asked


def of_sglang(asked: Body, model: str) -> Body:
    return picked(asked, (*IN_PROMPT, "tool_choice", "reasoning_effort"))


def of_vllm(asked: Body, model: str) -> Body:
    """Its counter does not know an effort, but the template does, to which a reply's is passed on."""
    question, effort = picked(asked, IN_PROMPT), asked.get("reasoning_effort")
    if effort is not None:
        thinking = {"reasoning_effort": effort, "enable_thinking": effort != "none"}
        question["chat_template_kwargs"] = thinking | question.get("chat_template_kwargs", {})
    return question


COUNTERS: Mapping[str, TokenCounter] = {
    "llamacpp": TokenCounter(count_url, of_llamacpp, "input_tokens"),
    "sglang": TokenCounter(tokenize_url, of_sglang, "count"),
    "vllm": TokenCounter(root_tokenize_url, of_vllm, "count"),
}
