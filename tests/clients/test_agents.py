"""openai-agents: a loop that people run, streamed, with tools, over two turns."""

from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from agents import (
    Agent,
    ApplyPatchOperation,
    ApplyPatchTool,
    ModelSettings,
    OpenAIResponsesModel,
    Runner,
    ShellCommandRequest,
    ShellTool,
    function_tool,
    set_tracing_disabled,
)
from agents.editor import ApplyPatchResult
from openai.types.responses import ResponseTextDeltaEvent
from pydantic import BaseModel

from proxy.core import jsontext

set_tracing_disabled(True)  # it would send what happens here to its maker


class Report(BaseModel):
    temperature: int


@pytest.fixture
async def model(how: dict[str, Any]) -> AsyncIterator[OpenAIResponsesModel]:
    async with openai.AsyncOpenAI(**how) as client:
        yield OpenAIResponsesModel(model="demo", openai_client=client)


@pytest.fixture
def places() -> list[str]:
    """Where the tool below was asked about."""
    return []


@pytest.fixture
def agent(model: OpenAIResponsesModel, places: list[str]) -> Agent[Any]:
    @function_tool
    def get_weather(city: str) -> str:
        """The weather in a city."""
        places.append(city)
        return jsontext.compact({"temperature": 18, "city": city})

    return Agent(name="Helper", instructions="Use your tools.", model=model, tools=[get_weather])


async def test_a_streamed_run_calls_tools_and_uses_what_they_say(
    agent: Agent[Any], places: list[str]
) -> None:
    run = Runner.run_streamed(agent, "Weather in Paris and London?")
    events = [event async for event in run.stream_events()]
    assert places == ["Paris", "London"]
    steps = [event.item.type for event in events if event.type == "run_item_stream_event"]
    assert sorted(steps[:4]) == ["tool_call_item"] * 2 + ["tool_call_output_item"] * 2
    assert steps[4:] == ["message_output_item"]
    raw = [event.data for event in events if event.type == "raw_response_event"]
    said = "".join(event.delta for event in raw if isinstance(event, ResponseTextDeltaEvent))
    assert said == run.final_output
    assert '"city":"London"' in said
    assert run.context_wrapper.usage.requests == 2
    assert run.context_wrapper.usage.total_tokens > 0


async def test_a_second_question_goes_on_from_the_first(agent: Agent[Any], places: list[str]) -> None:
    first = await Runner.run(agent, "Weather in Paris?")
    await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": "And the weather in Rome?"}])
    assert places == ["Paris", "Rome"]


async def test_the_answer_may_have_a_type(agent: Agent[Any]) -> None:
    run = await Runner.run(agent.clone(output_type=Report), "Weather in Paris?")
    assert run.final_output == Report(temperature=18)


async def test_reasoning_goes_round_the_loop(agent: Agent[Any], places: list[str]) -> None:
    thinking = agent.clone(model_settings=ModelSettings(reasoning={"effort": "low"}))  # type: ignore[arg-type]
    run = Runner.run_streamed(thinking, "Weather in Oslo?")
    steps = [event.item.type async for event in run.stream_events() if event.type == "run_item_stream_event"]
    assert steps.count("reasoning_item") == 2
    assert places == ["Oslo"]


async def test_a_shell_and_an_editor_that_are_declared_by_their_types_are_run_here(
    model: OpenAIResponsesModel,
) -> None:
    """R10, R14: no server runs them, so no server has to know them."""
    done: list[Any] = []

    def run(request: ShellCommandRequest) -> str:
        done.append(request.data.action.commands)
        return "18 °C"

    class Editor:
        def edit(self, operation: ApplyPatchOperation) -> ApplyPatchResult:
            done.append(operation.type)
            return ApplyPatchResult(status="failed", output="No such file.")

        create_file = update_file = delete_file = edit

    agent = Agent(
        name="Helper", model=model, tools=[ShellTool(executor=run), ApplyPatchTool(editor=Editor())]
    )
    shell = await Runner.run(agent, "Use the shell to look at the thermometer.")
    patch = await Runner.run(agent, "Use apply_patch to change notes.md.")
    assert done == [["thermometer"], "create_file"]
    assert '"stdout":"18 °C"' in shell.final_output
    assert "No such file." in patch.final_output
