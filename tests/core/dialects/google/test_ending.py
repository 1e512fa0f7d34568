"""Why Gemini stops, every word of the SDK's list, and what it means; and Gemini's counts in everybody's words."""

from typing import Any

from proxy.core.dialects.google.ending import finish, usage
from proxy.core.errors import BackendFault, Miscalled
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from proxy.core.model import Usage
from tests.support.tables import table


@table(
    ("word", "expected"),
    [
        ("STOP", Finish.STOP),
        ("MAX_TOKENS", Finish.LENGTH),
        ("CONTINUATION", Finish.LENGTH),
        *(
            (word, Finish.FILTER)
            for word in (
                "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "IMAGE_OTHER",
                "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "MODEL_ARMOR", "ESCALATION", "JAILBREAK",
            )
        ),
    ],
)  # fmt: skip
def test_endings(word: str, expected: Finish) -> None:
    assert finish(word, None, Ledger(), spoken=True) is finish(word, None, Ledger(), spoken=False) is expected


@table(
    ("word", "retryable"),
    [
        ("MALFORMED_FUNCTION_CALL", True),
        ("UNEXPECTED_TOOL_CALL", True),
        ("TOO_MANY_TOOL_CALLS", True),
        ("MALFORMED_RESPONSE", True),
        ("MISSING_THOUGHT_SIGNATURE", False),
        ("LANGUAGE", False),
        ("NO_IMAGE", False),
        ("PUP_LIMITED_DISABLED", False),
    ],
)
def test_failures(word: str, retryable: bool) -> None:
    """Whatever was said before."""
    fault = finish(word, "why", Ledger(), spoken=True)
    assert type(fault) is (Miscalled if retryable else BackendFault)
    assert fault.retryable is retryable
    assert fault.message == f"The backend stopped the reply with {word}: why"


@table(("word", "odd"), [("OTHER", 0), ("FINISH_REASON_UNSPECIFIED", 0), ("NEW_WORD", 1)])
def test_a_vague_word_is_an_end_only_after_something_was_said(word: str, odd: int) -> None:
    ledger = Ledger()
    assert finish(word, None, ledger, spoken=True) is Finish.STOP
    fault = finish(word, None, Ledger(), spoken=False)
    assert isinstance(fault, BackendFault)
    assert fault.message == f"The backend stopped the reply with {word}."
    assert ledger.oddities == ({"finish_unknown": 1} if odd else {})


@table(
    ("counts", "expected"),
    [
        (
            {
                "promptTokenCount": 100,
                "toolUsePromptTokenCount": 10,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 20,
                "thoughtsTokenCount": 7,
                "totalTokenCount": 137,
            },
            Usage(110, 27, 137, cached_tokens=60, reasoning_tokens=7),
        ),
        ({"promptTokenCount": 5, "candidatesTokenCount": 2}, Usage(5, 2, 7)),
        ({"promptTokenCount": "5", "totalTokenCount": "7"}, Usage(5, 0, 7)),
        ({"promptTokenCount": "five", "totalTokenCount": 3}, Usage(0, 0, 3)),
        ({"promptTokenCount": 5, "candidatesTokenCount": -2}, Usage(5, 0, 5)),
        ({"candidatesTokenCount": 2}, None),
    ],
)
def test_counts(counts: dict[str, Any], expected: Usage | None) -> None:
    assert usage(counts) == expected
