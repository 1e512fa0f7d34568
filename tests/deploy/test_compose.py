"""Two proxies behind nginx, as the compose file has them."""

import re
from typing import Any

import orjson
import pytest

import proxy
from proxy.settings.root import Settings
from tests.deploy.compose import GIVEN, NotSet, filled, of_the_image, read
from tests.deploy.nginx import SHIPPED
from tests.deploy.tools import FILES, said_by, tool

PROXIES = ("proxy-1", "proxy-2")
JUDGE = "import sys, compose_spec; compose_spec.PyCompose.from_json(sys.stdin.read()).validate()"
SECRET = re.compile("PASSWORD|KEY")


@pytest.fixture(scope="module")
def project() -> Any:
    return filled(read(), GIVEN)


def test_it_is_as_the_specification_says(project: Any) -> None:
    said_by(tool("python"), "-c", JUDGE, told=orjson.dumps(project).decode())


@pytest.mark.parametrize("name", GIVEN)
def test_nothing_starts_without_its_secrets(name: str) -> None:
    with pytest.raises(NotSet, match=name):
        filled(read(), GIVEN | {name: ""})


def test_no_secret_stands_in_it() -> None:
    for service in read()["services"].values():
        for name, value in service.get("environment", {}).items():
            assert not SECRET.search(name) or value.startswith("${")


def test_two_proxies_are_alike_and_keep_what_they_have_in_one_database(project: Any) -> None:
    first, second = (project["services"][name] for name in PROXIES)
    assert first == second
    assert first["image"] == f"responses-proxy:{proxy.__version__}"
    assert first["environment"]["PROXY_WORKERS"] == "2"
    database = project["services"]["postgres"]["environment"]
    assert first["environment"]["PROXY_STORE_URL"] == (
        f"postgresql://{database['POSTGRES_USER']}@postgres/{database['POSTGRES_DB']}"
    )
    assert first["environment"]["PGPASSWORD"] == database["POSTGRES_PASSWORD"]
    assert first["environment"]["PROXY_SIGNING_KEY"] == GIVEN["PROXY_SIGNING_KEY"]


def test_it_starts_in_order_and_ends_in_time(project: Any) -> None:
    services = project["services"]
    assert services["proxy-1"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert services["nginx"]["depends_on"] == {name: {"condition": "service_healthy"} for name in PROXIES}
    assert "test" in services["postgres"]["healthcheck"]
    assert of_the_image("HEALTHCHECK")
    assert services["proxy-1"]["stop_grace_period"] == f"{Settings().server.grace_seconds + 15:g}s"


def test_the_database_outlives_its_container(project: Any) -> None:
    (volume,) = project["services"]["postgres"]["volumes"]
    name, path = volume.split(":")
    assert name in project["volumes"]
    assert (project["services"]["postgres"]["image"], path) == ("postgres:18", "/var/lib/postgresql")


def test_nginx_reaches_all_proxies_and_this_machine_alone_reaches_nginx(project: Any) -> None:
    shipped = SHIPPED.read_text(encoding="utf-8")
    (port,) = of_the_image("EXPOSE")
    assert re.findall(r"server (\S+) resolve;", shipped) == [f"{name}:{port}" for name in PROXIES]
    (mounted,) = project["services"]["nginx"]["volumes"]
    assert (FILES / mounted.split(":")[0]) == SHIPPED
    assert project["services"]["nginx"]["ports"] == ["127.0.0.1:8080:80"]
    assert not any("ports" in project["services"][name] for name in (*PROXIES, "postgres"))


def test_nginx_lets_pass_what_the_proxy_does() -> None:
    shipped, settings = SHIPPED.read_text(encoding="utf-8"), Settings()
    assert f"client_max_body_size {settings.server.body_limit_mib}m;" in shipped
    hours = settings.backend.total_seconds / 3600
    assert f"proxy_read_timeout {hours:g}h;" in shipped
    assert "proxy_buffering off;" in shipped
    assert "non_idempotent" not in shipped, "a model would be asked twice"
