"""`responses-proxy replay`: a recorded exchange once more, and what is not as it was."""

import argparse
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, get_args

from proxy.commands.command import DONE, FAILED, MISUSED, CannotRun, Command, run, show, tell
from proxy.commands.recorded_backend import LOCAL, serve
from proxy.core import jsontext
from proxy.core.backends.profiles import PROFILES
from proxy.core.errors import Fault
from proxy.core.recorded.cuts import Cut
from proxy.core.recorded.difference import differences, differences_of_posts
from proxy.core.recorded.lines import BadRecording, read
from proxy.core.recorded.outline import outline
from proxy.core.recorded.recording import Recording
from proxy.core.recorded.replay import OK, How, Replayed, replay
from proxy.core.recorded.transcript import NoTranscript, transcript
from proxy.core.recorded.translation import NoTranslation, OtherSurface, translated

PURPOSE = "Replay a recorded exchange, and print its events and what is not as it was recorded."

MOST_BYTES = 256 << 20

MOST_PORT = 65_535

CUTTINGS = 10
"""How many times the bytes are cut at random."""

CLIENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "default": {},
    "codex": {"originator": "codex_cli_rs"},
    "openai-sdk": {"user-agent": "OpenAI/Python", "x-stainless-lang": "python"},
    "openai-node": {"user-agent": "OpenAI/JS", "x-stainless-lang": "js"},
    "openai-java": {"user-agent": "OpenAI/Java", "x-stainless-lang": "java"},
    "ai-sdk": {"user-agent": "ai-sdk"},
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="A recording, as the recorder has written it."
    )
    parser.add_argument(
        "--cut",
        choices=[cut for cut in get_args(Cut) if cut != "recorded"],
        help="Cut the backend's bytes otherwise: byte by byte, at random, or not at all. The events must not change.",
    )
    parser.add_argument(
        "--profile", choices=sorted(PROFILES), metavar="NAME", help="What if the backends had this profile?"
    )
    parser.add_argument(
        "--surface",
        choices=get_args(OtherSurface),
        help="What if the client had come by this surface? Says what cannot be asked there, and in what the backend is "
        "asked otherwise.",
    )
    parser.add_argument("--client", choices=sorted(CLIENTS), help="What if this client had asked?")
    parser.add_argument(
        "--serve",
        nargs="?",
        const=0,
        type=port,
        metavar="PORT",
        help="Play the backend's side on this machine, at its own tempo, for any client. Default: on a free port.",
    )
    parser.add_argument(
        "--transcript", metavar="NAME", help="Write a pair of files for the tests, NAME.sse and NAME.jsonl."
    )
    parser.add_argument("--quiet", action="store_true", help="Print no events, only what differs.")


def port(text: str) -> int:
    if text.isdecimal() and int(text) <= MOST_PORT:
        return int(text)
    raise argparse.ArgumentTypeError(
        f"{text!r} is no port. FILE stands before --serve, or as --serve=PORT FILE"
    )


def replayed(wanted: argparse.Namespace) -> int:
    try:
        recording = _read(wanted.file)
        if wanted.serve is not None:
            return run(_serve(recording, wanted.serve))
        if wanted.transcript:
            return _write_transcript(recording, wanted.transcript)
        if wanted.surface:
            return _by_surface(recording, wanted)
        return _replay(recording, wanted)
    except BrokenPipeError:
        raise
    except OSError as error:
        tell(f"{error.filename or wanted.file}: {error.strerror or error}.")
        return FAILED
    except (BadRecording, NoTranscript, NoTranslation, Fault) as error:
        tell(f"{wanted.file}: {error}")
        return FAILED


def _read(file: Path) -> Recording:
    if file.stat().st_size > MOST_BYTES:
        raise BadRecording(f"The file is larger than {MOST_BYTES >> 20} MiB, which no recording is.")
    return read(file.read_bytes())


async def _serve(recording: Recording, number: int) -> int:
    try:
        return await serve(recording, number)
    except OSError as error:
        reason = os.strerror(error.errno or 0)
        raise CannotRun(f"Cannot listen on {LOCAL}:{number}: {reason}. Choose another.") from error


def _replay(recording: Recording, wanted: argparse.Namespace) -> int:
    found: list[str] = []
    for number, how in enumerate(_hows(wanted)):
        again = replay(recording, how)
        if number == 0 and not wanted.quiet:
            _print_events(again)
        found = differences(recording, again, cut=how.cut != "recorded")
        if found:
            break
    if recording.cut:
        tell("The recording is not whole: there was no room for all of it, or a key was spelled out in it.")
    if recording.covered:
        tell("A key was told in it in many pieces, and has an x for each of its letters now.")
    show("\n".join(found) if found else "Identical to what was recorded.")
    return FAILED if found else DONE


def _by_surface(recording: Recording, wanted: argparse.Namespace) -> int:
    """Two clients hear the same in other words, so what is compared is the way to the backend."""
    told = translated(recording, wanted.surface)
    how = next(_hows(wanted))
    again = replay(told.recording, how)
    if not wanted.quiet:
        _print_events(again)
    for words in told.lost:
        show(f"Lost: {words}")
    found = differences_of_posts(replay(recording, how).posts, again.posts)
    show("\n".join(found) if found else "The backend is asked the same.")
    return FAILED if found or told.lost or again.status != OK else DONE


def _hows(wanted: argparse.Namespace) -> Iterator[How]:
    cut: Cut = wanted.cut or "recorded"
    profile = PROFILES[wanted.profile] if wanted.profile else None
    headers = CLIENTS[wanted.client] if wanted.client else None
    for seed in range(CUTTINGS if cut == "random" else 1):
        yield How(cut, seed, profile, headers)


def _print_events(again: Replayed) -> None:
    for event in outline(again.frames):
        show(jsontext.compact(event))
    if again.answer is not None:
        show(jsontext.compact({"status": again.status, "answer": again.answer}))
    if again.outside:
        tell(
            "It was refused by what a recording does not hold: limits, the store, or what stands at the door."
        )


def _write_transcript(recording: Recording, name: str) -> int:
    files = {Path(path): data for path, data in transcript(recording).files(name).items()}
    if there := [str(path) for path in files if path.exists()]:
        tell(f"There is a file of this name already: {', '.join(there)}.")
        return MISUSED
    for path, data in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        print(path)
    tell("Say in tests/transcripts/index.json why it is there:")
    tell(jsontext.compact({name.removeprefix("tests/transcripts/"): {"ids": [], "why": ""}}))
    return DONE


COMMAND = Command(PURPOSE, replayed, add_options)
