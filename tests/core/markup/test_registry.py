"""Which formats are looked for: the usual ones, others by name, and none where nothing may be called."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core.ledger import Ledger
from proxy.core.markup import registry
from proxy.core.markup.formats import Tier, Tools
from proxy.core.markup.scanner import Scanner
from proxy.core.markup.stage import MarkupSettings
from proxy.core.model import ChoiceMode, Request, ToolChoice, ToolName, ToolSpec
from proxy.core.profile import DEFAULT
from proxy.core.tools.prepare import prepare
from tests.support.tables import table

OPTIONAL = {format.name for format in registry.FORMATS if format.tier is Tier.OPTIONAL}
USUAL = registry.NAMES - OPTIONAL


def names(**how: Any) -> set[str]:
    return {format.name for format in registry.active(**how)}


def test_names_are_unique_and_say_nothing_that_a_label_may_not() -> None:
    assert len(registry.NAMES) == len(registry.FORMATS)
    assert all(name.replace("-", "").isalnum() for name in registry.NAMES)


def test_no_opener_is_empty_and_none_begins_with_white_space() -> None:
    """The scanner looks for openers in every piece of text; one of white space would be everywhere."""
    for format in registry.FORMATS:
        assert format.openers
        assert all(opener.strip() for opener in format.openers)


def test_without_a_word_all_are_on_but_the_optional_ones() -> None:
    assert names() == USUAL
    assert OPTIONAL


def test_optional_ones_are_on_by_name_and_others_off_by_name() -> None:
    some, other = min(OPTIONAL), min(USUAL)
    assert names(also={some}) == USUAL | {some}
    assert names(without={other}) == USUAL - {other}
    assert names(also={some}, without={some}) == USUAL


def test_the_order_is_that_of_the_families() -> None:
    assert registry.active() == tuple(one for one in registry.FORMATS if one.name in USUAL)


def test_a_name_of_no_format_is_an_error_in_one_line() -> None:
    registry.check(registry.NAMES)
    with pytest.raises(ValueError, match=r"^no markup format 'hermse'; there are .*hermes") as caught:
        registry.check({"hermes", "hermse"})
    assert "\n" not in str(caught.value)


TOOLS = [ToolSpec(ToolName("run")), ToolSpec(ToolName("look", "files"))]
NOTHING: frozenset[str] = frozenset()


def settings(
    request: Request, *, on: bool = True, also: frozenset[str] = NOTHING, without: frozenset[str] = NOTHING
) -> MarkupSettings | None:
    prepared = prepare(request, replace(DEFAULT, force_tool="required"), Ledger())
    return registry.for_reply(prepared, on=on, also=also, without=without)


def request(*tools: ToolSpec, choice: ToolChoice | None = None) -> Request:
    return Request("m", [], list(tools), choice or ToolChoice())


def test_tools_are_known_by_the_names_that_the_backend_sees() -> None:
    found = settings(request(*TOOLS))
    assert found is not None
    assert found.tools.schemas.keys() == {"run", "files__look"}


def test_only_tools_that_may_be_called_count() -> None:
    found = settings(request(*TOOLS, choice=ToolChoice(only=frozenset({ToolName("run")}))))
    assert found is not None
    assert found.tools.schemas.keys() == {"run"}


def test_nothing_is_looked_for_where_nothing_may_be_called() -> None:
    assert settings(request()) is None
    assert settings(request(*TOOLS, choice=ToolChoice(ChoiceMode.NONE))) is None


def test_it_can_be_switched_off() -> None:
    assert settings(request(*TOOLS), on=False) is None
    assert settings(request(*TOOLS), without=registry.NAMES) is None


def test_openers_are_compiled_once_for_all_replies() -> None:
    first, second = (settings(request(tool)) for tool in TOOLS)
    assert first is not None
    assert second is not None
    assert first.openers is second.openers


MOST_HELD = 64


@table("template", ["The text @ is a", "Use `@` or `@` for", "a @\n\nand then", "| @ | a |\n", "a @ run and"])
def test_an_opener_that_is_only_named_is_let_go_soon(template: str) -> None:
    found = registry.openers(frozenset(), frozenset())
    assert found is not None
    for opener in {one for format in registry.active() for one in (*format.openers, *format.first)}:
        text = template.replace("@", opener) + " token of which the documentation says nothing else at all."
        scanner = Scanner(found, Tools({"run": {}}), lambda *_: None)
        given = 0
        for at, sign in enumerate(text, 1):
            given += sum(len(one) for one in scanner.feed(sign) if isinstance(one, str))
            assert at - given <= MOST_HELD, text[:at]
