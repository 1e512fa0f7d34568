"""The texts are documentation of the code, so the code checks them."""

import importlib.machinery
import importlib.util
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import pytest
from jsonschema import Draft202012Validator

from proxy.core import jsontext
from proxy.core.surfaces.openapi.document import document
from proxy.settings.loading import BINDINGS, load

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = (".", ".github", ".github/docs", "manual_tests", "proxy", "tests", "tests/*")
TEXTS = sorted(
    str(path.relative_to(ROOT))
    for folder in FOLDERS
    for path in ROOT.glob(f"{folder}/*.md")
    if path.name != "CHANGELOG.md"
)
"""The changelog tells of what was, too."""

INLINE = re.compile(r"`[^`\n]+`")
FENCE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
PLACE = re.compile(r"`((?:core|shell|proxy|scripts|tests|manual_tests|\.github|\.ci)/[\w/.-]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
OTHERS = ("https://", "http://", "mailto:")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)
EXAMPLE = "acme"
"""A backend that does not exist: Contributing tells what one would need."""


def read(text: str) -> str:
    return (ROOT / text).read_text(encoding="utf-8")


def generator() -> ModuleType:
    loader = importlib.machinery.SourceFileLoader("readme_script", str(ROOT / "scripts" / "readme"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("readme_script", loader))
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", generator().MADE)
def test_the_parts_made_from_the_code_are_current(name: str) -> None:
    """Settings, diagrams and Codex's lines come from the code: run scripts/readme after changing one."""
    text, _ = generator().MADE[name]
    assert f"<!-- {name} -->\n" in read(text)
    assert generator().render(name, read(text)) == read(text)


def test_no_row_of_a_table_goes_over_its_line() -> None:
    """Descriptions of two lines would end it there."""
    rows = generator().settings().splitlines()
    assert [row for row in rows if not (row.startswith("|") and row.endswith("|"))] == []


def test_a_table_ends_with_an_empty_line() -> None:
    """What stands directly below it would be shown as one more row."""
    assert [
        f"{text}: {below}"
        for text in TEXTS
        for above, below in pairwise(FENCE.sub("", read(text)).splitlines())
        if above.startswith("|") and below and not below.startswith(("|", "<!--"))
    ] == []


def test_every_option_and_variable_is_told() -> None:
    names = [name for binding in BINDINGS for name in (binding.option, binding.variable) if name]
    assert [name for name in [*names, "PROXY_CONFIG"] if f"`{name}" not in read("README.md")] == []


TOML = re.compile(r"^```toml\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PLACEHOLDER = "<the digest that hash-key printed>"


def test_every_configuration_that_is_shown_is_valid(tmp_path: Path) -> None:
    file = tmp_path / "proxy.toml"
    shown = [found for text in TEXTS for found in TOML.findall(read(text)) if "model_provider" not in found]
    assert shown
    for configuration in shown:
        filled_in = configuration.replace(PLACEHOLDER, "0" * 64).replace("…", "")
        file.write_text(filled_in, encoding="utf-8")
        load({}, {}, str(file))


ASKED = re.compile(r"""(?:-d|ask) (?:'(\{.*?\})'|"(\{.*?\})")""", re.DOTALL)


def test_every_request_that_is_shown_is_one_that_the_description_knows() -> None:
    bodies = [
        jsontext.loads(plain or quoted.replace('\\"', '"'))
        for plain, quoted in ASKED.findall(read("README.md"))
    ]
    assert len(bodies) == 4
    asked = {"$ref": "#/components/schemas/ResponsesRequest", "components": document()["components"]}
    assert [body for body in bodies if not Draft202012Validator(asked).is_valid(body)] == []


def test_every_place_in_the_tree_that_is_named_exists() -> None:
    roots = (ROOT, ROOT / "proxy")
    named = [(text, place) for text in TEXTS for place in PLACE.findall(read(text)) if EXAMPLE not in place]
    assert named
    assert [
        f"{text}: {place}"
        for text, place in named
        if not any((root / place).exists() or (root / f"{place}.py").exists() for root in roots)
    ] == []


def test_every_test_module_that_is_named_beside_it_exists() -> None:
    named = [(text, name) for text in TEXTS for name in re.findall(r"`(test_\w+)(?:\.py)?`", read(text))]
    assert named
    assert [name for text, name in named if not (ROOT / text).with_name(f"{name}.py").exists()] == []


def test_every_noun_of_a_request_is_a_class_where_it_is_said_to_be() -> None:
    nouns = re.findall(r"^\| `([A-Z]\w+)` \| `([\w/]+)` \|", read("proxy/README.md"), re.MULTILINE)
    assert nouns
    assert [
        f"{module}: {noun}" for noun, module in nouns if f"class {noun}" not in read(f"proxy/{module}.py")
    ] == []


def test_every_room_has_its_row() -> None:
    rooms = [
        f"{folder}/{room.parent.name}"
        for folder in ("core", "shell")
        for room in (ROOT / "proxy" / folder).glob("*/__init__.py")
    ]
    table = read("proxy/README.md").partition("| room |")[2].partition("\n\n")[0]
    assert rooms
    assert [room for room in rooms if f"`{room}`" not in table] == []


def anchors(text: str) -> Iterator[str]:
    """The names that a page's headings get: lower case, punctuation left out, hyphens for spaces, and numbered."""
    seen: dict[str, int] = {}
    for heading in HEADING.findall(FENCE.sub("", read(text))):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        seen[name] = seen.get(name, -1) + 1
        yield f"{name}-{seen[name]}" if seen[name] else name


def leads_somewhere(text: str, link: str) -> bool:
    place, _, anchor = link.partition("#")
    target = (ROOT / text).parent / place if place else ROOT / text
    if not (target.exists() and target.resolve().is_relative_to(ROOT)):
        return False
    return not anchor or anchor in anchors(str(target.resolve().relative_to(ROOT)))


def test_every_link_leads_somewhere() -> None:
    links = [
        (text, link)
        for text in TEXTS
        for link in LINK.findall(INLINE.sub("", FENCE.sub("", read(text))))
        if not link.startswith(OTHERS)
    ]
    assert links
    assert [f"{text}: {link}" for text, link in links if not leads_somewhere(text, link)] == []


def test_every_text_is_reached_from_the_readme() -> None:
    """What nothing leads to is read by nobody."""
    reached: set[Path] = set()
    ahead = [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in reached:
            reached.add(page)
            found = (link.partition("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text("utf-8"))))
            ahead += [(page.parent / link).resolve() for link in found if link.endswith(".md")]
    assert sorted({ROOT / text for text in TEXTS} - reached) == []
