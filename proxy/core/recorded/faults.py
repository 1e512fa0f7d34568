"""Faults as data, and back."""

from dataclasses import dataclass, field
from typing import Any

from proxy.core import errors
from proxy.core.errors import BackendFault, Fault

KINDS = {
    name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Fault)
}


@dataclass(frozen=True, slots=True)
class RecordedFault:
    kind: str
    message: str
    code: str | None = None
    param: str | None = None
    status: int = 500
    retry_after: float | None = None
    retryable: bool = False
    details: dict[str, Any] = field(default_factory=dict)


def recorded_fault(fault: Fault) -> RecordedFault:
    return RecordedFault(
        next(kind.__name__ for kind in type(fault).__mro__ if kind.__name__ in KINDS),
        str(fault.message),
        fault.code,
        fault.param,
        fault.status,
        fault.retry_after,
        fault.retryable,
        dict(fault.details),
    )


def fault_of(recorded: RecordedFault) -> Fault:
    """A kind that is not known here is one of a backend."""
    fault = KINDS.get(recorded.kind, BackendFault)(recorded.message)
    fault.code, fault.param, fault.status = recorded.code, recorded.param, recorded.status
    fault.retry_after, fault.retryable = recorded.retry_after, recorded.retryable
    fault.details = recorded.details
    return fault
