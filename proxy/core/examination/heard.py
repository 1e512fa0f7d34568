"""What a backend answered to one question: its reply, read by the same pipeline as any other, or its refusal."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import partial

from proxy.core.backends.counter import TokenCounter
from proxy.core.dialects.reading import lessons
from proxy.core.dialects.reading.reply_lessons import Observed, fields_taught
from proxy.core.dialects.registry import spoken_by
from proxy.core.errors import Fault, Truncated
from proxy.core.events import Ending
from proxy.core.examination.spelling import Spelling, spelling_in
from proxy.core.flow.request import Preparation
from proxy.core.ids import Mint
from proxy.core.ledger import Ledger
from proxy.core.markup import registry
from proxy.core.model import Call, Extras, Reasoning, Text, Usage
from proxy.core.sink import Sink, ignore_delta
from proxy.core.stream.pipeline import Pipeline

STAMP = "0"
"""Stands for the time, in ids of calls that the backend gives none. Nobody sees them."""


@dataclass(frozen=True, slots=True)
class Received:
    """The answer as it came."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    seconds: float = 0.0
    """Until the head came."""
    whole: bool = True
    """Was it read to its end?"""


@dataclass(frozen=True, slots=True)
class Heard:
    """The answer as it is understood."""

    status: int = 0
    """0: there was none."""
    fault: Fault | None = None
    text: str = ""
    thoughts: str = ""
    calls: Sequence[Call] = ()
    usage: Usage | None = None
    ending: Ending | None = None
    logprobs: bool = False
    closer: str | None = None
    """The tag that ended a thought which the prompt had opened."""
    leaked: Sequence[str] = ()
    """The formats of calls that stood in the text."""
    count: int | None = None
    """The number of tokens, where that was the question."""
    lesson: str = ""
    """What the proxy learns from this refusal by itself."""
    taught: Set[str] = frozenset()
    """The fields of the profile that it learns from this reply by itself."""
    wanted_back: Sequence[Extras] = ()
    """What stood beside the thoughts for the model alone."""
    seconds: float = 0.0
    spelling: Spelling = field(default_factory=Spelling)

    @property
    def input_tokens(self) -> int | None:
        return self.usage.input_tokens if self.usage and self.usage.input_tokens else None


def heard_of(preparation: Preparation, received: Received) -> Heard:
    profile = preparation.profile
    if received.status // 100 != 2:
        dialect = spoken_by(profile)
        fault = dialect.fault_of(
            received.status, received.headers, received.body, own_key=preparation.target.own_key
        )
        words = received.body.decode("utf-8", "replace")
        lesson = lessons.learn(dialect.lessons, profile, words, body=preparation.post.body)
        return Heard(received.status, fault, seconds=received.seconds, lesson=lesson.row if lesson else "")
    if preparation.counter:
        return _counted(preparation.counter, received)
    return _reply(preparation, received)


def _counted(counter: TokenCounter, received: Received) -> Heard:
    try:
        count = counter.read(received.body)
    except Fault as fault:
        return Heard(received.status, fault, seconds=received.seconds)
    return Heard(received.status, count=count, seconds=received.seconds)


def _reply(preparation: Preparation, received: Received) -> Heard:
    profile, ledger = preparation.profile, Ledger()
    extras: list[Extras] = []
    settings = registry.for_reply(preparation.prepared, on=True, also=registry.NAMES, without=frozenset())
    pipeline = Pipeline(
        partial(
            spoken_by(profile).decoder,
            profile=profile,
            ledger=ledger,
            keep_extras=extras.append,
            model=preparation.maker,
            stamp=STAMP,
        ),
        names=preparation.prepared.names,
        mint=Mint(lambda size: "0" * 2 * size),
        ledger=ledger,
        sink=Sink(lambda event: None, ignore_delta),
        call_identity=profile.call_identity,
        thoughts_until=profile.thoughts_until,
        markup=settings,
    )
    pipeline.feed(received.body)
    if received.whole:
        pipeline.close()
    elif not pipeline.ended:
        pipeline.fail(Truncated("left"))
    closer = pipeline.put_right(seen=False)
    parts = [ended.part for ended in pipeline.reply.parts]
    ended = pipeline.reply.ended
    texts = [part for part in parts if isinstance(part, Text)]
    observed = Observed(preparation.request, pipeline.reply, closer)
    taught = fields_taught(spoken_by(profile).reply_lessons, profile, observed)
    return Heard(
        received.status,
        pipeline.fault if received.whole else None,
        text="".join(part.text for part in texts),
        thoughts="".join(part.text for part in parts if isinstance(part, Reasoning)),
        calls=[part for part in parts if isinstance(part, Call)],
        usage=ended.usage if ended else None,
        ending=ended.ending if ended else None,
        logprobs=any(part.logprobs for part in texts),
        closer=closer,
        taught={name for name, value in taught.items() if value != getattr(profile, name)},
        leaked=[what.partition(":")[2] for what in ledger.markup if what.startswith("recovered:")],
        wanted_back=extras,
        seconds=received.seconds,
        spelling=spelling_in(received.body) if profile.dialect == "chat" else Spelling(),
    )
