"""E1: a fault says who must act, which status to choose while there is one to choose, and whether to try again."""

import re

from proxy.core import errors
from proxy.core.errors import (
    BackendFault,
    ClientFault,
    Fault,
    GatewayFault,
    Miscalled,
    NotOffered,
    OutOfQuota,
    OwnWords,
    ProxyFault,
    RateLimited,
    TooMany,
)
from tests.support.faults import EVERY, families
from tests.support.tables import table

DRAWN = re.findall(r"^ *([│├└─ ]*)(\w+) .*  (\d..|\dxx)$", errors.__doc__ or "", re.MULTILINE)


def test_the_tree_that_is_drawn_is_the_tree() -> None:
    assert [name for _, name, _ in DRAWN] == [kind.__name__ for kind in families()]
    above: list[tuple[int, str]] = [(0, "Fault")]
    for branches, name, _ in DRAWN:
        while len(above) > 1 and above[-1][0] >= len(branches):
            above.pop()
        assert getattr(errors, name).__mro__[1].__name__ == above[-1][1]
        above.append((len(branches), name))


@table(("name", "status"), [(name, status) for _, name, status in DRAWN])
def test_the_statuses_that_are_drawn_are_the_statuses(name: str, status: str) -> None:
    actual = str(getattr(errors, name).status)
    assert actual[0] == status[0]
    assert status[1:] == "xx" or actual == status


@table("kind", EVERY)
def test_a_fault_is_an_exception_with_a_message(kind: type[Fault]) -> None:
    fault = kind("It broke.")
    assert isinstance(fault, Exception)
    assert fault.message == str(fault) == "It broke."
    assert (fault.param, fault.retry_after) == (None, None)


@table(
    ("seconds", "told"),
    [
        (None, {}),
        (0, {"Retry-After": "1", "Retry-After-Ms": "1"}),
        (0.0102, {"Retry-After": "1", "Retry-After-Ms": "11"}),
        (7, {"Retry-After": "7", "Retry-After-Ms": "7000"}),
        (7.5, {"Retry-After": "8", "Retry-After-Ms": "7500"}),
    ],
)
def test_who_waits_as_told_does_not_come_too_early(seconds: float | None, told: dict[str, str]) -> None:
    fault = TooMany("Enough.", retry_after=seconds)
    assert fault.headers == told
    refused = fault.changed(standing={"x-ratelimit-remaining-requests": "0"})
    assert refused.headers == {"x-ratelimit-remaining-requests": "0"} | told
    assert fault.headers == told


@table(
    ("fault", "told"),
    [
        (ClientFault("Busy.", retryable=True), {"X-Should-Retry": "true"}),
        (ClientFault("Wrong."), {}),
        (TooMany("Enough."), {}),  # repeated anyway
        (ProxyFault("Away.", status=503, retryable=True), {}),
        (NotOffered("Never."), {"X-Should-Retry": "false"}),
    ],
)
def test_clients_are_told_to_repeat_what_they_would_not(fault: Fault, told: dict[str, str]) -> None:
    assert fault.headers == told


@table("kind", EVERY)
def test_a_changed_fault_is_another_of_its_kind_with_the_same_cause(kind: type[Fault]) -> None:
    fault = kind(OwnWords("Before."), param="input", retry_after=2.0)
    fault.__cause__ = cause = ValueError()
    changed = fault.changed(message="After.", code="other")
    assert (type(changed), changed.__cause__, changed.retry_after) == (kind, cause, 2.0)
    assert (changed.message, changed.code, changed.param) == ("After.", "other", "input")
    assert (fault.message, fault.code) == ("Before.", kind.code)
    assert isinstance(changed.own_words, OwnWords), "the log may still repeat what it might before"


@table("kind", EVERY)
def test_one_fault_may_differ_from_its_kind_and_changes_nothing_for_others(kind: type[Fault]) -> None:
    usual = (kind.code, kind.status, kind.retryable)
    fault = kind("x", code="c", param="p", status=418, retry_after=1.5, retryable=not kind.retryable)
    assert (fault.code, fault.param, fault.status, fault.retry_after) == ("c", "p", 418, 1.5)
    assert fault.retryable is not kind.retryable
    other = kind("y")
    assert (other.code, other.status, other.retryable) == (kind.code, kind.status, kind.retryable) == usual


def test_attack_20_the_log_gets_words_only_where_they_are_said_to_be_our_own() -> None:
    """The message is for the client alone, whoever makes a fault and does not think of the log."""
    assert Fault("It said 'x'.").own_words is None
    assert Fault(OwnWords("It broke.")).own_words == "It broke."
    quoting = Fault("There is no 'x'.", own_words=OwnWords("There is no such thing."))
    assert (quoting.message, quoting.own_words) == ("There is no 'x'.", "There is no such thing.")


def test_who_must_act_decides_the_class_of_the_status() -> None:
    for kind in families(ClientFault):
        assert 400 <= kind.status < 500
        assert kind.type != Fault.type
    for kind in families(BackendFault):
        assert kind.status >= 500 or kind in (RateLimited, OutOfQuota)
    assert ProxyFault.status == 500


def test_a_client_that_must_change_its_request_is_never_told_to_repeat_it() -> None:
    assert {kind for kind in (ClientFault, *families(ClientFault)) if kind.retryable} == {TooMany}


def test_backends_may_recover_but_an_empty_account_does_not() -> None:
    assert {kind for kind in (BackendFault, *families(BackendFault)) if not kind.retryable} == {OutOfQuota}


def test_each_kind_of_backend_fault_has_a_code_of_its_own() -> None:
    """What is a kind of one of them differs for us alone, and so does who it was that failed, server or model."""
    kinds = [BackendFault, *(kind for kind in families(BackendFault) if kind.__mro__[1] is BackendFault)]
    kinds.remove(GatewayFault)
    kinds.remove(Miscalled)
    assert len({kind.code for kind in kinds}) == len(kinds)
