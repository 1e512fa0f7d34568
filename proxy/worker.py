"""One of several processes that serve together, as its supervisor starts it.

Its orders come through stdin, settings with their secrets and all, where neither the list of processes nor the
environment shows them. On stdout it says once where it listens, and from then on, again and again, that its loop still
turns. It ends when it is asked to, or when stdin does: then there is no supervisor any more.
"""

import asyncio
import os
import pickle
import sys
from contextlib import suppress
from dataclasses import dataclass
from shutil import rmtree

from proxy import app
from proxy.process import asked_to_stop, loop_factory, spare_the_collector
from proxy.settings import Settings
from proxy.shell.ops.worker_metrics import WorkerSlot

DONE, FAILED = 0, 1

BEATS = 10
"""In the time after which a worker without a beat is given up: one or two may be late."""

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
        except app.CannotListen as error:
            sys.stderr.write(f"{error}\n")
            return FAILED
    return DONE


async def _serve(orders: Orders) -> None:
    asked = asked_to_stop()
    _stop_with_supervisor(sys.stdin.fileno(), asked, orders.slot)
    log = app.start_log(orders.settings).bind(worker=orders.slot.number)
    async with app.running(orders.settings, log, orders.slot) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        os.set_blocking(sys.stdout.fileno(), False)
        _beat(sys.stdout.fileno(), orders.settings.server.stuck_seconds / BEATS)
        spare_the_collector()
        await asked.wait()


def _beat(line: int, pause: float) -> None:
    with suppress(OSError):  # who does not listen, or has gone, holds up nobody
        os.write(line, b"\n")
    asyncio.get_running_loop().call_later(pause, _beat, line, pause)


def _stop_with_supervisor(orders: int, asked: asyncio.Event, slot: WorkerSlot) -> None:
    """Nothing comes there but its end. Then the folder is nobody's: its owner was killed, or would have stopped us."""
    loop = asyncio.get_running_loop()

    def ended() -> None:
        if not os.read(orders, 1):
            loop.remove_reader(orders)
            asked.set()
            if slot.folder is not None:
                rmtree(slot.folder, ignore_errors=True)

    loop.add_reader(orders, ended)


if __name__ == "__main__":
    sys.exit(main())
