"""The proxy as a program, with leases of two seconds: `python -m tests.support.hasty_proxy serve …`."""

import sys
from importlib import import_module


def main() -> int:
    terms = import_module("proxy.shell.stores.terms")
    terms.LEASE_SECONDS = 2.0  # before those who take it by its name
    beats, sweeper = import_module("proxy.shell.stores.beats"), import_module("proxy.shell.stores.sweeper")
    beats.BUSY_SECONDS = beats.IDLE_SECONDS = 0.2
    beats.GAP_SECONDS = 1.0
    sweeper.ROUND_SECONDS = 0.5
    import_module("proxy.shell.runs.following").LOOK_SECONDS = 0.3
    status: int = import_module("proxy.cli").main()
    return status


if __name__ == "__main__":
    sys.exit(main())
