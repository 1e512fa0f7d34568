"""What the HTTP client raises, as faults."""

import errno

import aiohttp
import pytest

from proxy.core.errors import BackendFault, Fault, ProxyFault
from proxy.shell.http.failures import fault_of


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE])
def test_no_more_files_is_our_own_trouble(number: int) -> None:
    """F07: not the backend's, so the breaker does not hear of it."""
    fault = fault_of(aiohttp.ClientOSError(number, "too many open files"), answering=False)
    assert isinstance(fault, ProxyFault)
    assert (fault.status, fault.retryable) == (503, True)


@pytest.mark.parametrize("answering", [False, True])
def test_a_failure_that_nobody_foresaw_is_the_backends(answering: bool) -> None:
    fault: Fault = fault_of(aiohttp.ClientError("new in the next version"), answering=answering)
    assert isinstance(fault, BackendFault)
