"""The proxy and the scripted backend are those of the shell's own tests."""

from tests.shell.conftest import backend, start_proxy

__all__ = ["backend", "start_proxy"]
