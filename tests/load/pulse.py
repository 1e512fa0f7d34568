"""How late the event loop of a server is, seen from outside: a small question every 20 ms, and how long it took.

The question goes the whole way, so the figure is never better than the truth. A process of its own, so that nothing but
the server and the machine can be late; how late the machine is tells how late the pulse itself is woken. python -m
tests.load.pulse URL ends with its standard input; then it prints a line of JSON: samples, p50_ms, p99_ms, max_ms, and
machine_p99_ms.
"""

import http.client
import select
import statistics
import sys
import time
from urllib.parse import urlsplit

from orjson import dumps

PERIOD_SECONDS = 0.02
MILLISECONDS = 1e3
TOO_LATE_SECONDS = 30.0


def main(url: str) -> None:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=TOO_LATE_SECONDS)
    took: list[float] = []
    woken: list[float] = []
    while True:
        began = time.monotonic()
        connection.request("GET", "/healthz")
        connection.getresponse().read()
        now = time.monotonic()
        took.append((now - began) * MILLISECONDS)
        due = max(now, began + PERIOD_SECONDS)
        if select.select([sys.stdin], [], [], due - now)[0]:
            break
        woken.append((time.monotonic() - due) * MILLISECONDS)
    took.sort()
    woken.sort()
    told = {
        "samples": len(took),
        "p50_ms": statistics.median(took),
        "p99_ms": took[int(len(took) * 0.99)],
        "max_ms": took[-1],
        "machine_p99_ms": woken[int(len(woken) * 0.99)] if woken else 0.0,
    }
    sys.stdout.write(dumps(told).decode())


if __name__ == "__main__":
    main(sys.argv[1])
