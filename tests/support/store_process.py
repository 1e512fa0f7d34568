"""An engine of the store in a process of its own, for `stores.Remote`: commands come in as bytes, answers go out."""

import asyncio
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.stores import LENGTH_BYTES, Terms, make_live, make_records


async def main() -> None:
    terms = Terms()
    _, kind, part, where = sys.argv
    make: Callable[..., Any] = make_live if part == "live" else make_records
    engine = make(kind, terms, Path(where) if kind.endswith("sqlite") else where)
    while head := await asyncio.to_thread(sys.stdin.buffer.read, LENGTH_BYTES):
        message = await asyncio.to_thread(sys.stdin.buffer.read, int.from_bytes(head, "big"))
        name, args, named, terms.date, terms.steady, terms.patient, terms.keeping = pickle.loads(message)
        try:
            answer = False, await getattr(engine, name)(*args, **named)
        except Exception as failure:
            answer = True, failure
        data = pickle.dumps(answer)
        sys.stdout.buffer.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main())
