"""The bodies of requests, read within their limits: bytes, values, and the memory that their owner may take."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from proxy.core.ledger import Ledger
from proxy.core.policy.shares import Loan, Shares
from proxy.core.surfaces.reading.parsing import parsed
from proxy.shell.http.answers import HttpRequest
from proxy.shell.http.body import read_body, read_body_if_any
from proxy.shell.offload.threads import WorkThreads


class Bodies:
    def __init__(self, limit: int, memory: Shares, threads: WorkThreads) -> None:
        """`limit`: in bytes."""
        self._limit = limit
        self._memory = memory
        self.threads = threads

    @contextmanager
    def loan(self, owner: str) -> Iterator[Loan]:
        """Of the memory for one request."""
        loan = Loan(self._memory, owner)
        try:
            yield loan
        finally:
            loan.end()

    async def read(
        self,
        request: HttpRequest,
        loan: Loan,
        ledger: Ledger,
        received: Callable[[bytes], None] | None = None,
    ) -> Any:
        """`received` gets the bytes before they are parsed."""
        data = await read_body(request, self._limit, loan.take)
        if received is not None:
            received(data)
        return await self.threads.read(data, _parsed, ledger, loan)

    async def read_if_any(self, request: HttpRequest, loan: Loan, ledger: Ledger) -> Any:
        """Returns None if there is none, where a request may do without."""
        data = await read_body_if_any(request, self._limit, loan.take)
        return await self.threads.read(data, _parsed, ledger, loan) if data else None


def _parsed(data: bytes, *, exact: bool) -> Any:
    return parsed(data, "The request body", "Send one JSON object in UTF-8.", exact=exact)
