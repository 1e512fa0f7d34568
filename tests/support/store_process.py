"""Engines of the store in a process of their own, one after another, for `stores.Remote`: commands come in as bytes,
answers go out."""

import asyncio
import pickle
import sys
from typing import Any

from tests.support.stores import LENGTH_BYTES, Terms, make_live, make_records

MAKES = {"live": make_live, "records": make_records}


async def main() -> None:
    terms, engine = Terms(), None
    while head := await asyncio.to_thread(sys.stdin.buffer.read, LENGTH_BYTES):
        message = await asyncio.to_thread(sys.stdin.buffer.read, int.from_bytes(head, "big"))
        name, args, named, *told = pickle.loads(message)
        terms.date, terms.steady, terms.patient, terms.keeping = told
        answer: tuple[bool, Any] = False, None
        try:
            if name == "make":
                kind, part, where = args
                terms = Terms(*told)
                engine = MAKES[part](kind, terms, where)
            else:
                answer = False, await getattr(engine, name)(*args, **named)
        except Exception as failure:
            answer = True, failure
        data = pickle.dumps(answer)
        sys.stdout.buffer.write(len(data).to_bytes(LENGTH_BYTES, "big") + data)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    asyncio.run(main())
