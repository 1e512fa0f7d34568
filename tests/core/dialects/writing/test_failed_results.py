"""V43: a tool's failure is told as one, whether its client says so in a field or the tool in its words."""

from typing import Any

from proxy.core.dialects.writing.failed_results import failed
from proxy.core.model import Image, Result
from tests.support.tables import table

WORDS = ["Error: no such file"]


@table(
    ("result", "told"),
    [
        (Result("c", WORDS), True),
        (Result("c", ["error: none"]), True),
        (Result("c", [*WORDS, Image("https://x/y.png")]), True),
        (Result("c", ["ok"], is_error=True), True),
        (Result("c", WORDS, is_error=False), False),  # the client knows better
        (Result("c", ["ok"]), False),
        (Result("c", ["An Error: no"]), False),
        (Result("c", ["Errors: 0"]), False),
        (Result("c", [Image("https://x/y.png")]), False),
        (Result("c", []), False),
    ],
)
def test_v43_what_begins_with_error_is_one(result: Any, told: bool) -> None:
    assert failed(result) is told
