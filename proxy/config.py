"""The settings: what they are, where they come from, and one clear line for each that is wrong.

    command line  >  environment  >  file  >  default

Each setting stands once, in a section below, with its type, default, bounds and description. `BINDINGS` lists the few
that can also be given outside the file. Nothing is guessed: an unknown key or a value of another type is an error
that names the key and the file (or the variable, or the option) it came from.
"""

import difflib
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError

from proxy.core import jsontext
from proxy.core.markup import registry
from proxy.core.outbound.profiles import DEFAULT, PROFILES, overridden
from proxy.core.outbound.target import checked

AUTO = "auto"
CONFIG_VARIABLE = "PROXY_CONFIG"

Seconds = Annotated[float, Field(gt=0)]


class ConfigError(Exception):
    """Settings that cannot be used; one line for each that is wrong."""


def _backend_url(url: str) -> str:
    checked(url)
    return url.strip()


def _profile_name(name: str) -> str:
    if name != AUTO and name not in PROFILES:
        raise ValueError(f"must be {AUTO} or one of {', '.join(sorted(PROFILES))}")
    return name


def _header_value(value: SecretStr) -> SecretStr:
    """Keys come out of files and often bring a line end; anything else unprintable would break the request."""
    text = value.get_secret_value().strip()
    if not (text.isascii() and text.isprintable()):
        raise ValueError("must be plain ASCII text without control characters")
    return SecretStr(text)


def _profile_fields(overrides: dict[str, Any]) -> dict[str, Any]:
    if "headers" in overrides:
        raise ValueError("headers belong in backend.headers, where they are kept secret")
    profile = overridden(DEFAULT, overrides)
    registry.check(profile.markup_dialects | profile.markup_without)
    return overrides


HeaderName = Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")]
HeaderValue = Annotated[SecretStr, AfterValidator(_header_value)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, use_attribute_docstrings=True)


class Server(Section):
    host: str = "127.0.0.1"
    """Address to listen on."""
    port: int = Field(8080, ge=0, le=65535)
    """Port to listen on; 0 takes any free one."""
    body_limit_mib: int = Field(64, ge=1, le=1024)
    """Largest request body, in MiB, as sent and after decompression."""
    websocket: bool = True
    """Whether `GET /v1/responses` opens a WebSocket; switched off, clients are told to use HTTP."""
    seal_key: Annotated[SecretStr, Field(min_length=16)] | None = None
    """Secret that proves what clients keep for us; not set, it is derived from the backend's URL and key."""
    heartbeat_seconds: Seconds = 15
    """Silence in a stream after which a sign of life is sent: a comment, or for Codex an event, after 5 s at most."""
    patience_seconds: Seconds = 3
    """Wait for the backend after which a stream opens anyway, so that the client sees life."""
    grace_seconds: float = Field(20, ge=0)
    """Time that open streams have to end when the proxy is asked to stop."""


class Backend(Section):
    url: Annotated[str, AfterValidator(_backend_url)] | None = None
    """Base URL of the Chat Completions server. Without it `serve` starts a demo model of its own."""
    key: HeaderValue | None = None
    """API key sent to the backend. Clients' own keys are never passed on."""
    profile: Annotated[str, AfterValidator(_profile_name)] = AUTO
    """Which known backend it is; `auto` finds out from the URL and by asking it."""
    models: dict[str, str] = {}
    """Model names that clients use, each with the backend's name for it."""
    headers: dict[HeaderName, HeaderValue] = {}
    """Fixed headers sent with every request to the backend."""
    overrides: Annotated[dict[str, Any], AfterValidator(_profile_fields)] = {}
    """Fields of the backend's profile to set by hand."""
    connect_seconds: Seconds = 10
    """Time to connect to the backend."""
    first_byte_seconds: Seconds | None = None
    """Time until the reply begins; not set, the backend's profile decides."""
    idle_seconds: Seconds = 300
    """Longest silence within a reply."""
    total_seconds: Seconds = 3600
    """Longest reply."""


class Models(Section):
    context_windows: dict[str, Annotated[int, Field(gt=0)]] = {}
    """Tokens that fit into a model, by the name that clients use; `"*"` where the backend does not tell."""
    reasoning_efforts: dict[str, list[str]] = {}
    """Levels of reasoning effort that clients may choose for a model; `"*"` for all that are not named."""


class Clients(Section):
    events: Literal["auto", "extended", "standard"] = "auto"
    """Whether clients get the extended tool-call events; `auto` decides by client and request."""
    item_order: Literal["sequential", "message_first"] = "sequential"
    """Items strictly one after another, or one message kept open at index 0 until the end."""


class BreakerSettings(Section):
    consecutive_failures: int = Field(5, ge=1)
    """Failures in a row that open the breaker."""
    failure_rate: float = Field(0.5, gt=0, le=1)
    """Share of failures that opens it, given enough requests."""
    minimum_requests: int = Field(20, ge=1)
    """Requests within the window before the share counts."""
    window_seconds: Seconds = 10
    """Window over which the share is taken."""
    open_seconds: Seconds = 5
    """First pause of the backend; it doubles with each relapse."""
    open_seconds_limit: Seconds = 60
    """Longest pause."""
    probes: int = Field(1, ge=1)
    """Requests let through at once to see whether the backend has recovered."""


class Logs(Section):
    level: Literal["debug", "info", "warning", "error"] = "info"
    """Least severe lines to write."""
    format: Literal["auto", "console", "json"] = "auto"
    """`auto` is readable on a terminal and JSON elsewhere."""


class Settings(Section):
    server: Server = Server()
    """Where the proxy listens, and for how long it waits."""
    backend: Backend = Backend()
    """What answers."""
    models: Models = Models()
    """What clients are told of the models."""
    clients: Clients = Clients()
    """What clients are shown."""
    breaker: BreakerSettings = BreakerSettings()
    """When a failing backend is left alone."""
    logs: Logs = Logs()
    """What is written to stderr."""


@dataclass(frozen=True, slots=True)
class Binding:
    """A setting that can be given without a file."""

    key: str
    option: str
    placeholder: str
    variable: str | None = None
    parse: Callable[[str], Any] = str


BINDINGS = (
    Binding("server.host", "--host", "HOST", "PROXY_HOST"),
    Binding("server.port", "--port", "PORT", "PROXY_PORT", int),
    Binding("backend.url", "--backend", "URL", "PROXY_BACKEND_URL"),
    Binding("backend.key", "--backend-key", "KEY", "PROXY_BACKEND_KEY"),
    Binding("backend.profile", "--profile", "NAME"),
    Binding("clients.events", "--events", "STYLE"),
    Binding("logs.level", "--log-level", "LEVEL"),
)


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    sources: Mapping[str, str]
    """For each key that is not the default: the file, variable or option that set it."""


def load(options: Mapping[str, str], environment: Mapping[str, str], file: str | None = None) -> Loaded:
    """`options` by their name on the command line. An empty variable is an unset one, as containers make them."""
    path = file or environment.get(CONFIG_VARIABLE) or None
    tree: dict[str, Any] = _read(path) if path else {}
    sources = dict.fromkeys(_keys(tree), path) if path else {}
    for given, name_of in ((environment, "variable"), (options, "option")):
        for binding in BINDINGS:
            name = getattr(binding, name_of)
            if name and (text := given.get(name)):
                _put(tree, binding, text, name)
                sources[binding.key] = name
    try:
        return Loaded(Settings.model_validate(tree), sources)
    except ValidationError as error:
        raise ConfigError("\n".join(_complaints(error, sources, path))) from None


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not a text file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from None


def _keys(tree: Mapping[str, Any]) -> Iterator[str]:
    for section, content in tree.items():
        if isinstance(content, dict):
            yield from (f"{section}.{name}" for name in content)


def _put(tree: dict[str, Any], binding: Binding, text: str, source: str) -> None:
    section, name = binding.key.split(".")
    try:
        value = binding.parse(text)
    except ValueError:
        raise ConfigError(f"{source}: must be a whole number, not {text!r}") from None
    content = tree.setdefault(section, {})
    if isinstance(content, dict):
        content[name] = value


def _complaints(error: ValidationError, sources: Mapping[str, str], path: str | None) -> Iterator[str]:
    for wrong in error.errors(include_url=False, include_input=False):
        where = [str(step) for step in wrong["loc"]]
        key = ".".join(where)
        source = sources.get(".".join(where[:2]), path)
        if wrong["type"] == "extra_forbidden":
            yield f"{source}: unknown key {key}{_suggestion(key)}"
        elif source and source != path:
            yield f"{source}: {_wording(wrong)}"
        else:
            yield f"{source}: {key}: {_wording(wrong)}"


def _wording(wrong: Any) -> str:
    if wrong["type"] == "model_type":
        return "must be a table"
    message: str = wrong["msg"]
    return message.removeprefix("Value error, ").replace("Input should be", "must be", 1)


def _suggestion(key: str) -> str:
    near = difflib.get_close_matches(key, [*Settings.model_fields, *all_settings()], n=1)
    return f" (did you mean {near[0]}?)" if near else ""


def all_settings() -> dict[str, str]:
    """Every setting there is, as section.name, with its description."""
    return {
        f"{section}.{name}": setting.description or ""
        for section, field in Settings.model_fields.items()
        for name, setting in field.annotation.model_fields.items()  # type: ignore[union-attr]
    }


def describe(loaded: Loaded) -> Iterator[str]:
    """All settings as the lines of a TOML file: secrets masked, and where each came from if it is no default."""
    for section in Settings.model_fields:
        yield f"[{section}]"
        for name, value in getattr(loaded.settings, section):
            source = loaded.sources.get(f"{section}.{name}")
            comment = f"  # {source}" if source else ""
            yield f"# {name} is not set" if value is None else f"{name} = {_toml(value)}{comment}"
        yield ""


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        pairs = (f"{_toml(str(key))} = {_toml(inner)}" for key, inner in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    plain = str(value) if isinstance(value, SecretStr) else value
    return jsontext.compact(plain).replace("\x7f", "\\u007f")  # the one character that JSON writes otherwise
