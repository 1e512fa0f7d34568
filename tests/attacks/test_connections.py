"""attack-18: as many silent connections as there is room for end nobody's service. 127.0.0.1 and 127.0.0.2 are two
strangers here.
"""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from proxy.shell.http import connections
from tests.support.processes import no_more_files, serving
from tests.support.proxies import StartProxy

ONE, OTHER = "127.0.0.1", "127.0.0.2"

LIMITED = """\
import resource, runpy
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
runpy.run_module("proxy", run_name="__main__", alter_sys=True)
"""


@contextmanager
def limited(lines: Path, soft: int, hard: int) -> Iterator[tuple[str, int]]:
    """Where a proxy listens that may have so many files and connections."""
    code = LIMITED.format(soft=soft, hard=hard)
    with serving("-c", code, "serve", "--port", "0", lines=lines) as url:
        host, _, port = url.removeprefix("http://").partition(":")
        yield host, int(port)


def served(at: tuple[str, int], address: str) -> bool:
    """Within a second, whoever else wants something."""
    try:
        with socket.create_connection(at, timeout=1, source_address=(address, 0)) as asking:
            asking.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            return asking.recv(15) == b"HTTP/1.1 200 OK"
    except OSError:
        return False


def silent_ones(stack: ExitStack, at: tuple[str, int], times: int) -> list[socket.socket]:
    return [stack.enter_context(socket.create_connection(at)) for _ in range(times)]


def closed(sockets: list[socket.socket]) -> int:
    return sum(map(_is_closed, sockets))


def _is_closed(one: socket.socket) -> bool:
    one.setblocking(False)
    try:
        return one.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def test_silent_connections_end_nobodys_service(tmp_path: Path) -> None:
    """attack-18. Neither that of other addresses nor that of their own; and the log tells of it."""
    lines = tmp_path / "lines"
    with limited(lines, 128, 128) as at, ExitStack() as stack:
        open = silent_ones(stack, at, 200)
        assert served(at, OTHER)
        assert served(at, ONE)
        assert closed(open) == 200 - 16 + 1, "one address has half the room, and has asked once more"
    assert "connections_exhausted" in lines.read_text()


def test_the_soft_limit_is_raised_at_the_start(tmp_path: Path) -> None:
    """attack-18."""
    with limited(tmp_path / "lines", 64, 1024) as at, ExitStack() as stack:
        open = silent_ones(stack, at, 200)
        assert served(at, OTHER)
        assert closed(open) == 0


async def test_that_no_descriptor_is_left_stands_in_the_log(
    start_proxy: StartProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """attack-18. Whatever has taken them: who takes connections drops them then, and tells nobody."""
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.001)
    proxy = await start_proxy()
    with no_more_files():
        await proxy.log.wait_for("descriptors_exhausted")
