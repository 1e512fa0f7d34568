"""The table of the languages that backends speak: what writes a request in each, and what reads the reply.

A profile names its dialect. No other module asks which dialect it is: each takes what it needs from this table. Each
is imported when it is taken for the first time: most proxies need one or two of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Protocol

from proxy.core.backends.counter import TokenCounter
from proxy.core.backends.target import Target
from proxy.core.backends.wires import RESPONSES, may_speak_responses
from proxy.core.dialects.reading import errors as reading_errors
from proxy.core.dialects.reading import reply_lessons
from proxy.core.dialects.reading.lessons import Row
from proxy.core.dialects.reading.reply_lessons import ReplyRow
from proxy.core.errors import Fault
from proxy.core.events import Decoder, Delta, More
from proxy.core.ledger import Ledger
from proxy.core.model import Extras, Request
from proxy.core.profile import BackendProfile
from proxy.core.tools.prepare import Prepared


class DecoderClass(Protocol):
    def wants_extras_back(self, profile: BackendProfile, *, proven: bool = False) -> bool:
        """May a backend like this want anything back, so that `keep_extras` will be used? `proven`: does it, as far as
        is known without the evidence of its replies?"""

    def __call__(
        self,
        emit: Callable[[Delta], None],
        profile: BackendProfile,
        ledger: Ledger,
        keep_extras: Callable[[Extras], None] | None = None,
        *,
        model: str = "",
        stamp: str = "",
        more: More | None = None,
    ) -> Decoder:
        """`keep_extras` takes what the backend will want back with its reasoning. `model` is the model that it must
        come back to; `stamp`, the time of the request, makes ids for calls that the backend gives none. `more` takes
        what needs no delta; without it there is a delta for everything."""


class Encode(Protocol):
    def __call__(
        self, request: Request, prepared: Prepared, profile: BackendProfile, model: str, ledger: Ledger
    ) -> dict[str, Any]:
        """Makes the request for a streamed reply. `profile` is already that of the model."""


class FaultOf(Protocol):
    def __call__(self, status: int, headers: Mapping[str, str], body: bytes, *, own_key: bool) -> Fault:
        """Says what a status other than 2xx means."""


@dataclass(frozen=True, slots=True)
class Dialect:
    encode: Encode
    decoder: DecoderClass
    fault_of: FaultOf
    reply_url: Callable[[Target, str], str]
    """Tells where a streamed reply of a model is asked for."""
    models_url: Callable[[Target], str]
    lessons: Sequence[Row]
    """What the words of a refusal teach."""
    counters: Mapping[str, TokenCounter]
    """How tokens are counted, by the names that a profile has for it."""
    reply_lessons: Sequence[ReplyRow] = reply_lessons.COMMON_ROWS
    """What a reply teaches."""


@cache
def _chat() -> Dialect:
    from proxy.core.dialects.chat import counting, encode, lessons, urls
    from proxy.core.dialects.chat.decode import ChatDecoder

    return Dialect(
        encode=encode.encode,
        decoder=ChatDecoder,
        fault_of=reading_errors.fault_of,
        reply_url=urls.reply_url,
        models_url=urls.models_url,
        lessons=lessons.LESSONS,
        counters=counting.COUNTERS,
        reply_lessons=reply_lessons.CHAT_ROWS,
    )


@cache
def _anthropic() -> Dialect:
    from proxy.core.dialects.anthropic import counting, encode, errors, lessons, urls
    from proxy.core.dialects.anthropic.decode import AnthropicDecoder

    return Dialect(
        encode=encode.encode,
        decoder=AnthropicDecoder,
        fault_of=errors.fault_of,
        reply_url=urls.reply_url,
        models_url=urls.models_url,
        lessons=lessons.LESSONS,
        counters=counting.COUNTERS,
    )


@cache
def _google() -> Dialect:
    from proxy.core.dialects.google import counting, encode, errors, lessons, urls
    from proxy.core.dialects.google.decode import GoogleDecoder

    return Dialect(
        encode=encode.encode,
        decoder=GoogleDecoder,
        fault_of=errors.fault_of,
        reply_url=urls.reply_url,
        models_url=urls.models_url,
        lessons=lessons.LESSONS,
        counters=counting.COUNTERS,
    )


@cache
def _responses() -> Dialect:
    from proxy.core.dialects.responses import counting, encode, lessons, urls
    from proxy.core.dialects.responses.decode import ResponsesDecoder

    return Dialect(
        encode=encode.encode,
        decoder=ResponsesDecoder,
        fault_of=reading_errors.fault_of,
        reply_url=urls.reply_url,
        models_url=urls.models_url,
        lessons=lessons.LESSONS,
        counters=counting.COUNTERS,
        reply_lessons=reply_lessons.OPENAI_ROWS,
    )


DIALECTS: Mapping[str, Callable[[], Dialect]] = {
    "chat": _chat,
    "anthropic": _anthropic,
    "google": _google,
    RESPONSES: _responses,
}


def spoken_by(profile: BackendProfile) -> Dialect:
    return DIALECTS[profile.dialect]()


def get_ready(profile: BackendProfile) -> None:
    """Imports what the backend speaks, so that no request waits for it."""
    spoken_by(profile)
    if may_speak_responses(profile):
        DIALECTS[RESPONSES]()


def wants_thoughts_back(profile: BackendProfile) -> bool:
    """Does the backend answer better, or only, with what its model thought before the calls of the history?"""
    if may_speak_responses(profile):
        return True
    return profile.replay != "none" or spoken_by(profile).decoder.wants_extras_back(profile, proven=True)


def counting(profile: BackendProfile) -> BackendProfile:
    """The profile in the language of its counter: OpenAI has none for Chat."""
    if profile.counter == "none" or profile.counter in spoken_by(profile).counters:
        return profile
    return (
        replace(profile, dialect=RESPONSES) if profile.counter in DIALECTS[RESPONSES]().counters else profile
    )


def counter_of(profile: BackendProfile) -> TokenCounter | None:
    return spoken_by(counting(profile)).counters.get(profile.counter)
