"""Field `path` and chat-backends 1.1: one URL, as people paste it, is enough."""

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.recognise import by_url
from proxy.core.backends.target import Target
from proxy.core.dialects.chat.urls import models_url, reply_url
from tests.support.tables import table


def target(url: str) -> Target:
    return Target("t", url, PROFILES[by_url(url) or "default"])


@table(
    ("url", "chat"),
    [
        ("http://host:8080", "http://host:8080/v1/chat/completions"),
        ("http://host:8080/", "http://host:8080/v1/chat/completions"),
        (" http://host:8080/v1 ", "http://host:8080/v1/chat/completions"),
        ("http://host:8080/v1//", "http://host:8080/v1/chat/completions"),
        ("http://host:8080/v1/chat/completions", "http://host:8080/v1/chat/completions"),
        ("http://host:8080/v1/chat/completions/", "http://host:8080/v1/chat/completions"),
        ("http://host:8080/chat/completions", "http://host:8080/chat/completions"),
        ("http://host/api/llm", "http://host/api/llm/chat/completions"),
        ("http://[::1]:8080", "http://[::1]:8080/v1/chat/completions"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/chat/completions"),
        ("https://api.z.ai/api/coding/paas/v4/", "https://api.z.ai/api/coding/paas/v4/chat/completions"),
        ("https://api.z.ai", "https://api.z.ai/api/paas/v4/chat/completions"),
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("https://api.perplexity.ai", "https://api.perplexity.ai/chat/completions"),
        ("https://api.deepseek.com", "https://api.deepseek.com/chat/completions"),
        ("https://api.deepseek.com/beta", "https://api.deepseek.com/beta/chat/completions"),
        ("https://api.githubcopilot.com", "https://api.githubcopilot.com/chat/completions"),
        ("https://api.groq.com", "https://api.groq.com/openai/v1/chat/completions"),
        ("https://openrouter.ai", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://api.fireworks.ai", "https://api.fireworks.ai/inference/v1/chat/completions"),
        (
            "https://dashscope.aliyuncs.com",
            "https://dashscope.aliyuncs.com/compatible-mode/v1/chat/completions",
        ),
        ("https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/chat/completions"),
        ("https://r.openai.azure.com/openai/v1", "https://r.openai.azure.com/openai/v1/chat/completions"),
        (
            "https://r.openai.azure.com/openai/deployments/d",
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
        (
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview&x=",
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview&x=",
        ),
        ("http://host/v1?team=a%20b", "http://host/v1/chat/completions?team=a+b"),
    ],
)
def test_where_requests_go(url: str, chat: str) -> None:
    assert reply_url(target(url), "m") == chat


@table(
    ("url", "models"),
    [
        ("http://host:8080", "http://host:8080/v1/models"),
        ("http://host:8080/v1/chat/completions", "http://host:8080/v1/models"),
        ("https://api.z.ai/api/paas/v4", "https://api.z.ai/api/paas/v4/models"),
        ("http://host/v1?k=v", "http://host/v1/models?k=v"),
    ],
)
def test_where_the_list_of_models_is(url: str, models: str) -> None:
    assert models_url(target(url)) == models
