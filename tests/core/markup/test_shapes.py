"""Every beginning of a shape may become it, and nothing else may."""

from proxy.core.markup.shapes import (
    TAG_BEGUN,
    any_tag,
    blanks,
    either,
    literal,
    maybe,
    named,
    plain,
    sequence,
    shape,
    signs,
    value,
)
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


TAG = shape(either(any_tag(value()), plain("</end>")))


@table(
    "text",
    [
        "<f=x>", "<f =x >", "<f=\"two words\">", "<f='x\">", "<n:f name='a b' type=c id=\"\"/>", "</f>", "</end >",
    ],
)  # fmt: skip
def test_a_tag_is_known_from_its_begin_to_its_end(text: str) -> None:
    assert TAG.whole.fullmatch(text)
    for size in range(1, len(text)):
        assert TAG.begun.match(text[:size]), text[:size]


@table(
    "text",
    [
        "<f= is a tag",
        "<f=` is",
        "<f name= is a tag",
        "<f that is",
        "<f=x y",
        "< f",
        "<f name=x y z",
        "<f>",
    ],
)
def test_prose_about_a_tag_is_none(text: str) -> None:
    assert not TAG_BEGUN.match(text)
