"""The process in which checks are made that could take long; `processes` starts it, asks it and ends it.

It hears of its questions by its stdin, and ends when that does. Before each one it sets an alarm that nobody catches: a
pattern that holds Python cannot hold that, and should our parent be killed meanwhile, we do not outlive it for long.
"""

import signal
import struct
import sys
from dataclasses import astuple
from typing import BinaryIO

from proxy.core import jsontext
from proxy.core.tools.arguments import UNCHECKED, verdict

READY = b"\n"
QUESTION, ANSWER = struct.Struct("!dII"), struct.Struct("!I")
"""What stands before a question: the seconds for it, the bytes of its schema and of its arguments. Before an answer:
its bytes."""

MAX_MEMORY = 1 << 30
"""Bytes. A pattern that goes back and tries again remembers where it was."""


def main() -> None:
    _bound_memory()
    serve(sys.stdin.buffer, sys.stdout.buffer)


def serve(questions: BinaryIO, answers: BinaryIO) -> None:
    answers.write(READY)
    answers.flush()
    while head := questions.read(QUESTION.size):
        seconds, *sizes = QUESTION.unpack(head)
        schema, said = map(questions.read, sizes)
        _end_in(seconds)
        answer = _answer(schema, said.decode("utf-8", "surrogatepass"))
        _end_in(0)
        answers.write(ANSWER.pack(len(answer)) + answer)
        answers.flush()


def _answer(schema: bytes, said: str) -> bytes:
    try:
        problem = verdict(schema, said)
    except MemoryError:
        problem = UNCHECKED
    return jsontext.dumps(problem and astuple(problem))


def _end_in(seconds: float) -> None:
    """0: no more. Where there are no such alarms, our parent has a clock too."""
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
