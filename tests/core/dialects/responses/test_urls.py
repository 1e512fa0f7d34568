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
    ],
)
def test_where_it_is(url: str, responses: str) -> None:
    target = Target("t", url, PROFILES["default"])
    assert reply_url(target, "m") == responses
    assert models_url(target) == responses.replace("/responses", "/models")
    assert count_url(target, "m") == responses.replace("/responses", "/responses/input_tokens")
