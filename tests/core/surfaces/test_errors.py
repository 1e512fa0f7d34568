"""How a fault is told: what clients read out of it."""

from proxy.core.errors import BackendFault, ClientFault, Fault, OutOfQuota, RateLimited
from proxy.core.surfaces.errors import error_body, error_member
from tests.support.tables import table


@table(
    ("fault", "said"),
    [
        (BackendFault("Bad.", code="x"), {"code": "x", "message": "Bad."}),
        (OutOfQuota("Empty."), {"code": "insufficient_quota", "message": "Empty."}),
        (Fault("Oops."), {"code": "server_error", "message": "Oops."}),
    ],
)
def test_an_error_has_a_code_and_a_message(fault: Fault, said: dict[str, str]) -> None:
    assert error_member(fault) == said


def test_an_error_without_a_code_gets_one() -> None:
    """Both are strings, always: null breaks strict clients."""
    fault = BackendFault("Bad.")
    fault.code = None
    assert error_member(fault)["code"] == "server_error"


@table(
    ("seconds", "said"),
    [(11.054, "11.054s"), (30, "30s"), (30.0, "30s"), (0.02, "0.02s"), (120.0, "120s")],
)
def test_f11_the_delay_stands_in_the_message_where_codex_reads_it(seconds: float, said: str) -> None:
    message = error_member(RateLimited("Slow down.", retry_after=seconds))["message"]
    assert message == f"Slow down. Please try again in {said}."


@table(
    "message",
    [
        "Slow down. Please try again in 11.054s.",
        "The limit of 3 requests per minute is reached. Try again in 20 s.",
        "Try again in 500ms",
        "Please try again in 3 seconds, not before",
    ],
)
def test_a_delay_that_the_message_tells_already_is_not_told_twice(message: str) -> None:
    assert error_member(RateLimited(message, retry_after=20))["message"] == message


@table(
    "message",
    ["Please try again in 6m0s.", "Try again in a while.", "Retry in 5 s.", "Try again in 5 steps."],
)
def test_a_delay_that_codex_could_not_read_is_told(message: str) -> None:
    told = error_member(RateLimited(message, retry_after=20))["message"]
    assert told == f"{message} Please try again in 20s."


def test_a_message_without_an_end_gets_one_before_the_delay() -> None:
    message = error_member(RateLimited("slow down", retry_after=2))["message"]
    assert message == "slow down. Please try again in 2s."


def test_the_envelope() -> None:
    assert error_body(ClientFault("No.", param="input[0]", code="invalid_value")) == {
        "error": {
            "message": "No.",
            "type": "invalid_request_error",
            "param": "input[0]",
            "code": "invalid_value",
        }
    }
