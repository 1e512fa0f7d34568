"""A real file behind a real guard, while another process is frozen with the lock in its hands."""

from contextlib import suppress
from pathlib import Path

import pytest

from proxy.shell.stores.guard import Guard
from proxy.shell.stores.guarded_records import GuardedRecords
from proxy.shell.stores.opening import Opening
from proxy.shell.stores.protocol import Outcome, StoreDown
from tests.support.guarded_stores import GuardNotes
from tests.support.stores import Remote, Terms, hold_lock, record, run, sqlite_at

WAIT_SECONDS = 0.05


async def test_others_answer_in_time_and_all_goes_on_afterwards(tmp_path: Path) -> None:
    """U02, U08, U09, U25: what nobody was told is not there; reads never wait."""
    path = tmp_path / "state.db"
    terms, seen = Terms(), GuardNotes()
    engine = sqlite_at(path, terms)
    guarded = GuardedRecords(
        engine, Guard(WAIT_SECONDS, lambda: terms.steady, seen), Opening(engine.open, seen.told.append)
    )
    await guarded.open()
    kept, late, work = record(), record(), run()
    assert await guarded.save("t", kept) is Outcome.DONE

    holder = await hold_lock(path)
    for command in (guarded.save("t", late), guarded.begin("t", work, "w"), guarded.beat("w")):
        with pytest.raises(StoreDown, match="did not answer within"):
            await command
    assert seen.told == ["down"]
    with pytest.raises(StoreDown, match="is down"):
        await guarded.save("t", record())
    assert await guarded.get("t", kept.id) == kept

    holder.kill()
    await holder.wait()
    after = record()
    outcome = None
    while outcome is None:
        terms.steady += 1
        assert await guarded.get("t", kept.id) == kept, "which lets what waits go on"
        with suppress(StoreDown):
            outcome = await guarded.save("t", after)
    assert outcome is Outcome.DONE
    other = Remote("sqlite", "records", path, terms)
    await other.open()
    while (await other.size()).responses > 2:
        await guarded.get("t", kept.id)
    assert await other.get("t", late.id) is await other.get("t", work.id) is None
    assert await other.runs("w") == []
    assert await other.get("t", after.id) == after
    await other.close()
    await guarded.close()
