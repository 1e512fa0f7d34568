"""What a refusal means; the words of each dialect have tests of their own."""

from proxy.core.backends.target import Target
from proxy.core.flow.refused import refused
from proxy.core.profile import DEFAULT

NOBODY = Target("backend", "http://backend.test/v1", DEFAULT)
SOMEBODY = Target("backend", "http://backend.test/v1", DEFAULT, key="k")


def test_it_is_said_who_must_bring_a_key() -> None:
    """F10."""
    assert "set backend.key" in refused(401, {}, b"", NOBODY, forwards=False).message
    assert "Send one" in refused(401, {}, b"", NOBODY, forwards=True).message


def test_the_log_is_told_no_words_of_the_backend() -> None:
    """S06."""
    fault = refused(500, {}, b'{"error":{"message":"canary"}}', SOMEBODY, forwards=False)
    assert "canary" in fault.message
    assert fault.own_words == "The backend answered 500 with 30 bytes."


def test_whoever_can_mend_it_is_told_how() -> None:
    fault = refused(400, {}, b"requires --enable-auto-tool-choice", NOBODY, forwards=False)
    assert "start the server with" in fault.message
    assert "start the server" not in refused(400, {}, b"No.", NOBODY, forwards=False).message
