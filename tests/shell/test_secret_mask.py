"""Attack 19: a fault leaves without a secret, wherever in it one stood, and stays what it is."""

import gc
from typing import Any

import pytest

from proxy.core.errors import BackendFault, ClientFault, Fault, Incompatible, OwnWords
from proxy.core.events import Ending, ReplyEnded
from proxy.core.masking.redact import MASK
from proxy.core.masking.secrets import Secrets
from proxy.shell.secret_mask import SecretMask

KEY, THEIRS = "7f3a9c5be1d84402a6f0", "a-client's-own-key"
SECRET_MASK = SecretMask(Secrets([KEY]))
HEADERS = {"authorization": f"Bearer {THEIRS}"}


def told(fault: Fault, headers: dict[str, str] = HEADERS) -> Fault:
    before = dict(vars(fault))
    masked = SECRET_MASK.hidden_in(fault, headers)
    assert vars(fault) == before, "a fault that was raised is not written to"
    return masked


@pytest.mark.parametrize("secret", [KEY, THEIRS])
def test_attack_19_no_part_of_a_fault_holds_a_secret(secret: str) -> None:
    details: dict[str, Any] = {"incompatible_features": [f"a {secret}", {"b": (secret, 1, None)}]}
    fault = told(Incompatible(f"It said {secret}.", code=secret, param=f"x.{secret}", details=details))
    assert (fault.message, fault.code, fault.param) == (f"It said {MASK}.", Incompatible.code, f"x.{MASK}")
    assert fault.details == {"incompatible_features": [f"a {MASK}", {"b": [MASK, 1, None]}]}


def test_attack_30_a_code_that_looks_like_a_key_is_none() -> None:
    assert told(ClientFault("No.", code="sk-proj-0123456789abcdef")).code is None
    assert told(BackendFault("No.", code="sk-proj-0123456789abcdef")).code == "upstream_error"


def test_what_holds_no_secret_stays() -> None:
    fault = told(
        ClientFault("There is no model 'm'. Send 'Authorization: Bearer <key>'.", code="odd", param="model")
    )
    assert (fault.message, fault.code, fault.param) == (
        "There is no model 'm'. Send 'Authorization: Bearer <key>'.",
        "odd",
        "model",
    )
    assert told(BackendFault(OwnWords("It broke."))).message == "It broke."


def test_a_word_that_a_client_sends_as_its_key_is_no_secret() -> None:
    assert told(ClientFault("must be a string"), {"x-api-key": "string"}).message == "must be a string"


def test_a_very_long_key_is_no_reason_to_search_for_long() -> None:
    fault = told(ClientFault(f"no {'ab1' * 50}"), {"x-api-key": "ab1" * 100_000})
    assert fault.message == f"no {MASK}"


def test_attack_19_the_end_of_a_stream_tells_no_secret() -> None:
    fault = BackendFault(f"Quota exceeded for {KEY}.")
    masked = SECRET_MASK.hidden_in_ending(ReplyEnded(Ending.FAILED, fault=fault), HEADERS)
    assert masked.fault is not None
    assert masked.fault.message == f"Quota exceeded for {MASK}."
    completed = ReplyEnded(Ending.COMPLETED)
    assert SECRET_MASK.hidden_in_ending(completed, HEADERS) is completed


def test_it_leaves_nothing_for_the_collector() -> None:
    fault = Incompatible(f"It said {KEY}.", details={"incompatible_features": [KEY]})
    gc.disable()
    gc.freeze()  # what others have left is not looked at
    try:
        SECRET_MASK.hidden_in(fault, HEADERS)
        assert gc.collect() == 0
    finally:
        gc.unfreeze()
        gc.enable()
