"""The models of one backend, as far as the proxy knows them: how each is asked, and what it has taught.

What was learned of a model is kept for a while, so that the next request is right at once: see `learned`.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from proxy.core.backends import wires
from proxy.core.backends.kept_lessons import identity
from proxy.core.backends.learned import LASTS_SECONDS, Learned
from proxy.core.backends.model_rules import profile_of
from proxy.core.backends.target import Target
from proxy.core.dialects.reading import reply_lessons
from proxy.core.dialects.reading.lessons import Lesson
from proxy.core.dialects.reading.reply_lessons import Observed
from proxy.core.dialects.registry import spoken_by
from proxy.core.events import Reply
from proxy.core.flow.request import Preparation
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import as_name
from proxy.core.profile import BackendProfile
from proxy.shell.discovery import Discovery
from proxy.shell.remembering.kept_lessons import KeptLessons

MAX_KNOWN = 1000
"""The proxy remembers this many models. Clients choose the names, so there may be any number."""

Taught = tuple[Lesson, BackendProfile]
"""What a refusal has taught, and the profile before."""

CountLesson = Callable[[str, str, str], None]
"""Gets the name of the backend, what has taught, and the lesson."""


def _uncounted(backend: str, source: str, lesson: str) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Teaching:
    """What becomes of a lesson besides that it is learned."""

    count: CountLesson = _uncounted
    kept: KeptLessons | None = None
    """None where nothing outlives the process."""


UNNOTED = Teaching()
"""For who shows no metrics and keeps nothing."""


@dataclass(slots=True)
class KnownModel:
    name: str
    learned: Learned
    """The target, with the model's quirks in its profile, and the lessons that it has taught."""
    url: str
    """Replies come from this URL. It is kept, because parsing a URL costs as much as reading a short request."""
    hosted_tools: Collection[str]
    identity: str
    """Names it among lessons that are kept."""


class KnownModels:
    def __init__(
        self, backend: str, discovery: Discovery, clock: Callable[[], float], teaching: Teaching
    ) -> None:
        """`backend`: its name."""
        self._backend = backend
        self._count, self._kept = teaching.count, teaching.kept
        self._discovery = discovery
        self._clock = clock
        self._base = discovery.known
        self._known: dict[str, KnownModel] = {}

    def hosted_tools(self, name: str) -> Collection[str]:
        return self._of(self._discovery.known, name).hosted_tools

    async def find(self, name: str) -> KnownModel:
        """`name`: the model's, for which the client may have another."""
        return self._of(await self._discovery.target(), name)

    async def recall(self, model: KnownModel, owner: str, ledger: Ledger) -> None:
        """Learns again what this owner's requests have taught an earlier process, a short time ago."""
        if self._kept is None or not (
            lessons := await self._kept.recall(model.identity, model.learned, owner)
        ):
            return
        fields = sorted({change.field for change in lessons})
        for field in fields:
            self._count(self._backend, "store", field)
        ledger.log.info("lessons_recalled", backend=self._backend, model=as_name(model.name), fields=fields)

    def target(self, model: KnownModel, owner: str) -> Target:
        """How this owner's requests are put to the model now."""
        return model.learned.target(owner, self._clock())

    async def profile(self, name: str, owner: str) -> BackendProfile:
        return self.target(await self.find(name), owner).profile

    def _of(self, base: Target, name: str) -> KnownModel:
        model = base.models.get(name, name)
        if base is not self._base:  # the backend was recognised meanwhile
            self._base = base
            self._known.clear()
        if model not in self._known:
            if len(self._known) >= MAX_KNOWN:
                del self._known[next(iter(self._known))]
            target = replace(base, profile=profile_of(base, model))
            url = spoken_by(target.profile).reply_url(target, model)
            named = identity(target, model) if self._kept is not None else ""
            hosted = wires.hosted_tools(target.profile)
            self._known[model] = KnownModel(model, Learned(target), url, hosted, named)
        return self._known[model]

    # ── what is learned ──

    def fields_learned(self) -> Mapping[str, int]:
        """The fields of profiles that are known by lessons now, each with the number of models."""
        now = self._clock()
        return Counter(field for model in self._known.values() for field in model.learned.fields(now))

    def learn_from_refusals(self, name: str, taught: Sequence[Taught], owner: str, ledger: Ledger) -> None:
        """`taught`: what has helped."""
        known, now = self._known.get(name), self._clock()
        for lesson, before in taught:
            kept = lesson.profile if lesson.lasting else lesson.kept
            if kept is not None and known is not None:
                known.learned.learn(before, kept, owner, now)
        self._keep(known, owner)
        lasting = [lesson.row for lesson, _ in taught if lesson.lasting or lesson.kept]
        once = [lesson.row for lesson, _ in taught if not (lesson.lasting or lesson.kept)]
        for source, rows in (("refusal", lasting), ("refusal_once", once)):
            for row in rows:
                self._count(self._backend, source, row)
        ledger.log.info(
            "refusal_learned",
            backend=self._backend,
            model=as_name(name),
            lessons=lasting,
            minutes=LASTS_SECONDS / 60,
            once=once,
        )

    def learn_from_reply(
        self, preparation: Preparation, owner: str, reply: Reply, thought: str | None, ledger: Ledger
    ) -> None:
        """Remembers what a reply shows of its model, like what refusals teach. `thought`: see `Observed`."""
        known = self._known.get(preparation.model)
        if known is None:
            return
        observed = Observed(preparation.request, reply, thought, unfit=preparation.prepared.answer_unfit)
        profile = preparation.profile
        if profile.replay_by_evidence and not self.target(known, owner).profile.replay_by_evidence:
            profile = replace(
                profile, replay_by_evidence=False
            )  # a refusal of this very request has ended it
        fields = reply_lessons.fields_taught(spoken_by(profile).reply_lessons, profile, observed)
        kept = reply_lessons.fields_to_keep(profile, observed)
        if not fields and not kept:
            return
        now = self._clock()
        news = {
            name: value for name, value in fields.items() if known.learned.observe(name, value, owner, now)
        }
        renewed = [name for name in kept if known.learned.renew(name, owner, now)]
        if fields or renewed:
            self._keep(known, owner)
        for name in news:
            self._count(self._backend, "reply", name)
        if news:
            ledger.log.info(
                "reply_learned",
                backend=self._backend,
                model=as_name(preparation.model),
                fields=news,
                minutes=LASTS_SECONDS / 60,
            )

    def _keep(self, known: KnownModel | None, owner: str) -> None:
        if self._kept is not None and known is not None:
            self._kept.keep(known.identity, known.learned, owner)
