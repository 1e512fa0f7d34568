"""The question for tokens is the whole request for a reply, with the model in it."""

from proxy.core.backends.target import Target
from proxy.core.dialects.google.counting import COUNTERS
from tests.support.google_requests import GOOGLE
from tests.support.tables import table

COUNTER = COUNTERS["google"]
HOST = "https://generativelanguage.googleapis.com"


@table("model", ["m", "models/m"])
def test_where_it_is_and_what_it_is_asked(model: str) -> None:
    assert COUNTER.url(Target("t", HOST, GOOGLE), model) == f"{HOST}/v1beta/models/m:countTokens"
    asked = {"contents": [], "systemInstruction": {"parts": []}, "tools": []}
    assert COUNTER.body(asked, model) == {"generateContentRequest": {"model": "models/m", **asked}}


def test_what_it_answers() -> None:
    assert COUNTER.read(b'{"totalTokens":14,"promptTokensDetails":[]}') == 14
