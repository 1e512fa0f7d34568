"""P11: every surface, every backend, every case, streamed and not: the same meaning, or the refusal that is documented.

One cell is one conversation over real sockets: a client of the surface, the whole proxy, a scripted provider that
checks each request by all rules of its own.
"""

import fnmatch
from dataclasses import dataclass, replace
from itertools import product

import pytest

from tests.contract.backends import BACKENDS
from tests.contract.cases import CASES, failed
from tests.contract.client import Conversation, proxy
from tests.contract.every_surface import SURFACES
from tests.contract.refusals import REFUSALS, Refusal, refusal_of
from tests.contract.surfaces import Answer
from tests.scripted.serving import in_halves, serving

MODES = ("streamed", "whole")


@dataclass(frozen=True)
class Cell:
    surface: str
    backend: str
    case: str
    mode: str

    def __str__(self) -> str:
        return f"{self.surface}-{self.backend}-{self.case}-{self.mode}"


CELLS = [Cell(*names) for names in product(SURFACES, BACKENDS, CASES, MODES)]


def test_no_cell_is_missing() -> None:
    """The matrix as it was promised, spelled out, so that nothing falls out of a table unseen. More may come in."""
    promised = product(
        ("responses", "chat", "native"),
        ("chat", "anthropic", "google", "responses"),
        (
            "text", "one_call", "parallel_calls", "two_turn_loop", "forced_choice", "required_choice",
            "none_choice", "required_unmet", "another_choice", "invalid_arguments", "unchecked_arguments", "markup",
            "strict_tool", "undescribed_tool", "long_description", "inexpressible_schema", "unknown_tool",
            "image", "document", "audio", "reasoning", "long_reasoning", "structured_output", "length",
            "refusal", "safety_block", "empty_reply", "rate_limited", "error_midstream", "cut_stream",
        ),
        ("streamed", "whole"),
    )  # fmt: skip
    assert not set(promised) - {(cell.surface, cell.backend, cell.case, cell.mode) for cell in CELLS}


def test_no_refusal_is_of_a_cell_that_does_not_exist() -> None:
    names = {str(cell).rpartition("-")[0] for cell in CELLS}
    assert [pattern for pattern in REFUSALS if not fnmatch.filter(names, pattern)] == []


@pytest.mark.parametrize("cell", CELLS, ids=str)
async def test_the_same_meaning_everywhere(cell: Cell) -> None:
    """P01, both ways; or P02, before anything is sent. Among the cases are what P04 and P05 make errors of."""
    backend, case = BACKENDS[cell.backend], CASES[cell.case]
    refusal = refusal_of(str(cell).rpartition("-")[0])
    talk = Conversation(SURFACES[cell.surface], case.ask, backend.model, stream=cell.mode == "streamed")
    says = [each.says for each in case.rounds]
    async with (
        serving(backend.provider, *says, pieces=in_halves) as provider,
        proxy({"url": provider.url, **backend.settings}) as url,
    ):
        if refusal:
            check_refusal(await talk.round(url, case.rounds[0]), refusal)
            assert provider.requests == []
            provider.unsaid.clear()
            return
        for each in case.rounds:
            answer = await talk.round(url, each)
            assert not provider.wrong, provider.wrong
            wanted = each.outcome if cell.mode == "streamed" else each.outcome.whole()
            assert answer.outcome == wanted, answer.said
            received = backend.read(provider.last.body)
            limit = each.received.limit or received.limit  # some providers always want one
            assert received == replace(each.received, limit=limit)


def check_refusal(answer: Answer, refusal: Refusal) -> None:
    told = answer.said
    assert answer.outcome == failed(refusal.code), told
    assert told["type"] == ("semantic_error" if refusal.features else "invalid_request_error")
    assert told["param"] == refusal.param
    assert refusal.way_out in told["message"]
    assert tuple(told.get("incompatible_features", ())) == refusal.features
