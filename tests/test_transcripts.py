"""Replies of backends byte for byte, and the events that a client must get from them, however the bytes are cut.

A transcript is `transcripts/<topic>/<name>.sse`, the bytes, beside `<name>.jsonl`, the outline of the events. Where it
needs more than the usual request, `<name>.request.json` has what the request's `body` says besides, and `how`:

    extended    the client gets the extended events
    profile     the backend is a known one
    overrides   fields of its profile set by hand
    broken_off  the bytes end with a broken connection instead of a clean end

`index.json` says of each transcript why it is there and which rules it shows.
"""

from dataclasses import dataclass
from difflib import unified_diff
from hashlib import shake_256
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest

from proxy.core import jsontext
from proxy.core.backends import profiles
from proxy.core.errors import Fault, Truncated
from proxy.core.profile import overridden
from tests.support.replies import WITH_TOOLS, bytewise, cut, outline, read_stream, run

HERE = Path(__file__).parent / "transcripts"
NAMES = sorted(path.relative_to(HERE).with_suffix("").as_posix() for path in HERE.rglob("*.sse"))
INDEX: dict[str, dict[str, Any]] = jsontext.loads((HERE / "index.json").read_bytes())

CUTTINGS = 10
PLACES = 12
"""Where each of the cuttings cuts: enough for pieces shorter than an event, and long ones beside them."""

SEQUENCES = set("abcdefgh")
BODIES = {f"F{number}" for number in range(16, 21)}
SYNTAX_AND_SEMANTICS = {f"F{number}" for number in range(24, 60)}
SURFACE = {f"R{number:02}" for number in range(3, 10)}


@dataclass
class Transcript:
    name: str
    sse: bytes
    expected: list[dict[str, Any]]
    body: dict[str, Any]
    extended: bool
    profile: profiles.BackendProfile
    fault: Fault | None

    def replay(self, pieces: Any) -> bytes:
        """What the client gets."""
        return b"".join(
            run(pieces, self.body, self.fault, extended=self.extended, profile=self.profile).frames
        )

    def cuttings(self) -> list[list[bytes]]:
        """Cut at random, but at the same places every time."""
        dice = memoryview(shake_256(self.name.encode()).digest(4 * PLACES * CUTTINGS)).cast("I")
        return [cut(self.sse, dice[start : start + PLACES]) for start in range(0, len(dice), PLACES)]


def load(name: str) -> Transcript:
    request: dict[str, Any] = {}
    if (special := HERE / f"{name}.request.json").exists():
        request = jsontext.loads(special.read_bytes())
    how = request.get("how", {})
    known = profiles.PROFILES[how.get("profile", profiles.DEFAULT.name)]
    return Transcript(
        name,
        sse=(HERE / f"{name}.sse").read_bytes(),
        expected=[jsontext.loads(line) for line in (HERE / f"{name}.jsonl").read_bytes().splitlines()],
        body=WITH_TOOLS | request.get("body", {}),
        extended=how.get("extended", False),
        profile=overridden(known, how.get("overrides", {})),
        fault=Truncated("The backend broke off its answer.") if how.get("broken_off") else None,
    )


def require_same(expected: list[dict[str, Any]], stream: bytes, fed: str) -> None:
    events = outline(read_stream(stream))
    if events != expected:
        difference = unified_diff(_lines(expected), _lines(events), "expected", f"fed {fed}", lineterm="")
        pytest.fail("\n".join(difference), pytrace=False)


def _lines(events: list[dict[str, Any]]) -> list[str]:
    return [line for event in events for line in pformat(event, width=110).splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_same_events_however_the_bytes_are_cut(name: str) -> None:
    transcript = load(name)
    whole = transcript.replay([transcript.sse])
    require_same(transcript.expected, whole, "whole")
    cuttings = [("byte by byte", bytewise(transcript.sse))]
    cuttings += [(f"in {len(pieces)} pieces", pieces) for pieces in transcript.cuttings()]
    for fed, pieces in cuttings:
        stream = transcript.replay(pieces)
        if stream != whole:
            require_same(transcript.expected, stream, fed)


def test_every_input_has_its_expectation_and_its_reason() -> None:
    expectations = {path.relative_to(HERE).with_suffix("").as_posix() for path in HERE.rglob("*.jsonl")}
    assert expectations == set(NAMES)
    assert set(INDEX) == set(NAMES)
    assert all(entry["ids"] and entry["why"] for entry in INDEX.values())


def test_every_special_request_belongs_to_an_input() -> None:
    requests = {
        path.relative_to(HERE).as_posix().removesuffix(".request.json")
        for path in HERE.rglob("*.request.json")
    }
    assert requests <= set(NAMES)


def test_every_rule_is_shown_by_a_transcript() -> None:
    shown = {rule for entry in INDEX.values() for rule in entry["ids"]}
    assert shown == SEQUENCES | BODIES | SYNTAX_AND_SEMANTICS | SURFACE
