from typing import Any

import pytest

from proxy.core.events import Ending
from proxy.core.examination import readers
from proxy.core.examination.findings import Answer, Verdict
from proxy.core.examination.heard import Heard
from proxy.core.examination.material import CLOCK, WEATHER
from proxy.core.examination.question import Case
from proxy.core.model import Call, ToolKind, ToolName, Usage
from proxy.core.profile import DEFAULT

W, N, U = Verdict.WORKS, Verdict.IGNORED, Verdict.UNCLEAR
CUT = Ending.MAX_TOKENS


def call(name: ToolName = WEATHER, arguments: str = '{"city":"Oslo"}') -> Call:
    return Call("1", name, ToolKind.FUNCTION, arguments)


def verdict(answer: Answer) -> Verdict:
    return answer.verdict


ROWS: list[tuple[Any, Heard, Verdict]] = [
    (readers.accepted, Heard(), W),
    (readers.speaks, Heard(text="Blue."), W),
    (readers.speaks, Heard(thoughts="Hm."), U),
    (readers.speaks, Heard(), U),
    (readers.calls(), Heard(calls=[call()]), W),
    (readers.calls({CLOCK}), Heard(calls=[call()]), N),
    (readers.calls(), Heard(text="No."), N),
    (readers.calls(), Heard(ending=CUT), U),
    (readers.calls(), Heard(calls=[call()], leaked=["hermes"]), N),
    (readers.may_call, Heard(calls=[call()]), W),
    (readers.may_call, Heard(calls=[call()], leaked=["hermes"]), N),
    (readers.may_call, Heard(text="No."), U),
    (readers.one_call, Heard(calls=[call()]), W),
    (readers.one_call, Heard(calls=[call(), call()]), N),
    (readers.one_call, Heard(), U),
    (readers.fits(("Oslo",), "city"), Heard(calls=[call()]), W),
    (readers.fits(("Rome",), "city"), Heard(calls=[call()]), N),
    (readers.fits(("Rome",), "city"), Heard(calls=[call(arguments="{")]), N),
    (readers.fits(("Oslo",), "city"), Heard(), U),
    (readers.is_enforced, Heard(text='{"paint":"teal","layers":1}'), W),
    (readers.is_enforced, Heard(text='{"paint":"pink","layers":1}'), N),
    (readers.is_enforced, Heard(text="Blue."), N),
    (readers.is_enforced, Heard(text='{"paint":', ending=CUT), U),
    (readers.is_enforced, Heard(), U),
    (readers.is_object, Heard(text="{}"), W),
    (readers.is_object, Heard(text="[]"), N),
    (readers.is_limited(8), Heard(ending=CUT), W),
    (readers.is_limited(8), Heard(usage=Usage(1, 17, 18)), N),
    (readers.is_limited(8), Heard(text="x" * 65), N),
    (readers.is_limited(8), Heard(text="x"), U),
    (readers.is_not_limited, Heard(ending=CUT), N),
    (readers.is_not_limited, Heard(), W),
    (readers.brings_usage, Heard(usage=Usage(1, 1, 2)), W),
    (readers.brings_usage, Heard(), N),
    (readers.brings_logprobs, Heard(logprobs=True), W),
    (readers.brings_logprobs, Heard(), N),
    (readers.stops_at("7"), Heard(text="5 6"), W),
    (readers.stops_at("7"), Heard(text="6 7"), N),
    (readers.counts, Heard(count=3), W),
    (readers.counts, Heard(count=0), N),
]


@pytest.mark.parametrize("row", ROWS)
def test_what_a_reply_proves(row: tuple[Any, Heard, Verdict]) -> None:
    read, heard, expected = row
    assert verdict(read(heard)) is expected


def test_what_the_model_reads_is_counted() -> None:
    case = Case(DEFAULT, DEFAULT, baseline=20)
    read = readers.read_by_model(case, 5)
    assert verdict(read(Heard(usage=Usage(25, 1, 26)))) is W
    assert verdict(read(Heard(usage=Usage(24, 1, 25)))) is N
    uncounted = read(Heard())
    assert (uncounted.verdict, uncounted.words) == (W, "taken; nothing shows whether the model reads it")
    case.baseline = None
    assert verdict(read(Heard(usage=Usage(24, 1, 25)))) is W
