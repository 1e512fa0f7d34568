"""One request in a list: facts and times, and never content."""

from typing import Any

from proxy.core.errors import Truncated
from proxy.shell.inspector.ring import Seen
from proxy.shell.inspector.summaries import noted, summary
from proxy.shell.watching.watch import Attempt
from tests.support.watching import a_watch, end


def attempt(**times: Any) -> Attempt:
    return Attempt("first", "local", "m", "default", "chat", "http://backend/v1", 0.5, **times)


def test_times_and_facts_are_told_as_they_are() -> None:
    watch = a_watch(lambda: 0.0, attempt(place=1.0, head=2.0, ended=9.0))
    watch.facts |= {"model": "m", "backend": "local", "output_tokens": 7, "ending": "completed"}
    end(watch)
    told = summary(Seen(3, watch), "0-life-3")
    assert (told["id"], told["live"], told["status"]) == ("0-life-3", False, 200)
    assert (told["model"], told["output_tokens"], told["ending"]) == ("m", 7, "completed")
    assert told["attempts"][0]["place"] == 1.0
    assert told["attempts"][0]["first_text"] is None
    assert told["worst"] is None


def test_of_a_fault_only_what_a_log_may_tell() -> None:
    """S06."""
    fault = Truncated("It said: my secret prompt")
    watch = end(a_watch(lambda: 0.0, attempt(fault=fault)), 502, fault)
    told = summary(Seen(1, watch), "0-life-1")
    assert told["attempts"][0]["fault"]["code"] == "upstream_stream_truncated"
    assert told["worst"] == "bad"
    assert "secret" not in str(told)


def test_waits_lie_between_the_moments_that_were() -> None:
    watch = a_watch(
        lambda: 0.0,
        attempt(place=1.0, head=3.0, first_byte=6.0, first_text=10.0, ended=15.0),
        attempt(head=3.0, ended=15.0),
    )
    whole, partly = noted(watch).attempts
    assert (whole.queue, whole.connect, whole.first_byte, whole.first_text, whole.rest) == (0.5, 2, 3, 4, 5)
    assert (partly.queue, partly.connect, partly.first_byte, partly.rest) == (None, 2.5, None, None)
