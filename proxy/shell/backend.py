"""One backend, as the engine uses it: it plans and sends requests, and changes them as their refusals teach."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from proxy.core.backends.counter import TokenCounter, not_offered, shows_no_counter
from proxy.core.backends.target import Target
from proxy.core.catalog import ServedModel
from proxy.core.dialects.reading.echoes import MAX_SEARCHED
from proxy.core.dialects.reading.lessons import Lesson
from proxy.core.dialects.registry import counter_of
from proxy.core.errors import Fault, Garbled, OwnWords, Unauthorized
from proxy.core.flow.refused import refused
from proxy.core.flow.request import Preparation, prepared_for
from proxy.core.flow.taught import as_taught, lesson_in, other_endpoint
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name
from proxy.core.model import Request
from proxy.core.policy.breaker import Breaker
from proxy.core.policy.retry import Budget
from proxy.core.tenants import key_of
from proxy.shell.concurrency import ConcurrencyLimit, SlotCounts
from proxy.shell.discovery import Discovery
from proxy.shell.http.transport import Exchange, Timeouts, Transport
from proxy.shell.in_flight import InFlight
from proxy.shell.known_models import UNNOTED, KnownModels, Taught, Teaching
from proxy.shell.offload.threads import LARGE_BYTES, WorkThreads

MAX_LESSONS = 3
"""One request is changed and sent again at most this often. Each time costs a round trip, and few models have three
oddities."""

TEACHING = (400, 404, 422, 500)
"""llama.cpp and LM Studio answer 500 to what others call a bad request; 404 teaches only a model's language."""

SEARCHED_PER_UNIT = 16
"""One unit of work pays for a search through this many bytes of a body, for the words of a refusal."""

MAX_REFUSAL_BYTES = 64 * 1024

MAX_COUNT_BYTES = 64 * 1024 * 1024
"""Some servers answer with all tokens beside their number: 8 bytes for each of a few million."""


@dataclass(slots=True)
class Plan:
    """One attempt at a request: which backend is asked, and what."""

    backend: "Backend"
    preparation: Preparation
    owner: str
    """Who pays for the request."""
    only: bool
    """Is there no other backend that could answer it?"""
    taught: list[Taught] = field(default_factory=list)
    """What refusals have taught for it: kept if the request is answered."""


class OtherLanguage(Exception):
    """Raised by `ask`: a refusal has taught to ask in another language, so the reply has to be read in that one too."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan


class Backend:
    def __init__(
        self,
        *,
        name: str,
        discovery: Discovery,
        transport: Transport,
        breaker: Breaker,
        budget: Budget,
        concurrency: ConcurrencyLimit,
        timeouts: Callable[[float], Timeouts],
        threads: WorkThreads,
        clock: Callable[[], float],
        forward_key: bool = False,
        teaching: Teaching = UNNOTED,
    ) -> None:
        """`timeouts` makes the limits on waits from the time that the profile allows for the first byte. `forward_key`:
        the client's own key goes to the backend, instead of a configured one."""
        self.name = name
        self.breaker = breaker
        self.budget = budget
        self._concurrency = concurrency
        self.forwards_key = forward_key
        self._discovery = discovery
        self._transport = transport
        self._threads = threads
        self._timeouts = timeouts
        self.known = KnownModels(name, discovery, clock, teaching)
        self.leave = concurrency.leave

    @property
    def slot_counts(self) -> SlotCounts:
        return self._concurrency.slot_counts

    async def models(self) -> list[ServedModel]:
        return await self._discovery.models()

    def enter(self, owner: str, *, only: bool) -> Awaitable[None]:
        """Takes a slot for one request, which `leave` gives back. Raises Spared at once if the breaker is open."""
        if self._concurrency.is_limited:  # else it is checked in the next moment
            self.breaker.check(owner, only=only)
        return self._concurrency.enter(owner)

    async def plan(
        self,
        request: Request,
        name: str,
        ledger: Ledger,
        headers: Mapping[str, str],
        owner: str,
        *,
        only: bool,
        counts: bool = False,
    ) -> Plan:
        """`name` is the model's, for which the client may have another name. `headers` are the client's; only a backend
        that is configured so gets the key in them. `owner` pays for the request. `only`: see `Plan`. `counts`: it is
        for `count`."""
        model = await self.known.find(name)
        await self.known.recall(model, owner, ledger)
        target = self.known.target(model, owner)
        if self.forwards_key and (key := key_of(headers)):
            if not (key.isascii() and key.isprintable()):
                raise Unauthorized(
                    "The API key holds characters that cannot be passed on. Send one in plain ASCII."
                )
            target = replace(target, key=key, forwarded=True)
        url, counter = model.url, None
        if counts:
            counter = counter_of(target.profile)
            if counter is None:
                raise not_offered()
            url = counter.url(target, model.name)
        return Plan(self, await self._prepare(request, target, model.name, url, ledger, counter), owner, only)

    async def ask(self, plan: Plan, in_flight: InFlight) -> Exchange:
        """Returns the beginning of a reply. If a refusal teaches something, the request is changed and sent again."""
        ledger, watch = in_flight.ledger, in_flight.watch
        if not (taught := plan.taught):  # a request earns once, however often refusals have changed it
            self.budget.earn()
        while True:
            post = plan.preparation.post
            exchange = await self._transport.send(
                post if watch is None or watch.outgoing is None else watch.post(post),
                self._timeouts(plan.preparation.profile.first_byte_s),
            )
            in_flight.head_came(exchange.status, exchange.headers)
            if exchange.status // 100 == 2:
                if taught:  # what was refused again may have been a misunderstanding, and is not kept
                    self.known.learn_from_refusals(plan.preparation.model, taught, plan.owner, ledger)
                return exchange
            words = await exchange.read_at_most(MAX_REFUSAL_BYTES)
            exchange.close()
            in_flight.refused(words)
            text = words.decode("utf-8", "replace")
            changed = None
            if (status := exchange.status) in TEACHING and len(taught) < MAX_LESSONS:
                changed = await self._learn_from_refusal(plan.preparation, text, status, taught, ledger)
            if changed is None and (
                lesson := other_endpoint(plan.preparation, exchange.status, exchange.headers, words, taught)
            ):
                taught.append((lesson, plan.preparation.target.profile))
                target = replace(plan.preparation.target, profile=lesson.profile)
                changed = await self._put_to(target, plan.preparation, ledger)
            if changed is None:
                raise _fault(exchange, words, plan)
            in_flight.attempt("lesson", self.name, as_name(changed.model), changed)
            language = plan.preparation.profile.dialect
            plan = replace(plan, preparation=changed)
            if changed.profile.dialect != language:
                raise OtherLanguage(plan)

    async def count(self, plan: Plan, in_flight: InFlight) -> int:
        """Returns the number of tokens in the request of a plan that was made for that."""
        assert plan.preparation.counter is not None
        try:
            exchange = await self.ask(plan, in_flight)
        except Fault as fault:
            if shows_no_counter(fault):
                raise not_offered() from fault
            raise
        answer = await _whole(exchange)
        in_flight.refused(answer)
        in_flight.attempt_ended(None, None)
        ledger = in_flight.ledger
        ledger.work.takes_long |= len(answer) > LARGE_BYTES
        return await self._threads.run(partial(plan.preparation.counter.read, answer), ledger)

    async def _learn_from_refusal(
        self,
        preparation: Preparation,
        words: str,
        status: int,
        taught: list[Taught],
        ledger: Ledger,
    ) -> Preparation | None:
        """Returns the request changed by what the refusal teaches, if that changes it at all."""
        rows = [lesson.row for lesson, _ in taught]
        post = preparation.post

        def learned() -> Lesson | None:
            ledger.work.spend(min(len(post.body), MAX_SEARCHED) // SEARCHED_PER_UNIT)
            return lesson_in(preparation, status, words, rows)

        while lesson := await self._threads.run(learned, ledger):
            rows.append(lesson.row)
            changed = await self._put_to(as_taught(preparation, lesson), preparation, ledger)
            if (changed.post.body, changed.post.headers) != (post.body, post.headers):
                taught.append((lesson, preparation.profile))
                return changed
        return None

    def _put_to(self, target: Target, preparation: Preparation, ledger: Ledger) -> Awaitable[Preparation]:
        """The same request to what is now known of its model."""
        return self._prepare(
            preparation.request, target, preparation.model, preparation.url, ledger, preparation.counter
        )

    def _prepare(
        self,
        request: Request,
        target: Target,
        model: str,
        url: str,
        ledger: Ledger,
        counter: TokenCounter | None,
    ) -> Awaitable[Preparation]:
        return self._threads.run(partial(prepared_for, request, target, model, url, ledger, counter), ledger)


async def _whole(exchange: Exchange) -> bytes:
    """Reads a small answer to its end."""
    answer = bytearray()
    try:
        while data := await exchange.read():
            answer += data
            if len(answer) > MAX_COUNT_BYTES:
                raise Garbled(OwnWords("The backend's answer to a question for a number does not end."))
        exchange.release()
    finally:
        exchange.close()
    return bytes(answer)


def _fault(exchange: Exchange, words: bytes, plan: Plan) -> Fault:
    target = replace(plan.preparation.target, profile=plan.preparation.profile)
    return refused(exchange.status, exchange.headers, words, target, forwards=plan.backend.forwards_key)
