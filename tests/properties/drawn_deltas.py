"""Deltas of every kind in any order, and what the assembler makes of them."""

from hypothesis import strategies as st

from proxy.core.errors import BackendFault
from proxy.core.events import (
    CallDelta,
    Delta,
    EndDelta,
    ErrorDelta,
    Finish,
    FinishDelta,
    ReasoningDelta,
    RefusalDelta,
    TextDelta,
    UsageDelta,
)
from proxy.core.model import ToolName, Usage
from proxy.core.tools.names import NameTable
from tests.support.assembling import TOOLS, Assembled, assemble

words = st.sampled_from(["a", "b ", "\n", "", "<think>", "</think>", "é😀", "{}"])
names = st.sampled_from(
    [
        None,
        None,
        None,
        "get_time",
        "get_weather",
        "exec",
        "exec_",
        "command",
        "apply_patch",
        "mcp__docs__search",
        "nope",
        "",
    ]
)
ids = st.sampled_from([None, None, "x", "y", "z", "taken", "x" * 65, "\n"])
arguments = st.sampled_from(["", "", "{", "}", "{}", '{"a":1}', '"', '"}', '{"input":"', "\\", " ", "[", "1"])
prose = st.one_of(
    st.builds(TextDelta, words, st.sampled_from([None, None, [{"token": "t"}]])),
    st.builds(ReasoningDelta, words),
    st.builds(RefusalDelta, words),
)
calls = st.builds(CallDelta, st.sampled_from([None, 0, 0, 1, 2]), ids, names, arguments)
going_on = st.one_of(prose, calls, calls, st.builds(UsageDelta, st.builds(Usage, *[st.integers(0, 9)] * 3)))
ends = st.sampled_from(
    [
        *(FinishDelta(finish) for finish in Finish),
        FinishDelta(Finish.STOP),
        EndDelta(),
        ErrorDelta(BackendFault("Bad.")),
    ]
)
deltas = st.builds(
    lambda *lists: [delta for part in lists for delta in part],
    st.lists(going_on, max_size=12),
    st.lists(ends, max_size=2),
    st.lists(st.one_of(going_on, ends), max_size=4),
)
tables = st.sampled_from(
    [NameTable(TOOLS), NameTable(TOOLS, only=[ToolName("get_time")]), NameTable(TOOLS, only=[]), NameTable()]
)


def assembled(said: list[Delta], names: NameTable, identity: str = "id") -> Assembled:
    """`assemble` itself checks what is promised of the order of events."""
    return assemble(*said, names=names, taken_ids={"taken"}, identity=identity)
