"""The Responses surface: its modules, put together for one request."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from proxy.core import jsontext
from proxy.core.errors import Fault
from proxy.core.events import Reply, ReplyEnded
from proxy.core.ids import Mint, family_of
from proxy.core.ledger import Ledger
from proxy.core.model import Request
from proxy.core.stored.endings import answered
from proxy.core.stored.faults import CONVERSATION, PREVIOUS, no_conversations
from proxy.core.stored.histories import is_half_call
from proxy.core.stored.kept_items import kept_items
from proxy.core.stored.named import NOTHING_NAMED, Known, Named, previous_and_conversation
from proxy.core.stored.private import opened, packed_again, with_thoughts
from proxy.core.stored.record import Record, Status
from proxy.core.stored.references import referred
from proxy.core.surfaces import clients
from proxy.core.surfaces.clients import ClientProfile, EventStyle, Extended
from proxy.core.surfaces.errors import error_body
from proxy.core.surfaces.framing import Framing
from proxy.core.surfaces.memory.tokens import TokenSigner
from proxy.core.surfaces.reading.fields import json_object
from proxy.core.surfaces.responses import decode
from proxy.core.surfaces.responses.encode import ResponsesEncoder
from proxy.core.surfaces.responses.envelope import model_in, read_envelope
from proxy.core.surfaces.responses.message_first import MessageFirstEncoder
from proxy.core.surfaces.responses.response import ResponseObject
from proxy.core.surfaces.responses.whole_input import WholeInput, items_of, whole_input
from proxy.core.surfaces.surface import NO_MEMOS, Stored, WholeAnswer

NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})

NOT_ADDED = "Nothing of this turn is added to the conversation, because `store` is false."


def nothing_hosted(model: str) -> Collection[str]:
    """Nobody runs any."""
    return ()


@dataclass(slots=True, frozen=True)
class ResponsesOptions:
    """The settings that decide how answers look."""

    events: EventStyle
    message_first: bool
    stores: bool = False
    """Is there a store?"""
    background: bool = False
    """Is there somebody who goes on with work that no client waits for?"""


@dataclass(slots=True, frozen=True)
class ResponsesSurface:
    mint: Mint
    now: Callable[[], float]
    signer: TokenSigner
    options: ResponsesOptions
    form: type[ResponseObject] = ResponseObject
    """The form of the answers."""
    name: str = "responses"
    real_name: Callable[[str], str] = str
    """Of a model, for which clients may have another name: whose thoughts they are is told by this one."""
    hosted_tools: Callable[[str], Collection[str]] = nothing_hosted
    """The types of tools that the backend of a model runs itself."""

    strict = False
    own_call_ids = False
    tells_hosted = True
    params: ClassVar[Mapping[str, str]] = {}
    parses_arguments = False

    def drawing(self, mint: Mint, now: Callable[[], float]) -> Self:
        """What it asks of others it is told once, so that it can be told again."""
        return replace(self, mint=mint, now=now, hosted_tools=cache(self.hosted_tools))

    def remembered(self, body: Any, tenant: str) -> Mapping[str, bytes]:
        return NO_MEMOS

    def error(self, fault: Fault) -> dict[str, Any]:
        return error_body(fault)

    def named(self, body: Any, ledger: Ledger, tenant: str = "") -> Named | None:
        """What is wrong with a field is told before anything is looked up."""
        if not isinstance(body, dict):
            return None
        references = referred(body.get("input"))
        if not references and body.get(PREVIOUS) is None and body.get(CONVERSATION) is None:
            return None
        fields = json_object(body, ledger.work.levels(body))
        model_in(read_envelope(fields, Ledger(), background=self._offers_background))
        previous, conversation = previous_and_conversation(body)
        if conversation is not None and not self.options.stores:
            raise no_conversations()
        response = self.mint.response(family_of(previous or conversation or ""))
        return Named(previous, conversation, references, response, self._stores(body))

    @property
    def _offers_background(self) -> bool:
        return self.options.background and self.form is ResponseObject

    def _stores(self, body: Mapping[str, Any]) -> bool:
        """Is the answer kept? It is unless the client says otherwise."""
        return self.options.stores and self.form is ResponseObject and body.get("store") is not False

    def read(
        self,
        body: Any,
        headers: Mapping[str, str],
        ledger: Ledger,
        tenant: str = "",
        known: Known | None = None,
    ) -> "ResponsesContext":
        client = clients.recognise(headers)
        ledger.facts["client"] = client.name
        whole, named = None, NOTHING_NAMED
        if known is not None:
            whole, named = whole_input(body, self._model(body), known, ledger), known.named
            _note_named(named, ledger)
        signer, run = self.signer.of(tenant), self._run(body)
        request = decode.decode(
            body if whole is None else body | {"input": whole.items},
            ledger,
            client.orphan_outputs,
            signer,
            whole,
            background=self._offers_background,
            run=run,
        )
        background = bool(body.get("background")) and request.generate
        signs = request.reasoning.wants_token or request.compact
        response = self.form(
            body,
            self.mint,
            self.now,
            signer if signs else None,
            ledger.warnings,
            named=named,
            stores=self._stores(body) and request.generate,
            background=background,
            run=run,
            tools=request.tools,
        )
        ledger.facts["response_id"] = response.id
        wish = headers.get(clients.EVENTS_HEADER)
        extended = clients.extended(client, wish, self.options.events, bool(request.tools))
        if background:
            ledger.note(background=True)
            # Whoever resumes the stream counts the events, and expects those of the API
            extended = clients.NOTHING_MORE
        message_first = self.options.message_first and not request.compact
        lasting = response.stores
        history = b"[]" if known is None else known.history
        return ResponsesContext(
            request,
            client,
            response,
            extended,
            message_first,
            body,
            whole,
            self.real_name(request.model),
            history,
            lasting,
        )

    def _run(self, body: Any) -> Callable[[], Collection[str]]:
        """Few requests have any tools of a type that could be, or such an item among others. Tools are echoed: what is
        said of them twice is asked once."""
        model = body.get("model") if isinstance(body, dict) else None
        if not isinstance(model, str):
            return tuple
        if not body.get("tools"):
            return partial(self.hosted_tools, model)
        types = self.hosted_tools(model)
        return lambda: types

    def _model(self, body: Mapping[str, Any]) -> str | None:
        """Whoever reads the request says what is wrong with it."""
        model = body.get("model")
        return self.real_name(model) if isinstance(model, str) else None


@dataclass(slots=True)
class ResponsesContext:
    request: Request
    client: ClientProfile
    response: ResponseObject
    extended: Extended
    message_first: bool
    body: Mapping[str, Any]
    whole_input: WholeInput | None
    """Where the request names what is kept."""
    thinker: str
    """The real name of the model."""
    history: bytes = b"[]"
    """What it continues, as it was loaded: without what this model may not see left out."""
    lasting: bool = False
    """Does the client want it to be kept?"""
    _encoder: ResponsesEncoder | None = None
    _kept: bytes | None = None

    def encoder(self, emit: Callable[[bytes], None], framing: Framing) -> ResponsesEncoder:
        encoder = MessageFirstEncoder if self.message_first else ResponsesEncoder
        self._encoder = encoder(
            self.response, emit, framing=framing, extended=self.extended, client=self.client
        )
        return self._encoder

    def whole(self, reply: Reply) -> WholeAnswer:
        return WholeAnswer(self.response.whole(reply))

    def let_go(self) -> None:
        self.request.let_go()
        if not (self.response.stores or self.response.background):
            self.body, self.whole_input, self.history = NOTHING, None, b"[]"

    @property
    def shares(self) -> bool:
        return self.lasting

    def remember(self, reply: Reply, owner: str) -> Mapping[str, bytes]:
        """Remembers nothing by itself: what a response is continued from goes to the store."""
        return NO_MEMOS

    def to_store(self, reply: Reply) -> Stored:
        whole = self._input()
        # A summary stands for all that was said before it.
        conversation = [] if self.request.compact else [packed_again(item) for item in whole.items]
        output = with_thoughts(self.response.output, self.response.thoughts, self.thinker)
        output = [item for item in output if not is_half_call(item)]
        return Stored(self.response.id, conversation + output)

    def queued(self) -> Record | None:
        if not self.response.background:
            return None
        record = self._record(Status.QUEUED)
        return replace(record, answer=jsontext.dumps(self.response.queued()))

    def record(self, reply: Reply) -> Record | None:
        response = self.response
        if not (response.stores or response.background):
            return None
        ended = self._concluded(reply)
        return answered(
            self._record(Status.IN_PROGRESS), response.finished(ended), response.thoughts, self.thinker
        )

    def _record(self, status: Status) -> Record:
        response = self.response
        return Record(
            id=response.id,
            status=status,
            created=response.created,
            model=self.request.model,
            parent=response.named.previous,
            # What is not stored adds nothing to a conversation, and does not hold it up.
            conversation=response.named.conversation if self.lasting else None,
            background=response.background,
            streamed=self.request.stream,
            lasting=self.lasting,
            input=self._kept_input(),
        )

    def _kept_input(self) -> bytes:
        """Made once: its items keep the ids that they were given first."""
        if self._kept is None:
            whole = self._input()
            taken = {item["id"] for item in whole.history if "id" in item}
            self._kept = jsontext.dumps(kept_items(whole.own, self.response.item_ids, taken))
        return self._kept

    def owning(self, record: Record) -> Record:
        history = opened(jsontext.loads(self.history), None, Ledger())
        own = opened(jsontext.loads(record.input), None, Ledger())
        items = kept_items([*history, *own], self.response.item_ids)
        return replace(record, parent=None, input=jsontext.dumps(items))

    def not_stored(self, remark: str, ledger: Ledger) -> None:
        self.response.not_stored()
        ledger.warn(remark)

    def _concluded(self, reply: Reply) -> ReplyEnded:
        assert reply.ended is not None
        if self._encoder is not None:
            return self._encoder.conclude(reply.ended)
        self.response.fill(reply.parts)
        return reply.ended

    def _input(self) -> WholeInput:
        return self.whole_input or WholeInput([], items_of(self.body.get("input")))


def _note_named(named: Named, ledger: Ledger) -> None:
    if named.previous is not None:
        ledger.note(continues=named.previous)
    if named.conversation is not None:
        ledger.note(conversation=named.conversation)
        if not named.stores:
            ledger.warn(NOT_ADDED)
