"""Every word for an ending means one of four things."""

from proxy.core.dialects.chat import ending
from proxy.core.errors import BackendFault, ClientFault, Overloaded, Timeout
from proxy.core.events import Finish
from proxy.core.ledger import Ledger
from tests.support.tables import table


@table(
    ("word", "finish"),
    [
        ("stop", Finish.STOP),
        ("tool_calls", Finish.STOP),
        ("function_call", Finish.STOP),
        ("STOP", Finish.STOP),
        ("length", Finish.LENGTH),
        ("MAX_TOKENS", Finish.LENGTH),
        ("model_length", Finish.LENGTH),
        ("content_filter", Finish.FILTER),
        ("sensitive", Finish.FILTER),
        ("refusal", Finish.FILTER),
        ("content_filter: RECITATION", Finish.FILTER),
    ],
)
def test_known_words(word: str, finish: Finish) -> None:
    """G16, F55, F56."""
    ledger = Ledger()
    assert ending.read(word, ledger, spoken=False) is finish
    assert not ledger.oddities


def test_an_unknown_word_is_a_stop_and_is_counted() -> None:
    ledger = Ledger()
    assert ending.read("banana", ledger, spoken=True) is Finish.STOP
    assert ledger.oddities == {"finish_unknown": 1}


@table(
    ("word", "kind"),
    [
        ("error", BackendFault),
        ("network_error", BackendFault),
        ("abort", BackendFault),
        ("timeout", Timeout),
        ("cancelled", BackendFault),
        ("MALFORMED_FUNCTION_CALL", BackendFault),
        ("function_call_filter: MALFORMED_FUNCTION_CALL", BackendFault),
        ("insufficient_system_resource", Overloaded),
    ],
)
def test_words_for_failures(word: str, kind: type[BackendFault]) -> None:
    """E3: TensorRT-LLM's and Gemini's among them, with which nothing is complete."""
    fault = ending.read(word, Ledger(), spoken=True)
    assert type(fault) is kind
    assert word in fault.message


def test_a_full_context_window_depends_on_what_was_said_before() -> None:
    """Z.ai has one word for both."""
    assert ending.read("model_context_window_exceeded", Ledger(), spoken=True) is Finish.LENGTH
    fault = ending.read("model_context_window_exceeded", Ledger(), spoken=False)
    assert isinstance(fault, ClientFault)
    assert fault.code == "context_length_exceeded"
