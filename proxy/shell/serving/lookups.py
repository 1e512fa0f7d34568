"""What those take who ask about what is kept: places for their questions and for their streams, and the memory for what
is loaded. All of it is shared out as everything is that strangers share.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from proxy.core.policy.shares import Loan, Shares
from proxy.core.stored import faults

MOST_QUESTIONS: Final = 512
"""Questions at the same time. One takes a few milliseconds, or as long as the store may take."""

MOST_FOLLOWERS: Final = 2048
"""Streams of work in the background, besides those that have begun it."""


class Lookups:
    def __init__(self, memory: Shares) -> None:
        self._memory = memory
        self._questions = Shares(MOST_QUESTIONS)
        self._followers = Shares(MOST_FOLLOWERS)

    @contextmanager
    def question(self, owner: str) -> Iterator[Loan]:
        """Takes a place for a question, and yields the loan for what it loads."""
        if not self._questions.take(owner):
            raise faults.too_many_questions()
        loan = Loan(self._memory, owner)
        try:
            yield loan
        finally:
            loan.end()
            self._questions.give_back(owner)

    @contextmanager
    def following(self, owner: str) -> Iterator[None]:
        if not self._followers.take(owner):
            raise faults.too_many_followers()
        try:
            yield
        finally:
            self._followers.give_back(owner)
