"""attack-10 … attack-13, -24: nobody who reads what strangers say does more than there is to read.

Each reader of `table_readers.py` gets its input in growing sizes. Its instructions are counted, whatever function they
are in, and for what they hide it is looked how much longer much more of it takes (`work.py` says what that sees). The
matching of regular expressions is one instruction here: see `test_patterns.py`. A new module of the core that reads
anything has to be reached by a reader, or to stand among those that need none.
"""

from collections.abc import Callable, Mapping
from functools import cache

import pytest

from proxy.core.events import TextDelta
from proxy.core.ledger import Ledger
from proxy.core.markup.code import CodeTracker
from proxy.core.markup.frames import MAX_VAIN, FrameStage
from tests.growth.found import PACKAGE, ROOT
from tests.growth.table_inspected import INSPECTED
from tests.growth.table_readers import FAMILIES, STREAMS, TEXTS
from tests.growth.table_requests import DECLARED, REQUESTS
from tests.growth.table_responses import RESPONSES
from tests.growth.table_stored import STORED
from tests.growth.work import MOST_HIDDEN_GROWTH, TRIES, Make, growth, hidden_growth, instructions
from tests.support.quickness import quickly


def together(*tables: Mapping[str, Make]) -> dict[str, Make]:
    """The rows of all tables. Two rows of one name would be one, and the other would not be measured."""
    rows = {name: make for table in tables for name, make in table.items()}
    assert len(rows) == sum(map(len, tables)), "two rows have the same name"
    return rows


READERS = together(STREAMS, TEXTS, REQUESTS, RESPONSES, STORED, INSPECTED)

SIZE = 24
LARGER = {"blanks": 300}
"""Where something is bounded that the usual size does not reach."""
MOST_GROWTH = 2.5
LONG = 20_000
MOST_SECONDS = 0.3
"""For so much text behind an opener: once it took twenty."""

NEED_NONE = {
    "write what others have read": """surfaces/chat/calls surfaces/chat/encode surfaces/chat/completion
        surfaces/chat/surface surfaces/responses/compaction surfaces/catalog/listing surfaces/native/calls
        surfaces/native/surface surfaces/responses/message_first surfaces/responses/surface surfaces/responses/echo
        surfaces/responses/hosted dialects/writing/unreadable surfaces/framing surfaces/surface
        stream/stages/summary stream/stages/first_call stream/stages/hosted_left_out
        stream/stages/one_reply stream/stages/argument_names""",
    "hold texts, names and numbers of our own": """surfaces/catalog/codex_instructions surfaces/openapi/document
        surfaces/openapi/schemas surfaces/openapi/kept_schemas surfaces/openapi/known_paths
        markup/registry markup/shapes backends/efforts
        backends/profiles backends/model_rules inspected/fault_words inspected/remark_words
        masking/unseen stored/conversation stored/faults stored/record tracing/wishes""",
    "are the words that all rooms share, without a rule": "argument_problem catalog events facts sink",
    "decide by numbers and times, not by texts": """policy/breaker policy/doubts policy/quota policy/retry
        policy/shares policy/window inspected/findings""",
    "are grammars, which others read by": """markup/families/tokens/deepseek
        markup/families/tokens/plamo
        markup/families/objects/hermes markup/families/objects/hyperclova
        markup/families/notations/pythonic markup/families/tags/mcp markup/families/tags/qwen
        markup/families/tags/solar2""",
    "hold bytes by a limit, and read them by what is reached": """surfaces/responses/latest_responses
        surfaces/responses/socket_messages""",
    "read refusals, of which complaints keep some thousand characters": """dialects/anthropic/errors
        dialects/anthropic/lessons dialects/chat/lessons dialects/google/errors
        dialects/google/lessons dialects/responses/lessons dialects/reading/refused_fields
        dialects/reading/effort_lessons backends/learned
        flow/refused flow/taught""",
    "read a URL of the configuration": """dialects/anthropic/urls dialects/chat/urls dialects/google/urls
        dialects/responses/counting backends/recognise backends/routes""",
    "are asked for by hand, and read the answers to questions of our own": """examination/aspects
        examination/basics examination/calling examination/courses examination/examination examination/findings
        examination/forms examination/heard examination/limits examination/material examination/messages
        examination/question examination/readers examination/report examination/thinking examination/spelling""",
    "read what the proxy itself has written, for whoever asks a command": """recorded/attempt recorded/conditions
        recorded/cuts recorded/difference recorded/recording recorded/replay recorded/supply recorded/surfaces
        recorded/transcript recorded/translation recorded/trusting recorded/faults
        recorded/lines""",
    "read what the proxy itself has kept, a few entries at most": "backends/kept_lessons",
    "hand on what they are given, and look at nothing": """stream/observer surfaces/responses/whole_input
        flow/reply""",
    "look at one schema or one text, as their neighbours do": """schemas/subsets
        dialects/reading/surrogates tools/answers stream/stages/answer_form""",
}
"""Modules that no reader reaches, by the reason."""


@cache
def measured() -> tuple[dict[str, float], frozenset[str]]:
    """By reader, how its instructions grow; and the files that had a part in it."""
    seen: set[str] = set()
    readers = together(READERS, DECLARED, FAMILIES)
    grown = {name: growth(make, LARGER.get(name, SIZE), seen) for name, make in readers.items()}
    return grown, frozenset(seen)


def test_no_reader_does_more_than_there_is_to_read() -> None:
    grown = {name: round(times, 1) for name, times in measured()[0].items() if times > MOST_GROWTH}
    assert not grown


def test_no_reader_hides_a_loop() -> None:
    grown = {
        name: times for name, make in READERS.items() if (times := hidden_growth(make)) > MOST_HIDDEN_GROWTH
    }
    assert not grown


def test_no_dialect_takes_long_for_what_is_behind_its_opener() -> None:
    for name, make in FAMILIES.items():
        with quickly(MOST_SECONDS, name):
            make(LONG // 8)()


def test_f79_what_stands_behind_a_code_sample_is_not_copied_for_each_sample() -> None:
    """A backend may send its text in large events. Eight megabytes of small samples took the event loop for minutes."""
    tracker, text = CodeTracker(), "```\na\n```\n" * (LONG // 8) + "a\n" * (1 << 21)
    with quickly(MOST_SECONDS):
        tracker.feed(text)
    assert tracker.at == len(text)


def test_f79_what_looks_like_tokens_is_looked_through_to_a_point() -> None:
    """It may come in one event. A megabyte took the event loop for six seconds, eight took hours."""

    def tokens(n: int) -> Callable[[], object]:
        stage, text = FrameStage(lambda delta: None, Ledger(), calls=True), TextDelta("a " + "<|" * n)
        return lambda: stage.feed(text)

    enough, ten_times = (instructions(tokens(n)) for n in (2 * MAX_VAIN, 20 * MAX_VAIN))
    assert ten_times < 1.1 * enough


def test_every_module_that_reads_is_reached() -> None:
    _, seen = measured()
    core = ROOT / PACKAGE / "core"
    unseen = {
        path.relative_to(core).with_suffix("").as_posix()
        for path in sorted(core.rglob("*.py"))
        if str(path) not in seen and path.stem != "__init__"
    }
    excused = {name for names in NEED_NONE.values() for name in names.split()}
    assert not unseen - excused, "needs a row in a table of readers, or a reason in NEED_NONE"
    assert not excused - unseen, "is reached, or gone, and needs no reason any more"


def _searches_a_list(n: int) -> Callable[[], object]:
    def work() -> None:
        said: list[str] = []
        for i in range(n):
            if str(i) not in said:
                said.append(str(i))

    return work


def _copies_what_it_has(n: int) -> Callable[[], object]:
    def work() -> None:
        held: tuple[bytes, ...] = (b"",)
        for _ in range(n):
            held = (held[0] + b"0123456789abcdef" * 4,)

    return work


def _looks_at_all_before(n: int) -> Callable[[], object]:
    def work() -> None:
        said: list[int] = []
        for i in range(n):
            for one in said:
                assert one != i
            said.append(i)

    return work


def test_what_looks_at_all_before_is_seen() -> None:
    assert growth(_looks_at_all_before, SIZE) > MOST_GROWTH


@pytest.mark.parametrize("make", [_searches_a_list, _copies_what_it_has])
def test_what_hides_a_loop_is_seen_by_its_time(make: Callable[[int], Callable[[], object]]) -> None:
    assert growth(make, SIZE) < MOST_GROWTH
    # Where others want the processor, too, a short time may look long: what grows is seen again
    assert any(hidden_growth(make) > MOST_HIDDEN_GROWTH for _ in range(TRIES))
