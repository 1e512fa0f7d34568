"""The wheel: built, installed beside its packages in an environment of its own, and run there."""

import shutil
import signal
import zipfile
from pathlib import Path

import aiohttp
import pytest

import proxy
from tests.deploy.dockerfile import Stage, copied
from tests.deploy.tools import said_by, tool
from tests.support.processes import ROOT
from tests.support.programs import started

EXTRAS = "postgres,redis,sealed,otel"
"""As the page on deployment names them; their packages are in the lock, too."""
SOURCES = ("pyproject.toml", "README.md", "LICENSE")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of a copy of the sources, because setuptools writes beside them."""
    folder = tmp_path_factory.mktemp("sources")
    shutil.copytree(ROOT / "proxy", folder / "proxy", ignore=shutil.ignore_patterns("__pycache__"))
    for name in SOURCES:
        shutil.copy(ROOT / name, folder)
    said_by(
        tool("python"), "-m", "pip", "wheel", "--quiet", "--no-index", "--no-deps", "--no-build-isolation",
        "--wheel-dir", folder, folder,
    )  # fmt: skip
    (wheel,) = folder.glob("*.whl")
    return wheel


def test_it_has_every_module_and_the_files_of_the_page_and_nothing_besides(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as packed:
        names = {name for name in packed.namelist() if ".dist-info/" not in name}
    expected = [*(ROOT / "proxy").rglob("*.py"), *(ROOT / "proxy" / "shell" / "inspector" / "page").iterdir()]
    assert names == {str(path.relative_to(ROOT)) for path in expected if path.is_file()}


async def test_it_runs_where_it_was_installed(wheel: Path, image: Stage, tmp_path: Path) -> None:
    """The packages of the lock are all that it asks for."""
    place = tmp_path / "installed"
    copied(Path(image.here("/venv")), place)
    python, program = place / "bin" / "python", place / "bin" / "responses-proxy"
    said_by(python, "-m", "pip", "install", "--quiet", "--no-index", f"{wheel}[{EXTRAS}]")
    said_by(python, "-m", "pip", "check")
    assert said_by(program, "--version") == f"responses-proxy {proxy.__version__}\n"
    kept = {"STATE_DIRECTORY": str(tmp_path / "state"), "PYTHONPATH": ""}
    async with started(program, "serve", "--port", "0", cwd=tmp_path, env=kept) as running:
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"{running.url}/v1/responses", json={"model": "demo", "input": "Hello"}) as response,
        ):
            answer = await response.json()
        assert (answer["status"], answer["store"]) == ("completed", True)
        running.signal(signal.SIGTERM)
        assert await running.ended() == 0
    assert (tmp_path / "state" / "state.db").exists()
