"""Two proxies behind nginx, as the compose file has them."""

import re
import sys
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

import proxy
from proxy.settings.loading import load
from proxy.settings.root import Settings
from tests.deploy.compose import GIVEN, NotSet, filled, of_the_image, read
from tests.deploy.nginx import SHIPPED
from tests.deploy.tools import FILES, said_by, tool
from tests.support.programs import started
from tests.support.redis_server import RedisProcess
from tests.support.samples import samples

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


def test_what_may_be_lost_goes_to_redis_for_who_wants_it(project: Any) -> None:
    """Without a word nothing of it starts, and an empty variable is none."""
    services = project["services"]
    assert services["redis"]["profiles"] == ["redis"]
    assert not any("redis" in services[name]["depends_on"] for name in PROXIES)
    assert load({}, services["proxy-1"]["environment"]).settings.live.url is None
    wanted = filled(read(), GIVEN | {"PROXY_LIVE_URL": "redis://redis/0"})
    given = wanted["services"]["proxy-1"]["environment"]
    url = load({}, given).settings.live.url
    assert url is not None
    assert url.get_secret_value() == "redis://redis/0"


async def test_redis_runs_as_it_is_started_there(project: Any, tmp_path: Path) -> None:
    """It warns of nothing, keeps nothing on a disk, and the proxies use it."""
    _, *options = project["services"]["redis"]["command"]
    server = RedisProcess(*options)
    environment = {"PROXY_STORE_URL": f"sqlite:{tmp_path}", "PROXY_LIVE_URL": server.url, "PROXY_PORT": "0"}
    try:
        async with (
            started(sys.executable, "-m", "proxy", "serve", env=environment) as process,
            aiohttp.ClientSession() as session,
            session.get(f"{process.url}/metrics") as response,
        ):
            assert samples(await response.read())[("live_up", "worker=0")] == 1
            said = process.written.decode()
    finally:
        server.close()
    assert "live_chosen" in said
    assert "live_may_evict" not in said


def test_nginx_reaches_all_proxies_and_this_machine_alone_reaches_nginx(project: Any) -> None:
    shipped = SHIPPED.read_text(encoding="utf-8")
    (port,) = of_the_image("EXPOSE")
    assert re.findall(r"server (\S+) resolve;", shipped) == [f"{name}:{port}" for name in PROXIES]
    (mounted,) = project["services"]["nginx"]["volumes"]
    assert (FILES / mounted.split(":")[0]) == SHIPPED
    assert project["services"]["nginx"]["ports"] == ["127.0.0.1:8080:80"]
    assert not any("ports" in project["services"][name] for name in (*PROXIES, "postgres", "redis"))


def test_nginx_lets_pass_what_the_proxy_does() -> None:
    shipped, settings = SHIPPED.read_text(encoding="utf-8"), Settings()
    assert f"client_max_body_size {settings.server.body_limit_mib}m;" in shipped
    hours = settings.backend.total_seconds / 3600
    assert f"proxy_read_timeout {hours:g}h;" in shipped
    assert "proxy_buffering off;" in shipped
    assert "non_idempotent" not in shipped, "a model would be asked twice"
