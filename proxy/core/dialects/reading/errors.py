"""From a backend's refusal, before its stream or inside it, to a fault that says who must act.

The status decides, as far as it can be trusted; where backends are known to say one thing and mean another, their
words decide: an outgrown context window, an empty account, a client's mistake reported as a crash.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from proxy.core.dialects.reading import error_body, field_names, overflow, retry_after
from proxy.core.dialects.reading.error_body import ErrorBody
from proxy.core.errors import (
    NO_PATH,
    BackendFault,
    ClientFault,
    Fault,
    Forbidden,
    GatewayFault,
    Miscalled,
    NotFound,
    OutOfQuota,
    Overloaded,
    OwnWords,
    RateLimited,
    Timeout,
    TooLarge,
    Unauthorized,
)
from proxy.core.masking.redact import quotable

MAY_MEAN_OVERFLOW = {400, 413, 422}
"""With any other status the words for an outgrown context window mean something else."""
CRASH = 500
"""Without a status of its own a failure counts as one."""
MAY_PASS = {408, 409, 425}
"""After one of these, the same request may succeed later."""

MEANINGFUL_CODES = {
    "context_length_exceeded",
    "insufficient_quota",
    "invalid_api_key",
    "model_not_found",
    "rate_limit_exceeded",
    "server_is_overloaded",
    "slow_down",
    "usage_not_included",
}
"""Clients act on these codes, so only the proxy's own judgement sets them. A backend's other codes are passed on."""
_CODE = re.compile(r"[a-z][a-z0-9_.-]{0,63}", re.IGNORECASE)

MISCALLED = "tool_use_failed"
"""Groq says 400 where its model has written a call that is none, as if the client had."""

_NO_MODEL = re.compile(
    r"\bmodels?\b.{0,200}\b(?:not found|not exist|unknown|unavailable|not available|no access|not supported)\b"
    r"|(?:unknown|invalid|no such|not found).{0,20}\b(?:model|deployment)\b"
    r"|model_?not_?found|deployment_?not_?found|no (?:allowed )?(?:endpoints|providers)\b",
    re.DOTALL,
)
_NO_QUOTA = re.compile(
    r"insufficient[_ ](?:\w+[_ ])?(?:quota|balance|credits?)|credit balance is too low|hard limit"
)
_MISTAKE_AS_CRASH = re.compile(
    r"\btools?\b|\btool[_ ]calls?\b|template|jinja|\bimages?\b|grammar"
    r"|\d validation errors?\b(?! for \w{0,80}response\b)|\bliteral_error\b"
)
"""llama.cpp, LM Studio and llama-cpp-python answer 500 for what the client must change; to repeat the request would not
help.
"""
_BAD_KEY = re.compile(
    r"(?:invalid|incorrect|wrong|expired|revoked|missing|no)\W{1,3}(?:api|access|auth\w{0,20})[ _-]?(?:key|token)"
    r"|(?:api|access)[ _-]?(?:key|token)\b.{0,40}\b(?:invalid|incorrect|not valid|expired|revoked|missing|required)",
    re.DOTALL,
)
_DEFAULT_PAGE = re.compile(
    r"(?:404\W{0,3})?(?:(?:the )?(?:requested )?(?:file|page|route|path|resource|endpoint|url)\W{1,3}(?:was )?)?"
    r"not found\W*"
    r"|(?:cannot (?:post|get)|invalid url|unknown (?:path|url|route|endpoint|request url)|unrecognized request url"
    r"|no route|the requested url)\b.{0,300}",
    re.DOTALL,
)
"""What server frameworks answer for a path that they do not have."""

STATUS_BY_WORDS = (
    (_NO_QUOTA, 402),
    (re.compile(r"invalid_api_key|authentication|unauthorized"), 401),
    (re.compile(r"permission_?denied|permission_error"), 403),
    (
        re.compile(
            r"rate[ _]?limit|too[ _]many[ _]requests|per minute|throttl|resource[ _](?:has been )?exhausted"
        ),
        429,
    ),
    (re.compile(r"overloaded|(?:at|over)[ _]capacity|unavailable|server[ _](?:is )?busy"), 503),
    (re.compile(r"model_?not_?found"), 404),
    (re.compile(r"invalid_request|bad_?request|invalid params|validation errors?\b"), 400),
    (re.compile(r"time[d_ ]*out"), 504),
)
"""Tells what an error without a status most likely is; anything else is a crash."""

SHORTEN = "Shorten the conversation, or choose a model with a larger context window."
OTHER_MODEL = "GET /v1/models lists those that there are."
SIMPLER = "Leave out what is optional, or choose another model."
TOO_LARGE = "The request is too large for the backend."

VENDOR_CODES = {"1113": 402, "1211": 404, "1302": 429, "1303": 429, "1305": 429}
"""Z.ai has numbers of its own: no balance, no such model, too many at once, too often, too many of all users."""


@dataclass(slots=True, frozen=True)
class _Judged:
    """Holds what is known of a refusal before it is decided who must act."""

    status: int
    error: ErrorBody
    retry_after: float | None = None
    own_key: bool = True
    """Was it the proxy's key, not the client's?"""
    structured: bool = True
    """Was it JSON, as only the server itself speaks, and not a page?"""

    @property
    def text(self) -> str:
        return quotable(self.error.message)

    def says(self, else_says: str, then: str = "") -> str:
        """Repeats the backend's own words, which clients may know, and adds `then`, what follows from them."""
        return with_advice(self.text or else_says, then)


def with_advice(text: str, advice: str) -> str:
    if not advice:
        return text
    return f"{text} {advice}" if text[-1] in ".!?…" else f"{text}. {advice}"


def fault_of(status: int, headers: Mapping[str, str], body: bytes, *, own_key: bool) -> Fault:
    """Judges an HTTP answer that is no reply. `own_key`: the proxy's key was sent, not the client's."""
    error = error_body.read(body)
    if status in MAY_MEAN_OVERFLOW and (overflow.matches(error) or (status == 413 and not body.strip())):
        return _overflow(error)
    if 400 <= status < 500:
        status = VENDOR_CODES.get(error.code, status)
    structured = body.lstrip()[:1] in (b"{", b"[")
    return _judge(_Judged(status, error, retry_after.seconds(headers), own_key, structured))


def in_stream(raw: Any) -> Fault:
    """Judges an error inside an answer that began as a success: an object in any dialect, or text."""
    error = error_body.of(raw)
    if overflow.matches(error):
        return _overflow(error)
    judged = _Judged(_likely_status(error), error)
    # The request was accepted, so a crash is one, whatever it names.
    return _crashed(judged) if judged.status == CRASH else _judge(judged)


def crash(body: bytes) -> Fault:
    """Judges an answer as a crash, whatever it names: some backends never mean the request by it."""
    return _crashed(_Judged(CRASH, error_body.read(body)))


def _likely_status(error: ErrorBody) -> int:
    status = VENDOR_CODES.get(error.code) or error.status
    return status or next((status for words, status in STATUS_BY_WORDS if words.search(error.words)), CRASH)


def _judge(judged: _Judged) -> Fault:
    if judged.error.code == "model_not_found":
        return _no_model(judged)
    judge = JUDGES.get(judged.status) or JUDGES_BY_CLASS.get(judged.status // 100, _crash)
    fault = judge(judged)
    fault.seen = str(judged.status)
    return fault


def _overflow(error: ErrorBody) -> Fault:
    text = quotable(error.message) or "The conversation is longer than the model's context window."
    return ClientFault(with_advice(text, SHORTEN), code="context_length_exceeded")


def _redirect(_: _Judged) -> Fault:
    message = OwnWords(
        "The backend redirects elsewhere, where the key must not go. Is the backend's URL right?"
    )
    return BackendFault(message, code="upstream_redirect", retryable=False)


def _key_refused(judged: _Judged) -> Fault:
    """The backend's text is not repeated, because it may quote the key."""
    if judged.own_key:
        message = OwnWords(f"The backend refused the proxy's access (HTTP {judged.status:d}).")
        return BackendFault(message, code="upstream_auth", retryable=False)
    return Unauthorized("The backend refused the API key of this request. Send one that is valid there.")


def no_key(*, forwards: bool) -> Fault:
    """Says who must bring the key that a backend wants. `forwards`: clients bring their own."""
    if forwards:
        return Unauthorized("The backend wants an API key, and this request brought none. Send one.")
    message = OwnWords(
        "The backend wants an API key and the proxy has none: set backend.key (or PROXY_BACKEND_KEY), or forward_key."
    )
    return BackendFault(message, code="upstream_auth", retryable=False)


def _forbidden(judged: _Judged) -> Fault:
    """The backend knows who asks: a region, a model or an organisation is not allowed."""
    if _BAD_KEY.search(judged.error.words):
        return _key_refused(judged)
    return Forbidden(
        judged.says(f"The backend forbids this request (HTTP {judged.status}) without a reason.")
    )


def _no_quota(judged: _Judged) -> Fault:
    return OutOfQuota(judged.says("The account at the backend has no quota left."))


def _limited(judged: _Judged) -> Fault:
    if _NO_QUOTA.search(judged.error.words):
        return _no_quota(judged)
    return RateLimited(judged.says("The backend limits the rate."), retry_after=judged.retry_after)


def _not_found(judged: _Judged) -> Fault:
    """The backend means the model, the path, or in other words something else: a kind of content, a file."""
    if _NO_MODEL.search(judged.error.words):
        return _no_model(judged)
    text = judged.error.message.strip()
    of_path = not judged.structured or not text or _DEFAULT_PAGE.fullmatch(text.lower())
    return _no_path(judged) if of_path else _client_mistake(judged)


def _no_model(judged: _Judged) -> Fault:
    message = judged.says("The backend has no such model.", OTHER_MODEL)
    return NotFound(message, code="model_not_found", param="model")


def _no_path(judged: _Judged) -> Fault:
    message: str = OwnWords(
        f"The backend has no such path (HTTP {judged.status:d}). Is the backend's URL right?"
    )
    if judged.text:
        message += f" It said: {judged.text}"
    return BackendFault(message, code=NO_PATH, retryable=False)


def _too_large(judged: _Judged) -> Fault:
    if overflow.RATE_LIMIT.search(judged.error.words):
        # Groq: one request is larger than a minute's allowance, so neither waiting nor repeating helps.
        return ClientFault(judged.says(TOO_LARGE, SHORTEN), code="request_too_large")
    return TooLarge(judged.says(TOO_LARGE, SHORTEN))


def _client_mistake(judged: _Judged) -> Fault:
    error = judged.error
    if error.code == MISCALLED:
        return Miscalled(judged.says("The model's call cannot be read."), code=MISCALLED)
    status = judged.status if judged.status < 500 else 400
    is_code = _CODE.fullmatch(error.code)
    return ClientFault(
        judged.says(f"The backend refused the request (HTTP {status}) without a reason. {SIMPLER}"),
        status=status,
        code=error.code if is_code and error.code.lower() not in MEANINGFUL_CODES else None,
        param=field_names.client_name(error),
        retryable=status in MAY_PASS,
    )


def _crash(judged: _Judged) -> Fault:
    if judged.status == CRASH and _MISTAKE_AS_CRASH.search(judged.error.words):
        return _client_mistake(judged)
    return _crashed(judged)


def _crashed(judged: _Judged) -> Fault:
    return BackendFault(judged.says("The backend failed."))


def _bad_gateway(judged: _Judged) -> Fault:
    return GatewayFault(judged.says("The backend failed."))


def _timeout(judged: _Judged) -> Fault:
    return Timeout(judged.says("The backend gave up waiting for the model."))


def _overloaded(judged: _Judged) -> Fault:
    return Overloaded(judged.says("The backend is overloaded."), retry_after=judged.retry_after)


Judge = Callable[[_Judged], Fault]

JUDGES: dict[int, Judge] = {
    401: _key_refused,
    402: _no_quota,
    403: _forbidden,
    404: _not_found,
    405: _no_path,
    413: _too_large,
    429: _limited,
    502: _bad_gateway,
    503: _overloaded,
    504: _timeout,
    524: _timeout,
    529: _overloaded,
    **dict.fromkeys((520, 521, 522, 523, 525, 526), _bad_gateway),  # Cloudflare's words for 502
}
JUDGES_BY_CLASS: dict[int, Judge] = {3: _redirect, 4: _client_mistake}
"""Judges every other status by its first digit."""
