"""R08: what ends a turn behind a call, and in prose."""

from proxy.core.markup.families import end_of_turn
from proxy.core.markup.families.objects import plain_json
from proxy.core.markup.formats import Tier
from tests.core.markup.families.driver import Calls, check
from tests.support.tables import table

FORMATS = (*(one for one in plain_json.FORMATS if one.tier is not Tier.OPTIONAL), *end_of_turn.FORMATS)

OSLO = ("get_weather", {"city": "Oslo"})
JSON = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'

CASES: dict[str, tuple[str, Calls, str]] = {
    "the end of a thought behind a call": (f"<|tool_call|>[{JSON}]\n</think>", [OSLO], "\n"),
    "the end of the turn behind a call": (f"<|tool_call|>[{JSON}]<|/tool_call|>\n<|eot_id|>\n", [OSLO], ""),
    "those of HyperCLOVA and Apertus": (
        f"<|tool_call|>[{JSON}]<|endofturn|><|stop|><|assistant_end|>",
        [OSLO],
        "",
    ),
}

CASES |= {
    f"behind a call, {token}": (f"<|tool_call|>[{JSON}]\n{token}\n", [OSLO], "\n")
    for token in (
        "<|eom_id|>", "<|eot_id|>", "<|end_of_text|>", "<|im_end|>", "<｜end▁of▁sentence｜>", "<|endoftext|>",
        "<|observation|>", "<|return|>", "[e~[", "<|plamo:tag|>", "<|plamo:tag:plamo|>", "<|END_OF_TURN_TOKEN|>",
        "<|end_of_msg|>", "<|content_model_end_sampling|>", "<|role_end|>",
    )
}  # fmt: skip

TEXTS = (
    "a thought ends with </think> and goes on",
    "<|im_end|> ends a turn, and so does <|eot_id|><|im_",
)


@table(("text", "calls", "left"), CASES.values(), ids=list(CASES))
def test_calls(text: str, calls: Calls, left: str) -> None:
    check(FORMATS, text, calls, left)


@table("text", TEXTS)
def test_text_stays_text(text: str) -> None:
    check(FORMATS, text, [], text)
