"""V43: a tool's failure is told as one, whether its client says so in a field or the tool in its words."""

from typing import Any

from proxy.core.dialects.writing.failed_results import failed
from proxy.core.model import Image, Result, Text
from tests.support.tables import table

WORDS = [Text("Error: no such file")]


@table(
    ("result", "told"),
    [
        (Result("c", WORDS), True),
        (Result("c", [Text("error: none")]), True),
        (Result("c", [*WORDS, Image("https://x/y.png")]), True),
        (Result("c", [Text("ok")], is_error=True), True),
        (Result("c", WORDS, is_error=False), False),  # the client knows better
        (Result("c", [Text("ok")]), False),
        (Result("c", [Text("An Error: no")]), False),
        (Result("c", [Text("Errors: 0")]), False),
        (Result("c", [Image("https://x/y.png")]), False),
        (Result("c", []), False),
    ],
)
def test_v43_what_begins_with_error_is_one(result: Any, told: bool) -> None:
    assert failed(result) is told
