"""What a client cannot carry comes back with the call it stood before."""

from collections.abc import Sequence
from dataclasses import replace
from time import process_time

from proxy.core.events import PartEnded, Reply
from proxy.core.model import Call, Part, Reasoning, ReplyPart, Request, Role, Text, ToolKind, ToolName
from proxy.core.surfaces.memory.memos import Thoughts, packed_thoughts
from proxy.core.surfaces.memory.reasoning import ENTRY_BYTES, MOST_LACKING, ReasoningMemory
from tests.support.tables import table

SIGNED = Reasoning("Hm.", {"anthropic": {"blocks": [{"model": "m", "block": {"signature": "s"}}]}})
SILENT = Reasoning("", {"google": {"signatures": [{"model": "m", "signature": "s"}]}})


def call(id: str = "c1") -> Call:
    return Call(id, ToolName("f"), ToolKind.FUNCTION, "{}")


def reply(*parts: ReplyPart) -> Reply:
    return Reply([PartEnded(part, complete=True) for part in parts])


def asked(*parts: Part) -> Request:
    return Request("m", [(Role.USER, ["q"]), (Role.ASSISTANT, list(parts))])


def said(memory: ReasoningMemory, *parts: Part, owner: str = "me") -> list[Part]:
    return memory.restored_into(owner, asked(*parts)).turns[1][1]


def remembering(*parts: ReplyPart) -> ReasoningMemory:
    memory = ReasoningMemory()
    memory.keep("me", reply(*parts), "ann")
    return memory


def test_thoughts_rejoin_the_history_before_their_call() -> None:
    memory = remembering(SIGNED, call("c1"), SILENT, call("c2"), call("c3"))
    found = said(memory, call("c1"), call("c2"), call("c3"))
    assert found == [SIGNED, call("c1"), SILENT, call("c2"), call("c3")]


@table(
    "parts",
    [
        [SIGNED, Text("So:"), call()],
        [SIGNED, Text("So:"), SILENT, call()],
        [Text("So:"), SIGNED, call()],
        [SIGNED, Text("So:"), call("c0"), SILENT, call()],
    ],
)
def test_thoughts_before_words_come_back_before_the_words(parts: list[ReplyPart]) -> None:
    """Anthropic refuses a turn of calls whose thoughts do not stand where they stood: at its beginning."""
    shown = [part for part in parts if not isinstance(part, Reasoning)]
    assert said(remembering(*parts), *shown) == parts
    assert said(remembering(*parts), Reasoning("Hm."), *shown) == parts


def test_thoughts_between_a_call_and_words_stay_before_the_next_call() -> None:
    """A chat client's message has all its words before all its calls."""
    memory = remembering(call("c1"), SIGNED, Text("And:"), call("c2"))
    assert said(memory, Text("And:"), call("c1"), call("c2")) == [
        Text("And:"),
        call("c1"),
        SIGNED,
        call("c2"),
    ]


def test_the_words_alone_give_way_to_the_whole() -> None:
    assert said(remembering(SIGNED, call()), Reasoning("Hm."), call()) == [SIGNED, call()]


def test_who_carries_them_is_left_alone() -> None:
    other = Reasoning("", {"chat": {"x": [1]}})
    assert said(remembering(SIGNED, call()), other, call()) == [other, call()]


def test_nobody_gets_anothers_thoughts() -> None:
    assert said(remembering(SIGNED, call()), call(), owner="you") == [call()]


def test_a_request_without_them_stays_the_same_object() -> None:
    request = asked(call("c9"))
    assert ReasoningMemory().restored_into("me", request) is request
    assert remembering(SIGNED, call()).restored_into("me", request) is request


def test_the_newest_thoughts_for_an_id_are_kept() -> None:
    memory = remembering(SIGNED, call())
    memory.keep("me", reply(SILENT, call()), "ann")
    assert said(memory, call()) == [SILENT, call()]


def test_what_was_not_asked_for_longest_is_forgotten_first() -> None:
    memory = ReasoningMemory(limit=2 * ENTRY_BYTES + 300)
    memory.keep("me", reply(Reasoning("1"), call("a")), "ann")
    memory.keep("me", reply(Reasoning("2"), call("b")), "ann")
    assert said(memory, call("a")) == [Reasoning("1"), call("a")]
    memory.keep("me", reply(Reasoning("3"), call("c")), "ann")
    assert said(memory, call("b")) == [call("b")]
    assert said(memory, call("a"), call("c")) == [Reasoning("1"), call("a"), Reasoning("3"), call("c")]


def test_attack_15_nobodys_thoughts_make_another_forget() -> None:
    memory = ReasoningMemory(limit=10 * (ENTRY_BYTES + 10))
    memory.keep("me", reply(SIGNED, call("a")), "ann")
    for number in range(100):
        memory.keep("you", reply(Reasoning("x"), call(str(number))), "bob")
    assert said(memory, call("a")) == [SIGNED, call("a")]
    assert said(memory, call("99"), owner="you") == [Reasoning("x"), call("99")]
    assert said(memory, call("0"), owner="you") == [call("0")]


def test_attack_28_ids_count_too() -> None:
    memory = ReasoningMemory(limit=10_000)
    for id in ("a", "b"):
        memory.keep("me", reply(SIGNED, replace(call(id), backend_id="x" * 6000)), "ann")
    assert said(memory, call("a"), call("b"))[0] == call("a")
    memory.keep("me", reply(SIGNED, call("c" * 6000)), "ann")
    assert said(memory, call("b")) == [call("b")]


def test_thoughts_too_large_for_it_are_not_kept() -> None:
    memory = ReasoningMemory(limit=10)
    memory.keep("me", reply(Reasoning("1"), call("a")), "ann")
    assert said(memory, call("a")) == [call("a")]


def test_the_backends_own_id_of_a_call_comes_back_with_them() -> None:
    """What a backend keeps beside a call may name it by that id; the client knows it by ours."""
    memory = ReasoningMemory()
    memory.keep("me", reply(SIGNED, replace(call("call_ours"), backend_id="theirs")), "ann")
    (_, found) = said(memory, call("call_ours"))
    assert isinstance(found, Call)
    assert (found.call_id, found.backend_id) == ("call_ours", "theirs")


# ── what another process has remembered (U57) ──


def lacking(memory: ReasoningMemory, *parts: Part) -> Sequence[str]:
    return memory.lacking("me", asked(*parts))


def test_u57_only_what_is_not_known_and_was_not_sent_is_lacking() -> None:
    memory = ReasoningMemory()
    assert lacking(memory, Text("So:"), call("a"), call("b")) == ["a", "b"]
    assert lacking(memory, SIGNED, call("a")) == []
    memory.keep("me", reply(SIGNED, call("a"), call("b")), "ann")
    assert lacking(memory, call("a"), call("b")) == ["b"]
    memory.keep("me", reply(SIGNED, call("a"), call("b")), "ann", wanted_back=True)
    assert lacking(memory, call("a"), call("b")) == []
    assert said(memory, call("b")) == [call("b")]
    assert memory.lacking("you", asked(call("a"))) == ["a"]


def test_u57_of_very_many_calls_the_newest_are_asked_for() -> None:
    calls = [call(str(number)) for number in range(2 * MOST_LACKING)]
    assert lacking(ReasoningMemory(), *calls) == [each.call_id for each in calls[MOST_LACKING:]]


def test_u57_what_is_kept_is_told() -> None:
    memory = ReasoningMemory()
    kept = memory.keep("me", reply(SIGNED, Text("So:"), SILENT, call("a"), call("b")), "ann")
    assert kept == {"a": Thoughts([SIGNED], [SILENT], None)}


def test_u57_what_another_has_told_is_as_if_it_had_been_kept_here() -> None:
    memory, request = ReasoningMemory(), asked(Text("So:"), call("a"))
    memory.learn(
        "me", {"a": packed_thoughts(Thoughts([Reasoning("Hm.")], [SILENT], "theirs"))}, request, "ann"
    )
    assert said(memory, Text("So:"), call("a")) == [
        Reasoning("Hm."),
        Text("So:"),
        SILENT,
        replace(call("a"), backend_id="theirs"),
    ]


def test_u57_what_nobody_has_remembered_is_not_asked_for_again_but_for_the_newest() -> None:
    """Its memo may be on the way."""
    memory = ReasoningMemory()
    before = (Role.ASSISTANT, [call("old"), call("broken")])
    request = Request("m", [before, (Role.ASSISTANT, [Text("So:"), call("new")]), (Role.TOOL, [])])
    assert memory.lacking("me", request) == ["old", "broken", "new"]
    memory.learn("me", {"old": None, "broken": b"[", "new": None}, request, "ann")
    assert memory.lacking("me", request) == ["new"]
    assert memory.restored_into("me", request) is request
    memory.learn("me", {"new": None}, Request("m", []), "ann")
    assert memory.lacking("me", request) == []


# ── thoughts that were sent as text (V07) ──


@table(
    ("sent", "left"),
    [
        ("<think>\nHm.\n</think>\n\nSo:", ["So:"]),
        ("<think>Hm.</think>So:", ["So:"]),
        ("<thinking>\nHm.\n</thinking>\n\nSo:", ["So:"]),
        ("<think>\nHm.\n</think>", []),
        ("<think>\nHm. Else.\n</think>\n\nSo:", None),
        ("<think>\nHm", None),
        ("<think>\nHm.\n</thinking>", None),
        ("So: <think>\nHm.\n</think>", None),
        ("So:", None),
    ],
)
def test_v07_a_thought_that_is_recalled_does_not_stand_in_the_text_too(
    sent: str, left: list[str] | None
) -> None:
    """Only what equals it: anything else is the client's own text."""
    found = said(remembering(SIGNED, Text("So:"), call()), Text(sent), call())
    assert found == [SIGNED, *map(Text, [sent] if left is None else left), call()]


@table("sent", ["<think>One.Two.</think>So:", "<think>\nOne.\n</think>\n\n<think>\nTwo.\n</think>\n\nSo:"])
def test_v07_several_thoughts_are_sent_one_by_one_or_as_one(sent: str) -> None:
    memory = remembering(Reasoning("One."), SILENT, Text("So:"), Reasoning("Two."), call())
    assert said(memory, Text(sent), call()) == [
        Reasoning("One."),
        SILENT,
        Text("So:"),
        Reasoning("Two."),
        call(),
    ]


def test_v07_what_is_not_recalled_stays_in_the_text() -> None:
    assert said(remembering(SILENT, call()), Text("<think></think>So:"), call()) == [
        Text("<think></think>So:"),
        SILENT,
        call(),
    ]


def test_v07_many_thoughts_before_a_long_text_are_found_in_one_pass() -> None:
    """Copied for each thought, this text would be 30 GB."""
    thoughts = [Reasoning(f"{number}.") for number in range(3000)]
    said_first = [each for thought in thoughts for each in (thought, Text("-"))]
    memory = remembering(*said_first, call())
    sent = "".join(f"<think>{thought.text}</think>\n" for thought in thoughts) + "x" * 10_000_000
    started = process_time()
    found = said(memory, Text(sent), call())
    assert process_time() - started < 1
    assert found[-2] == Text("x" * 10_000_000)
