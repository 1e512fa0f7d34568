"""One of several processes that serve together, as its supervisor starts it.

Its orders come through stdin, because neither the list of processes nor the environment may show the secrets in the
settings. On stdout it writes once where it listens, and from then on, again and again, a sign that its event loop still
runs. It ends when it is asked to, or when stdin ends: then there is no supervisor any more.
"""

import asyncio
import os
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass
from shutil import rmtree

from proxy import app
from proxy.process import (
    CannotStart,
    Stop,
    asked_to_stop,
    keep_what_is_free,
    loop_factory,
    spare_the_collector,
)
from proxy.settings.root import Settings
from proxy.shell.ops.worker_questions import WorkerSlot

DONE, FAILED = 0, 1

BEATS = 10
"""A worker beats this often in the time after which the supervisor gives it up, so one or two beats may be late."""

COMMAND = (sys.executable, "-m", "proxy.worker")


@dataclass(slots=True, frozen=True)
class Orders:
    settings: Settings
    slot: WorkerSlot

    def packed(self) -> bytes:
        return pickle.dumps(self)


def main() -> int:
    orders: Orders = pickle.load(sys.stdin.buffer)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        try:
            runner.run(_serve(orders))
        except CannotStart as error:
            sys.stderr.write(f"{error}\n")
            return FAILED
    return DONE


async def _serve(orders: Orders) -> None:
    stop = asked_to_stop()
    _stop_with_supervisor(sys.stdin.fileno(), stop, orders.slot)
    log = app.start_log(orders.settings).bind(worker=orders.slot.number)
    async with app.running(orders.settings, log, orders.slot, stop) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        os.set_blocking(sys.stdout.fileno(), False)
        _beat(sys.stdout.fileno(), orders.settings.server.stuck_seconds / BEATS)
        spare_the_collector()
        keep_what_is_free()
        await stop.asked.wait()


def _beat(line: int, pause: float) -> None:
    with suppress(OSError):  # a reader that does not listen, or has gone, holds up nobody
        os.write(line, b"\n")
    asyncio.get_running_loop().call_later(pause, _beat, line, pause)


def _stop_with_supervisor(orders: int, stop: Stop, slot: WorkerSlot) -> None:
    """Stops the worker when stdin ends. The supervisor was killed then, so its folder is removed as well."""
    loop = asyncio.get_running_loop()

    def ended() -> None:
        if not os.read(orders, 1):
            loop.remove_reader(orders)
            stop.asked.set()
            if slot.folder is not None:
                rmtree(slot.folder, ignore_errors=True)

    loop.add_reader(orders, ended)


if __name__ == "__main__":
    sys.exit(main())
