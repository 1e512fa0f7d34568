from dataclasses import replace

from proxy.core.examination.aspects import CHAT, Aspect
from proxy.core.examination.limits import unknown_field
from proxy.core.examination.question import Case
from proxy.core.profile import DEFAULT


def test_where_an_aspect_is_looked_at() -> None:
    aspect = Aspect("x", unknown_field, 1, CHAT, of_tools=True)
    assert aspect.concerns("chat")
    assert not aspect.concerns("google")
    assert Aspect("x", unknown_field, 1).concerns("google")
    assert aspect.applies(Case(DEFAULT, DEFAULT))
    without_tools = replace(DEFAULT, max_tools=0)
    assert not aspect.applies(Case(without_tools, without_tools))
    assert Aspect("x", unknown_field, 1).applies(Case(without_tools, without_tools))
