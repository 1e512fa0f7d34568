"""Field `path` and chat-backends 1.1: one URL, as people paste it, is enough."""

import pytest

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.recognise import by_url
from proxy.core.backends.target import Target, chat_url, checked, models_url
from proxy.core.profile import DEFAULT
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
    assert chat_url(target(url), "m") == chat


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


@table(
    ("url", "words"),
    [
        ("localhost:8080", "is not a URL such as http://"),
        ("ftp://host", "is not a URL such as http://"),
        ("http://", "is not a URL such as http://"),
        ("http://host:0", "is not a URL such as http://"),
        ("http://host:99999", "is not a URL: Port out of range"),
        ("http://[::1", "is not a URL: "),
        ("https://user:hunter2@host/v1", "must not hold a user or password"),
        ("http://host/v1#part", "has a fragment"),
        ("http://my host/v1", "has no host"),
        ("http://my..host/v1", "has no host"),
        ("http://host\\v1", "has no host"),
        ("http://host\u200b/v1", "has no host"),
        (f"http://{'x' * 64}.test/v1", "has no host"),
        ("http://[::1]8000/v1", "has no host"),
    ],
)
def test_what_is_wrong_with_a_url_is_told_in_one_line_without_its_secrets(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        checked(url)
    assert "hunter2" not in str(caught.value)
    assert "\n" not in str(caught.value)


@table(
    "url",
    [
        "http://host.:8000",
        "http://my_host-1.local",
        "http://münchen.de/v1",
        "http://ทีวี.test:8000/v1",
        "http://127.0.0.1:8000",
        "http://[::1]:8000/v1",
        "http://[fe80::1%eth0]:8000/v1",
    ],
)
def test_a_host_has_any_name_or_address(url: str) -> None:
    assert checked(url).geturl() == url


def test_a_secret_in_a_broken_url_is_not_shown_either() -> None:
    with pytest.raises(ValueError, match="is not a URL") as caught:
        checked("ftp://user:hunter2@host/v1?key=hunter2")
    assert "hunter2" not in str(caught.value)


def test_a_target_shows_no_key_in_tracebacks() -> None:
    shown = repr(Target("t", "http://host", PROFILES["default"], key="sk-1", headers={"x-key": "sk-2"}))
    assert "sk-" not in shown


def test_f10_a_key_that_is_the_clients_is_not_ours() -> None:
    """Who is to mend a refused key: whoever runs the proxy, or whoever asked."""
    assert Target("t", "http://host", DEFAULT, key="k").own_key
    assert not Target("t", "http://host", DEFAULT, key="k", forwarded=True).own_key
    assert not Target("t", "http://host", DEFAULT).own_key
