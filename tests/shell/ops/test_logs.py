"""Log lines: two forms, no secrets, nothing that a terminal would obey."""

import errno
import io
import logging
import sys
from typing import Any

import orjson
import pytest

from proxy.shell.ops.logs import LONGEST, REMEMBERED, LibraryLines, Redaction, make_log

KEY = "sk-proj-0123456789abcdef"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def written(level: str = "info", format: str = "json", **fields: object) -> str:
    stream = io.StringIO()
    make_log(level, format, stream=stream).info("request", **fields)
    return stream.getvalue()


# ── form ──


def test_elsewhere_than_on_a_terminal_a_line_is_json() -> None:
    stream = io.StringIO()
    make_log(stream=stream).info("request", status=200, model=None)
    line = orjson.loads(stream.getvalue())
    assert list(line) == ["timestamp", "level", "event", "status", "model"]
    assert line["timestamp"].endswith("Z")
    assert (line["level"], line["event"], line["status"], line["model"]) == ("info", "request", 200, None)


@pytest.mark.parametrize("format", ["json", "console"])
def test_a_line_is_written_in_one_piece(format: str) -> None:
    """Other processes may write to the same place, and each piece is a call to the kernel."""

    class Pieces(io.StringIO):
        def write(self, text: str) -> int:
            pieces.append(text)
            return len(text)

    pieces: list[str] = []
    make_log("info", format, stream=Pieces()).info("request", status=200)
    assert [piece.count("\n") for piece in pieces] == [1]


def test_on_a_terminal_it_is_for_people() -> None:
    terminal = Terminal()
    make_log(stream=terminal).info("worker_started", pid=7)
    assert "worker_started" in terminal.getvalue()
    assert "{" not in terminal.getvalue()


@pytest.mark.parametrize(("colors", "painted"), [(True, True), (False, False)])
def test_a_request_is_a_sentence_there(colors: bool, painted: bool) -> None:
    terminal = Terminal()
    make_log(stream=terminal, colors=colors).info("request", model="m", backend="b", ending="completed")
    line = terminal.getvalue()
    assert "m -> b" in line
    assert "completed" in line
    assert ("\x1b[" in line) is painted


def test_nothing_is_painted_where_there_is_no_terminal() -> None:
    assert "\x1b" not in written(format="console", model="m", ending="failed", fault="Fault")


@pytest.mark.parametrize("name", ["m\x1b]0;mine\x07", "m\r\nm", "m\x9b2J", "m\u202eevil", "m\x00\x7f"])
def test_no_name_moves_the_cursor(name: str) -> None:
    """S15: what is outside of a line of its own, or draws over another."""
    line = written(format="console", model=name, backend=name, backend_model=f"{name}2", markup={name: 1})
    assert [character for character in line if not character.isprintable()] == ["\n"]


def test_the_form_can_be_chosen() -> None:
    stream = io.StringIO()
    make_log(format="console", stream=stream).info("worker_started", pid=7)
    assert stream.getvalue().endswith("pid=7\n")
    terminal = Terminal()
    make_log(format="json", stream=terminal).info("request")
    assert orjson.loads(terminal.getvalue())["event"] == "request"


@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "full"), BrokenPipeError()])
def test_a_line_that_cannot_be_written_fails_nothing(failure: OSError) -> None:
    """The disk is full, or who read the log has gone. A request that was to be refused was not answered at all."""

    class Full(io.StringIO):
        def flush(self) -> None:
            raise failure

    log = make_log(stream=Full())
    log.info("store_chosen")
    log.bind(request_id="r").tell("request", {})


def test_a_log_that_was_closed_fails_nothing() -> None:
    """As the log of a test is, when a library tells something later."""
    stream = io.StringIO()
    log = make_log(stream=stream)
    stream.close()
    log.warning("library")


def test_lines_below_the_level_are_not_written() -> None:
    assert written(level="warning") == ""
    stream = io.StringIO()
    make_log("debug", stream=stream).debug("call started")
    assert "call started" in stream.getvalue()


def test_what_is_bound_stands_in_every_line() -> None:
    stream = io.StringIO()
    log = make_log(stream=stream).bind(request_id="req_1")
    log.warning("one")
    log.error("two")
    assert [orjson.loads(line)["request_id"] for line in stream.getvalue().splitlines()] == ["req_1", "req_1"]


def test_an_exception_brings_its_traceback() -> None:
    """F80."""
    stream = io.StringIO()
    try:
        raise KeyError("missing")
    except KeyError as error:
        make_log(stream=stream).error("unhandled_exception", exc_info=error)
    told = orjson.loads(stream.getvalue())["exception"]
    assert 'raise KeyError("missing")' in told  # the line of code
    assert told.endswith("\nKeyError")


# ── secrets ──


@pytest.mark.parametrize(
    "value",
    [
        f"refused: {KEY}",
        f"Authorization: Bearer {KEY}",
        {"deep": [{"er": KEY}]},
        [KEY],
        (KEY,),
        ValueError(KEY),
    ],
)
def test_whatever_looks_like_a_key_is_masked(value: object) -> None:
    """S06: however deep, and whatever carries it."""
    line = written(value=value)
    assert "0123456789" not in line
    assert "redacted" in line


def test_a_configured_secret_is_masked_whatever_its_form() -> None:
    stream = io.StringIO()
    log = make_log(stream=stream, secrets=["correct horse", "battery staple"])
    log.info("request", error="it said correct horse and battery staple")
    assert "horse" not in stream.getvalue()
    assert "staple" not in stream.getvalue()


def test_a_secret_in_a_traceback_is_masked() -> None:
    stream = io.StringIO()
    try:
        raise ValueError(f"cannot send {KEY}")
    except ValueError as error:
        make_log(stream=stream).error("unhandled_exception", exc_info=error)
    assert KEY not in stream.getvalue()


def test_a_key_that_is_none_does_not_eat_words() -> None:
    """Local servers take any key, so people write one letter."""
    assert Redaction(["x", ""])({"a": "next"}) == {"a": "next"}


def test_numbers_stay_numbers() -> None:
    line = orjson.loads(written(a=1, b=1.5, c=True, d=None, e={"f": [2]}))
    assert (line["a"], line["b"], line["c"], line["d"], line["e"]) == (1, 1.5, True, None, {"f": [2]})


def test_what_is_very_long_is_told_by_its_beginning_and_not_kept() -> None:
    """E7: a client's word may be as long as a body, and the next client's too."""
    redaction = Redaction([])
    word = "m" * (LONGEST + 1)
    before = sys.getrefcount(word)
    for text in (word, word[: REMEMBERED + 1]):
        fields = redaction({"model": text, "nested": [text]})
        assert fields["model"] == fields["nested"][0] == (text if len(text) <= LONGEST else text[:-1] + "…")
    assert sys.getrefcount(word) == before


# ── control characters ──


def test_a_terminal_gets_no_control_characters_from_outside() -> None:
    """S15: no colours, no cleared screens, no second line that looks like ours."""
    line = written(format="console", model="gpt\x1b[31m\n12:00 [info] request status=200\u2028\x85")
    assert line.count("\n") == 1
    assert "\x1b" not in line
    assert r"x1b[31m" in line


def test_json_needs_one_line_whatever_is_in_it() -> None:
    """S15: nor does it hold what a terminal or a reader of lines would act upon, and it is still the same JSON."""
    name = "a\nb\x1b\x7f\x9b31m\u2028é"
    line = written(model=name)
    assert line.count("\n") == 1
    assert not set(line) & {"\x1b", "\x7f", "\x9b", "\u2028"}
    assert orjson.loads(line)["model"] == name


def test_a_traceback_on_a_terminal_keeps_its_lines() -> None:
    stream = io.StringIO()
    try:
        raise ValueError("red: \x1b[31m")
    except ValueError as error:
        make_log(format="console", stream=stream).error("unhandled_exception", exc_info=error)
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue().count("\n") > 2


# ── libraries ──


def test_what_libraries_log_takes_the_same_way() -> None:
    stream = io.StringIO()
    library = logging.Logger("asyncio")
    library.addHandler(LibraryLines(make_log(stream=stream)))
    library.warning("the key is %s", KEY)
    library.info("not worth a line")
    line = orjson.loads(stream.getvalue())
    assert (line["event"], line["logger"]) == ("library", "asyncio")
    assert line["message"] == "the key is %s"
    assert line["place"].startswith("test_logs.py:")


def test_attack_20_what_a_library_has_put_into_words_is_not_repeated() -> None:
    """asyncio tells of a callback that failed together with its arguments."""
    stream = io.StringIO()
    library = logging.Logger("asyncio")
    library.addHandler(LibraryLines(make_log(stream=stream)))
    try:
        raise ValueError("what was said")
    except ValueError:
        library.exception("Exception in callback received(b'what was said')")
    line = orjson.loads(stream.getvalue())
    assert (line["event"], line["exception"].splitlines()[-1]) == ("library", "ValueError")
    assert "said'" not in stream.getvalue()


# ── what nobody sees ──

UNSEEN = [
    "\u202e",
    "\u2066",
    "\u200b",
    "\ufeff",
    "\U000e0041",
    "\u2028",
    "\u00ad",
    "\ufe0f",
    "\u061c",
    "\U000e0100",
]


@pytest.mark.parametrize("format", ["json", "console"])
@pytest.mark.parametrize("mark", UNSEEN, ids=ascii)
@pytest.mark.parametrize("value", ["model{}", "model {} b", ["{}"], {"a": "{}"}, {"{}": 1}], ids=str)
def test_attack_29_nothing_unseen_stands_in_a_line(format: str, mark: str, value: Any) -> None:
    """A terminal would turn the rest of the line around, or hide a part of it."""
    line = written(format=format, model=filled(value, mark))
    assert mark not in line
    if format == "json":
        assert orjson.loads(line)["model"] == filled(value, mark)


def filled(value: Any, mark: str) -> Any:
    match value:
        case str():
            return value.format(mark)
        case list():
            return [filled(inner, mark) for inner in value]
    return {filled(key, mark): filled(inner, mark) if inner != 1 else 1 for key, inner in value.items()}
