"""The endpoint that sums a conversation up, as the request and the answer that it stands for."""

from typing import Any

import pytest

from proxy.core.errors import BackendFault, ClientFault, Truncated
from proxy.core.events import Ending, PartEnded, Reply, ReplyEnded
from proxy.core.model import Summary, Usage
from proxy.core.surfaces.responses.compaction import TRIGGER, CompactionObject, requested
from tests.support.replies import NOW, REQUEST, SIGNER, counting_mint
from tests.support.tables import table

HI = {"role": "user", "content": "Hi"}


@table(
    ("given", "items"),
    [("Hi", [HI, TRIGGER]), ([HI], [HI, TRIGGER]), ([], [TRIGGER]), (None, None), (5, 5)],
)
def test_a_compaction_is_asked_for_at_the_end_of_the_input(given: Any, items: Any) -> None:
    """What is no input stays what it is, for whoever reads requests to refuse."""
    assert requested({"model": "m", "input": given, "stream": True}) == {
        "model": "m",
        "input": items,
        "stream": False,
    }


def test_a_chain_may_be_all_that_is_summed_up() -> None:
    assert requested({"previous_response_id": "resp_1"})["input"] == [TRIGGER]


def test_what_is_no_request_stays_what_it_is() -> None:
    assert requested([HI]) == [HI]


@table(
    ("usage", "counted"),
    [(Usage(1, 2, 3), (1, 2, 3)), (None, (0, 0, 0))],
)
def test_the_answer_has_every_member_whatever_the_backend_counted(
    usage: Usage | None, counted: tuple[int, int, int]
) -> None:
    made = CompactionObject(REQUEST, counting_mint(), lambda: NOW, SIGNER)
    ended = ReplyEnded(Ending.COMPLETED, usage)
    answer = made.whole(Reply([PartEnded(Summary("We met."), True)], ended))
    assert set(answer) == {"id", "object", "created_at", "output", "usage"}
    assert (answer["object"], answer["created_at"]) == ("response.compaction", NOW)
    told = answer["usage"]
    assert (told["input_tokens"], told["output_tokens"], told["total_tokens"]) == counted
    [item] = answer["output"]
    assert set(item) == {"id", "type", "encrypted_content"}
    assert (item["type"], item["id"][:4]) == ("compaction", "cmp_")
    assert SIGNER.reader().summary(item["encrypted_content"]) == "We met."


@table("ended", [ReplyEnded(Ending.MAX_TOKENS), ReplyEnded(Ending.FAILED, fault=Truncated("Gone."))])
def test_no_history_is_given_away_for_half_a_summary(ended: ReplyEnded) -> None:
    made = CompactionObject(REQUEST, counting_mint(), lambda: NOW, SIGNER)
    with pytest.raises(BackendFault, match="summary"):
        made.whole(Reply([], ended))


def test_too_tight_a_limit_is_the_clients_to_loosen() -> None:
    """Where it has set none, the backend's own was too tight."""
    made = CompactionObject(REQUEST | {"max_output_tokens": 5}, counting_mint(), lambda: NOW, SIGNER)
    with pytest.raises(ClientFault, match=r"of 5 leaves no room .* raise it, or leave it out") as caught:
        made.whole(Reply([], ReplyEnded(Ending.MAX_TOKENS)))
    assert (caught.value.param, caught.value.status) == ("max_output_tokens", 400)
