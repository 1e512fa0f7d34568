"""What only a Responses backend says: items of its own tools, annotations and phases, as the API has them.

Every stream goes through `read_stream`, which checks numbering, order, pairs and joined deltas by itself.
"""

from typing import Any

from proxy.core.events import Ending, PartEnded, PartKind, PartStarted, Reply, ReplyEnded
from proxy.core.model import HostedItem, Text
from proxy.core.surfaces.responses.response import ResponseObject
from tests.support.assembling import PartDelta
from tests.support.replies import FIRST_ITEM, NOW, REQUEST, counting_mint
from tests.support.responses_events import ADDED, DONE, END, encode, types

SEARCH = {"type": "web_search_call", "id": "ws_theirs", "status": "completed", "action": {"type": "search"}}
LINK = {"type": "url_citation", "url": "https://x.example", "title": "x", "start_index": 0, "end_index": 2}
SHOWN = [
    PartStarted(PartKind.HOSTED, wordless=True),
    PartEnded(HostedItem(SEARCH), complete=True),
]
ANSWER = Text("It", annotations=[LINK], phase="final_answer")
TOLD = [PartStarted(PartKind.TEXT, phase="final_answer"), PartDelta("It"), PartEnded(ANSWER, complete=True)]


def test_an_item_of_a_hosted_tool_has_an_id_of_ours() -> None:
    events = encode(*SHOWN, END)
    ours = SEARCH | {"id": f"ws_{FIRST_ITEM}"}
    assert types(events)[2:-1] == [ADDED, DONE]
    assert events[2]["item"] == ours | {"status": "in_progress"}
    assert events[3]["item"] == ours
    assert events[-1]["response"]["output"] == [ours]


def test_annotations_and_phase() -> None:
    events = encode(*TOLD, END)
    assert events[2]["item"]["phase"] == "final_answer"
    (noted,) = [event for event in events if event["type"] == "response.output_text.annotation.added"]
    assert {
        name: noted[name] for name in ("annotation_index", "content_index", "output_index", "annotation")
    } == {
        "annotation_index": 0,
        "content_index": 0,
        "output_index": 0,
        "annotation": LINK,
    }
    (item,) = events[-1]["response"]["output"]
    assert item["phase"] == "final_answer"
    assert item["content"][0]["annotations"] == [LINK]
    before = [event["type"] for event in events[: events.index(noted)]]
    assert before[-1] == "response.output_text.delta"


def test_the_whole_is_the_same() -> None:
    parts = [event for event in (*SHOWN, *TOLD) if isinstance(event, PartEnded)]
    response = ResponseObject(REQUEST, counting_mint(), lambda: NOW)
    whole: dict[str, Any] = response.whole(Reply(parts, ReplyEnded(Ending.COMPLETED)))
    streamed = encode(*SHOWN, *TOLD, END)[-1]["response"]
    assert [item | {"id": ""} for item in whole["output"]] == [
        item | {"id": ""} for item in streamed["output"]
    ]
