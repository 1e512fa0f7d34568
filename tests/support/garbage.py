"""What is left for Python's collector, which walks all that is alive to find it."""

import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """By their type: the proxy's own objects that only the collector could free."""
    found: Counter[str] = Counter()
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        yield found
        gc.collect()
        found.update(f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.garbage)
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    for name in [name for name in found if not name.startswith("proxy.")]:
        del found[name]
