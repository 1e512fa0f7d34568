"""What a rewriting cost is told in one order, each keyword once."""

from proxy.core.schemas.losses import Losses, Node
from proxy.core.schemas.subsets import Subset
from proxy.core.work import Work


def test_losses_are_sorted_and_told_once_with_the_first_place() -> None:
    losses = Losses(Work())
    for keyword in ("pattern", "minLength", "pattern"):
        losses.relax(keyword)
    losses.refuse("oneOf", ("properties", "a"))
    losses.refuse("not")
    losses.refuse("oneOf")
    result = losses.of({}, {"x_1": "$x"})
    assert result.aliases == {"x_1": "$x"}
    assert result.relaxed == ("minLength", "pattern")
    assert result.refusals == (("not", ()), ("oneOf", ("properties", "a")))
    assert result.refused == ("not", "oneOf")


def test_a_node_reads_all_keywords_unless_they_are_counted() -> None:
    losses = Losses(Work())
    assert Node(Subset(), losses, ()).reads("x")
    node = Node(Subset(frozenset({"type"})), losses, ("items",))
    assert [node.reads("type"), node.reads("x"), node.is_root] == [True, False, False]
    node.tell("x", 1)
    node.refuse("y")
    assert (node.told, losses.relaxed, losses.refused) == ({"x": 1}, {"x"}, {"y": ("items",)})
