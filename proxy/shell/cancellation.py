"""How a request that is under way is stopped: its client leaves, or the proxy interrupts it and must say why."""

import asyncio
from types import TracebackType

from proxy.core.errors import Fault, ProxyFault


class Interruptible:
    """A context that raises an interruption by the proxy as a fault. When a client leaves, the cancellation passes."""

    __slots__ = ("_disarmed", "_interruption", "_task")

    def __init__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._interruption: Fault | None = None
        self._disarmed = False

    def disarm(self) -> None:
        """Ignores interruptions from here on, because the answer is complete and is being sent."""
        self._disarmed = True

    def interrupt(self, fault: Fault) -> None:
        if not self._disarmed:
            self._interruption = fault
            self._task.cancel()

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is not asyncio.CancelledError or self._interruption is None:
            return
        interruption, self._interruption = self._interruption, None  # later it is the client who leaves
        if self._task.uncancel() == 0:
            raise interruption from None


def shutting_down() -> ProxyFault:
    return ProxyFault(
        "The server is shutting down.", code="server_shutting_down", status=503, retry_after=1, retryable=True
    )
