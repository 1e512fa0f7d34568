"""Requests of every kind, drawn from the words of the core."""

from hypothesis import strategies as st

from proxy.core.model import (
    Audio,
    Call,
    ChoiceMode,
    File,
    FormatKind,
    Image,
    OutputFormat,
    Reasoning,
    ReasoningWish,
    Refusal,
    Request,
    Result,
    Role,
    Sampling,
    Text,
    ToolChoice,
    ToolKind,
    ToolName,
    ToolSpec,
    Turn,
)

words = st.sampled_from(["", " ", "x", "two words", "ü\n", '{"a": 1}', "\ud800"])
tools = st.sampled_from(
    [ToolName("a"), ToolName("b"), ToolName("a", "ns"), ToolName("ns__a"), ToolName("x y" * 40), ToolName("")]
)
images = st.builds(
    Image,
    st.sampled_from(["https://x.example/a.png", "data:image/png;base64,AAAA"]),
    st.sampled_from([None, "auto", "high", "original"]),
)
files = st.sampled_from(
    [
        File("a.txt", data="data:text/plain;base64,aGk="),
        File("a.png", data="data:image/png;base64,AAAA"),
        File(data="data:application/pdf;base64,AAAA"),
        File(url="https://x.example/a.pdf"),
        File(id="file_1"),
    ]
)
media = st.one_of(words, images, files, st.just(Audio("AAAA", "wav")))
thoughts = st.builds(
    Reasoning,
    words,
    st.sampled_from([{}, {"chat": {"reasoning_details": [{"type": "reasoning.encrypted", "data": None}]}}]),
)
arguments = st.sampled_from(
    ["", "{}", '{"a": "b"}', '{"a": NaN}', "[1]", "*** Begin Patch", '{"a": "\n"}', "{"]
)


@st.composite
def replies(draw: st.DrawFn) -> list[Turn]:
    """An assistant turn and, as `inbound.history` promises, the results of its calls."""
    calls = draw(
        st.lists(
            st.tuples(tools, st.sampled_from(ToolKind), arguments, st.lists(media, max_size=2)), max_size=3
        )
    )
    ids = draw(
        st.lists(st.sampled_from(["c1", "x" * 50, "ü", "aB3dE6gH9"]), min_size=3, max_size=3, unique=True)
    )
    said = draw(st.lists(st.one_of(st.builds(Text, words), st.builds(Refusal, words), thoughts), max_size=3))
    turn = draw(st.uuids())
    called = [
        Call(f"{turn}{call_id}", tool, kind, written)
        for call_id, (tool, kind, written, _) in zip(ids, calls, strict=False)
    ]
    results = [Result(call.call_id, content) for call, (_, _, _, content) in zip(called, calls, strict=True)]
    answered = [(Role.TOOL, list(results))] if results else []
    return [(Role.ASSISTANT, [*said, *called]), *answered]


turns = st.lists(
    st.one_of(
        st.builds(lambda part: [(Role.USER, [part])], media),
        st.builds(lambda parts: [(Role.USER, list(parts))], st.lists(media, max_size=3)),
        st.builds(
            lambda role, text: [(role, [text])],
            st.sampled_from([Role.SYSTEM, Role.DEVELOPER]),
            words,
        ),
        replies(),
    ),
    max_size=6,
).map(lambda groups: [turn for group in groups for turn in group])
specs = st.lists(
    st.builds(
        ToolSpec,
        tools,
        st.sampled_from(ToolKind),
        st.one_of(st.none(), words),
        st.sampled_from([None, {}, {"properties": {"x": {"type": ["string", "null"], "enum": ["a", None]}}}]),
        st.sampled_from([None, True, False]),
        st.sampled_from([None, {"definition": "start: x"}]),
    ),
    max_size=4,
    unique_by=lambda spec: spec.tool,
)


@st.composite
def choices(draw: st.DrawFn, declared: list[ToolSpec]) -> ToolChoice:
    mode = draw(st.sampled_from(ChoiceMode))
    if not declared or draw(st.booleans()):
        return ToolChoice(mode)
    only = draw(st.lists(st.sampled_from(declared), min_size=1, max_size=2))
    return ToolChoice(mode, frozenset(spec.tool for spec in only))


@st.composite
def requests(draw: st.DrawFn) -> Request:
    declared = draw(specs)
    number = st.one_of(st.none(), st.sampled_from([0.0, 0.5, 2.0]))
    return Request(
        "m",
        draw(turns),
        tools=declared,
        choice=draw(choices(declared)),
        parallel_calls=draw(st.booleans()),
        sampling=draw(
            st.builds(
                Sampling,
                number,
                number,
                number,
                number,
                st.one_of(st.none(), st.just(7)),
                st.sampled_from([None, [], ["stop"]]),
                st.one_of(st.none(), st.just(16)),
                st.booleans(),
                st.sampled_from([0, 3]),
            )
        ),
        reasoning=ReasoningWish(
            draw(st.sampled_from([None, "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]))
        ),
        format=draw(
            st.builds(
                OutputFormat,
                st.sampled_from(FormatKind),
                st.sampled_from([None, "n"]),
                st.sampled_from([None, {"type": "object", "properties": {"x": True}}]),
                st.sampled_from([None, "d"]),
                st.sampled_from([None, True]),
            )
        ),
        verbosity=draw(st.sampled_from([None, "low"])),
    )
