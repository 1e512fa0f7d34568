"""Calls that are no functions, and parts of texts whose numbers mean something else than elsewhere."""

from typing import Any

from proxy.core.events import CallDelta, CallEndDelta, ReasoningDelta
from tests.support.responses_requests import Decoded, Json, added, done, event, reasoning
from tests.support.tables import table


def decoded(*events: Json) -> Decoded:
    return Decoded().say(*events)


@table(
    ("item", "name", "argued"),
    [
        (
            {
                "type": "shell_call",
                "action": {"commands": ["ls"], "timeout_ms": 5, "max_output_length": None},
            },
            "shell",
            '{"commands":["ls"],"timeout_ms":5}',
        ),
        (
            {"type": "local_shell_call", "action": {"type": "exec", "command": ["ls"], "env": {}}},
            "local_shell",
            '{"type":"exec","command":["ls"],"env":{}}',
        ),
        (
            {
                "type": "apply_patch_call",
                "operation": {"type": "create_file", "path": "a", "diff": "+b\n"},
            },
            "apply_patch",
            '{"type":"create_file","path":"a","diff":"+b\\n"}',
        ),
    ],
)
def test_a_call_by_its_type_alone(item: Json, name: str, argued: str) -> None:
    """Its events say piece by piece what stands in it at the end."""
    opened = {"type": item["type"], "id": "x", "call_id": "c1", "status": "in_progress"}
    said = decoded(
        added(opened, 0),
        event("shell_call_command.delta", delta="l", output_index=0),
        event("apply_patch_call_operation_diff.done", diff="+b", output_index=0),
        done(opened | item | {"status": "completed"}, 0),
    )
    assert said.deltas == [
        CallDelta(0, "c1", name, freeform=True),
        CallDelta(0, arguments=argued),
        CallEndDelta(0),
    ]
    assert said.ledger.oddities == {}


@table(
    ("environment", "mine"),
    [(None, True), ({"type": "local"}, True), ({}, True), ({"type": "container_reference"}, False)],
)
def test_a_shell_of_the_backends_own_is_not_the_clients(environment: Any, mine: bool) -> None:
    call = {"type": "shell_call", "call_id": "c1", "action": {"commands": ["ls"]}, "environment": environment}
    assert bool(decoded(done(call, 0)).deltas) is mine


def test_numbers_that_count_pieces_instead_of_parts() -> None:
    """vLLM's did. A part that another one follows has ended before."""
    pieces = [
        event("reasoning_text.delta", delta=word, item_id="rs_1", content_index=number)
        for number, word in enumerate(("Hm", ", so", "."))
    ]
    end = event("reasoning_text.done", text="Hm, so.", item_id="rs_1", content_index=3)
    other = event("reasoning_text.delta", delta="Then", item_id="rs_1", content_index=4)
    whole = reasoning(content=[{"type": "reasoning_text", "text": part} for part in ("Hm, so.", "Then")])
    said = decoded(added(reasoning(), 0), *pieces, end, other, done(whole, 0))
    words = [delta.text for delta in said.deltas if isinstance(delta, ReasoningDelta)]
    assert words == ["Hm", ", so", ".", "\n\nThen"]
    assert said.ledger.oddities == {}


def test_parts_of_thoughts_that_are_told_apart_by_announcements() -> None:
    where = {"item_id": "rs_1"}
    said = decoded(
        event("reasoning_text.delta", delta="A", content_index=0, **where),
        event("content_part.added", part={"type": "reasoning_text", "text": ""}, content_index=1, **where),
        event("reasoning_text.delta", delta="B", content_index=1, **where),
        event("reasoning_part.added", part={"type": "reasoning_text", "text": ""}, content_index=2, **where),
        event("reasoning_text.delta", delta="C", content_index=2, **where),
        event("reasoning_part.done", part={"type": "reasoning_text", "text": "C."}, content_index=2, **where),
    )
    assert said.deltas == [ReasoningDelta(text) for text in ("A", "\n\nB", "\n\nC", ".")]
