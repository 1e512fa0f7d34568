"""Which rules a reply is held to: those of its request, its tenant and its surface."""

from dataclasses import replace
from typing import Any

from proxy.core.model import (
    ChoiceMode,
    Request,
    ToolChoice,
    ToolSpec,
)
from proxy.core.policy.guard import Rules, rules_for
from proxy.core.tenants import ANYBODY, Mode, Tenant, ToolLimits, Validation
from tests.support.guarding import DECLARED, END, SEARCH, WEATHER, call, guarded, same
from tests.support.replies import check_of
from tests.support.tables import table

NO_LIMITS = replace(ANYBODY, limits_mode=Mode.OFF)


class TestRules:
    REQUEST = Request("m", [], tools=[WEATHER, SEARCH])

    def rules(self, tenant: Tenant = ANYBODY, **changes: Any) -> Rules:
        request = replace(self.REQUEST, **changes)
        rules = rules_for(request, tenant, strict=False, parses=False, check_of=check_of)
        assert rules is not None
        return rules

    @table(
        ("wish", "setting", "mode"),
        [
            (None, Validation.OFF, Validation.OFF),
            (None, Validation.OBSERVE, Validation.OBSERVE),
            (None, Validation.STRICT, Validation.STRICT),
            (True, Validation.OFF, Validation.ENFORCE),
            (False, Validation.ENFORCE, Validation.OFF),
        ],
    )
    def test_p05_what_the_request_says_goes_before_what_the_tenant_has_set(
        self, wish: bool | None, setting: Validation, mode: Validation
    ) -> None:
        tenant = Tenant("t", validate_tool_arguments=setting)
        assert self.rules(tenant, validate_arguments=wish).mode is mode

    def test_they_are_those_of_the_request_its_tenant_and_the_surface(self) -> None:
        tenant = Tenant("t", limits=ToolLimits(calls=7))
        rules = rules_for(self.REQUEST, tenant, strict=True, parses=True, check_of=check_of)
        assert rules == Rules(
            mode=Validation.STRICT,
            declared={spec.tool: spec for spec in (WEATHER, SEARCH)},
            check_of=check_of,
            parses=True,
            limits=ToolLimits(calls=7),
            limits_mode=Mode.ENFORCE,
        )
        assert self.rules().limits_mode is Mode.WARN

    @table(
        ("mode", "checked"),
        [
            (Validation.OFF, []),
            (Validation.STRICT, [WEATHER]),
            (Validation.OBSERVE, [WEATHER, SEARCH]),
            (Validation.ENFORCE, [WEATHER, SEARCH]),
        ],
    )
    def test_v22_what_is_checked_are_all_tools_or_those_that_are_strict_and_not_told_so(
        self, mode: Validation, checked: list[ToolSpec]
    ) -> None:
        tenant = replace(NO_LIMITS, validate_tool_arguments=mode)
        how: Any = {"strict": False, "parses": False, "check_of": check_of}
        rules = rules_for(self.REQUEST, tenant, **how, untold={WEATHER.tool})
        assert list(rules.checked.values() if rules else []) == checked
        unneeded = rules_for(self.REQUEST, tenant, **how)
        assert (unneeded is None) is (mode in (Validation.OFF, Validation.STRICT))

    @table(
        ("choice", "required"),
        [
            (ToolChoice(), False),
            (ToolChoice(ChoiceMode.NONE), False),
            (ToolChoice(ChoiceMode.REQUIRED), True),
            (ToolChoice(ChoiceMode.REQUIRED, frozenset({WEATHER.tool})), True),
        ],
    )
    def test_p04_a_call_is_demanded_by_the_choice(self, choice: ToolChoice, required: bool) -> None:
        assert self.rules(choice=choice).required is required

    @table(
        ("tenant", "changes", "parses", "is_needed"),
        [
            (NO_LIMITS, {}, False, False),
            (ANYBODY, {}, False, True),
            (ANYBODY, {"tools": []}, False, False),
            (replace(NO_LIMITS, validate_tool_arguments=Validation.OBSERVE), {}, False, True),
            (replace(NO_LIMITS, validate_tool_arguments=Validation.OBSERVE), {"tools": []}, False, False),
            (NO_LIMITS, {"validate_arguments": True}, False, True),
            (NO_LIMITS, {"tools": [], "validate_arguments": True}, False, True),
            (NO_LIMITS, {"tools": []}, True, True),
            (NO_LIMITS, {"tools": [], "choice": ToolChoice(ChoiceMode.REQUIRED)}, False, True),
            (replace(ANYBODY, limits_mode=Mode.ENFORCE), {"tools": []}, False, True),
        ],
    )
    def test_a_reply_in_which_there_is_nothing_to_look_at_has_none(
        self, tenant: Tenant, changes: dict[str, Any], parses: bool, is_needed: bool
    ) -> None:
        request = replace(self.REQUEST, **changes)
        rules = rules_for(request, tenant, strict=False, parses=parses, check_of=check_of)
        assert (rules is not None) is is_needed

    def test_without_a_word_about_them_no_arguments_are_checked(self) -> None:
        events = [*call("not JSON"), END]
        rules = Rules(mode=Validation.ENFORCE, declared=DECLARED)
        assert same(guarded(rules, *events).events, events)
