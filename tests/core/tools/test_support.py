"""P02: what a backend cannot do at all is refused before anything is sent; the rest is done in another way."""

from dataclasses import replace
from typing import Any

import pytest

from proxy.core.errors import Incompatible
from proxy.core.model import Audio, ChoiceMode, Request, Role, ToolChoice, ToolName, ToolSpec
from proxy.core.profile import DEFAULT
from proxy.core.tools.support import check
from tests.support.tables import table

TOOLS = [ToolSpec(ToolName("a"), path="tools[0].function")]
SOUND = [(Role.USER, ["hear", Audio("AA==", "wav", "messages[0].content[1].data")])]
NONE = ToolChoice(ChoiceMode.NONE)


@table(
    ("request_", "profile", "features", "param"),
    [
        (Request("m", [], tools=TOOLS), {"max_tools": 0}, ["tools"], "tools"),
        (Request("m", SOUND), {"audio": False}, ["input_audio"], "messages[0].content[1].data"),
        (
            Request("m", SOUND, tools=TOOLS),
            {"max_tools": 0, "audio": False},
            ["input_audio", "tools"],
            "tools",
        ),
    ],
)
def test_what_cannot_be_done_is_refused(
    request_: Request, profile: Any, features: list[str], param: str
) -> None:
    with pytest.raises(
        Incompatible, match=r"backend \(default\) (cannot call tools|takes no audio); .*, or choose a model"
    ) as caught:
        check(request_, replace(DEFAULT, **profile))
    assert caught.value.details == {"incompatible_features": features}
    code = "tool_schema_incompatible" if param == "tools" else "unsupported_content"
    assert (caught.value.code, caught.value.type) == (code, "semantic_error")
    assert caught.value.param == param


@table(
    ("request_", "profile"),
    [
        (Request("m", SOUND, tools=TOOLS), {}),
        (Request("m", [], tools=TOOLS, choice=NONE), {"max_tools": 0}),
        (Request("m", []), {"max_tools": 0, "audio": False}),
        (Request("m", [], parallel_calls=False), {"parallel": "omit"}),
        (Request("m", [], tools=TOOLS, choice=ToolChoice(ChoiceMode.REQUIRED)), {"force_tool": "auto"}),
    ],
)
def test_what_can_be_done_or_left_out_passes(request_: Request, profile: Any) -> None:
    check(request_, replace(DEFAULT, **profile))
