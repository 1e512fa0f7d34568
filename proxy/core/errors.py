"""What can go wrong, named after who must act.

    Fault
    ├── ClientFault        the request must change                              4xx
    │   ├── NotFound           what it names does not exist                     404
    │   ├── TooLarge           it is over a limit                               413
    │   ├── Unsupported        its media type or encoding is not spoken here    415
    │   ├── Incompatible       the chosen backend cannot do what it asks for    400
    │   ├── NotOffered         the chosen backend cannot do it for anybody      400
    │   ├── Unauthorized       it does not say who asks                         401
    │   ├── Forbidden          who asks may not have it                         403
    │   └── TooMany            who asks has had enough; `retry_after` says how long  429
    ├── BackendFault       the backend failed, or answered what cannot be used  5xx
    │   ├── Unreachable        no connection                                    502
    │   ├── GatewayFault       what stands before it says that it cannot be had  502
    │   ├── Timeout            no connection in time, or no answer              504
    │   │   └── Silent             it has the request, and may still be at work     504
    │   ├── Truncated          the answer stopped before its end                502
    │   ├── Garbled            the answer breaks its protocol                   502
    │   ├── Empty              the answer ended with nothing in it              502
    │   ├── Unfit              the model's call, or its not calling, breaks what the client asked for  502
    │   ├── Miscalled          the model's call cannot be read by its own server    502
    │   ├── Overloaded         it asks to be spared; `retry_after` says how long  503
    │   │   └── Spared             it was not asked: it has failed too often, or has enough to do  503
    │   ├── RateLimited        it limits us; `retry_after` likewise             429
    │   └── OutOfQuota         our account there has nothing left               429
    └── ProxyFault         we are at fault, or stopping                         5xx

Before the first byte of an answer a fault is raised and becomes an HTTP status; afterwards it travels as an event and
leaves in the surface's own words. `status` is therefore a hint, used only while there still is a status to choose.

A fault has two messages. `message` is for the client: it may quote the request, or the backend. `own_words` is for the
log, which holds nobody's content: there is none unless the message is said to be `OwnWords`.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Self


class OwnWords(str):
    """Words without anything that a client, a model or a backend has said: the log may repeat them.

    Whatever is made out of them, by `+`, in an f-string or in any other way, is an ordinary text again. Between the
    brackets stand letters of the code, constants and numbers: `tests/architecture` reads it.
    """

    __slots__ = ()


REPEATED_UNASKED = 429
"""From this status on, OpenAI's clients repeat a request by themselves. Below it they do so only if they are told."""


NO_PATH = "upstream_not_found"
"""The code for a path that the backend does not have."""


class Fault(Exception):
    type: ClassVar[str] = "server_error"
    status: int = 500
    code: str | None = "server_error"
    retryable: bool = False
    """May the same request succeed later, unchanged?"""
    seen: str = ""
    """What a backend did, in a word or a number, for whoever is told of it later."""

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        param: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        retryable: bool | None = None,
        details: Mapping[str, Any] | None = None,
        own_words: OwnWords | None = None,
    ) -> None:
        """`details` stand beside the message in the answer, for programs. `own_words` are for the log, where whoever
        runs the proxy must be told something and the message quotes."""
        super().__init__(message)
        self.details = details or {}
        self.message = message
        self.own_words = message if isinstance(message, OwnWords) else own_words
        self.param = param
        self.retry_after = retry_after
        self.standing: Mapping[str, str] = {}
        """Headers that tell whoever is refused how it stands with its limits."""
        if code is not None:
            self.code = code
        if status is not None:
            self.status = status
        if retryable is not None:
            self.retryable = retryable

    def changed(self, **fields: Any) -> Self:
        """The same fault, told otherwise. A fault that was raised is never written to: others may hold it."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__ | fields)
        other.args = (other.message,)
        other.__cause__ = self.__cause__
        return other

    @property
    def headers(self) -> dict[str, str]:
        """What a refusal says in its head, on whatever wire."""
        headers = dict(self.standing)
        if self.retry_after is not None:
            # Whole seconds for everybody, never less than one; milliseconds for those who read them.
            headers["Retry-After"] = str(max(1, math.ceil(self.retry_after)))
            headers["Retry-After-Ms"] = str(max(1, math.ceil(self.retry_after * 1000)))
        if self.retryable and self.status < REPEATED_UNASKED:
            headers["X-Should-Retry"] = "true"
        return headers


class ClientFault(Fault):
    type = "invalid_request_error"
    status = 400
    code: str | None = None


class NotFound(ClientFault):
    status = 404


class TooLarge(ClientFault):
    status = 413
    code = "request_too_large"


class Unsupported(ClientFault):
    status = 415
    code = "unsupported_media_type"


class Incompatible(ClientFault):
    """Its `details` list the `incompatible_features`, by the names that JSON Schema and the API have for them."""

    type = "semantic_error"
    code = "tool_schema_incompatible"


class NotOffered(ClientFault):
    """Whatever the request says. Clients are told to their face that no later try helps."""

    @property
    def headers(self) -> dict[str, str]:
        return super().headers | {"X-Should-Retry": "false"}


class Unauthorized(ClientFault):
    type = "authentication_error"
    status = 401
    code = "invalid_api_key"


class Forbidden(ClientFault):
    type = "permission_error"
    status = 403
    code = "permission_denied"


class TooMany(ClientFault):
    type = "rate_limit_error"
    status = 429
    code = "rate_limit_exceeded"
    retryable = True


class BackendFault(Fault):
    status = 502
    code = "upstream_error"
    retryable = True
    seen = "an error"


class Unreachable(BackendFault):
    code = "upstream_unreachable"
    seen = "no connection"


class GatewayFault(BackendFault):
    pass


class Timeout(BackendFault):
    status = 504
    code = "upstream_timeout"
    seen = "no answer in time"


class Silent(Timeout):
    pass


class Truncated(BackendFault):
    code = "upstream_stream_truncated"
    seen = "an answer that broke off"


class Garbled(BackendFault):
    code = "upstream_protocol_error"
    seen = "an answer that cannot be read"


class Empty(BackendFault):
    code = "upstream_empty_reply"


class Unfit(BackendFault):
    """How is said by the `code` of each."""

    type = "semantic_error"
    code = "unfit_tool_call"


class Miscalled(BackendFault):
    """A throw of the dice: the next one is as likely to be good as any."""

    seen = "a call that it could not read"


class Overloaded(BackendFault):
    status = 503
    code = "server_is_overloaded"


class Spared(Overloaded):
    pass


class RateLimited(BackendFault):
    type = "rate_limit_error"
    status = 429
    code = "rate_limit_exceeded"


class OutOfQuota(BackendFault):
    type = "insufficient_quota"  # Codex gives up, as it should, only if type and code both say so
    status = 429
    code = "insufficient_quota"
    retryable = False


class ProxyFault(Fault):
    pass
