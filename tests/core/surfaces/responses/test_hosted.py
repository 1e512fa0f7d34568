"""Items of hosted tools: ids of ours, and a beginning for those that have a status."""

from proxy.core.model import HostedItem
from proxy.core.stored.kept_items import PREFIXES
from proxy.core.surfaces.responses.hosted import begun, prefix_of


def test_ids_begin_as_those_of_the_api() -> None:
    assert prefix_of(HostedItem({"type": "web_search_call"})) == "ws"
    assert prefix_of(HostedItem({"type": "hologram"})) == prefix_of(HostedItem({})) == "item"
    assert PREFIXES["computer_call"] == "cu"


def test_an_item_begins_without_a_result() -> None:
    assert begun({"type": "web_search_call", "status": "completed"})["status"] == "in_progress"
    assert begun({"type": "mcp_list_tools"}) == {"type": "mcp_list_tools"}
