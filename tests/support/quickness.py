"""A limit of the processor's time of this thread, for inputs that once took a hundred times as long as it allows."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 0.5


@contextmanager
def quickly(seconds: float = SECONDS, what: str = "it") -> Iterator[None]:
    before = time.thread_time()
    yield
    spent = time.thread_time() - before
    assert spent < seconds, f"{what} took {spent:.1f} s of the processor's time"
