"""What settings mean together: several backends, and who may use them."""

import pytest

from proxy.settings.loading import load
from tests.support.configuration import KEY, Write, complaint, write

__all__ = ["write"]

TWO = """
[backends.here]
url = "http://127.0.0.1:1/v1"
[backends.there]
url = "http://127.0.0.1:2/v1"
"""


def test_a_backend_without_a_name_is_the_default_one(write: Write) -> None:
    settings = load({"--backend": "http://127.0.0.1:3"}, {}, write(TWO)).settings
    assert list(settings.all_backends) == ["backend", "here", "there"]
    assert settings.default_backend == "backend"


def test_the_only_backend_is_the_default_one(write: Write) -> None:
    only = load({}, {}, write('[backends.here]\nurl = "http://127.0.0.1:1"\n')).settings
    assert only.default_backend == "here"
    named = f'{TWO}[routing.models]\n"a*" = "there"\n'
    assert load({}, {}, write(named)).settings.default_backend is None
    assert load({}, {}, write(f'{TWO}[routing]\ndefault = "there"\n')).settings.default_backend == "there"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[backends.x]\n", "backends.x: has no url"),
        (
            TWO,
            "routing.default: say which of the backends (here, there) answers, or give models their backends in"
            " routing.models",
        ),
        ('[routing]\ndefault = "x"\n', "routing.default: there is no backend 'x' (backends.x)"),
        ('[routing.models]\n"a*" = "x"\n', "routing.models.a*: there is no backend 'x' (backends.x)"),
        (
            '[backend]\nurl = "http://x"\n[routing.fallbacks]\n"m" = ["backend", "x/y/z"]\n',
            "routing.fallbacks.m: there is no backend 'x' (backends.x)",
        ),
        (
            '[backend]\nurl = "http://x"\n[routing]\naliases = {"m" = "o"}\nfallbacks = {"m" = ["backend/p"]}\n',
            "routing.fallbacks.m: has no effect, as m is an alias of o; use that name",
        ),
        (
            f'{TWO}[routing]\naliases = {{"m" = "o"}}\nmodels = {{"m" = "here", "*" = "there"}}\n',
            "routing.models.m: has no effect, as m is an alias of o; use that name",
        ),
        (
            f'{TWO}models = {{"gpt-5" = "qwen"}}\n[routing]\ndefault = "here"\n',
            "backends.there.models.gpt-5: has no effect, as requests for gpt-5 do not go to there."
            ' To send them there: routing.models = {gpt-5 = "there"}',
        ),
        (
            f'{TWO}models = {{"gpt-5" = "qwen"}}\n[routing]\nmodels = {{"a" = "here"}}\n',
            "backends.there.models.gpt-5: has no effect, as requests for gpt-5 do not go to there."
            ' To send them there: routing.models = {gpt-5 = "there"}',
        ),
        (
            '[backend]\nurl = "http://x"\nmodels = {"m" = "n"}\n[routing]\naliases = {"m" = "o"}\n',
            "backend.models.m: has no effect, as requests for m do not go to backend."
            ' To send them there: routing.models = {m = "backend"}',
        ),
        (
            f'[backend]\nurl = "http://x"\nforward_key = true\n[tenants.a]\nkeys = ["{KEY}"]\n',
            "backend.forward_key: clients' keys are their tenants'; set it to false",
        ),
        (
            f'[backends.b]\nurl = "http://x"\nforward_key = true\n[tenants.a]\nkeys = ["{KEY}"]\n',
            "backends.b.forward_key: clients' keys are their tenants'; set it to false",
        ),
        (
            '[backend]\nurl = "http://x"\n[backends.backend]\nurl = "http://y"\n',
            "backends.backend: the one under [backend] is called so; choose another name",
        ),
        (
            f'[tenants.a]\nkeys = ["{KEY}"]\n[tenants.b]\nkeys = ["{KEY}"]\n',
            "tenants.b.keys: tenants.a has one of them too",
        ),
    ],
)
def test_settings_that_contradict_each_other(write: Write, text: str, expected: str) -> None:
    path = write(text)
    assert complaint({}, {}, path) == f"{path}: {expected}"


@pytest.mark.parametrize(
    "routing",
    [
        'default = "there"',
        'models = {"gpt-*" = "there"}',
        'default = "here"\nfallbacks = {"gpt-5" = ["there"]}',
        'default = "here"\nfallbacks = {"other" = ["there/gpt-5"]}',
    ],
)
def test_a_backend_may_have_a_name_of_its_own_for_what_is_sent_to_it(write: Write, routing: str) -> None:
    settings = load({}, {}, write(f'{TWO}models = {{"gpt-5" = "qwen"}}\n[routing]\n{routing}\n')).settings
    assert settings.backends["there"].models == {"gpt-5": "qwen"}


def test_s01_what_others_can_reach_wants_keys_or_a_clear_word(write: Write) -> None:
    """Bound elsewhere without keys: refuse to start unless told so explicitly."""
    said = complaint({"--host": "0.0.0.0"}, {})
    assert said.startswith("--host: 0.0.0.0 can be reached from other machines")
    assert "hash-key" in said
    assert "server.open" in said
    assert load({"--host": "0.0.0.0"}, {"PROXY_OPEN": "yes"}).settings.server.open
    path = write(f'[server]\nhost = "0.0.0.0"\n[tenants.a]\nkeys = ["{KEY}"]\n')
    assert load({}, {}, path).settings.tenants["a"].keys == [KEY]
    for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9"):
        load({"--host": host}, {})


def test_attack_09_where_only_the_address_protects_it_the_name_is_looked_at(write: Write) -> None:
    def served(text: str) -> list[str] | None:
        return load({}, {}, write(text)).settings.hosts_served

    tenants = f'[tenants.a]\nkeys = ["{KEY}"]\n'
    assert served("") == ["127.0.0.1"]
    assert served('[server]\nhost = "::1"\nallowed_hosts = ["a", "fe80::1"]\n') == ["::1", "a", "fe80::1"]
    assert served("[server]\nopen = true\n") is served(tenants) is None
    assert served('[server]\nhost = "0.0.0.0"\nopen = true\n') is None
    assert served(f'[server]\nallowed_hosts = ["a"]\n{tenants}') == ["127.0.0.1", "a"]


def test_s30_metrics_are_shown_on_this_machine_or_by_a_clear_word(write: Write) -> None:
    assert load({}, {}).settings.shows_metrics_to_all
    assert not load({"--host": "0.0.0.0"}, {"PROXY_OPEN": "yes"}).settings.shows_metrics_to_all
    tenants = f'[tenants.a]\nkeys = ["{KEY}"]\n'
    assert not load({}, {}, write(tenants)).settings.shows_metrics_to_all
    assert load({}, {}, write(f"{tenants}[metrics]\nopen = true\n")).settings.shows_metrics_to_all


def test_there_is_one_worker_unless_more_are_wanted() -> None:
    assert load({}, {}).settings.server.workers == 1
    assert load({"--workers": "4"}, {"PROXY_WORKERS": "2"}).settings.server.workers == 4
    assert complaint({"--workers": "0"}, {}) == "--workers: must be greater than or equal to 1"


def test_a_tenant_has_what_everybody_has_unless_its_own_table_says_otherwise(write: Write) -> None:
    path = write(
        f'[limits]\ncalls = 7\nmode = "warn"\n[tenants.a]\nkeys = ["{KEY}"]\nmode = "enforce"\ntools = 3\n'
    )
    limits = load({}, {}, path).settings.limits_of("a")
    assert (limits.calls, limits.mode, limits.tools) == (7, "enforce", 3)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            '[tenants.a]\nkeys = ["sk-1"]\n',
            "tenants.a.keys.0: must be a digest as `responses-proxy hash-key` prints it, never the key itself",
        ),
        (
            '[backend]\nurl = "http://host/v1?API-Key=sk-1"\n',
            "backend.url: must not hold a secret (api-key), which would be shown; give it as key, or in headers",
        ),
        (
            '[backends.a]\nurl = "http://host"\n[routing.models]\n"sp*ce" = "a"\n',
            "routing.models.\"sp*ce\": must be a model's name, or how names begin and '*' at the end",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_way_out(write: Write, text: str, expected: str) -> None:
    path = write(text)
    said = complaint({}, {}, path)
    assert said == f"{path}: {expected}"
    assert "sk-1" not in said.removeprefix(path)


def test_a_tenant_may_name_a_key_twice(write: Write) -> None:
    path = write(f'[tenants.a]\nkeys = ["{KEY}", "{KEY}"]\n')
    assert load({}, {}, path).settings.tenants["a"].keys == [KEY, KEY]
