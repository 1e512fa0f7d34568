"""`responses-proxy hash-key`: a tenant's key, as the configuration holds it."""

import argparse
import secrets
import sys
from getpass import getpass

from proxy.commands.command import DONE, MISUSED, Command, tell
from proxy.core import tenants

PURPOSE = "Print the SHA-256 digest of a tenant's key, as the configuration holds it."
KEY_BYTES = 32


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--new", action="store_true", help="Make a random key, and print it before its digest."
    )


def hash_key(wanted: argparse.Namespace) -> int:
    """The command asks for the key. An argument would stand in the shell's history and in the list of processes."""
    if wanted.new:
        key = f"sk-proxy-{secrets.token_urlsafe(KEY_BYTES)}"
        print(key)
    else:
        key = getpass("Key: ") if sys.stdin.isatty() else sys.stdin.readline()
    if not (key := key.strip()):
        tell("There is no key to hash. Type one, pipe one in, or let one be made: hash-key --new")
        return MISUSED
    print(tenants.digest(key))
    return DONE


COMMAND = Command(PURPOSE, hash_key, add_options)
