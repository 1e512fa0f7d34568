"""`responses-proxy doctor`: asks backends what they really can, and compares it with what their profiles assume."""

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlsplit

import proxy
from proxy import app
from proxy.commands.backend_or_demo import DEMO_ANSWERS, with_backend
from proxy.commands.command import (
    DONE,
    FAILED,
    CannotRun,
    Command,
    add_settings,
    read_settings,
    run,
    show,
    tell,
)
from proxy.commands.progress import telling
from proxy.configured import catalog_of, discovery_of, secrets_of, timeouts_of
from proxy.core import jsontext
from proxy.core.backends.model_rules import profile_of
from proxy.core.catalog import ServedModel
from proxy.core.errors import Fault
from proxy.core.examination import report
from proxy.core.examination.examination import Examination
from proxy.core.masking.secrets import Secrets
from proxy.settings.backends import BackendSettings
from proxy.settings.root import ONLY, Settings
from proxy.settings.toml_text import toml_table
from proxy.shell.discovery import Discovery
from proxy.shell.examiner import Examiner
from proxy.shell.http.upstream import Upstream
from proxy.shell.ops.logs import Log

PURPOSE = (
    "Ask backends what they really can, and compare it with what the proxy assumes. The exit code is 1 if something is "
    "worse than assumed."
)
HINT = "To print these findings as settings: --write"


def add_options(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "backends", nargs="*", metavar="NAME", help="Names of configured backends. Default: all of them."
    )
    parser.add_argument(
        "--model",
        metavar="NAME",
        help="Model that is asked. Default: the first that is configured or listed.",
    )
    parser.add_argument(
        "--tokens", type=positive, metavar="N", help="Use at most so many tokens of each backend."
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument(
        "--write",
        action="store_true",
        help="Print the settings that follow, as TOML, and the table to stderr.",
    )
    output.add_argument("--json", action="store_true", help="Print the findings as JSON.")


def positive(text: str) -> int:
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, not {text!r}")


@dataclass(frozen=True, slots=True)
class Examined:
    """One backend with its findings."""

    name: str
    settings: BackendSettings
    examination: Examination

    @property
    def overrides(self) -> Mapping[str, Any]:
        """What is set by hand already, and what was found."""
        return {**self.settings.overrides, **self.examination.overrides}

    @property
    def table(self) -> Sequence[str]:
        """Where these settings stand."""
        return ("backend", "overrides") if self.name == ONLY else ("backends", self.name, "overrides")

    @property
    def written(self) -> Mapping[str, Any]:
        return {name: report.plain(value) for name, value in self.overrides.items()}


def doctor(wanted: argparse.Namespace) -> int:
    return run(_doctor(read_settings(wanted).settings, wanted))


async def _doctor(settings: Settings, wanted: argparse.Namespace) -> int:
    if not settings.all_backends:
        tell(DEMO_ANSWERS)
    log = app.start_log(_quiet(settings))
    async with with_backend(settings) as (settings, _):
        hidden = Secrets(secrets_of(settings)).hidden
        upstream = Upstream(proxy.__version__)
        try:
            examined = [
                await _examined(name, settings, upstream, wanted, log)
                for name in _named(settings, wanted.backends)
            ]
        finally:
            await upstream.close()
    for line in _findings(examined, wanted):
        (tell if wanted.write else show)(hidden(line))
    for line in _settings(examined) if wanted.write else ():
        print(hidden(line))
    return FAILED if any(each.examination.is_worse for each in examined) else DONE


def _quiet(settings: Settings) -> Settings:
    """What the log tells of every start is no finding."""
    return settings.model_copy(update={"logs": settings.logs.model_copy(update={"level": "warning"})})


def _named(settings: Settings, names: Sequence[str]) -> Sequence[str]:
    for name in names:
        if name not in settings.all_backends:
            there_are = ", ".join(settings.all_backends)
            raise CannotRun(f"There is no backend {name!r}. There are: {there_are}")
    return list(dict.fromkeys(names)) or list(settings.all_backends)


async def _examined(
    name: str, settings: Settings, upstream: Upstream, wanted: argparse.Namespace, log: Log
) -> Examined:
    backend = settings.all_backends[name]
    discovery = discovery_of(name, backend, catalog_of(settings), upstream, time.monotonic, log)
    target = await discovery.target()
    served = await discovery.models()
    if wanted.model is None and not served:
        raise CannotRun(f"{name}: {await _why_no_models(discovery)} To name one: --model NAME")
    model = _model(settings, wanted.model, served)
    real_name = target.models.get(model.name, model.name)
    target = replace(target, profile=profile_of(target, real_name))
    examination = Examination(target, real_name, window=model.window, tokens=wanted.tokens)
    where = urlsplit(target.base_url)._replace(query="").geturl()
    tell(
        f"Asks {real_name} at {where} ({name}, profile {target.profile.name}): at most "
        f"{examination.most_questions} requests and {examination.most_tokens} tokens."
    )
    examiner = Examiner(upstream, partial(timeouts_of, backend), time.monotonic)
    try:
        async with telling(partial(_doing, examination)):
            await examiner.examine(examination)
    except Fault as fault:
        raise CannotRun(f"{name}: {fault.message} It was asked at {where}.") from fault
    return Examined(name, backend, examination)


def _doing(examination: Examination) -> str:
    return f"{examination.asked + 1} of at most {examination.most_questions} requests: {examination.doing}"


async def _why_no_models(discovery: Discovery) -> str:
    try:
        status = await discovery.list_status()
    except Fault as fault:
        return f"there is no list of models at {discovery.list_url}: {fault.message}"
    return f"{discovery.list_url} answers with HTTP {status}, and lists no models."


def _model(settings: Settings, wanted: str | None, served: Sequence[ServedModel]) -> ServedModel:
    if wanted is None:
        return served[0]
    real_name = settings.routing.aliases.get(wanted, wanted)
    return next((each for each in served if each.name == real_name), ServedModel(real_name))


def _findings(examined: Sequence[Examined], wanted: argparse.Namespace) -> Iterator[str]:
    if wanted.json:
        yield jsontext.compact([_as_data(each) for each in examined])
        return
    for each in examined:
        yield from report.table(each.examination.rows)
        yield from ("", _summary(each), "")
    if not wanted.write and any(each.examination.overrides for each in examined):
        yield HINT


def _settings(examined: Sequence[Examined]) -> Iterator[str]:
    for each in examined:
        if each.examination.overrides:
            yield from toml_table(each.table, each.written)


def _summary(each: Examined) -> str:
    examination = each.examination
    used = f"{examination.asked} request{'s' * (examination.asked != 1)}, about {examination.tokens} tokens"
    return f"{each.name}: {report.summary(examination.rows)}. {used}."


def _as_data(each: Examined) -> dict[str, Any]:
    examination = each.examination
    return {
        "backend": each.name,
        "profile": examination.case.assumed.name,
        "model": examination.model,
        "requests": examination.asked,
        "tokens": examination.tokens,
        "worse": examination.is_worse,
        "rows": [report.as_data(row) for row in examination.rows],
        "overrides": each.written,
    }


COMMAND = Command(PURPOSE, doctor, add_options)
