"""The member that no client is shown."""

from typing import Any

from proxy.core import jsontext
from proxy.core.stored.private import KEPT, public, public_list
from tests.support.tables import table

THOUGHT = {"id": "rs_1", "type": "reasoning", "summary": []}
TEXT = {"id": "msg_1", "type": "message", "content": [{"type": "output_text", "text": "Hi"}]}


def test_an_item_is_shown_without_it() -> None:
    assert public(THOUGHT | {KEPT: {"text": "hm"}}) == THOUGHT
    assert public(TEXT) is TEXT


@table(
    ("items", "seen"),
    [
        ([], []),
        ([TEXT], [TEXT]),
        ([THOUGHT | {KEPT: {"text": "hm"}}, TEXT], [THOUGHT, TEXT]),
        ([TEXT | {KEPT: None}], [TEXT]),
        # Not ours: in a text, or within an object.
        ([TEXT | {"note": '"_kept":'}], [TEXT | {"note": '"_kept":'}]),
        ([TEXT | {"content": [{KEPT: 1}]}], [TEXT | {"content": [{KEPT: 1}]}]),
    ],
)
def test_a_list_is_shown_without_it(items: list[Any], seen: list[Any]) -> None:
    assert jsontext.loads(public_list(jsontext.dumps(items))) == seen


def test_a_list_without_it_is_not_read() -> None:
    damaged = b'[{"id": "msg_1"'
    assert public_list(damaged) is damaged
