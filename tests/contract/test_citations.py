"""Rules, faults, threats and attacks are cited by their ids. Each id is defined in a table, where readers find it."""

import re
from collections.abc import Iterator
from pathlib import Path

from proxy.core import jsontext
from tests import numbered

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("contract", "faults", "attacks")
CITING = ("proxy", "tests", "scripts", "manual_tests", ".github")
KINDS = {".py", ".mjs", ".md", ".json", ""}

ID = re.compile(
    r"(?<![A-Za-z0-9_%\\./-])(?:[RCPNFSV]\d\d|[TU]\d{2,3}|[EG]\d{1,2}|(?i:attack)[-_ ]\d\d)(?![A-Za-z0-9])"
)
IN_NAMES = re.compile(r"(?<=_)([rcnfsv]\d\d|[tu]\d{2,3})(?=[_(])")
SURELY_CITED = {"R05", "C03", "N01", "P02", "F08", "S15", "V20", "T39", "U50", "E7", "G10", "ATTACK-20"}
ELSEWHERE = re.compile(r"§|\b[Ii]ssue \d|\bitem \d|\.md \d")
"""A section, an issue, a numbered point: of a text that is not here."""


def texts() -> Iterator[tuple[str, str]]:
    for folder in CITING:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in KINDS and path.is_file() and path != Path(__file__):
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def defined() -> set[str]:
    return {row.upper() for table in TABLES for row in numbered.rows(ROOT / "tests" / table / "README.md")}


def test_every_id_that_is_cited_is_defined() -> None:
    known = defined()
    cited = {
        (place, re.sub("[_ ]", "-", found.upper()))
        for place, text in texts()
        for found in [*ID.findall(text), *IN_NAMES.findall(text)]
    }
    assert {id for _, id in cited} >= SURELY_CITED
    assert sorted(f"{place}: {id}" for place, id in cited if id not in known) == []


def test_no_id_is_defined_twice() -> None:
    rows = [row for table in TABLES for row in numbered.rows(ROOT / "tests" / table / "README.md")]
    assert sorted({row for row in rows if rows.count(row) > 1}) == []


def test_every_sequence_of_events_that_a_transcript_shows_is_defined() -> None:
    folder = ROOT / "tests" / "transcripts"
    index = jsontext.loads((folder / "index.json").read_bytes())
    letters = {id for entry in index.values() for id in entry["ids"] if len(id) == 1}
    rows = re.findall(r"^\| ([a-z]) \|", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert letters == set(rows)


def test_nothing_is_cited_that_lies_elsewhere() -> None:
    assert [place for place, text in texts() if ELSEWHERE.search(text)] == []
