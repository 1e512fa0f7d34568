"""S06: what went wrong in the code is told by its place and its kind, never by what was being worked on."""

import errno
import ssl

import aiohttp
import pytest

from proxy.core.errors import Fault, Garbled, OwnWords
from proxy.shell.ops.tracebacks import MAX_FAILURES, MAX_FRAMES, causes, kind_of, traceback_of

SAID = "what somebody said"


def caught(kind: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise kind from cause
    except BaseException as failure:
        return failure


@pytest.mark.parametrize(
    ("failure", "told"),
    [
        (KeyError(SAID), "KeyError"),
        (Fault(SAID), "Fault"),
        (Garbled(OwnWords("It is no reply.")), "Garbled: It is no reply."),
        (OSError(errno.ECONNRESET, SAID), "ConnectionResetError: ECONNRESET"),
        (OSError(SAID), "OSError"),
        (OSError(-2, SAID), "OSError"),
        (ssl.SSLError(1, SAID), "SSLError"),
    ],
)
def test_a_failure_is_told_by_its_kind_and_number(failure: BaseException, told: str) -> None:
    assert kind_of(failure) == told


def test_who_could_not_be_reached_is_told_as_it_is_configured() -> None:
    key = aiohttp.client_reqrep.ConnectionKey("backend.example", 443, True, True, None, None, None)
    failure = aiohttp.ClientConnectorError(key, OSError(errno.ECONNREFUSED, SAID))
    assert kind_of(failure) == "ClientConnectorError: ECONNREFUSED backend.example:443"


def test_what_openssl_complains_of_is_told() -> None:
    context = ssl.create_default_context()
    inward, outward = ssl.MemoryBIO(), ssl.MemoryBIO()
    connection = context.wrap_bio(inward, outward, server_hostname="backend.example")
    inward.write(b"HTTP/1.1 400 what somebody said\r\n\r\n")
    with pytest.raises(ssl.SSLError) as raised:
        connection.do_handshake()
    assert kind_of(raised.value) == f"SSLError: {raised.value.reason}"
    assert raised.value.reason.isupper()


def test_attack_20_a_traceback_holds_places_and_kinds_and_nobodys_words() -> None:
    told = traceback_of(caught(KeyError(SAID), caught(ValueError(SAID))))
    assert SAID not in told
    first, second = told.split("\n\nwhich led to\n\n")
    assert first.endswith("\nValueError")
    assert second.endswith("\nKeyError")
    assert "test_tracebacks.py" in first
    assert "raise kind from cause" in second


def test_all_failures_of_a_group_are_told() -> None:
    told = traceback_of(caught(ExceptionGroup(SAID, [caught(ValueError(SAID)), caught(KeyError(SAID))])))
    assert SAID not in told
    assert [line for line in told.splitlines() if line.startswith(("Exc", "Val", "Key"))] == [
        "ExceptionGroup, in which",
        "ValueError",
        "KeyError",
    ]


def raised_while_another_is_handled() -> None:
    try:
        raise ValueError(SAID)
    except ValueError:
        raise KeyError(SAID)  # noqa: B904 - so it happens


def test_what_was_raised_while_another_was_handled_tells_of_it_unless_it_is_said_not_to() -> None:
    with pytest.raises(KeyError) as raised:
        raised_while_another_is_handled()
    assert [type(each) for each in causes(raised.value)] == [KeyError, ValueError]
    assert [type(each) for each in causes(caught(KeyError(SAID)))] == [KeyError]


def test_neither_chains_nor_depths_are_without_an_end() -> None:
    failure: BaseException = ValueError(SAID)
    for _ in range(100):
        failure = caught(ValueError(SAID), failure)
    assert len(list(causes(failure))) == MAX_FAILURES

    def falls(deep: int) -> None:
        falls(deep + 1) if deep < 300 else exec("raise ValueError")

    with pytest.raises(ValueError) as raised:  # noqa: PT011
        falls(0)
    assert traceback_of(raised.value).count("\n") < 3 * MAX_FRAMES
