"""The one loop that waits: bytes of a backend into the pipeline, and what came out of it to the client."""

from proxy.core.policy.breaker import Admission
from proxy.core.stream.pipeline import Pipeline
from proxy.shell.backend import Plan
from proxy.shell.http.transport import Exchange
from proxy.shell.in_flight import InFlight
from proxy.shell.offload.processes import CheckProcesses


async def relay(
    in_flight: InFlight,
    exchange: Exchange,
    pipeline: Pipeline,
    admission: Admission,
    check_processes: CheckProcesses,
    plan: Plan,
) -> None:
    """For each read, feeds the pipeline, and sends what came out in one write.

    Once the reply has begun both happen as the bytes arrive, without a wait, as long as the client keeps up.
    """
    begun = has_let_go = False
    streaming = plan.preparation.request.stream
    channel, reply = in_flight.channel, pipeline.reply

    def deliver(data: bytes) -> bool:
        goes_on = pipeline.feed(data)
        return reply.ended is None and channel.push() and goes_on and not in_flight.has_pending_check

    try:
        while reply.ended is None:
            if begun and streaming and channel.flows and not pipeline.finishing:
                await exchange.push_to(deliver)
                if in_flight.has_pending_check:
                    await check_processes.settle(in_flight)
                if reply.ended is not None:
                    break
                exchange.finishing(pipeline.finishing)
            data = await exchange.read()
            if data:
                pipeline.feed(data)
            else:
                pipeline.close()
            del data  # the wait for more may be long
            if in_flight.has_pending_check:
                await check_processes.settle(in_flight)
            if not begun:
                in_flight.heard(pipeline)
                if begun := pipeline.begun:
                    exchange.begun()
                    admission.reply_began()
            if reply.ended is None:
                exchange.finishing(pipeline.finishing)
            if begun and streaming and reply.ended is None:
                await channel.flush()
            if begun and reply.ended is None and not has_let_go:  # its beginning has left
                has_let_go = True
                _let_go(in_flight, plan)
        if pipeline.fault is None:
            exchange.release()
    finally:
        exchange.close()


def _let_go(in_flight: InFlight, plan: Plan) -> None:
    """Nobody is asked again. A stream may go on for long, and what was said before it is by far the most of it."""
    plan.preparation.post.let_go()
    plan.preparation.request.let_go()
    in_flight.ledger.work.forget_body()
    if in_flight.unkept is not None and not in_flight.store.remembers:
        in_flight.unkept.let_go()
