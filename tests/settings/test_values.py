"""What a single setting may hold: what is right passes, what is wrong is told in words that stand behind the key."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from proxy.settings import values as setting_values
from tests.support.tables import table

DIGEST = "ab" * 32


@table(
    ("kind", "value"),
    [
        ("BackendUrl", "http://localhost:8000/v1?api-version=1"),
        ("BackendName", "my.backend_1-a"),
        ("ProfileName", "auto"),
        ("ProfileName", "vllm"),
        ("ProfileFields", {"markup": False, "markup_without": ["hermes"]}),
        ("HeaderName", "X-Team"),
        ("HeaderValue", "plain text"),
        ("BackendKey", "sk-$1${a}"),
        ("SigningKey", "s" * 16),
        (
            "BackendUrl",
            "http://h/openai?api-version=2024-10-01-preview&deployment=my-gpt-4o-deployment-2024-10",
        ),
        ("BackendUrl", "http://h/?encoding=utf8&mode=fast&region=eu&bypass=1"),
        ("ModelPattern", "gpt-*"),
        ("Digest", DIGEST),
        ("Seconds", 0.1),
    ],
)
def test_what_is_right_passes(kind: str, value: Any) -> None:
    held = TypeAdapter(getattr(setting_values, kind)).validate_python(value)
    assert getattr(held, "get_secret_value", lambda: held)() == value


@table(
    ("kind", "value", "words"),
    [
        ("BackendUrl", "localhost:8000", "is not a URL such as http://localhost:8000/v1"),
        ("BackendUrl", "http://h/?Key=1", r"must not hold a secret \(key\)"),
        ("BackendUrl", "http://h/?Key=1", "give it as key, or in headers"),
        ("CollectorUrl", "localhost:4318", "is not a URL such as http://localhost:4318/v1/traces"),
        ("CollectorUrl", "http://h/?Key=1", r"must not hold a secret \(key\), .* give it in otel.headers"),
        ("BackendName", "a/b", "must be made of letters, digits, dots"),
        ("BackendName", "a b", "must be made of letters, digits, dots"),
        ("BackendName", "ä", "must be made of letters, digits, dots"),
        ("BackendName", "a\nb", "must be made of letters, digits, dots"),
        ("ProfileName", "vlm", "must be auto or one of anthropic, azure"),
        ("ProfileFields", {"colour": 1}, "no such profile field"),
        ("ProfileFields", {"dialect": "acme"}, "dialect must be one of anthropic, chat, google"),
        ("ProfileFields", {"headers": {}}, "headers belong in backend.headers"),
        ("HeaderName", "X Team", "must be a header's name, without spaces"),
        ("HeaderValue", "a\x01", "must be plain ASCII text"),
        ("BackendKey", "${MISTRAL_API_KEY}", "is the name of a variable, which is not looked up here: put"),
        ("BackendKey", "$KEY", "is the name of a variable"),
        ("StoreKey", "${PROXY_STORE_KEYS}", "is the name of a variable"),
        ("SigningKey", "s" * 15, "must have at least 16 characters"),
        ("ModelPattern", "a*b", "must be a model's name"),
        ("ModelPattern", "", "must be a model's name"),
        ("Digest", "sk-key", "must be a digest as `responses-proxy hash-key` prints it"),
        ("Seconds", 0, "greater than 0"),
    ],
)
def test_what_is_wrong_is_told(kind: str, value: Any, words: str) -> None:
    """S13: no name and no value ends a header line."""
    with pytest.raises(ValidationError, match=words):
        TypeAdapter(getattr(setting_values, kind)).validate_python(value)


def test_a_value_that_came_out_of_a_file_loses_its_line_end() -> None:
    assert TypeAdapter(setting_values.HeaderValue).validate_python("sk-1\n").get_secret_value() == "sk-1"


@table(
    "query",
    [
        "subscription-key=1",
        "subscriptionKey=1",
        "subscriptionkey=1",
        "a=b&api_key=1",
        "API-KEY=1",
        "x-functions-key=1",
        "code=1",
        "sig=1",
        "access_token=1",
        "accessToken=1",
        "clientSecret=1",
        "auth=1",
        "Password=1",
        "X-Amz-Credential=1",
        "v=sk-0a1b2c3d4e5f6g7h8i9j0k",
    ],
)
def test_attack_30_no_url_brings_a_secret_under_whatever_name(query: str) -> None:
    """It is shown where the proxy starts, and in `show-config`."""
    with pytest.raises(ValidationError, match=r"must not hold a secret \("):
        TypeAdapter(setting_values.BackendUrl).validate_python(f"http://h/?{query}")
