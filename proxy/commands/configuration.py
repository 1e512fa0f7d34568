"""`responses-proxy check-config` and `show-config`."""

import argparse
import os

from proxy import watchers
from proxy.commands import store_finding
from proxy.commands.backend_or_demo import DEMO_ANSWERS
from proxy.commands.command import DONE, Command, add_settings, read_settings, run
from proxy.commands.writability import try_to_write
from proxy.process import SettingsRefused
from proxy.settings.loading import describe, misspelt
from proxy.settings.root import Settings
from proxy.traces import check_otel


def check_config(wanted: argparse.Namespace) -> int:
    """The settings were checked when they were read; here it is asked whether this machine agrees."""
    return run(_check(read_settings(wanted).settings))


async def _check(settings: Settings) -> int:
    check_otel(settings.otel)
    recorded = ""
    if directory := watchers.recordings(settings.recorder):
        try:
            try_to_write(directory.absolute())
        except OSError as error:
            raise SettingsRefused(
                f"recorder.directory: {directory} cannot be written: {error.strerror}"
            ) from error
        recorded = f" Requests are recorded in {directory} (recorder.keep)."
    demo = "" if settings.all_backends else f" {DEMO_ANSWERS}"
    print(f"The settings are valid. With them, {await store_finding.proved(settings)}.{recorded}{demo}")
    for name, meant in misspelt(os.environ):
        print(f"{name} is no variable of the proxy's, and was not read (did you mean {meant}?)")
    return DONE


def show_config(wanted: argparse.Namespace) -> int:
    loaded = read_settings(wanted)
    print("\n".join(describe(loaded)))
    return DONE


CHECK = Command("Check the settings, and print what is wrong.", check_config, add_settings)
SHOW = Command(
    "Print all settings as TOML, with secrets masked, and where each came from.", show_config, add_settings
)
