"""One URL, as people paste it, is enough for both of OpenAI's languages."""

from proxy.core.backends.profiles import PROFILES
from proxy.core.backends.target import Target
from proxy.core.dialects.responses.urls import count_url, models_url, reply_url
from tests.support.tables import table


@table(
    ("url", "responses"),
    [
        ("http://host:8080", "http://host:8080/v1/responses"),
        ("http://host:8080/v1/", "http://host:8080/v1/responses"),
        ("http://host:8080/v1/chat/completions", "http://host:8080/v1/responses"),
        ("http://host:8080/v1/responses", "http://host:8080/v1/responses"),
        ("http://host/v1?api-version=1", "http://host/v1/responses?api-version=1"),
        ("http://host/openai/responses?api-version=1", "http://host/openai/responses?api-version=1"),
    ],
)
def test_where_it_is(url: str, responses: str) -> None:
    target = Target("t", url, PROFILES["default"])
    assert reply_url(target, "m") == responses
    assert models_url(target) == responses.replace("/responses", "/models")
    assert count_url(target, "m") == responses.replace("/responses", "/responses/input_tokens")


@table(
    ("profile", "url", "responses"),
    [
        ("azure", "https://r.openai.azure.com", "https://r.openai.azure.com/openai/v1/responses"),
        ("azure", "https://r.openai.azure.com/openai/v1/", "https://r.openai.azure.com/openai/v1/responses"),
        (
            "azure-deployment",
            "https://r.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview",
            "https://r.openai.azure.com/openai/v1/responses",
        ),
        (
            "azure-deployment",
            "https://gate.example/x/openai/deployments/d",
            "https://gate.example/x/openai/v1/responses",
        ),
        (
            "azure-responses",
            "https://r.openai.azure.com/openai",
            "https://r.openai.azure.com/openai/responses?api-version=2025-04-01-preview",
        ),
        (
            "azure-responses",
            "https://r.openai.azure.com/openai/responses?api-version=2025-03-01-preview",
            "https://r.openai.azure.com/openai/responses?api-version=2025-03-01-preview",
        ),
    ],
)
def test_where_it_is_at_azure(profile: str, url: str, responses: str) -> None:
    """Never below a deployment, whose dated versions have Chat only."""
    assert reply_url(Target("t", url, PROFILES[profile]), "m") == responses
