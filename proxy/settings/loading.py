"""Where the settings come from, and one clear line for each that is wrong.

    command line  >  environment  >  file  >  default

`BINDINGS` lists the few that can also be given outside the file. Nothing is guessed: an unknown key or a value of
another type is an error that names the key and the file (or the variable, or the option) it came from.
"""

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import SecretStr, ValidationError
from pydantic.fields import FieldInfo

from proxy.settings.descriptions import descriptions
from proxy.settings.root import Settings
from proxy.settings.section import Section
from proxy.settings.toml_text import toml_key, toml_value

PREFIX = "PROXY_"
CONFIG_VARIABLE = f"{PREFIX}CONFIG"


class ConfigError(Exception):
    """Settings that cannot be used; one line for each that is wrong."""


def _switch(text: str) -> bool:
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    if text.lower() not in words:
        raise ValueError(f"must be true or false, not {text!r}")
    return words[text.lower()]


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"must be a whole number, not {text!r}") from None


def _secrets(text: str) -> list[SecretStr]:
    """Such as openssl makes: none has a space or a comma in it."""
    secrets = [SecretStr(secret) for secret in text.replace(",", " ").split()]
    if not secrets:
        raise ValueError("must have at least one key, or not be set")
    return secrets


@dataclass(frozen=True, slots=True)
class Binding:
    """A setting that can be given without a file."""

    key: str
    option: str | None
    """None for a secret: all users of a machine can read its command lines."""
    placeholder: str
    variable: str | None = None
    parse: Callable[[str], Any] = str


BINDINGS = (
    Binding("server.host", "--host", "HOST", "PROXY_HOST"),
    Binding("server.port", "--port", "PORT", "PROXY_PORT", _number),
    Binding("server.workers", "--workers", "N", "PROXY_WORKERS", _number),
    Binding("server.open", "--open", "true|false", "PROXY_OPEN", _switch),
    Binding("server.signing_key", None, "", "PROXY_SIGNING_KEY"),
    Binding("backend.url", "--backend", "URL", "PROXY_BACKEND_URL"),
    Binding("backend.key", "--backend-key", "KEY", "PROXY_BACKEND_KEY"),
    Binding("backend.profile", "--profile", "NAME"),
    Binding("store.url", "--store", "URL", "PROXY_STORE_URL"),
    Binding("store.keys", None, "", "PROXY_STORE_KEYS", _secrets),
    Binding("live.url", "--live", "URL", "PROXY_LIVE_URL"),
    Binding("clients.events", "--events", "STYLE"),
    Binding("logs.level", "--log-level", "LEVEL"),
    Binding("logs.format", "--log-format", "FORM"),
)


@dataclass(frozen=True, slots=True)
class Loaded:
    settings: Settings
    sources: Mapping[str, str]
    """For each key that is not the default: the file, variable or option that set it."""


def load(options: Mapping[str, str], environment: Mapping[str, str], file: str | None = None) -> Loaded:
    """`options` are by their names on the command line. An empty variable counts as unset, because containers make such
    ones."""
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


def misspelt(environment: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yields variables that are not read, each with the one that was probably meant. Others are not ours."""
    known = [CONFIG_VARIABLE, *(binding.variable for binding in BINDINGS if binding.variable)]
    for name in environment:
        if name.startswith(PREFIX) and name not in known:
            import difflib  # whoever writes it right does without

            yield from ((name, near) for near in difflib.get_close_matches(name, known, n=1, cutoff=0.85))


def _read(path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not a text file in UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path}: is not valid TOML: {error}") from None


def _keys(tree: Mapping[str, Any]) -> Iterator[str]:
    """Yields the keys of all settings: of two steps, or of three where tables have names of their own."""
    for section, content in tree.items():
        if not isinstance(content, dict):
            continue
        for name, inner in content.items():
            yield f"{section}.{name}"
            if isinstance(inner, dict):
                yield from (f"{section}.{name}.{key}" for key in inner)


def _put(tree: dict[str, Any], binding: Binding, text: str, source: str) -> None:
    section, name = binding.key.split(".")
    try:
        value = binding.parse(text)
    except ValueError as error:
        raise ConfigError(f"{source}: {error}") from None
    content = tree.setdefault(section, {})
    if isinstance(content, dict):
        content[name] = value


def _complaints(error: ValidationError, sources: Mapping[str, str], path: str | None) -> Iterator[str]:
    for wrong in error.errors(include_url=False, include_input=False):
        where = [str(step) for step in wrong["loc"] if step != NAME_ITSELF]
        key, complaint = ".".join(map(toml_key, where)), _wording(wrong)
        if not where:  # settings that are right by themselves, but not together: the complaint names them
            key, _, words = complaint.partition(": ")
            source = sources.get(key)
            yield f"{source}: {words}" if source and source != path else f"{path or 'settings'}: {complaint}"
            continue
        source = sources.get(".".join(where[:2]), path)
        if key in RENAMED:
            yield f"{source}: {key} is called {RENAMED[key]} now: rename it"
        elif wrong["type"] == "extra_forbidden":
            yield f"{source}: unknown key {key}{_suggestion(where)}"
        elif source and source != path:
            yield f"{source}: {complaint}"
        else:
            yield f"{source}: {key}: {complaint}"


RENAMED = {"server.seal_key": "server.signing_key"}

NAME_ITSELF = "[key]"
"""pydantic's last step to a name that is wrong, instead of what stands under it."""

WORDINGS = {
    "model_type": "must be a table",
    "dict_type": "must be a table",
    "list_type": "must be an array",
    "string_type": "must be text in quotes",
    "int_type": "must be a whole number, without quotes",
    "float_type": "must be a number, without quotes",
    "bool_type": "must be true or false, without quotes",
    "missing": "must be set",
    "too_short": "must not be empty",
}
"""Our words for complaints of pydantic that speak of Python."""


def _wording(wrong: Any) -> str:
    if wrong["type"] == "model_type" and len(wrong["loc"]) > 1:  # as only tables have that lie in others
        return f"must be a table with a name of its own, as in [{wrong['loc'][0]}.NAME]"
    if wrong["type"] in WORDINGS:
        return WORDINGS[wrong["type"]]
    message: str = wrong["msg"]
    return message.removeprefix("Value error, ").replace("Input should be", "must be", 1)


def _suggestion(where: list[str]) -> str:
    """Suggests a setting of a similar name in the same table, or says which there are. Where a table has a name of its
    own, it stands under that name."""
    import difflib  # whoever writes it right does without

    *tables, name = where
    if tables:
        table = ".".join([*tables, ""])
        keys = [key.replace(".NAME.", f".{where[1]}.") for key in all_settings()]
        there = [key.removeprefix(table) for key in keys if key.startswith(table)]
        near = [table + key for key in difflib.get_close_matches(name, there, n=1)]
    else:
        there = [*Settings.model_fields]
        near = difflib.get_close_matches(name, there, n=1)
        near = near or [key for key in all_settings() if key.endswith(f".{name}")]
    return f" (did you mean {near[0]}?)" if near else f" (there are {', '.join(there)})"


def sections() -> Iterator[tuple[str, type[Section]]]:
    """Yields each section with the name of its table; `NAME` stands for any name."""
    for name, field in Settings.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, Section):
            yield name, field.annotation
        else:
            _, inner = get_args(field.annotation)
            yield f"{name}.NAME", inner


def all_settings() -> dict[str, str]:
    """Returns every setting by its key, with its description, and with its possible words if there are only some."""
    return {
        f"{section}.{name}": " ".join([described.get(name, ""), *_choice(setting)])
        for section, kind in sections()
        for described in (descriptions(kind),)
        for name, setting in kind.model_fields.items()
    }


def _choice(setting: FieldInfo) -> Iterator[str]:
    for kind in (setting.annotation, *get_args(setting.annotation)):
        if get_origin(kind) is Literal:
            yield f"One of {', '.join(map(_toml, get_args(kind)))}."


def describe(loaded: Loaded) -> Iterator[str]:
    """Returns all settings as the lines of a TOML file: secrets masked, and with the source of each that is not the
    default."""
    for section in Settings.model_fields:
        held = getattr(loaded.settings, section)
        tables = (
            {(section,): held}
            if isinstance(held, Section)
            else {(section, name): held[name] for name in held}
        )
        for table, settings in tables.items():
            yield f"[{'.'.join(map(toml_key, table))}]"
            for name, value in settings:
                source = loaded.sources.get(".".join((*table, name)))
                comment = f"  # {source}" if source else ""
                yield f"# {name} is not set" if value is None else f"{name} = {_toml(value)}{comment}"
            yield ""


def _toml(value: Any) -> str:
    return toml_value(_plain(value))


def _plain(value: Any) -> Any:
    """Returns tables and lists with the masks of the secrets in them."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return str(value) if isinstance(value, SecretStr) else value
