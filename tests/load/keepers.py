"""Clients that want to be remembered: whatever they do takes a promise of the proxy, or gives one back."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from tests.load.calls import Calls, Cut
from tests.load.promises import FINAL, TERMINAL, Promises, digest, now
from tests.load.script import Script
from tests.load.troubles import Troubles

SCRIPT = Script(20, 10, 1)
POLL_SECONDS = 0.1
PAUSE_SECONDS = 0.2
LONGEST_CHAIN = 12
LONGEST_CONVERSATION = 100
"""Items. Each turn holds all of them: were they ever more, nobody could tell whether the proxy itself grows."""
SPARED = {"conversation_locked", "rate_limit_exceeded"}
"""Refusals that are to be expected: of a conversation whose worker was killed, and of too much work at once."""


def until(count: int) -> Callable[[list[Any]], bool]:
    return lambda events: len(events) == count


def never(events: list[Any]) -> bool:
    return False


class Keeper:
    """One client, who does one thing after another until it is told that it is over."""

    def __init__(
        self,
        number: int,
        calls: Calls,
        promises: Promises,
        endings: Counter[str],
        troubles: Troubles,
        script: Script = SCRIPT,
    ) -> None:
        self._number = self._step = number
        self._calls = calls
        self._promises = promises
        self._endings = endings
        self._troubles = troubles
        self._script = script
        self._asked = 0
        self._chain: list[str] = []
        self._conversation = ""
        promises.chains.append(self._chain)

    async def live(self, over: Callable[[], bool]) -> None:
        jobs: list[Callable[[], Awaitable[None]]] = [
            self.stored,
            self.streamed,
            self.chained,
            self.polled,
            self.resumed,
            self.in_conversation,
            self.chained,
            self.cancelled,
            self.deleted,
            self.in_conversation,
            self.chained,
            self.not_stored,
        ]
        while not over():
            job, began = jobs[self._step % len(jobs)], now()
            self._step += 1
            try:
                await job()
            except Cut as cut:
                self._endings["cut"] += 1
                if not self._troubles.killed(began):
                    self._promises.wrong(f"{job.__name__}: cut, though nobody was killed: {cut}")
                await asyncio.sleep(PAUSE_SECONDS)

    # ── what it does ──

    async def stored(self) -> None:
        await self._turn("stored")

    async def streamed(self) -> None:
        await self._turn("streamed", stream=True)

    async def not_stored(self) -> None:
        if answer := await self._turn("not stored", store=False):
            self._promises.gone.append(answer["id"])

    async def chained(self) -> None:
        if len(self._chain) >= LONGEST_CHAIN:
            self._chain = []
            self._promises.chains.append(self._chain)
        parent = {"previous_response_id": self._chain[-1]} if self._chain else {}
        answer = await self._turn("chained", stream=self._step % 2 == 0, **parent)
        if answer and answer["store"]:
            self._chain.append(answer["id"])

    async def in_conversation(self) -> None:
        began = now()
        if not self._conversation:
            status, made = await self._calls.ask("POST", "/conversations", {})
            if status != 200:
                self._refused("conversation", status, made["error"]["code"], began)
                return
            self._conversation = made["id"]
            self._promises.conversations[self._conversation] = 0
        answer = await self._turn("in conversation", conversation=self._conversation)
        items = self._promises.conversations
        if answer is not None:
            items[self._conversation] += 2
        if answer is None or items[self._conversation] >= LONGEST_CONVERSATION:
            self._conversation = ""  # which is looked at again when all is over

    async def polled(self) -> None:
        await self._run_to_its_end(stream=False)

    async def resumed(self) -> None:
        """It leaves its stream in the middle, and comes back, perhaps to another worker, until it has the end."""
        events: list[Any] = []
        enough, whole = until(4 + self._step % 20), False
        path, body = "/responses", self._body(background=True, stream=True)
        began = now()
        for _ in range(20):
            try:
                whole = await self._calls.follow(events, path, body, enough)
            except Cut:
                if not (events or self._troubles.killed(began)):
                    raise
            if not events:
                self._endings["cut"] += 1
                return
            if events[-1]["type"] == "refused":
                if not self._troubles.lost(began):
                    self._refused("resumed", events[-1]["status"], events[-1]["code"], began)
                return
            id = events[0]["response"]["id"]
            self._promises.begin(id, began, has_events=True)
            if whole:
                break
            path, body, enough = f"/responses/{id}?stream=true&starting_after={len(events) - 1}", None, never
        self._judge_events(events, whole)

    async def cancelled(self) -> None:
        began = now()
        run = await self._begin(stream=self._step % 2 == 0)
        if run is None:
            return
        status, found = await self._calls.ask("POST", f"/responses/{run['id']}/cancel")
        if status == 200 and found["status"] == "cancelled":
            self._endings["cancelled"] += 1
        elif status == 400 and found["error"]["message"].startswith("Cannot cancel a"):
            self._endings["too late to cancel"] += 1
        elif status != 200:
            self._refused("cancelled", status, found["error"]["code"], began)
        elif found["status"] != "failed":
            self._promises.wrong(f"cancelled: {found['status']}")

    async def deleted(self) -> None:
        answer = await self._turn("to delete")
        if answer is None or not answer["store"]:
            return
        del self._promises.kept[answer["id"]]
        began = now()
        status, found = await self._calls.ask("DELETE", f"/responses/{answer['id']}")
        if status == 200 or (
            status == 404 and self._troubles.killed(began)
        ):  # HTTP clients repeat it by themselves
            self._promises.gone.append(answer["id"])
        else:
            self._refused("deleted", status, found["error"]["code"], began)

    # ── parts of it ──

    def _body(self, **members: Any) -> dict[str, Any]:
        """No two ask the same, so that it can be seen whether a model was asked twice."""
        self._asked += 1
        return {"model": self._script.model, "input": f"{self._number}.{self._asked}"} | members

    async def _turn(self, what: str, **members: Any) -> dict[str, Any] | None:
        body, began = self._body(**members), now()
        if members.get("stream"):
            events = await self._calls.events("/responses", body)
            if events[-1]["type"] == "refused":
                self._refused(what, events[-1]["status"], events[-1]["code"], began)
                return None
            if events[-1]["type"] not in TERMINAL:
                raise Cut("no end of the stream")
            answer = events[-1]["response"]
        else:
            status, answer = await self._calls.ask("POST", "/responses", body)
            if status != 200:
                self._refused(what, status, answer["error"]["code"], began)
                return None
        return self._kept(what, answer, members, began)

    def _kept(
        self, what: str, answer: dict[str, Any], members: dict[str, Any], began: float
    ) -> dict[str, Any] | None:
        if answer["status"] != "completed":
            self._failed(what, answer["error"], began)
            return None
        if not answer["store"] and "store" not in members:
            what = f"{what}, not kept"
            self._promises.unkept[answer["id"]] = began
            if not self._troubles.away(began):
                self._promises.wrong(f"{what}, though the store was there")
        self._endings[what] += 1
        if complaint := self._script.complaint(answer["output"][0]["content"][0]["text"], whole=True):
            self._promises.wrong(f"{what}: {complaint}")
        if answer["store"]:
            self._promises.kept[answer["id"]] = digest(answer["output"])
        return answer

    def _failed(self, what: str, error: dict[str, Any], began: float) -> None:
        """A turn that its conversation could not take is none, whatever was said."""
        self._endings[f"{what}: failed, {error['code']}"] += 1
        if error["code"] != "storage_error" or not self._troubles.away(began):
            self._promises.wrong(f"{what}: failed, {error}")

    def _refused(self, what: str, status: int, code: str | None, began: float) -> None:
        self._endings[f"{status} {code}"] += 1
        if code not in SPARED and not (status == 503 and self._troubles.away(began)):
            self._promises.wrong(f"{what}: {status} {code}")

    async def _begin(self, *, stream: bool) -> dict[str, Any] | None:
        began = now()
        if stream:
            events = await self._calls.events(
                "/responses", self._body(background=True, stream=True), until(1)
            )
            if events[0]["type"] == "refused":
                self._refused("background", events[0]["status"], events[0]["code"], began)
                return None
            run = events[0]["response"]
        else:
            status, run = await self._calls.ask("POST", "/responses", self._body(background=True))
            if status != 200:
                self._refused("background", status, run["error"]["code"], began)
                return None
        self._promises.begin(run["id"], began, has_events=stream)
        found: dict[str, Any] = run
        return found

    async def _run_to_its_end(self, *, stream: bool) -> None:
        began = now()
        run = await self._begin(stream=stream)
        while run is not None and run["status"] not in FINAL:
            await asyncio.sleep(POLL_SECONDS)
            if self._troubles.killed(began):  # its end may be a lease away: it is looked at when all is over
                self._endings["left to its lease"] += 1
                return
            status, found = await self._calls.ask("GET", f"/responses/{run['id']}")
            if status == 200:
                run = found
            else:
                self._refused("a run", status, found["error"]["code"], began)
        if run is not None:
            self._judge_end(run)

    def _judge_events(self, events: list[Any], whole: bool) -> None:
        if not whole:
            self._endings["not resumed to its end"] += 1
            return
        if [event["sequence_number"] for event in events] != list(range(len(events))):
            self._promises.wrong("resumed: a gap, or something twice")
        if events[-1]["type"] not in TERMINAL:
            self._promises.wrong("resumed: no end")
            return
        self._judge_end(events[-1]["response"])

    def _judge_end(self, run: dict[str, Any]) -> None:
        self._endings[f"background {run['status']}"] += 1
        self._promises.ended[run["id"]] = now()
        if run["status"] == "completed":
            self._promises.kept[run["id"]] = digest(run["output"])
            if complaint := self._script.complaint(run["output"][0]["content"][0]["text"], whole=True):
                self._promises.wrong(f"background: {complaint}")
        elif run["status"] != "failed" or not self._may_fail(run):
            self._promises.wrong(f"background: {run['status']}, {run['error']}")

    def _may_fail(self, run: dict[str, Any]) -> bool:
        """Its process was killed, or the store went away before it was known that it had begun."""
        if run["error"]["code"] == "storage_error":
            return self._troubles.away(self._promises.begun[run["id"]])
        return bool(run["error"]["code"] == "server_error")
