"""Which replies are kept, and what becomes of those that cannot be."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial

from proxy.core.events import Ending, Reply, ReplyEnded
from proxy.core.stored.endings import cancelled
from proxy.core.stored.faults import store_is_down
from proxy.core.surfaces.surface import NO_MEMOS, SurfaceContext
from proxy.shell.in_flight import InFlight
from proxy.shell.secret_mask import SecretMask


async def remember(
    in_flight: InFlight, asked: SurfaceContext, reply: Reply, memos: Mapping[str, bytes] = NO_MEMOS
) -> None:
    """Runs before the client hears of the end, because it may then ask again, perhaps at another process. `memos`: what
    that one must know besides."""
    own = asked.remember(reply, in_flight.owner)
    if memos or own:
        await in_flight.store.share({**memos, **own})
    in_flight.store.remember(partial(asked.to_store, reply))


async def kept(in_flight: InFlight, asked: SurfaceContext, reply: Reply) -> ReplyEnded:
    """Keeps the reply, if it is to be kept. Returns its ending, which is another one if a conversation would lack the
    reply, or nobody could ever read it."""
    assert reply.ended is not None
    in_flight.unkept = None
    record = asked.record(reply)
    if record is None:
        return reply.ended
    if in_flight.channel.flows and in_flight.run is None:
        with suppress(ConnectionError):  # whoever has left is told nothing, and it is kept
            in_flight.channel.push()  # only the end waits for the store
    not_stored = await (in_flight.run or in_flight.store).save(record, asked.owning)
    if not_stored is None:
        in_flight.ledger.facts["stored"] = True
        return reply.ended
    if (content := in_flight.content) is not None:
        content.not_stored = not_stored
    asked.not_stored(not_stored, in_flight.ledger)
    if record.conversation is None and in_flight.run is None:
        return reply.ended
    return replace(reply.ended, ending=Ending.FAILED, fault=store_is_down())


def keep_cut(in_flight: InFlight, secret_mask: SecretMask) -> None:
    """The client has left a stream whose id it knows: it may ask for what there was."""
    asked, reply = in_flight.unkept, in_flight.reply
    if asked is None or reply is None or reply.ended is None or not in_flight.channel.opened:
        return
    ended = secret_mask.hidden_in_ending(reply.ended, in_flight.headers)
    if (record := asked.record(Reply(reply.parts, ended))) is not None:
        in_flight.ledger.facts["stored"] = True
        in_flight.store.save_later(cancelled(record), asked.owning)
