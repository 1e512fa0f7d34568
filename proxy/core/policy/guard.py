"""A stage that checks the model's calls before the client runs them (P04–P06, C07, N04).

By the rules, a finding becomes a warning beside the answer, or ends the reply. Where arguments must be checked before
the client sees anything of a call, the stage holds the call until it has ended, and then passes its arguments on in one
piece. It never holds prose. It drops a held call that was cut short, because no client could run it. A warning says so,
because the ending alone may not, beside whole calls.

It stands behind the stage that adds the extras of reasoning, because that stage must find each call where it was made.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from proxy.core import jsontext
from proxy.core.argument_problem import UNCHECKED, ArgumentProblem
from proxy.core.errors import Empty, Unfit
from proxy.core.events import CallHead, Ending, Event, PartEnded, PartStarted, ReplyEnded
from proxy.core.ledger import Ledger
from proxy.core.masking.redact import quotable
from proxy.core.model import Call, ChoiceMode, HostedItem, Request, ToolName, ToolSpec, Usage
from proxy.core.sink import Attach, Sink
from proxy.core.tenants import ANYBODY, Mode, Tenant, ToolLimits, Validation, or_raise

MAX_COMPLAINT = 130
"""Characters, so that with its advice it stays below 200. A validator quotes what the model wrote, of any length."""
MAX_QUOTED_NAME = 64
MAX_WARNINGS = 5
"""Warnings that one reply brings; the ledger counts them all."""

NO_CALL = "The model called no tool, though tool_choice demands a call."


Check = Callable[[str], ArgumentProblem | None]

REQUIRED, LIMITS_ENFORCED = ChoiceMode.REQUIRED, Mode.ENFORCE
OFF, STRICT, OBSERVE, ENFORCE = Validation
"""Needed with every request: Python 3.11 is slow to find a member in its enumeration."""


@dataclass(slots=True)
class Rules:
    """What the guard checks in the reply to one request."""

    mode: Validation = OFF
    """How names and arguments are checked against the declared tools."""
    declared: Mapping[ToolName, ToolSpec] = field(default_factory=dict)
    untold: Collection[ToolName] = ()
    """Strict tools that the backend does not know to be strict."""
    check_of: Callable[[ToolSpec], Check | None] = lambda spec: None
    """Returns the check of a tool's arguments, None where they are free text. Called only when there is a call to
    check."""
    parses: bool = False
    """Must arguments be a JSON object, whatever the mode, because the client is given the object?"""
    required: bool = False
    """Must there be a call?"""
    limits: ToolLimits = ANYBODY.limits
    limits_mode: Mode = Mode.OFF

    @property
    def checked(self) -> Mapping[ToolName, ToolSpec]:
        """The tools whose arguments are checked against their schemas."""
        if self.mode is STRICT:
            return {tool: self.declared[tool] for tool in self.untold}
        return self.declared if self.judges else {}

    @property
    def judges(self) -> bool:
        """Are all calls checked, and is a call of an undeclared tool wrong?"""
        return self.mode is ENFORCE or self.mode is OBSERVE

    @property
    def holds(self) -> bool:
        return self.parses or self.mode is ENFORCE


VALIDATION_BY_WISH: Mapping[bool | None, Validation] = {True: ENFORCE, False: OFF}
"""The request's own wish goes before the setting of its tenant."""


def rules_for(
    request: Request,
    tenant: Tenant,
    *,
    strict: bool,
    parses: bool,
    check_of: Callable[[ToolSpec], Check | None],
    untold: Collection[ToolName] = (),
) -> Rules | None:
    """`strict` and `parses` are traits of the surface. `untold`: see `Rules`. None where there is nothing to check, as
    where no call can be expected."""
    mode = VALIDATION_BY_WISH.get(request.validate_arguments, tenant.validate_tool_arguments)
    limits_mode = tenant.mode(strict=strict)
    required = request.choice.mode is REQUIRED
    enforced = parses or required or mode is ENFORCE or limits_mode is LIMITS_ENFORCED
    if not enforced:
        observed = mode is OBSERVE or (mode is STRICT and untold)
        if not request.tools or not (observed or limits_mode is Mode.WARN):
            return None
    return Rules(
        mode=mode,
        declared={spec.tool: spec for spec in request.tools},
        check_of=check_of,
        untold=untold,
        parses=parses,
        required=required,
        limits=tenant.limits,
        limits_mode=limits_mode,
    )


def guard(rules: Rules, ledger: Ledger) -> Attach:
    """Makes the stage for one reply."""

    def stage(sink: Sink) -> Sink:
        made = _Guard(rules, ledger, sink)
        return Sink(made.feed, made.delta if made.inspects_deltas else sink.delta)

    return stage


ADVICE = {
    "unknown_tool_call": "Ask again, or declare the tool.",
    "malformed_tool_arguments": "Ask again.",
    "invalid_tool_arguments": "Ask again, or loosen the tool's schema.",
    UNCHECKED.code: "Simplify the tool's schema and its patterns, or have arguments not checked.",
    "tool_call_required": "Ask again, or set tool_choice to auto.",
}
"""What the client can do, by the code of the fault."""


@dataclass(slots=True)
class _OpenCall:
    """An open call whose fragments matter."""

    started: PartStarted
    head: CallHead
    size: int = 0
    passed_on: list[str] = field(default_factory=list)
    """The arguments that the client has seen."""


class _Guard:
    __slots__ = (
        "_calls",
        "_emit",
        "_holds",
        "_hosted",
        "_ledger",
        "_open",
        "_over",
        "_pass_on",
        "_remarks",
        "_rules",
        "_usage",
        "_weighs_deltas",
        "inspects_deltas",
    )

    def __init__(self, rules: Rules, ledger: Ledger, sink: Sink) -> None:
        self._rules = rules
        self._ledger = ledger
        self._emit = sink.feed
        self._pass_on = sink.delta
        self._holds = rules.holds
        self._weighs_deltas = rules.limits_mode is LIMITS_ENFORCED
        self.inspects_deltas = self._holds or self._weighs_deltas
        """Does the stage need the fragments of a call, or only the whole?"""
        self._open: _OpenCall | None = None
        self._usage: Usage | None = None
        """Known only where the guard rejects the ending itself."""
        self._calls = 0
        self._hosted = False
        """Has a tool of the backend's own been used?"""
        self._remarks = 0
        self._over = False
        """Has the guard ended the reply, whatever the backend still sends?"""

    def feed(self, event: Event) -> None:
        if self._over:
            return
        try:
            self._inspect(event)
        except Unfit as fault:
            self._end(fault)

    def delta(self, text: str, logprobs: list[Any] | None) -> None:
        if self._over:
            return
        if self._open is None:
            self._pass_on(text, logprobs)
            return
        try:
            self._on_arguments(self._open, text)
        except Unfit as fault:
            self._end(fault)

    def _inspect(self, event: Event) -> None:
        match event:
            case PartStarted(call=CallHead() as head):
                self._on_call_started(event, head)
            case PartEnded(Call() as call):
                self._on_call_ended(event, call)
            case PartEnded(HostedItem()):
                self._hosted = True
                self._emit(event)
            case ReplyEnded(Ending.COMPLETED) if self._rules.required and not (self._calls or self._hosted):
                self._usage = event.usage
                self._report("tool_call_required", event.forbidden or NO_CALL, True)
            case ReplyEnded(fault=Empty()) if self._rules.required and event.forbidden:
                self._report("tool_call_required", event.forbidden, True)
            case _:
                self._emit(event)

    def _end(self, fault: Unfit) -> None:
        """Ends the open parts, as far as the client has seen them."""
        self._over = True
        if self._open is not None and not self._holds:
            head, arguments = self._open.head, "".join(self._open.passed_on)
            call = Call(head.call_id, head.tool, head.kind, arguments, head.backend_id)
            self._emit(PartEnded(call, complete=False))
        self._emit(ReplyEnded(Ending.FAILED, self._usage, fault))

    # ── one call ──

    def _on_call_started(self, started: PartStarted, head: CallHead) -> None:
        rules = self._rules
        self._calls += 1
        if self._calls > rules.limits.calls:
            self._over_limit(
                "too_many_tool_calls",
                f"The model made more than {rules.limits.calls} tool calls in one reply.",
                "calls",
            )
        if rules.judges and head.tool not in rules.declared:
            self._unfit(
                "unknown_tool_call", f"The model called {_name_of(head.tool)}, which is not declared."
            )
        if self.inspects_deltas:
            self._open = _OpenCall(started, head)
        if not self._holds:
            self._emit(started)

    def _on_arguments(self, opened: _OpenCall, text: str) -> None:
        if self._weighs_deltas:
            opened.size += _bytes_of(text)
            self._weigh(opened.head.tool, opened.size)
        if not self._holds:
            opened.passed_on.append(text)
            self._pass_on(text, None)

    def _on_call_ended(self, ended: PartEnded, call: Call) -> None:
        opened, rules = self._open, self._rules
        if rules.limits_mode is Mode.WARN:
            self._weigh(call.tool, _bytes_of(call.arguments))
        if ended.complete:
            self._check(call)
        self._open = None
        if opened is not None and self._holds:
            if not ended.complete:
                self._ledger.odd("held_call_cut")
                self._ledger.warn(
                    f"The model's call of {_name_of(call.tool)} was cut short, and is left out."
                )
                return
            self._emit(opened.started)
            if call.arguments:
                self._pass_on(call.arguments, None)
        self._emit(ended)

    def _weigh(self, tool: ToolName, size: int) -> None:
        limit = self._rules.limits.argument_bytes
        if size > limit:
            self._over_limit(
                "tool_arguments_too_large",
                f"The model called {_name_of(tool)} with arguments longer than {limit} bytes.",
                "argument_bytes",
            )

    def _check(self, call: Call) -> None:
        rules = self._rules
        checked = rules.checked
        if not rules.parses and call.tool not in checked:
            return
        spec = rules.declared.get(call.tool)
        check = _nothing_known if spec is None else rules.check_of(spec)
        if check is None:
            return
        if rules.parses and not jsontext.is_object(call.arguments):
            self._report(
                "malformed_tool_arguments",
                f"The model called {_name_of(call.tool)} with arguments that are no JSON object.",
                True,
            )
        if call.tool in checked and (problem := check(call.arguments)):
            self._judge(call, problem)

    def _judge(self, call: Call, problem: ArgumentProblem) -> None:
        whose = f"The model's call of {_name_of(call.tool)}"
        if problem.remark:
            self._report(problem.code, f"{whose} fits its schema, but {problem.message}", False)
            return
        where = f" at {problem.path}" if problem.path else ""
        state = "unchecked" if problem.code == UNCHECKED.code else "wrong"
        self._unfit(problem.code, f"{whose} is {state}{where}: {problem.message}")

    # ── what becomes of it ──

    def _unfit(self, code: str, complaint: str) -> None:
        self._report(code, complaint, self._rules.mode is ENFORCE)

    def _over_limit(self, code: str, complaint: str, limit: str) -> None:
        if self._rules.limits_mode is not Mode.OFF:
            advice = f"Ask for less at once{or_raise(limit, getattr(self._rules.limits, limit))}"
            self._report(code, complaint, self._rules.limits_mode is LIMITS_ENFORCED, advice)

    def _report(self, code: str, complaint: str, enforced: bool, advice: str | None = None) -> None:
        self._ledger.odd(code)
        complaint = _short(complaint)
        if enforced:
            raise Unfit(f"{complaint} {advice or ADVICE[code]}", code=code)
        self._remarks += 1
        if self._remarks <= MAX_WARNINGS:
            self._ledger.warn(complaint)


def _name_of(tool: ToolName) -> str:
    return tool.dotted[:MAX_QUOTED_NAME]


def _short(complaint: str) -> str:
    """Makes a sentence of it, because advice follows and a validator's words end without a full stop."""
    text = quotable(complaint).removesuffix(".")
    return f"{text}." if len(text) < MAX_COMPLAINT else f"{text[: MAX_COMPLAINT - 1]}…"


def _nothing_known(arguments: str) -> None:
    """Returns the check of an undeclared tool."""


def _bytes_of(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
