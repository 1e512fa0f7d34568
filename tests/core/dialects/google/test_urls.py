"""One URL, as people paste it, is enough; the model stands in the path and the key never in the query."""

from proxy.core.backends.target import Target
from proxy.core.dialects.google.urls import models_url, reply_url
from tests.support.google_requests import GOOGLE, google
from tests.support.tables import table

HOST = "https://generativelanguage.googleapis.com"
ASK = "/models/m:streamGenerateContent?alt=sse"


@table(
    ("url", "asked"),
    [
        (HOST, f"{HOST}/v1beta{ASK}"),
        (f"{HOST}/", f"{HOST}/v1beta{ASK}"),
        (f"{HOST}/v1beta", f"{HOST}/v1beta{ASK}"),
        (f"{HOST}/v1beta/", f"{HOST}/v1beta{ASK}"),
        (f"{HOST}/v1", f"{HOST}/v1{ASK}"),
        (f"{HOST}/v1alpha", f"{HOST}/v1alpha{ASK}"),
        ("http://host:1/gemini", f"http://host:1/gemini/v1beta{ASK}"),
        ("http://host:1/gemini/v1", f"http://host:1/gemini/v1{ASK}"),
        (f"{HOST}/v1beta/models", f"{HOST}/v1beta{ASK}"),
        (f"{HOST}/v1beta/models/other:generateContent", f"{HOST}/v1beta{ASK}"),
        (f"{HOST}?alt=json&team=a", f"{HOST}/v1beta/models/m:streamGenerateContent?alt=sse&team=a"),
    ],
)
def test_where_requests_go(url: str, asked: str) -> None:
    assert reply_url(Target("t", url, GOOGLE), "m") == asked
    assert reply_url(Target("t", url, GOOGLE), "models/m") == asked


def test_a_models_name_leads_nowhere_else() -> None:
    assert reply_url(Target("t", HOST, GOOGLE), "../../x?y").endswith(
        "/v1beta/models/..%2F..%2Fx%3Fy:streamGenerateContent?alt=sse"
    )


def test_the_version_can_be_configured() -> None:
    assert reply_url(Target("t", HOST, google(root="/v1", query={"a": "b"})), "m") == (
        f"{HOST}/v1/models/m:streamGenerateContent?a=b&alt=sse"
    )


def test_where_the_list_of_models_is() -> None:
    assert (
        models_url(Target("t", f"{HOST}/v1beta/models/m:x", GOOGLE)) == f"{HOST}/v1beta/models?pageSize=1000"
    )
