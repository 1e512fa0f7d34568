"""Errors as answers of their own: counted, without a secret in them, and noted where there was no request at all."""

from proxy.core.errors import Fault
from proxy.core.masking.redact import quotable, shown
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.surface import Surface
from proxy.shell.http.answers import HttpAnswer, HttpRequest, error_response
from proxy.shell.ops.fault_facts import facts_of
from proxy.shell.ops.logs import Log
from proxy.shell.ops.metrics import Metrics
from proxy.shell.secret_mask import SecretMask
from proxy.shell.watching.watchers import Watchers

TOO_LARGE = 413

MAX_PATH = 200
"""Characters of a refused path that are shown: anybody may send 8,000, without a key."""


class Refusals:
    def __init__(
        self, metrics: Metrics, secret_mask: SecretMask, log: Log, watchers: Watchers | None = None
    ) -> None:
        self._metrics = metrics
        self._watchers = watchers
        self._secret_mask = secret_mask
        self._log = log

    def of_request(
        self, fault: Fault, request: HttpRequest, request_id: str, surface: Surface | None
    ) -> HttpAnswer:
        """Refuses a request that the engine has not seen, with a line in the log. `surface`: see `Incoming`."""
        method, host, path = shown(request.method), shown(request.host), quotable(request.path, MAX_PATH)
        self._note(fault, request_id, method=method, host=host, path=path)
        if self._watchers:
            to_keep = self._secret_mask.to_keep(fault, request.headers)
            name = surface.name if surface else None
            self._watchers.refuse(request_id, name, method, path, request.headers, to_keep)
        return self.answer(fault, request, request_id, surface)

    def of_bytes(
        self, fault: Fault, error: BaseException | None, request: HttpRequest, request_id: str
    ) -> HttpAnswer:
        """Refuses bytes that are no request. The log shows only the kind of the error, because aiohttp's words quote
        the head, where keys are."""
        self._note(fault, request_id, kind=type(error).__name__)
        return self.answer(fault, request, request_id)

    def _note(self, fault: Fault, request_id: str, **facts: str) -> None:
        self._log.info("refusal", request_id=request_id, **facts, status=fault.status, **facts_of(fault))

    def answer(
        self, fault: Fault, request: HttpRequest, request_id: str, surface: Surface | None = None
    ) -> HttpAnswer:
        self._metrics.refused(fault)
        body, masked = request.content, self._secret_mask.hidden_in(fault, request.headers)
        answer = error_response(masked, (surface.error if surface else error_body)(masked), request_id)
        if fault.status == TOO_LARGE or not body.at_eof() or body.exception() is not None:
            answer.force_close()  # nobody reads the rest of the body
        return answer
