"""`responses-proxy replay`: what it prints, and with which code it ends."""

import socket
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.core.recorded.lines import written
from tests.support.recordings import HELLO, as_it_is, attempt, fault, recording
from tests.support.replies import REQUEST


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "a.recording.jsonl"
    path.write_bytes(written(as_it_is(recording())))
    return path


def test_what_is_as_it_was(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(file)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[0].startswith('{"type":"response.created"')
    assert told[-1] == "Identical to what was recorded."


@pytest.mark.parametrize("cut", ["bytes", "random", "whole"])
def test_cuts_do_not_matter(file: Path, cut: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(file), "--cut", cut, "--quiet"]) == 0
    assert capsys.readouterr().out == "Identical to what was recorded.\n"


def test_what_if_it_were_otherwise(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", str(file), "--profile", "anthropic", "--quiet"]) == 1
    assert "-{'type': 'response.completed'" in capsys.readouterr().out.replace("- {", "-{")
    assert main(["replay", str(file), "--client", "codex", "--quiet"]) == 0


def test_what_differs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = as_it_is(recording())
    made.attempts[0].reads[0] = (0.1, HELLO[0].replace(b"Hel", b"Yel"))
    made.cut = True
    path = tmp_path / "b"
    path.write_bytes(written(made))
    assert main(["replay", str(path)]) == 1
    told = capsys.readouterr()
    assert "Yello" in told.out
    assert "not whole" in told.err


def test_an_answer_and_a_refusal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "c"
    path.write_bytes(
        written(
            recording(
                {"model": "m", "input": "Hi"}, [], status=404, end={"fault": fault("NotFound", status=404)}
            )
        )
    )
    assert main(["replay", str(path)]) == 0
    told = capsys.readouterr()
    assert '"status":404' in told.out
    assert "does not hold" in told.err


def test_what_is_no_recording(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "d"
    path.write_bytes(b"{}")
    assert main(["replay", str(path)]) == 1
    assert "no recording" in capsys.readouterr().err
    assert main(["replay", str(tmp_path / "nowhere")]) == 1
    monkeypatch.setattr("proxy.commands.replay.MOST_BYTES", 1)
    assert main(["replay", str(path)]) == 1
    assert "larger" in capsys.readouterr().err


def test_a_test_is_made_of_it(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = str(tmp_path / "calls" / "new")
    assert main(["replay", str(file), "--transcript", name]) == 0
    assert Path(f"{name}.sse").read_bytes() == b"".join(HELLO)
    assert main(["replay", str(file), "--transcript", name]) == 2
    assert "already" in capsys.readouterr().err
    path = tmp_path / "e"
    path.write_bytes(written(recording(attempts=[attempt(status=503)])))
    assert main(["replay", str(path), "--transcript", name]) == 1


def test_what_if_it_had_come_by_another_surface(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["replay", str(file), "--surface", "chat"]) == 0
    told = capsys.readouterr().out.splitlines()
    assert '"chat.completion.chunk"' in told[0]
    assert told[-1] == "The backend is asked the same."
    custom = tmp_path / "custom"
    custom.write_bytes(written(recording(REQUEST | {"tools": [{"type": "custom", "name": "run"}]})))
    assert main(["replay", str(custom), "--surface", "chat", "--quiet"]) == 1
    assert capsys.readouterr().out.startswith("Lost: Tools that are no functions")
    assert main(["replay", str(file), "--surface", "responses"]) == 1
    assert "had come by this surface" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (["{file}x"], "{file}x: No such file or directory."),
        (["{folder}"], "{folder}: Is a directory."),
        (["{file}", "--transcript", "{file}/x"], "{file}: File exists."),
        (["{file}", "--serve={taken}"], "Cannot listen on 127.0.0.1:{taken}: Address already in use. Choose another."),
    ],
)  # fmt: skip
def test_what_the_machine_refuses_is_said_once(
    file: Path, said: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        names = {"file": file, "folder": file.parent, "taken": server.getsockname()[1]}
        assert main(["replay", *(word.format(**names) for word in said)]) == 1
    assert capsys.readouterr().err == f"{words.format(**names)}\n"


@pytest.mark.parametrize("port", ["abc", "99999", "a.recording.jsonl"])
def test_no_port_is_refused_and_none_is_chosen_in_its_place(
    file: Path, port: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(file), "--serve", port])
    assert ended.value.code == 2
    assert f"'{port}' is no port. FILE stands before --serve" in capsys.readouterr().err


def test_any_other_file_is_no_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "README.md"
    path.write_text("# A title\n", encoding="utf-8")
    assert main(["replay", str(path)]) == 1
    assert f"{path}: This is no recording of responses-proxy" in capsys.readouterr().err
