"""Why Gemini stops, every word of the SDK's list, and what it means."""

from proxy.core.dialects.google.ending import read
from proxy.core.errors import BackendFault
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from tests.support.tables import table


@table(
    ("word", "finish"),
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
def test_endings(word: str, finish: Finish) -> None:
    assert read(word, None, Ledger(), spoken=True) is read(word, None, Ledger(), spoken=False) is finish


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
    fault = read(word, "why", Ledger(), spoken=True)
    assert isinstance(fault, BackendFault)
    assert fault.retryable is retryable
    assert fault.message == f"The backend stopped the reply with {word}: why"


@table(("word", "odd"), [("OTHER", 0), ("FINISH_REASON_UNSPECIFIED", 0), ("NEW_WORD", 1)])
def test_a_vague_word_is_an_end_only_after_something_was_said(word: str, odd: int) -> None:
    ledger = Ledger()
    assert read(word, None, ledger, spoken=True) is Finish.STOP
    fault = read(word, None, Ledger(), spoken=False)
    assert isinstance(fault, BackendFault)
    assert fault.message == f"The backend stopped the reply with {word}."
    assert ledger.oddities == ({"finish_unknown": 1} if odd else {})
