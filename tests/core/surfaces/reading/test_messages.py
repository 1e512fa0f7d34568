"""C01, C02: messages of every role, as both chat-like surfaces read them."""

from proxy.core.ledger import Ledger
from proxy.core.model import Audio, File, Image, Reasoning, Refusal, Result, Role, Text
from proxy.core.surfaces.reading import messages as messages_module
from proxy.core.surfaces.reading.messages import MAX_MESSAGES
from tests.support.chat_asks import HI, assistant, called, native, refused, returned, turns
from tests.support.responses_asks import called as said_call
from tests.support.responses_asks import spoken
from tests.support.tables import table

PICTURE = {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}}


def test_every_role_speaks():
    """C01: in the order in which they spoke."""
    said = turns(
        {"role": "system", "content": "Be brief."},
        {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
        {"role": "user", "content": "Hi", "name": "Ann"},
        assistant(called("a"), called("b", "clock"), content="Let me see."),
        returned("b", "noon"),
        returned("a", [{"type": "text", "text": "sunny"}]),
        assistant(content="It is sunny."),
        HI,
    )
    assert spoken(*said) == [
        ("system", ["Be brief."]),
        ("developer", ["Be kind."]),
        ("user", ["Hi"]),
        ("assistant", [Text("Let me see."), said_call("a"), said_call("b", "clock")]),
        ("tool", [Result("a", ["sunny"]), Result("b", ["noon"])]),
        ("assistant", [Text("It is sunny.")]),
        ("user", ["Hi"]),
    ]


@table(
    ("part", "expected"),
    [
        ({"type": "text", "text": "x"}, "x"),
        (PICTURE, Image("https://x/y.png", "low")),
        ({"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}, Audio("AA", "wav")),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA"}},
            File("a.pdf", "data:application/pdf;base64,AA"),
        ),
        ({"type": "file", "file": {"file_id": "file_1"}}, File(id="file_1")),
    ],
)
def test_what_a_user_can_show(part, expected):
    """C01."""
    assert turns({"role": "user", "content": [part]}) == [(Role.USER, [expected])]
    for result in (returned(content=[part]),):
        *_, answered = turns(HI, assistant(called()), result)
        assert answered[1] == [Result("a", [expected])]


def test_what_an_assistant_says_besides_text():
    said = turns(
        HI,
        assistant(content=[{"type": "text", "text": "No."}, {"type": "refusal", "refusal": "I will not."}]),
        HI,
        assistant(refusal="Never."),
        HI,
        assistant(content="", audio=None),
    )
    assert [parts for role, parts in said if role is Role.ASSISTANT] == [
        [Text("No."), Refusal("I will not.")],
        [Refusal("Never.")],
    ]


@table(
    ("fields", "expected"),
    [
        ({"reasoning_content": "Hm."}, Reasoning("Hm.")),
        ({"reasoning": "Hm."}, Reasoning("Hm.")),
        ({"reasoning_content": "", "reasoning": "Hm."}, Reasoning("Hm.")),
        (
            {
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "H", "index": 0},
                    {"summary": "m."},
                    {"data": "x"},
                ]
            },
            Reasoning(
                "Hm.",
                {
                    "chat": {
                        "reasoning_details": [
                            {"type": "reasoning.text", "text": "H", "index": 0},
                            {"summary": "m."},
                            {"data": "x"},
                        ]
                    }
                },
            ),
        ),
        (
            {"reasoning": "Aha.", "reasoning_details": [{"text": None, "signature": "s"}, 5, {"text": {}}]},
            Reasoning("Aha.", {"chat": {"reasoning_details": [{"signature": "s"}, {}]}}),
        ),
        ({"reasoning_content": " ", "reasoning": "Hm."}, Reasoning("Hm.")),  # V32
    ],
)
def test_the_models_reasoning_goes_back(fields, expected):
    """Before the words and calls that came of it."""
    _, said, *_ = turns(HI, assistant(called(), content="So.", **fields))
    assert said[1] == [expected, Text("So."), said_call("a")]


@table(
    "fields",
    [
        {"reasoning_content": 5},
        {"reasoning": {"effort": "low"}},
        {"reasoning_details": "x"},
        {"reasoning_details": []},
        {"reasoning_details": [5]},
        {"reasoning": None, "reasoning_content": ""},
    ],
)
def test_what_no_api_defines_is_no_reason_to_refuse(fields):
    _, said = turns(HI, assistant(content="So.", **fields))
    assert said[1] == [Text("So.")]


def test_reasoning_alone_is_an_answer():
    """A model that thought until its tokens ended."""
    _, said, _ = turns(HI, assistant(reasoning_content="Hm."), HI)
    assert said[1] == [Reasoning("Hm.")]


def test_a_proof_stands_right_before_its_call():
    """Gemini's models refuse the second of two calls that has lost its own, and take no other's."""
    extra = {"google": {"thought_signature": "SIG"}}
    _, said, _ = turns(HI, assistant(called("a"), called("b", extra_content=extra), content="So."))
    assert said[1] == [
        Text("So."),
        said_call("a"),
        Reasoning(
            "",
            {
                "chat": {"proofs": [{"id": "b", "extra_content": extra}]},
                "google": {"signatures": [{"signature": "SIG"}]},
            },
        ),
        said_call("b"),
    ]


@table(
    "extra",
    [
        {"other": 1},
        {"google": 5},
        {"google": {"thought_signature": ""}},
        {"google": {"thought_signature": 5}},
    ],
)
def test_a_proof_that_nobody_here_reads_goes_back_as_it_came(extra):
    _, said, _ = turns(HI, assistant(called(extra_content=extra)))
    assert said[1][0] == Reasoning("", {"chat": {"proofs": [{"id": "a", "extra_content": extra}]}})


@table("extra", [None, {}, 5, "x", []])
def test_no_proof(extra):
    _, said, _ = turns(HI, assistant(called(extra_content=extra)))
    assert said[1] == [said_call("a")]


def test_what_another_server_said_aloud_is_counted():
    ledger = Ledger()
    turns(HI, assistant(content="", audio={"id": "audio_1"}), ledger=ledger)
    assert ledger.dropped == {"audio": 1}


@table(
    ("said", "param"),
    [
        ([5], "messages[0]"),
        ([HI, None], "messages[1]"),
        ([HI, {"content": "x"}], "messages[1].role"),
        ([HI, {"role": 5, "content": "x"}], "messages[1].role"),
        ([{"role": "model", "content": "x"}], "messages[0].role"),
        ([{"role": "user"}], "messages[0].content"),
        ([{"role": "user", "content": None}], "messages[0].content"),
        ([{"role": "user", "content": 5}], "messages[0].content"),
        ([{"role": "user", "content": [5]}], "messages[0].content[0]"),
        ([{"role": "user", "content": [{}]}], "messages[0].content[0].type"),
        ([{"role": "user", "content": [{"type": "text"}]}], "messages[0].content[0].text"),
        ([{"role": "user", "content": [{"type": "refusal", "refusal": "x"}]}], "messages[0].content[0].type"),
        (
            [{"role": "user", "content": [{"type": "video_url", "video_url": {}}]}],
            "messages[0].content[0].type",
        ),
        ([{"role": "user", "content": [{"type": "file"}]}], "messages[0].content[0].file"),
        (
            [{"role": "user", "content": [{"type": "file", "file": {}}]}],
            "messages[0].content[0].file.file_data",
        ),
        (
            [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}],
            "messages[0].content[0].image_url.url",
        ),
        ([{"role": "system", "content": [PICTURE]}], "messages[0].content[0].type"),
        ([HI, assistant(content=[PICTURE])], "messages[1].content[0].type"),
        ([HI, assistant()], "messages[1].content"),
        ([HI, assistant(tool_calls=[])], "messages[1].content"),
        ([HI, assistant(refusal=5)], "messages[1].refusal"),
        ([HI, assistant(tool_calls={})], "messages[1].tool_calls"),
        ([HI, assistant(called(), 5)], "messages[1].tool_calls[1]"),
        ([HI | {"tool_calls": [called()]}], "messages[0].tool_calls"),
        ([HI, assistant(called()), {"role": "tool", "content": "x"}], "messages[2].tool_call_id"),
        ([HI, assistant(called()), returned(5)], "messages[2].tool_call_id"),
        ([HI, assistant(called()), returned("z")], "messages[2].tool_call_id"),
        ([HI, returned(), assistant(called())], "messages[1].tool_call_id"),
        ([HI, assistant(called()), returned(), returned()], "messages[3].tool_call_id"),
        ([HI, assistant(called()), {"role": "tool", "tool_call_id": "a"}], "messages[2].content"),
        ([HI, assistant(called()), returned(content=None)], "messages[2].content"),
        ([HI, assistant(called()), returned(content=5)], "messages[2].content"),
    ],
)
def test_each_violation_names_its_field(said, param):
    """C01, C02: an unknown role, a result of nothing that was asked, content that is missing."""
    fault = refused(messages=said)
    assert fault.param == param
    assert fault.message.startswith(f"{param} ")


def test_the_complaint_about_a_result_says_which():
    """C02."""
    assert "is 'z', which no earlier" in refused(messages=[HI, assistant(called()), returned("z")]).message
    fault = refused(messages=[HI, assistant(called()), returned("")])
    assert fault.message == "messages[2].tool_call_id is empty: put the id of the call that is answered."
    twice = [HI, assistant(called()), returned(), returned()]
    assert "already has its result" in refused(messages=twice).message


def test_ids_that_a_backend_repeats_are_told_apart():
    """Some call the first call of every reply the same; C02 holds for each of them."""
    said = turns(
        HI,
        assistant(called("call_0")),
        returned("call_0", "one"),
        assistant(called("call_0")),
        returned("call_0", "two"),
    )
    results = [part for _, parts in said for part in parts if isinstance(part, Result)]
    assert [(each.call_id, each.content) for each in results] == [
        ("call_0", ["one"]),
        ("call_0_2", ["two"]),
    ]


def test_a_call_without_its_result_gets_one():
    """A client that was stopped in between can go on."""
    ledger = Ledger()
    *_, results, _ = turns(HI, assistant(called("a"), called("b")), returned("b"), HI, ledger=ledger)
    assert results[1] == [Result("a", ["aborted"], is_error=True), Result("b", ["sunny"])]
    assert ledger.oddities["missing_output"] == 1


@table("content", ["", []])
def test_a_result_may_be_empty(content):
    """C02: it is there, and says nothing."""
    *_, results = turns(HI, assistant(called()), returned(content=content))
    assert results[1] == [Result("a", [""])]


def test_an_unknown_part_is_counted():
    """V46: and its client is told."""
    ledger = Ledger()
    assert turns(
        {"role": "user", "content": [{"type": "new"}, {"type": "text", "text": "x"}]}, ledger=ledger
    ) == [(Role.USER, ["x"])]
    assert ledger.dropped == {"unknown_part": 1}
    (warning,) = ledger.warnings
    assert warning.startswith("A content part of the type '")


def test_the_name_of_a_participant_is_counted():
    """Nobody is told who of several users said what; the name of a tool says nothing that is not known."""
    ledger = Ledger()
    named = [HI | {"name": "Ann"}, assistant(called()) | {"name": "Bob"}, returned() | {"name": "weather"}]
    turns(*named, HI | {"name": None}, ledger=ledger)
    assert ledger.dropped == {"name": 2}


def test_messages_and_calls_have_bounds():
    """S19."""
    assert refused(messages=[HI] * (MAX_MESSAGES + 1)).param == "messages"
    calls = [called(str(number)) for number in range(messages_module.MAX_PARTS + 1)]
    fault = refused(messages=[HI, assistant(*calls)])
    assert (fault.param, fault.code) == ("messages[1].tool_calls", "array_above_max_length")


def test_the_stricter_surface_hears_the_same_roles():
    """N05."""
    said = native(messages=[{"role": "developer", "content": "x"}, HI]).request.turns
    assert [role for role, _ in said] == [Role.DEVELOPER, Role.USER]
