"""The words of the reply: whoever listens understands all of them."""

from typing import get_args

from proxy.core.events import (
    Delta,
    Ending,
    Event,
    Finish,
    PartEnded,
    PartKind,
    PartStarted,
    Reply,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.model import ReplyPart, Text
from proxy.core.stream.assembler import HANDLERS
from proxy.core.stream.ending import ENDINGS
from proxy.core.stream.lifecycle import REPLY_MOVES
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.response import STATUS, ResponseObject
from tests.support.assembling import PART_KINDS
from tests.support.replies import NOW, REQUEST, counting_mint


def test_the_assembler_understands_every_delta() -> None:
    assert set(HANDLERS) == set(get_args(Delta))


def test_the_encoder_understands_every_event() -> None:
    reply = [
        ReplyStarted(),
        PartStarted(PartKind.TEXT),
        PartEnded(Text("Hi"), True),
        ReplyEnded(Ending.COMPLETED),
    ]
    assert [type(event) for event in reply] == list(get_args(Event))
    frames: list[bytes] = []
    encoder = ResponsesEncoder(ResponseObject(REQUEST, counting_mint(), lambda: NOW), frames.append)
    for event in reply:
        frames.clear()
        encoder.feed(event)
        assert frames, event


def test_every_event_has_its_place_in_a_reply() -> None:
    assert {event for _, event in REPLY_MOVES} == set(get_args(Event))


def test_every_kind_of_part_starts_and_ends() -> None:
    assert set(PART_KINDS) == set(get_args(ReplyPart))
    assert set(PART_KINDS.values()) == set(PartKind)


def test_every_finish_is_an_ending_and_only_a_failure_is_none() -> None:
    assert set(ENDINGS) == set(Finish)
    assert {*ENDINGS.values(), Ending.FAILED} == set(Ending) == set(STATUS)


def test_two_replies_share_no_parts() -> None:
    assert Reply().parts is not Reply().parts


def test_what_was_not_said_is_none() -> None:
    assert ReplyEnded(Ending.COMPLETED) == ReplyEnded(Ending.COMPLETED, usage=None, fault=None)
