"""What a rewriting cost is told in one order, each keyword once."""

from proxy.core.schemas.losses import Losses, Node
from proxy.core.schemas.subsets import Subset
from proxy.core.work import Work


def test_losses_are_sorted_and_told_once_with_the_first_place() -> None:
    losses = Losses(Work())
    for keyword in ("pattern", "minLength", "pattern"):
        losses.relax(keyword)
    losses.reject("oneOf", ("properties", "a"))
    losses.reject("not")
    losses.reject("oneOf")
    result = losses.of({}, {"x_1": "$x"})
    assert result.aliases == {"x_1": "$x"}
    assert result.relaxed == ("minLength", "pattern")
    assert result.incompatible == (("not", ()), ("oneOf", ("properties", "a")))
    assert result.incompatible_features == ("not", "oneOf")


def test_a_node_reads_all_keywords_unless_they_are_counted() -> None:
    losses = Losses(Work())
    assert Node(Subset(), losses, ()).reads("x")
    node = Node(Subset(frozenset({"type"})), losses, ("items",))
    assert [node.reads("type"), node.reads("x"), node.is_root] == [True, False, False]
    node.describe("x", 1)
    node.reject("y")
    assert (node.described, losses.relaxed, losses.incompatible) == ({"x": 1}, {"x"}, {"y": ("items",)})
