"""The surfaces that the contract is run through."""

from collections.abc import Mapping

from tests.contract.chat import Chat
from tests.contract.native import Native
from tests.contract.responses import Responses
from tests.contract.surfaces import Surface

SURFACES: Mapping[str, Surface] = {"responses": Responses(), "chat": Chat(), "native": Native()}
