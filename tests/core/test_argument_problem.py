"""A problem is read in another process, too, so all of it has to come back."""

from dataclasses import astuple

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED, ArgumentProblem


def test_a_problem_survives_the_way_to_another_process() -> None:
    problem = ArgumentProblem("invalid_tool_arguments", "1 is no string", ".days[2]", remark=True)
    for each in (problem, UNCHECKED):
        assert ArgumentProblem(*jsontext.loads(jsontext.dumps(astuple(each)))) == each
