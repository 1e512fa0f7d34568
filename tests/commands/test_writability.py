"""What `check-config` tries where the proxy will write."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_where_no_file_can_be_made_is_said_before_the_start(tmp_path: Path) -> None:
    """Rights do not tell it: here no file may have a byte, as on a disk that is full."""
    config = tmp_path / "proxy.toml"
    config.write_text(f'[store]\nurl = "sqlite:{tmp_path}/new"\n', encoding="utf-8")
    checked = check_without_room(config)
    assert checked.returncode == 0, "it may be better at the start"
    assert f"; but now that does not work ({tmp_path}/new/state.db: File too large)." in checked.stdout
    config.write_text(f'[recorder]\nkeep = "all"\ndirectory = "{tmp_path}/new"\n', encoding="utf-8")
    checked = check_without_room(config)
    said = f"recorder.directory: {tmp_path}/new cannot be written: File too large\n"
    assert (checked.returncode, checked.stderr) == (2, said)
    assert [*tmp_path.iterdir()] == [config], "nothing is left of the attempts"


def check_without_room(config: Path) -> subprocess.CompletedProcess[str]:
    words = ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", sys.executable, "-m", "proxy", "check-config"]
    return subprocess.run([*words, "--config", config], cwd=ROOT, capture_output=True, text=True, check=False)
