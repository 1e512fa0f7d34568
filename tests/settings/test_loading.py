"""Settings: where they come from, in which order, and one clear line for each that is wrong."""

import tomllib
from pathlib import Path

import pytest

from proxy.cli import main
from proxy.settings.descriptions import descriptions
from proxy.settings.loading import BINDINGS, Loaded, all_settings, describe, load
from proxy.settings.root import Settings
from tests.support.configuration import KEY, Write, complaint, write

__all__ = ["write"]

# ── sources ──


def test_nothing_has_to_be_set() -> None:
    loaded = load({}, {})
    assert loaded.settings == Settings()
    assert loaded.settings.server.port == 8080
    assert loaded.sources == {}


def test_a_file_sets_any_setting(write: Write) -> None:
    path = write(
        '[server]\nport = 9000\n[backend]\nmodels = {"gpt-5" = "qwen3"}\n[breaker]\nopen_seconds = 1\n'
    )
    loaded = load({}, {}, path)
    assert loaded.settings.server.port == 9000
    assert loaded.settings.backend.models == {"gpt-5": "qwen3"}
    assert loaded.settings.breaker.open_seconds == 1
    assert loaded.sources["server.port"] == path


def test_the_file_may_be_named_by_a_variable_or_by_the_command_line(write: Write) -> None:
    path = write("[server]\nport = 9000\n")
    assert load({}, {"PROXY_CONFIG": path}).settings.server.port == 9000
    assert load({}, {"PROXY_CONFIG": "/no/such/file"}, path).settings.server.port == 9000


def test_command_line_over_environment_over_file_over_default(write: Write) -> None:
    path = write('[server]\nhost = "127.0.0.2"\nport = 1\n[backend]\nurl = "http://file"\n')
    environment = {"PROXY_PORT": "2", "PROXY_BACKEND_URL": "http://environment"}
    loaded = load({"--backend": "http://option"}, environment, path)
    assert loaded.settings.server.host == "127.0.0.2"
    assert loaded.settings.server.port == 2
    assert loaded.settings.backend.url == "http://option"
    assert loaded.sources == {"server.host": path, "server.port": "PROXY_PORT", "backend.url": "--backend"}


def test_an_empty_variable_is_an_unset_one() -> None:
    """Containers pass on what nobody set."""
    empty = {binding.variable: "" for binding in BINDINGS if binding.variable} | {"PROXY_CONFIG": ""}
    assert load({}, empty).settings == Settings()


def test_what_all_nodes_share_needs_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    """And stands on no command line."""
    key = load({}, {"PROXY_SIGNING_KEY": "0123456789abcdef"}).settings.server.signing_key
    assert key is not None
    assert key.get_secret_value() == "0123456789abcdef"
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    assert "signing" not in capsys.readouterr().out


def test_every_binding_names_a_setting() -> None:
    assert {binding.key for binding in BINDINGS} <= all_settings().keys()


def test_every_setting_is_described() -> None:
    assert all(description.endswith(".") for description in all_settings().values())
    assert descriptions(Settings).keys() == Settings.model_fields.keys()


def test_the_words_that_a_setting_may_be_are_told_with_it() -> None:
    told = all_settings()
    assert told["logs.level"].endswith(' One of "debug", "info", "warning", "error".')
    assert told["limits.mode"].endswith(' One of "enforce", "warn", "off".')
    assert "One of" not in told["server.host"]


# ── what is wrong ──


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[server]\nprot = 1\n", "unknown key server.prot (did you mean server.port?)"),
        ("[servers]\nport = 1\n", "unknown key servers (did you mean server?)"),
        ("[server]\ntls = true\n", "unknown key server.tls (there are host, port, "),
        ('[backend]\napi_key = "k"\n', "unknown key backend.api_key (did you mean backend.key?)"),
        ("[store]\npath = 1\n", "unknown key store.path (there are url, "),
        (
            '[backends.a]\nurl = "http://host"\nproxy = 1\n',
            "unknown key backends.a.proxy (there are url, ",
        ),
        ("colour = 1\n", "unknown key colour (there are server, backend, "),
        ("port = 1\n", "unknown key port (did you mean server.port?)"),
        ('[server]\nport = "8080"\n', "server.port: must be a whole number, without quotes"),
        ("[server]\nport = 65536\n", "server.port: must be less than or equal to 65535"),
        ("[server]\npatience_seconds = 0\n", "server.patience_seconds: must be greater than 0"),
        (
            '[backends.a]\nurl = "http://host"\nkye = "k"\n',
            "unknown key backends.a.kye (did you mean backends.a.key?)",
        ),
        ("server = 3\n", "server: must be a table"),
        ('[server]\nhost = ""\n', "server.host: an empty name can be reached from other machines"),
        ("backends = 3\n", "backends: must be a table"),
        ("[tenants.a]\ntools = 3\n", "tenants.a.keys: must be set"),
        ("[tenants.a]\nkeys = []\n", "tenants.a.keys: must not be empty"),
        ('[limits]\ntool_allowlist = "search"\n', "limits.tool_allowlist: must be an array"),
        ('[clients]\nevents = "all"\n', "clients.events: must be 'auto', 'extended' or 'standard'"),
        ("[models]\ncontext_windows = {a = 0}\n", "models.context_windows.a: must be greater than 0"),
        ("[backend]\nmodels = {a = 1}\n", "backend.models.a: must be text in quotes"),
        ('[backend]\nurl = "localhost:8000"\n', "backend.url: 'localhost:8000' is not a URL such as"),
        ('[backend]\nurl = "http://me:secret@host"\n', "backend.url: must not hold a user"),
        ('[backend]\nprofile = "vlm"\n', "backend.profile: must be auto or one of anthropic,"),
        ("[backend]\noverrides = {colour = 1}\n", "backend.overrides: colour: no such profile field"),
        ('[backend]\noverrides = {replay = "all"}\n', "backend.overrides: replay:"),
        ("[backend]\noverrides = {headers = {}}\n", "backend.overrides: headers belong in backend.headers"),
        (
            '[backend]\noverrides = {markup_without = ["hermse"]}\n',
            "backend.overrides: no markup format 'hermse'",
        ),
        ('[backend]\nkey = "a\\nb"\n', "backend.key: must be plain ASCII text"),
        (
            '[backend]\nheaders = {"a b" = "c"}\n',
            'backend.headers."a b": must be a header\'s name, without spaces',
        ),
        ('[backends."a b"]\nurl = "http://host"\n', 'backends."a b": must be made of letters, digits'),
        ('[routing]\nmodels = {"a*b" = "c"}\n', 'routing.models."a*b": must be a model\'s name, or how'),
        (
            '[server]\nseal_key = "a secret of our own"\n',
            "server.seal_key is called server.signing_key now: rename it",
        ),
        ('[server]\nsigning_key = "short"\n', "server.signing_key: must have at least 16 characters"),
        (
            '[server]\nallowed_hosts = ["http://a:1"]\n',
            "server.allowed_hosts.0: must be a name or an address, without",
        ),
        ('[metrics]\nopen = "yes"\n', "metrics.open: must be true or false, without quotes"),
        ('[server]\ngrace_seconds = "5"\n', "server.grace_seconds: must be a number, without quotes"),
        (
            "[tenants]\nkeys = []\n",
            "tenants.keys: must be a table with a name of its own, as in [tenants.NAME]",
        ),
        ("[server\n", "is not valid TOML: "),
    ],
)
def test_a_wrong_setting_is_one_line_with_file_and_key(write: Write, text: str, expected: str) -> None:
    path = write(text)
    said = complaint({}, {}, path)
    assert said.startswith(f"{path}: {expected}")
    assert "\n" not in said


def test_bad_toml_is_told_with_its_line(write: Write) -> None:
    assert "at line 2, column" in complaint({}, {}, write("[server]\nport = = 1\n"))


def test_every_wrong_setting_has_its_line(write: Write) -> None:
    said = complaint({"--events": "all"}, {}, write("[server]\nport = 0.5\n[breaker]\nprobes = 0\n"))
    assert len(said.splitlines()) == 3


def test_a_wrong_variable_is_named(write: Write) -> None:
    path = write("[server]\nport = 1\n")
    assert complaint({}, {"PROXY_PORT": "http"}, path) == "PROXY_PORT: must be a whole number, not 'http'"
    assert complaint({}, {"PROXY_PORT": "-1"}, path) == "PROXY_PORT: must be greater than or equal to 0"


def test_a_wrong_option_is_named(write: Write) -> None:
    assert complaint({"--backend": "nowhere"}, {}, write("")).startswith("--backend: 'nowhere' is not a URL")


def test_a_section_that_is_no_table_is_told_although_an_option_belongs_in_it(write: Write) -> None:
    path = write("server = 1\n")
    assert complaint({"--port": "1"}, {}, path) == f"{path}: server: must be a table"


def test_a_secret_is_not_repeated_in_a_complaint(write: Write) -> None:
    said = complaint({}, {"PROXY_BACKEND_KEY": "sk-\x01secret"}, write(""))
    assert said == "PROXY_BACKEND_KEY: must be plain ASCII text without control characters"


def test_a_file_may_begin_with_the_mark_that_windows_writes(tmp_path: Path) -> None:
    marked = tmp_path / "proxy.toml"
    marked.write_bytes(b"\xef\xbb\xbf[server]\r\nport = 9001\r\n")
    assert load({}, {}, str(marked)).settings.server.port == 9001


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    assert complaint({}, {}, "/no/such/file") == "/no/such/file: No such file or directory"
    assert complaint({}, {}, str(tmp_path)) == f"{tmp_path}: Is a directory"
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    assert complaint({}, {}, str(binary)) == f"{binary}: is not a text file in UTF-8"


# ── secrets ──


def test_a_key_that_was_read_from_a_file_loses_its_line_end() -> None:
    key = load({}, {"PROXY_BACKEND_KEY": "sk-secret\n"}).settings.backend.key
    assert key is not None
    assert key.get_secret_value() == "sk-secret"


def test_secrets_are_not_shown() -> None:
    settings = Settings.model_validate({"backend": {"key": "sk-secret", "headers": {"X-Key": "hidden"}}})
    shown = repr(settings) + "\n".join(describe(Loaded(settings, {})))
    assert "sk-secret" not in shown
    assert "hidden" not in shown


# ── showing ──


def test_what_is_shown_is_the_settings_again(write: Write) -> None:
    text = """
        [server]
        patience_seconds = 0.5
        [backend]
        url = "http://host/v1?api-version=1"
        models = {"a\\"b" = "c\\u007f"}
        overrides = {join_users = false, formats = ["json_object"]}
        [logs]
        level = "debug"
    """
    loaded = load({}, {}, write(text))
    again = write("\n".join(describe(loaded)))
    assert load({}, {}, again).settings == loaded.settings


def test_names_of_tables_are_shown_so_that_they_can_be_read_again(write: Write) -> None:
    path = write(
        f"""
        [backends."gpt-4.1"]
        url = "http://host"
        [tenants."team \\"a\\""]
        keys = ["{KEY}"]
        """
    )
    shown = list(describe(load({}, {}, path)))
    assert f'url = "http://host"  # {path}' in shown
    tree = tomllib.loads("\n".join(shown))
    assert list(tree["backends"]) == ["gpt-4.1"]
    assert list(tree["tenants"]) == ['team "a"']


def test_what_is_shown_says_where_it_comes_from() -> None:
    lines = list(describe(load({"--port": "9000"}, {"PROXY_HOST": "127.0.0.2"})))
    assert 'host = "127.0.0.2"  # PROXY_HOST' in lines
    assert "port = 9000  # --port" in lines
    assert 'level = "info"' in lines
    assert "# url is not set" in lines


def test_what_is_shown_has_every_setting(write: Write) -> None:
    path = write(f'[backends.NAME]\nurl = "http://host"\n[tenants.NAME]\nkeys = ["{KEY}"]\n')
    shown = list(describe(load({}, {}, path)))
    named = [line.removeprefix("# ").split(" ")[0] for line in shown if " " in line]
    assert len(named) == len(all_settings())
    tree = tomllib.loads("\n".join(shown))
    assert tree["backends"]["NAME"]["url"] == "http://host"
    assert f'keys = ["{KEY}"]  # {path}' in shown


@pytest.mark.parametrize("between", [" ", ",", ", ", "\n"])
def test_keys_of_the_store_stand_in_one_variable(between: str) -> None:
    """As files of secrets have them, with a line for each and one end too many."""
    keys = ["0123456789abcdef", "fedcba9876543210"]
    loaded = load({}, {"PROXY_STORE_KEYS": between.join([*keys, ""])})
    assert [key.get_secret_value() for key in loaded.settings.store.keys] == keys
    assert loaded.sources["store.keys"] == "PROXY_STORE_KEYS"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (" , ", "must have at least one key, or not be set"),
        ("0123456789abcdef short", "must have at least 16 characters"),
    ],
)
def test_a_variable_for_keys_must_have_some(text: str, words: str, write: Write) -> None:
    assert complaint({}, {"PROXY_STORE_KEYS": text}, write("")) == f"PROXY_STORE_KEYS: {words}"


def test_a_switch_is_a_word() -> None:
    assert complaint({"--open": "maybe"}, {}) == "--open: must be true or false, not 'maybe'"
