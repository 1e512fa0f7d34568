"""What is wrong with the arguments of a call: found by `tools.arguments`, judged by `policy.guard`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ArgumentProblem:
    code: str
    message: str
    path: str = ""
    """The way to the value that does not fit, such as `.days[2]`."""
    remark: bool = False
    """Is it only a remark, which is no reason against the call?"""


UNCHECKED = ArgumentProblem(
    "unchecked_tool_arguments", "It takes too long to hold its arguments against the schema."
)
"""The arguments may be right: the check could not find out."""
