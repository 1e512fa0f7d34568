"""P04–P06, C07, N04: what the model's calls must keep to, and what becomes of a reply that does not."""

from dataclasses import replace

from proxy.core.argument_problem import ArgumentProblem
from proxy.core.dialects.chat.decode import ChatDecoder
from proxy.core.errors import Empty, Truncated, Unfit
from proxy.core.events import (
    Ending,
    PartEnded,
    PartKind,
    PartStarted,
    ReplyEnded,
    ReplyStarted,
)
from proxy.core.ledger import Ledger
from proxy.core.model import (
    Call,
    ChoiceMode,
    HostedItem,
    Reasoning,
    Request,
    ToolChoice,
    ToolKind,
    ToolName,
    ToolSpec,
)
from proxy.core.policy.guard import Rules, guard
from proxy.core.profile import DEFAULT
from proxy.core.sink import Stage
from proxy.core.stream.pipeline import Pipeline
from proxy.core.stream.stages.reasoning_extras import ReasoningExtras
from proxy.core.tenants import Mode, ToolLimits, Validation
from proxy.core.tools.names import NameTable
from tests.support.assembling import Told, into, read_events, recorder
from tests.support.guarding import (
    DECLARED,
    END,
    ENFORCING,
    GOOD,
    LAX,
    OBSERVING,
    PARSING,
    PATCH,
    SEARCH,
    TEXT,
    USAGE,
    WEATHER,
    Guarded,
    call,
    guarded,
    same,
)
from tests.support.replies import DONE, STOP, call_chunk, chunk, counting_mint, pipeline_for
from tests.support.tables import table


class TestArguments:
    def test_p05_what_fits_leaves_in_one_piece_when_it_has_ended(self) -> None:
        reply = guarded(
            ENFORCING, *TEXT, *call('{"city":', '"Paris"}'), *call("{}", spec=SEARCH, id="b"), END
        )
        assert same(reply.events, [*TEXT, *call(GOOD), *call("{}", spec=SEARCH, id="b"), END])
        assert not reply.ledger.oddities

    def test_p05_prose_before_a_call_passes_at_once_and_nothing_of_the_call_before_its_end(self) -> None:
        out: list[Told] = []
        feed = into(guard(ENFORCING, Ledger())(recorder(out)))
        events = [ReplyStarted(), *TEXT, *call(GOOD)]
        for event in events[:-1]:
            feed(event)
        assert out == [ReplyStarted(), *TEXT]
        feed(events[-1])
        assert same(out, events)

    @table("rules", [ENFORCING, PARSING])
    def test_p05_a_held_call_without_arguments_has_no_empty_delta(self, rules: Rules) -> None:
        assert same(guarded(rules, *call(spec=PATCH), END).events, [*call(spec=PATCH), END])

    @table(
        ("arguments", "code", "words"),
        [
            ('{"city":', "malformed_tool_arguments", "not valid JSON"),
            ("[1]", "malformed_tool_arguments", "not a JSON object"),
            ("{}", "invalid_tool_arguments", "'city' is a required property"),
            ('{"city":5}', "invalid_tool_arguments", "at .city: 5 is not of type 'string'. Ask again"),
        ],
    )
    def test_c07_what_does_not_fit_ends_the_reply_and_is_never_seen(
        self, arguments: str, code: str, words: str
    ) -> None:
        reply = guarded(ENFORCING, *TEXT, *call(arguments), *call(GOOD, id="b"), *TEXT, END)
        assert reply.events[:-1] == TEXT
        fault = reply.fault
        assert (fault.status, fault.type, fault.code) == (502, "semantic_error", code)
        assert "get_weather" in fault.message
        assert words in fault.message
        assert " Ask again" in fault.message
        assert dict(reply.ledger.oddities) == {code: 1}

    def test_c07_a_call_of_what_nobody_declared_ends_the_reply_at_its_name(self) -> None:
        stranger = ToolSpec(ToolName("rm_rf", "shell"))
        out: list[Told] = []
        feed = into(guard(ENFORCING, Ledger())(recorder(out)))
        feed(ReplyStarted())
        feed(call(spec=stranger)[0])
        read_events(out)
        fault = guarded(ENFORCING, *call("{}", spec=stranger), END).fault
        assert fault.code == "unknown_tool_call"
        assert "shell.rm_rf" in fault.message

    def test_p05_observed_it_passes_as_it_comes_and_the_client_is_told(self) -> None:
        stranger = ToolSpec(ToolName("nope"))
        events = [*call("{", "}"), *call("not JSON", spec=stranger, id="b"), *call(GOOD, id="c"), END]
        reply = guarded(OBSERVING, *events)
        assert same(reply.events, events)
        assert dict(reply.ledger.oddities) == {"invalid_tool_arguments": 1, "unknown_tool_call": 1}
        assert reply.ledger.warnings == [
            "The model's call of get_weather is wrong: 'city' is a required property.",
            "The model called nope, which is not declared.",
        ]

    def test_p05_of_many_remarks_only_a_few_are_told(self) -> None:
        strangers = [ToolSpec(ToolName(f"nope{number}")) for number in range(9)]
        calls = [event for spec in strangers for event in call("{}", spec=spec, id=spec.tool.name)]
        ledger = guarded(OBSERVING, *calls, END).ledger
        assert len(ledger.warnings) == 5
        assert ledger.oddities["unknown_tool_call"] == 9

    @table("rules", [ENFORCING, OBSERVING, PARSING])
    def test_free_text_is_not_parsed(self, rules: Rules) -> None:
        events = [*call("*** Begin Patch", spec=PATCH), END]
        reply = guarded(rules, *events)
        assert same(reply.events, events)
        assert not reply.ledger.oddities

    def test_p05_switched_off_nothing_is_looked_at(self) -> None:
        events = [*call("not", " JSON"), *call("{}", spec=ToolSpec(ToolName("nope")), id="b"), END]
        reply = guarded(LAX, *events)
        assert same(reply.events, events)
        assert not reply.ledger.oddities

    @table("spec", [WEATHER, ToolSpec(ToolName("nope"))])
    def test_n04_where_the_client_gets_objects_malformed_arguments_are_an_error(self, spec: ToolSpec) -> None:
        fault = guarded(PARSING, *call("not JSON", spec=spec), END).fault
        assert fault.code == "malformed_tool_arguments"
        assert spec.tool.name in fault.message
        assert fault.message.endswith(" Ask again.")

    @table("spec", [WEATHER, ToolSpec(ToolName("nope"))])
    def test_n04_any_object_will_do(self, spec: ToolSpec) -> None:
        reply = guarded(PARSING, *call("{", "}", spec=spec), END)
        assert same(reply.events, [*call("{}", spec=spec), END])
        assert not reply.ledger.oddities

    def test_n04_parsing_is_enforced_where_the_schema_is_only_observed(self) -> None:
        both = replace(OBSERVING, parses=True)
        assert guarded(both, *call("{"), END).fault.code == "malformed_tool_arguments"
        reply = guarded(both, *call("{}"), END)
        assert same(reply.events, [*call("{}"), END])
        assert reply.ledger.oddities["invalid_tool_arguments"] == 1

    @table("rules", [ENFORCING, PARSING])
    @table("end", [ReplyEnded(Ending.MAX_TOKENS, USAGE), ReplyEnded(Ending.FAILED, fault=Truncated("Gone."))])
    def test_a_held_call_that_was_cut_is_left_out_and_told(self, rules: Rules, end: ReplyEnded) -> None:
        """Beside a whole call Chat's reason is tool_calls (C06), which alone would hide that one is missing."""
        reply = guarded(rules, *TEXT, *call('{"ci', complete=False), end)
        assert reply.events == [*TEXT, end]
        assert dict(reply.ledger.oddities) == {"held_call_cut": 1}
        assert reply.ledger.warnings == ["The model's call of get_weather was cut short, and is left out."]

    def test_a_call_that_was_cut_is_not_judged(self) -> None:
        events = [*call('{"ci', complete=False), ReplyEnded(Ending.MAX_TOKENS)]
        reply = guarded(OBSERVING, *events)
        assert same(reply.events, events)
        assert not reply.ledger.warnings

    def test_a_message_is_short_and_holds_no_key(self) -> None:
        secret = "sk-abcdefghijklmnop"
        fault = guarded(ENFORCING, *call(f'{{"city":["{secret}","{"x" * 500}"]}}'), END).fault
        assert secret not in fault.message
        assert "get_weather is wrong at .city" in fault.message

    def test_a_name_of_any_length_leaves_a_short_message(self) -> None:
        stranger = ToolSpec(ToolName("n" * 5000))
        assert len(guarded(ENFORCING, *call("{}", spec=stranger), END).fault.message) < 200

    def test_v41_a_remark_says_nothing_against_a_call(self) -> None:
        remark = ArgumentProblem(
            "unread_pattern", "the pattern cannot be read here, and was not enforced.", remark=True
        )
        reply = guarded(replace(ENFORCING, check_of=lambda spec: lambda said: remark), *call(GOOD), END)
        assert same(reply.events, [*call(GOOD), END])
        assert reply.ledger.oddities == {"unread_pattern": 1}
        (warning,) = reply.ledger.warnings
        assert warning.startswith("The model's call of get_weather fits its schema, but the pattern cannot")


class TestChoice:
    REQUIRED = replace(LAX, required=True)

    def test_p04_an_answer_without_the_call_that_was_demanded_is_an_error(self) -> None:
        reply = guarded(self.REQUIRED, *TEXT, END)
        assert reply.events[:-1] == TEXT
        assert reply.fault.code == "tool_call_required"
        assert "tool_choice" in reply.fault.message
        assert reply.events[-1].usage == USAGE  # type: ignore[union-attr]
        assert dict(reply.ledger.oddities) == {"tool_call_required": 1}

    @table(
        "events",
        [
            [*TEXT, *call(GOOD), END],
            [PartStarted(PartKind.HOSTED, wordless=True), PartEnded(HostedItem({}), complete=True), END],
            [*TEXT, ReplyEnded(Ending.MAX_TOKENS)],
            [*TEXT, ReplyEnded(Ending.FAILED, fault=Truncated("Gone."))],
        ],
    )
    def test_p04_a_call_will_do_and_another_ending_has_its_own_reason(self, events: list[Told]) -> None:
        assert same(guarded(self.REQUIRED, *events).events, events)

    def test_p04_another_call_than_was_demanded_is_no_empty_reply(self) -> None:
        """The assembler has left it out, and found nothing else."""
        ledger = Ledger()
        out: list[Told] = []
        choice = ToolChoice(ChoiceMode.REQUIRED, frozenset({WEATHER.tool}))
        request = Request("m", [], tools=list(DECLARED.values()), choice=choice)
        pipeline = pipeline_for(request, DEFAULT, recorder(out), ledger)
        pipeline.feed(call_chunk(0, "a", "mcp__search", "{}") + STOP + DONE)
        fault = Guarded(out, ledger).fault
        assert fault.code == "tool_call_required"
        assert fault.message == (
            "The model called 'mcp__search', but tool_choice allows only 'get_weather'. "
            "Ask again, or set tool_choice to auto."
        )

    def test_p04_an_empty_reply_is_empty_whatever_was_demanded(self) -> None:
        events: list[Told] = [ReplyEnded(Ending.FAILED, fault=Empty("Nothing."))]
        assert guarded(self.REQUIRED, *events).events == events

    def test_p04_nothing_is_demanded_by_itself(self) -> None:
        assert guarded(LAX, *TEXT, END).events == [*TEXT, END]


class TestLimits:
    SMALL = replace(LAX, limits=ToolLimits(argument_bytes=10, calls=2), limits_mode=Mode.ENFORCE)
    WARNING = replace(SMALL, limits_mode=Mode.WARN)
    THREE = (*call("{}", id="a"), *call("{}", id="b"), *call("{}", id="c"))

    def test_p06_one_call_too_many_ends_the_reply(self) -> None:
        reply = guarded(self.SMALL, *self.THREE, END)
        assert same(reply.events[:-1], list(self.THREE[:6]))
        assert reply.fault.code == "too_many_tool_calls"
        assert "more than 2" in reply.fault.message

    def test_p06_arguments_that_grow_too_large_end_where_they_do(self) -> None:
        """The call is open for the client by then: it ends incomplete, with what was seen of it."""
        reply = guarded(self.SMALL, *TEXT, *call("12345", "67890", "!", "more"), *TEXT, END)
        assert same(reply.events[:-1], [*TEXT, *call("12345", "67890", complete=False)])
        assert reply.fault.code == "tool_arguments_too_large"
        assert "get_weather" in reply.fault.message
        assert "10 bytes" in reply.fault.message

    def test_p06_a_held_call_that_grows_too_large_is_never_seen(self) -> None:
        rules = replace(self.SMALL, mode=Validation.ENFORCE)
        reply = guarded(rules, *TEXT, *call("12345", "678901"), END)
        assert reply.events[:-1] == TEXT
        assert reply.fault.code == "tool_arguments_too_large"

    def test_p06_each_call_is_measured_by_itself_and_in_bytes(self) -> None:
        events = [*call("é" * 5, id="a"), *call("1234567890", id="b"), END]
        assert same(guarded(self.SMALL, *events).events, events)
        assert guarded(self.SMALL, *call("é" * 5, "\ud83d"), END).fault.code == "tool_arguments_too_large"

    def test_p06_where_they_only_warn_everything_passes(self) -> None:
        events = [*call("12345", "678901", id="a"), *self.THREE[3:], *call("{}", id="d"), END]
        reply = guarded(self.WARNING, *events)
        assert same(reply.events, events)
        assert reply.ledger.warnings == [
            "The model called get_weather with arguments longer than 10 bytes.",
            "The model made more than 2 tool calls in one reply.",
        ]
        assert dict(reply.ledger.oddities) == {"tool_arguments_too_large": 1, "too_many_tool_calls": 2}

    @table("mode", [Validation.OFF, Validation.ENFORCE])
    def test_p06_where_they_are_off_nothing_is_measured(self, mode: Validation) -> None:
        rules = replace(self.SMALL, limits_mode=Mode.OFF, mode=mode)
        events = [*call('{"city":"a long name"}', id="a"), *call(GOOD, id="b"), *call(GOOD, id="c"), END]
        reply = guarded(rules, *events)
        assert same(reply.events, events)
        assert not reply.ledger.oddities


@table(
    ("spec", "said", "odd"),
    [
        (WEATHER, GOOD, {}),
        (WEATHER, "{}", {"invalid_tool_arguments": 1}),
        (SEARCH, "not JSON", {}),
        (ToolSpec(ToolName("launch")), "{}", {}),
    ],
)
def test_v22_of_a_strict_tool_that_the_backend_was_not_told_of_it_is_only_told(
    spec: ToolSpec, said: str, odd: dict[str, int]
) -> None:
    rules = replace(LAX, mode=Validation.STRICT, untold={WEATHER.tool})
    events = [*call(said, spec=spec), END]
    reply = guarded(rules, *events)
    assert same(reply.events, events)
    assert reply.ledger.oddities == odd
    assert len(reply.ledger.warnings) == len(odd)


class TestInItsPlace:
    """Between a whole pipeline and its client, behind the stage that adds the extras of reasoning."""

    def pipeline(self, rules: Rules, out: list[Told], extras: ReasoningExtras) -> Pipeline:
        ledger = Ledger()
        return Pipeline(
            lambda emit, more: ChatDecoder(emit, DEFAULT, ledger, extras.add, more=more),
            names=NameTable(DECLARED.values()),
            mint=counting_mint(),
            ledger=ledger,
            sink=recorder(out),
            stages=[Stage("reasoning_extras", extras.stage), Stage("guard", guard(rules, ledger))],
        )

    def test_a_bad_call_ends_the_reply_whatever_the_backend_goes_on_to_say(self) -> None:
        out: list[Told] = []
        pipeline = self.pipeline(ENFORCING, out, ReasoningExtras())
        pipeline.feed(chunk({"content": "Let me see."}) + call_chunk(0, "a", "get_weather", "{}"))
        assert not pipeline.ended
        pipeline.feed(call_chunk(1, "b", "get_weather", GOOD))
        told = list(out)
        read_events(told)
        assert pipeline.ended
        assert isinstance(pipeline.fault, Unfit)
        pipeline.feed(chunk({"content": "More."}) + STOP + DONE)
        pipeline.close()
        pipeline.fail(Truncated("Gone."))
        assert out == told

    def test_p04_a_forbidden_call_of_an_earlier_attempt_is_not_blamed_on_this_one(self) -> None:
        rules, ledger, faults = replace(LAX, required=True), Ledger(), []
        names = NameTable(DECLARED.values(), only=[SEARCH.tool])
        for calls in (call_chunk(0, "a", "get_weather", GOOD), b""):
            pipeline = Pipeline(
                lambda emit, more: ChatDecoder(emit, DEFAULT, ledger, more=more),
                names=names,
                mint=counting_mint(),
                ledger=ledger,
                sink=recorder([]),
                stages=[Stage("guard", guard(rules, ledger))],
            )
            pipeline.feed(calls + STOP + DONE)
            faults.append(type(pipeline.fault))
        assert faults == [Unfit, Empty]

    def test_what_belongs_to_a_held_call_stays_right_before_it(self) -> None:
        out: list[Told] = []
        extras = ReasoningExtras()
        pipeline = self.pipeline(ENFORCING, out, extras)
        for index, id in enumerate("ab"):
            extras.add({"chat": {"proofs": [id]}})
            pipeline.feed(call_chunk(index, id, "get_weather", GOOD))
        pipeline.feed(STOP + DONE)
        read_events(out)
        parts = [event.part for event in out if isinstance(event, PartEnded)]
        assert parts == [
            Reasoning("", {"chat": {"proofs": ["a"]}}),
            Call("a", WEATHER.tool, ToolKind.FUNCTION, GOOD),
            Reasoning("", {"chat": {"proofs": ["b"]}}),
            Call("b", WEATHER.tool, ToolKind.FUNCTION, GOOD),
        ]
