"""Makes a recording of a request that was watched, with what was said in it."""

from dataclasses import asdict
from typing import Any, Literal, get_args

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.recorded.conditions import recorded_profile, recorded_tenant
from proxy.core.recorded.faults import RecordedFault, recorded_fault
from proxy.core.recorded.recording import (
    Conditions,
    FramingName,
    Options,
    RecordedAttempt,
    RecordedEnd,
    RecordedKnown,
    RecordedRequest,
    RecordedVerdict,
    Recording,
    SurfaceName,
)
from proxy.core.recorded.surfaces import FRAMINGS
from proxy.core.stored.named import Known
from proxy.core.surfaces.framing import Framing
from proxy.core.tenants import ANYBODY
from proxy.shell.watching.content import CheckVerdict, Content
from proxy.shell.watching.watch import Attempt, Watch

SURFACES = get_args(SurfaceName)


def recording_of(watch: Watch, version: str) -> Recording | None:
    """None for what no surface has read: a refusal at the door is told whole by its line in the log."""
    content = watch.content
    if content is None or content.tenant is None or watch.surface not in SURFACES:
        return None
    return Recording(
        proxy=version,
        content="keep",
        cut=content.cut,
        request=_request(watch, content),
        attempts=[_attempt(attempt, content) for attempt in watch.attempts],
        frames=list(content.frames),
        end=_end(watch, content),
    )


def _request(watch: Watch, content: Content) -> RecordedRequest:
    surface: Any = watch.surface
    return RecordedRequest(
        request_id=watch.request_id,
        surface=surface,
        transport=watch.transport,
        framing=_framing(content.framing),
        method=watch.method,
        path=watch.path,
        headers=dict(content.headers),
        body=content.body,
        date=watch.date,
        conditions=_conditions(watch, content),
    )


def _framing(framing: Framing | None) -> FramingName | None:
    names: dict[int, Any] = {id(each): name for name, each in FRAMINGS.items()}
    return names.get(id(framing))


def _conditions(watch: Watch, content: Content) -> Conditions:
    return Conditions(
        tenant=recorded_tenant(content.tenant or ANYBODY),
        options=_options(content),
        real_model=_real_model(watch, content),
        hosted_tools=_hosted_tools(watch, content),
        known=_known(content.known),
        digits=list(content.digits),
        dates=list(content.dates),
        signs=list(content.signs),
        verdicts=[_verdict(verdict) for verdict in content.verdicts],
    )


def _verdict(verdict: CheckVerdict) -> RecordedVerdict:
    tool, size, problem, gave_up = verdict
    found = {} if problem is None else asdict(problem)
    return RecordedVerdict(tool, size, **found, gave_up=gave_up)


def _options(content: Content) -> Options:
    options = getattr(content.surface, "options", None)
    if options is None:
        return Options()
    events: Any = str(options.events)
    return Options(events, options.message_first, options.stores, options.background)


def _hosted_tools(watch: Watch, content: Content) -> list[str]:
    hosted_tools = getattr(content.surface, "hosted_tools", None)
    model = _model(watch)
    return [] if hosted_tools is None or model is None else sorted(hosted_tools(model))


def _real_model(watch: Watch, content: Content) -> str | None:
    real_name = getattr(content.surface, "real_name", None)
    model = _model(watch)
    return None if real_name is None or model is None else str(real_name(model))


def _model(watch: Watch) -> str | None:
    """By the client's name for it."""
    content = watch.attempts[0].content if watch.attempts else None
    return None if content is None else content.preparation.request.model


def _known(known: Known | None) -> RecordedKnown | None:
    if known is None:
        return None
    named = known.named
    return RecordedKnown(
        previous=named.previous,
        conversation=named.conversation,
        references=list(named.references),
        response=named.response,
        stores=named.stores,
        history=known.history,
        items=dict(known.references),
        memos=dict(known.memos),
    )


def _attempt(attempt: Attempt, said: Content) -> RecordedAttempt:
    content = attempt.content
    assert content is not None
    target = content.preparation.target
    key: Literal["own", "client", "none"] = "none"
    if target.key:
        key = "client" if target.forwarded else "own"
    return RecordedAttempt(
        why=attempt.why,
        backend=attempt.backend,
        model=content.preparation.model,
        profile=recorded_profile(content.preparation.profile),
        url=attempt.url,
        headers=dict(content.headers),
        body=content.body,
        key=key,
        forwards=target.forwarded,
        began=attempt.began,
        place=attempt.place,
        head=attempt.head,
        first_byte=attempt.first_byte,
        first_text=attempt.first_text,
        ended=attempt.ended,
        status=attempt.status,
        answer_headers=dict(content.answer_headers),
        failure=_fault(content.failure, said),
        reads=list(content.reads),
    )


def _fault(fault: Fault | None, said: Content) -> RecordedFault | None:
    return None if fault is None else recorded_fault(said.hidden(fault))


def _end(watch: Watch, content: Content) -> RecordedEnd:
    return RecordedEnd(
        status=watch.status or 0,
        seconds=watch.ended or 0.0,
        answer=None if content.answer is None else jsontext.dumps(content.answer),
        fault=None if watch.fault is None else recorded_fault(watch.fault),
        not_stored=content.not_stored,
        facts=dict(watch.facts),
        remarks={kind: dict(counts) for kind, counts in watch.remarks.items()},
        warnings=list(watch.warnings),
    )
