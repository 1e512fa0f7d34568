"""Every beginning of a shape may become it, and nothing else may."""

from proxy.core.markup.shapes import blanks, either, literal, maybe, named, sequence, shape, signs
from tests.support.tables import table

SHAPE = shape(
    maybe(literal("<a>"), blanks()),
    literal("to="),
    named("name", signs(r"[\w.]", 5)),
    either(literal("!"), sequence(blanks(2), literal("?!"))),
)


@table("text", ["to=x!", "<a>to=abc.d?!", "<a>  to=a  ?!"])
def test_every_beginning_may_become_it(text: str) -> None:
    found = SHAPE.whole.match(text)
    assert found is not None
    assert found["name"] in text
    for size in range(len(text)):
        assert SHAPE.begun.match(text[:size]), text[:size]
    assert not SHAPE.begun.match(text)


@table("text", ["x", "to ", "<b", "<a>x", "to=!", "to=abcdef", "to=a   ", "to=a ? ", "<a>     t", " to"])
def test_what_contradicts_it_may_not(text: str) -> None:
    assert not SHAPE.begun.match(text)
    assert not SHAPE.whole.match(text)
