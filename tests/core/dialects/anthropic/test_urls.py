"""One URL, as people paste it, is enough."""

from proxy.core.backends.post import post
from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.recognise import by_url
from proxy.core.backends.target import Target
from proxy.core.dialects.anthropic.urls import models_url, reply_url
from tests.support.anthropic_requests import ANTHROPIC, on
from tests.support.tables import table


def target(url: str) -> Target:
    return Target("t", url, ANTHROPIC, key="sk-ant-1")


@table(
    ("url", "base"),
    [
        ("https://api.anthropic.com", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/v1", "https://api.anthropic.com/v1"),
        ("https://api.anthropic.com/v1/messages", "https://api.anthropic.com/v1"),
        ("https://host/anthropic", "https://host/anthropic/v1"),
        ("https://host/anthropic/", "https://host/anthropic/v1"),
        ("https://host/anthropic/v1/", "https://host/anthropic/v1"),
        ("https://host/anthropic/v1/messages/", "https://host/anthropic/v1"),
        ("https://host/v1/acct/anthropic", "https://host/v1/acct/anthropic/v1"),
        ("https://host/v1beta", "https://host/v1beta"),
        ("http://127.0.0.1:8080/messages", "http://127.0.0.1:8080"),
        ("https://host/x?k=v", "https://host/x/v1?k=v"),
    ],
)
def test_where_requests_go(url: str, base: str) -> None:
    base, query, rest = base.partition("?")
    assert reply_url(target(url), "m") == f"{base}/messages{query}{rest}"
    assert models_url(target(url)) == f"{base}/models{query}{rest}{'&' if query else '?'}limit=1000"


@table(
    ("url", "name"),
    [
        ("https://api.anthropic.com/v1", "anthropic"),
        ("https://api.deepseek.com/anthropic", "anthropic"),
        ("https://api.z.ai/api/anthropic/", "anthropic"),
        ("http://127.0.0.1:8080/v1/messages", "anthropic"),
        ("https://api.deepseek.com", "deepseek"),
        ("http://127.0.0.1:8080/v1", None),
    ],
)
def test_the_dialect_is_seen_in_the_url(url: str, name: str | None) -> None:
    assert by_url(url) == name


def test_the_headers() -> None:
    """The version and the key in its own form, never two keys."""
    headers = post(target("https://api.anthropic.com"), "https://api.anthropic.com/v1/messages", {}).headers
    assert headers["Anthropic-Version"] == "2023-06-01"
    assert headers["X-Api-Key"] == "sk-ant-1"
    assert "Authorization" not in headers
    bearer = post(
        Target("t", "https://host", on(auth="bearer"), key="k"), "https://host/v1/messages", {}
    ).headers
    assert bearer["Authorization"] == "Bearer k"
    assert "X-Api-Key" not in bearer
    assert PROFILES["anthropic"].dialect == "anthropic"
