"""Settings of the process itself: where it listens, what it shows to whom, and what it writes."""

from typing import Literal

from pydantic import Field

from proxy.settings.section import Section
from proxy.settings.values import BYTES_PER_MIB, Digest, HostName, Seconds, SigningKey


class ServerSettings(Section):
    host: str = "127.0.0.1"
    """Address that the proxy listens on."""
    port: int = Field(8080, ge=0, le=65535)
    """Port that the proxy listens on. 0 takes any free port."""
    body_limit_mib: int = Field(64, ge=1, le=1024)
    """Largest request body in MiB, both as the client sends it and after decompression."""
    memory_mib: int | None = Field(None, ge=16)
    """MiB in each worker for requests under way and for remembered conversations. Default: half of the memory of the
    machine or container, divided by the number of workers, at most 2,048."""
    websocket: bool = True
    """Open a WebSocket for `GET /v1/responses`. If false, the proxy tells clients to use HTTP."""
    signing_key: SigningKey | None = None
    """Secret that signs the tokens which clients keep for the proxy. Default: derived from the backends' keys; if none
    of them is long and random, a new random one at each start."""
    heartbeat_seconds: Seconds = 15
    """Seconds of silence in a stream after which the proxy sends a heartbeat: an SSE comment, or an event for Codex,
    which gets one after at most 5 s."""
    patience_seconds: Seconds = 3
    """Seconds after which the proxy opens a stream even if the backend has not answered yet."""
    grace_seconds: float = Field(20, ge=0)
    """Seconds that open streams have to end when the operator stops the proxy."""
    workers: int = Field(1, ge=1, le=256)
    """Processes that serve the port together. They share what is stored, and limits; each has breakers and memory of
    its own."""
    stuck_seconds: Seconds = 30
    """Seconds without progress after which the supervisor kills one of several workers and starts another."""
    open: bool = False
    """Let everybody use the proxy, even if it listens beyond this machine and there are no tenants."""
    allowed_hosts: list[HostName] = []
    """Host names that requests may be for, besides those of this machine. The proxy refuses other hosts if this is set,
    and always on loopback, as long as there are no tenants and `server.open` is false."""

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory_mib is None else self.memory_mib * BYTES_PER_MIB

    @property
    def body_limit_bytes(self) -> int:
        return self.body_limit_mib * BYTES_PER_MIB


class ClientSettings(Section):
    events: Literal["auto", "extended", "standard"] = "auto"
    """Tool-call events that clients get. `auto` decides by the client and the request. The SDKs for Node, Java
    and PHP, the AI SDK and Codex get the extended events only if they ask by header."""
    item_order: Literal["sequential", "message_first"] = "sequential"
    """Order of a reply's items: strictly one after another, or one message that stays open at index 0 until the end."""


class MetricsSettings(Section):
    keys: list[Digest] = []
    """SHA-256 digests of the keys that may read `/metrics`, as `responses-proxy hash-key` prints them."""
    open: bool = False
    """Serve `/metrics` without a key. By default only on loopback, and only while there are no tenants."""


class LogSettings(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Lowest severity of the lines that the proxy writes."""
    format: Literal["auto", "console", "json"] = "auto"
    """Form of the lines. `auto` is `console` on a terminal and `json` elsewhere. In `console` a request is one readable
    line, in colours on a terminal unless NO_COLOR is set."""
