"""The process that makes checks which could take long; `processes` starts it, asks it and ends it.

It reads questions from stdin, and ends when stdin does. Before each check it sets an alarm without a handler: a regular
expression that holds Python cannot hold that back, and the process does not outlive a killed parent for long.
"""

import signal
import struct
import sys
from dataclasses import astuple
from typing import BinaryIO

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED
from proxy.core.tools.arguments import verdict

READY = b"\n"
QUESTION, ANSWER = struct.Struct("!dII"), struct.Struct("!I")
"""What stands before a question: the seconds for it, the bytes of its schema and of its arguments. Before an answer:
its bytes."""

MAX_MEMORY = 1 << 30
"""Bytes. A regular expression that backtracks remembers where it was."""


def main() -> None:
    _bound_memory()
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    answers.write(READY)
    answers.flush()
    while head := questions.read(QUESTION.size):
        seconds, *sizes = QUESTION.unpack(head)
        schema, arguments = map(questions.read, sizes)
        _end_in(seconds)
        answer = _answer(schema, arguments.decode("utf-8", "surrogatepass"))
        _end_in(0)
        answers.write(ANSWER.pack(len(answer)) + answer)
        answers.flush()


def _answer(schema: bytes, arguments: str) -> bytes:
    try:
        problem = verdict(schema, arguments)
    except MemoryError:
        problem = UNCHECKED
    return jsontext.dumps(problem and astuple(problem))


def _end_in(seconds: float) -> None:
    """Sets the alarm; 0 stops it. On a system without such alarms the clock of the parent is enough."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)


def _bound_memory() -> None:
    try:
        import resource
    except ImportError:  # there is no such thing on Windows
        return
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))


if __name__ == "__main__":
    main()
