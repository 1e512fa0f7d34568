"""The manifests: by the schemas of Kubernetes, equal to the chart, and run as they say."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

import proxy
from proxy.core.tenants import digest
from proxy.settings.root import Settings
from tests.deploy.compose import of_the_image
from tests.deploy.tools import FILES, said_by, tool
from tests.support.processes import ROOT, free_port
from tests.support.programs import started

CHART = FILES / "chart"
NAME = "responses-proxy"
VERSION = "1.37.0"
"""Of Kubernetes: fields that a later one knows are fields that this one ignores."""

Objects = dict[str, Any]


def objects(text: str) -> Objects:
    return {document["kind"]: document for document in yaml.safe_load_all(text)}


def rendered(*options: str) -> Objects:
    return objects(said_by(tool("helm"), "template", NAME, CHART, *options))


@pytest.fixture(scope="module")
def shipped() -> Objects:
    return objects((FILES / "kubernetes.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pod(shipped: Objects) -> Any:
    return shipped["Deployment"]["spec"]["template"]["spec"]


@pytest.fixture(scope="module")
def container(pod: Any) -> Any:
    (container,) = pod["containers"]
    return container


def variables(container: Any) -> dict[str, str]:
    return {each["name"]: each["value"] for each in container["env"] if "value" in each}


# ── as files ──


def test_the_manifests_are_the_chart(shipped: Objects) -> None:
    """After a change of the chart, render it into the manifests as their first lines say."""
    assert shipped == rendered()


def test_the_chart_is_as_helm_wants_it() -> None:
    said_by(tool("helm"), "lint", "--strict", CHART)
    about = yaml.safe_load((CHART / "Chart.yaml").read_text(encoding="utf-8"))
    assert about["version"] == about["appVersion"] == proxy.__version__


@pytest.mark.parametrize(
    "options",
    [
        (),
        ("--set", "store.sqlite=true", "--set", "store.storageClass=fast"),
        ("--set", "live.url=redis://valkey/0"),
        ("--set", "live.secretKey=live-url"),
    ],
)
def test_kubernetes_takes_every_object(options: tuple[str, ...], tmp_path: Path) -> None:
    file = tmp_path / "objects.yaml"
    file.write_text(said_by(tool("helm"), "template", NAME, CHART, *options), encoding="utf-8")
    said_by(tool("kubernetes-validate"), "--strict", "--kubernetes-version", VERSION, file)


def test_objects_find_each_other(shipped: Objects, pod: Any, container: Any) -> None:
    labels = shipped["Deployment"]["spec"]["template"]["metadata"]["labels"]
    chosen = [
        shipped["Deployment"]["spec"]["selector"]["matchLabels"],
        shipped["Service"]["spec"]["selector"],
        shipped["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"],
    ]
    assert chosen == [labels] * 3
    (port,) = container["ports"]
    assert shipped["Service"]["spec"]["ports"][0]["targetPort"] == port["name"]
    assert [str(port["containerPort"])] == of_the_image("EXPOSE")
    mounts = {mount["name"] for mount in container["volumeMounts"]}
    assert mounts == {volume["name"] for volume in pod["volumes"]}
    assert container["image"] == f"{NAME}:{proxy.__version__}"


# ── what is promised ──


def test_a_rollout_takes_nothing_away_before_its_successor_is_ready(shipped: Objects) -> None:
    """U63: new pods that do not become ready leave the old ones as they are."""
    deployment = shipped["Deployment"]["spec"]
    assert deployment["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert deployment["replicas"] > shipped["PodDisruptionBudget"]["spec"]["maxUnavailable"] == 1


def test_a_pod_has_the_time_that_its_streams_have(pod: Any, container: Any) -> None:
    assert container["lifecycle"]["preStop"]["exec"]["command"] == ["sleep", "5"]
    grace = Settings().server.grace_seconds
    assert pod["terminationGracePeriodSeconds"] == 5 + grace + 15


def test_a_longer_grace_is_one_value() -> None:
    pod = rendered("--set", "graceSeconds=300")["Deployment"]["spec"]["template"]["spec"]
    assert pod["terminationGracePeriodSeconds"] == 320


def test_a_store_that_is_down_stops_nothing(container: Any) -> None:
    assert container["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert container["livenessProbe"]["httpGet"]["path"] == "/healthz"


def test_a_pod_may_do_nothing_but_its_work(pod: Any, container: Any) -> None:
    assert variables(container)["PROXY_WORKERS"] == "1"
    assert variables(container)["PROXY_OPEN"] == "false"
    assert pod["securityContext"]["runAsNonRoot"]
    assert any(f"--uid {pod['securityContext']['runAsUser']} " in step for step in of_the_image("RUN"))
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False


def test_secrets_come_from_the_secret(container: Any, pod: Any) -> None:
    secrets = [each for each in container["env"] if "valueFrom" in each]
    assert [(each["name"], each["valueFrom"]["secretKeyRef"]["key"]) for each in secrets] == [
        ("PGPASSWORD", "postgres-password")
    ]
    (settings,) = pod["volumes"]
    assert [item["key"] for item in settings["secret"]["items"]] == ["proxy.toml"]


@pytest.mark.parametrize("store", ["store.sqlite=false", "store.sqlite=true"])
def test_what_may_be_lost_goes_where_one_value_says(store: str) -> None:
    def live(*options: str) -> Any:
        found = rendered("--set", store, *options)["Deployment"]["spec"]["template"]["spec"]
        (container,) = found["containers"]
        return [each for each in container["env"] if each["name"] == "PROXY_LIVE_URL"]

    name, secret = "PROXY_LIVE_URL", {"secretKeyRef": {"name": NAME, "key": "live-url"}}
    assert live() == []
    assert live("--set", "live.url=redis://valkey/0") == [{"name": name, "value": "redis://valkey/0"}]
    assert live("--set", "live.secretKey=live-url") == [{"name": name, "valueFrom": secret}]


def test_the_manifests_have_it_too_behind_signs(shipped: Objects) -> None:
    """Without them they are the chart with that value."""
    text = (FILES / "kubernetes.yaml").read_text(encoding="utf-8")
    opened = re.sub(r"^( {12})# (?=[- ])", r"\1", text, flags=re.MULTILINE)
    assert opened != text
    assert objects(opened) == rendered("--set", "live.secretKey=live-url")


def test_files_have_one_pod_that_ends_before_the_next_begins() -> None:
    found = rendered("--set", "store.sqlite=true", "--set", "replicas=5")
    deployment = found["Deployment"]["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    assert found["PersistentVolumeClaim"]["spec"]["accessModes"] == ["ReadWriteOnce"]
    assert "PodDisruptionBudget" not in found
    (container,) = deployment["template"]["spec"]["containers"]
    state = next(mount for mount in container["volumeMounts"] if mount["name"] == "state")
    assert [state["mountPath"]] == of_the_image("VOLUME")
    assert variables(container)["PROXY_STORE_URL"] == f"sqlite:{state['mountPath']}"
    assert "PGPASSWORD" not in {each["name"] for each in container["env"]}


# ── as a program ──


def pod_of_files() -> Any:
    found = rendered("--set", "store.sqlite=true")
    return found["Deployment"]["spec"]["template"]["spec"]["containers"][0]


async def test_a_pod_of_files_runs_where_nothing_else_can_be_written(tmp_path: Path) -> None:
    """With a tenant, because it listens beyond this machine; its settings come as a file."""
    container = pod_of_files()
    secret, state = tmp_path / "secret", tmp_path / "state"
    secret.mkdir()
    (secret / "proxy.toml").write_text(f'[tenants.team]\nkeys = ["{digest("sk-team")}"]', encoding="utf-8")
    here = {"/etc/responses-proxy": str(secret), "/var/lib/responses-proxy": str(state)}
    said = variables(container)
    for there, path in here.items():
        said = {name: value.replace(there, path) for name, value in said.items()}
    said |= {
        "PROXY_HOST": "127.0.0.1",
        "PROXY_PORT": str(free_port()),
        "TMPDIR": "/nowhere",
        "HOME": "/nowhere",
    }
    async with (
        started(sys.executable, "-m", "proxy", *container["args"], cwd=ROOT, env=said) as process,
        aiohttp.ClientSession() as session,
    ):
        for probe in ("readinessProbe", "livenessProbe"):
            async with session.get(process.url + container[probe]["httpGet"]["path"]) as response:
                assert response.status == 200
        ask = {"model": "demo", "input": "Hello"}
        async with session.post(f"{process.url}/v1/responses", json=ask) as response:
            assert response.status == 401
        key = {"Authorization": "Bearer sk-team"}
        async with session.post(f"{process.url}/v1/responses", json=ask, headers=key) as response:
            assert (await response.json())["store"] is True
        process.signal(signal.SIGTERM)
        assert await process.ended() == 0


def test_a_pod_without_tenants_does_not_start(tmp_path: Path) -> None:
    """It would serve whoever reaches it, with the backend's key."""
    container = pod_of_files()
    (tmp_path / "proxy.toml").write_text("", encoding="utf-8")
    said = variables(container) | {"PROXY_CONFIG": str(tmp_path / "proxy.toml"), "PROXY_HOST": "0.0.0.0"}
    done = subprocess.run(
        [sys.executable, "-m", "proxy", *container["args"]],
        cwd=ROOT, env=said, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "Configure tenants" in done.stderr) == (2, True)
