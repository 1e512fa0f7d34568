"""What is put under load: the proxy as people run it, the copying one, and LiteLLM for whoever has it."""

import hashlib
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.load.process import Server, python
from tests.load.requests import KEY
from tests.support.processes import free_port

SETTINGS = """
[server]
workers = {workers}
[store]
url = "{store}"
[background]
limit = 1000
[backend]
url = "{backend}/v1"
profile = "vllm"
[breaker]
consecutive_failures = 25
minimum_requests = 200
open_seconds = 0.5
open_seconds_limit = 0.5
[metrics]
open = true
[inspector]
keys = ["{inspectors}"]
[tenants.load]
keys = ["{digest}"]
"""
"""With everything that costs: keys, validation, markup, metrics, inspector, log lines. The breaker is more patient
than by default, since here a fifth of the answers is bad, and a backend dies every few seconds."""

LITELLM_MODELS = """
model_list:
  - model_name: "*"
    litellm_params: {{model: "deepseek/*", api_base: "{backend}/v1", api_key: none}}
"""
"""As a vendor whose Chat Completions it translates; of others it passes Responses on as they are."""

LITELLM_ENVIRONMENT = {
    "LITELLM_LOG": "ERROR",
    "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true",  # on loopback, and for its own good
}
"""A check of keys would only cost it time."""


@contextmanager
def backend(core: int | None = None) -> Iterator[Server]:
    """On a port that it keeps when it is started anew."""
    port = free_port()
    with Server(*python("tests.load.backend", str(port)), core=core) as server:
        yield server


@contextmanager
def proxy(
    backend: str,
    core: int | None = None,
    workers: int = 1,
    store: str = "off",
    under: Sequence[str] = (),
) -> Iterator[Server]:
    """`store`: the URL of what is kept. `under`: the program that runs it, and looks on."""
    with _serving(backend, store, workers, "proxy", core, under) as server:
        yield server


@contextmanager
def keeping(backend: str, store: Path, program: str = "proxy") -> Iterator[Server]:
    """Two workers on one store. `program`: or one with shorter leases."""
    with _serving(backend, f"sqlite:{store}", 2, program, None) as server:
        yield server


@contextmanager
def _serving(
    backend: str, store: str, workers: int, program: str, core: int | None, under: Sequence[str] = ()
) -> Iterator[Server]:
    digest = hashlib.sha256(KEY.encode()).hexdigest()
    with tempfile.NamedTemporaryFile("w", suffix=".toml", encoding="utf-8") as file:
        inspectors = hashlib.sha256(b"looks at all").hexdigest()
        file.write(
            SETTINGS.format(
                backend=backend, digest=digest, inspectors=inspectors, store=store, workers=workers
            )
        )
        file.flush()
        command = [*under, *python(program, "serve", "--port", "0", "--config", file.name)]
        with Server(*command, core=core) as server:
            yield server


@contextmanager
def copying(backend: str, core: int | None = None, under: Sequence[str] = ()) -> Iterator[Server]:
    with Server(*under, *python("tests.load.copying", backend), core=core) as server:
        yield server


def has_litellm(python: str) -> bool:
    return subprocess.run([python, "-c", "import litellm.proxy"], capture_output=True).returncode == 0


@contextmanager
def litellm(python: str, backend: str, core: int | None = None) -> Iterator[Server]:
    """One worker, no key check, no database."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")
        config.write_text(LITELLM_MODELS.format(backend=backend), encoding="utf-8")
        script = "from litellm.proxy.proxy_cli import run_server; run_server()"
        command = [python, "-c", script, "--config", config, "--host", "127.0.0.1", "--port", str(port)]
        url = f"http://127.0.0.1:{port}"
        with Server(*command, core=core, url=url, **LITELLM_ENVIRONMENT) as server:
            yield server
