"""What was said in one request, as far as the recorder keeps it: both requests beside each other, the events of both
streams as they came, and what the model wrote beside what the client got.

It takes as long as there is content, so it is made in a thread. Whatever looks like a key is masked in every text,
because clients write keys where they do not belong, and so are the keys in the head of the request itself.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Any

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.inspected.difference import Document, compared
from proxy.core.inspected.events import Events, TimedEvent, events
from proxy.core.inspected.said import said_by_model, said_to_client
from proxy.core.inspected.taken_out import pieces
from proxy.core.masking.secrets import Secrets
from proxy.shell.inspector.ring import Seen
from proxy.shell.watching.content import AttemptContent, Content

Mask = Callable[[str], str]


def content(seen: Seen, attempt: int, mask: Mask) -> dict[str, Any] | None:
    """`attempt`: the number of the one that is asked about; the last if there is no such one. None: nothing is kept."""
    if seen.said is None:
        return None
    kept, asked_of = seen.said
    watch, attempts = seen.watch, seen.watch.attempts
    number = attempt if 0 <= attempt < len(asked_of) else len(asked_of) - 1
    asked = asked_of[number] if asked_of else None
    shown = {
        "attempt": number,
        "cut": kept.cut,
        "warnings": list(watch.warnings),
        "faults": [_message(inner.fault) for inner in attempts] + [_message(watch.fault)],
        "headers": {
            "client": kept.headers,
            "backend": {} if asked is None else asked.headers,
            "answer": {} if asked is None else asked.answer_headers,
        },
        "bodies": _bodies(kept, asked),
        "events": {
            "client": _events(events(kept.frames)),
            "backend": _events(events([] if asked is None else list(asked.reads))),
        },
        "answer": kept.answer,
        "said": _said(kept, asked),
    }
    its_own = Secrets(kept.keys)  # which no setting knows, and a backend may repeat
    masked: dict[str, Any] = _masked(shown, lambda text: mask(its_own.hidden(text)))
    return masked


def _message(fault: Fault | None) -> str | None:
    return None if fault is None else fault.message


def _bodies(kept: Content, asked: AttemptContent | None) -> dict[str, Any]:
    """Each is None if there is none here; then nothing is compared with the other."""
    client, backend = kept.body, None if asked is None else asked.body
    if client and backend:
        ours, theirs = compared(_parsed(client), _parsed(backend))
        return {"client": _document(ours), "backend": _document(theirs)}
    return {"client": _alone(client), "backend": _alone(backend)}


def _alone(body: bytes | None) -> dict[str, Any] | None:
    return _document(Document(_parsed(body))) if body else None


def _parsed(body: bytes) -> Any:
    try:
        return jsontext.bounded(body)
    except jsontext.BadJson:
        return body.decode("utf-8", "replace")


def _document(document: Document) -> dict[str, Any]:
    return {"lines": [asdict(line) for line in document.lines], "cut": document.cut}


def _events(found: Events) -> dict[str, Any]:
    return {
        "events": [list(event) for event in found.events],
        "left_out": found.left_out,
        "rest": found.rest,
    }


def _said(kept: Content, asked: AttemptContent | None) -> dict[str, Any]:
    sent = events(kept.frames).events
    client = said_to_client(_data(sent), kept.answer).as_json()
    if asked is None:
        return {"model": None, "client": client, "pieces": []}
    model = said_by_model((data for _, data in asked.reads), asked.preparation.profile).as_json()
    return {
        "model": model,
        "client": client,
        "pieces": [list(piece) for piece in pieces(model["text"], client["text"])],
    }


def _data(sent: Iterable[TimedEvent]) -> Iterable[str]:
    return (event.data for event in sent)


def _masked(value: Any, mask: Mask) -> Any:
    match value:
        case str():
            return mask(value)
        case Mapping():
            return {mask(str(name)): _masked(inner, mask) for name, inner in value.items()}
        case list() | tuple():
            return [_masked(inner, mask) for inner in value]
        case _:
            return value
