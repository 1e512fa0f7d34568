"""1,000 slow streams at once, against the real process: all complete, exact, the memory flat, the loop in time.

Here for as long as a test may take. The full minute, with its figures:

    LOAD_SECONDS=60 scripts/test tests/load/test_thousand_streams.py -s
"""

import os
import sys

import uvloop

from tests.load.thousand import calm

STREAMS = 1000
SECONDS = float(os.environ.get("LOAD_SECONDS", "10"))
LAG_MS = 50.0
GROWTH_MIB, GROWTH_BYTES_PER_PIECE = 4, 200
"""What a stream has said is kept for its final object, so that much comes with every piece; and nothing else."""
MIB = 1024 * 1024


def test_a_thousand_slow_streams_end_whole_in_flat_memory_and_in_time() -> None:
    """E2, E4, E7: every stream is whole, nothing is left open, and nobody waits for the others."""
    found = uvloop.run(calm(SECONDS, STREAMS))
    sys.stdout.write(f"\n{found.summary()}\n")
    assert found.wrong == {}
    assert found.endings == {"completed": STREAMS}
    assert found.most_open == STREAMS
    assert found.watch is not None
    assert found.watch.late_ms < LAG_MS
    pieces = len(found.delays_ms)
    assert found.watch.growth < GROWTH_MIB + pieces * GROWTH_BYTES_PER_PIECE / MIB
