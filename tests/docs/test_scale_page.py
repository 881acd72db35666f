"""The Compose file for a cluster of Qdrant: it can be read, and keeps apart and closed what must be."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from bench.sizing_page import paper_table

from memlines.index.store.qdrant.cluster import KEY_VARIABLE
from tests.cluster import VERSION, Nodes, run_cluster
from tests.docs.pages import ROOT, text_of

FILE = ROOT / "examples/qdrant/compose.yaml"
PAGE = ROOT / "docs/scale.md"
Node = dict[str, Any]


@pytest.fixture
def compose() -> dict[str, Any]:
    """What the Compose file says."""
    found: dict[str, Any] = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return found


@pytest.fixture
def nodes(compose: dict[str, Any]) -> dict[str, Node]:
    """The nodes by their names."""
    found: dict[str, Node] = compose["services"]
    return found


def test_there_are_three_nodes_of_the_version_that_the_tests_run(nodes: dict[str, Node]) -> None:
    assert [node["image"] for node in nodes.values()] == [f"qdrant/qdrant:v{VERSION}"] * 3


def test_the_nodes_find_each_other_by_their_names(nodes: dict[str, Node]) -> None:
    first = next(iter(nodes))
    for name, node in nodes.items():
        program, *words = node["command"]
        options = dict(zip(words[::2], words[1::2], strict=True))
        expected = {"--uri": f"http://{name}:6335"}
        if name != first:
            expected["--bootstrap"] = f"http://{first}:6335"
        assert (program, options) == ("./qdrant", expected)
        assert node["environment"]["QDRANT__CLUSTER__ENABLED"] == "true"


def test_the_key_comes_from_the_environment_and_must_be_set(nodes: dict[str, Node]) -> None:
    for node in nodes.values():
        key = node["environment"]["QDRANT__SERVICE__API_KEY"]
        assert re.fullmatch(rf"\$\{{{KEY_VARIABLE}:\?[^}}]+\}}", key)
        assert node["environment"]["QDRANT__SERVICE__JWT_RBAC"] == "true"


def test_no_node_shares_its_volume(compose: dict[str, Any], nodes: dict[str, Node]) -> None:
    volumes = [volume.split(":") for node in nodes.values() for volume in node["volumes"]]
    assert sorted(name for name, _ in volumes) == sorted(compose["volumes"]) == sorted(nodes)
    assert {place for _, place in volumes} == {"/qdrant/storage"}


def test_only_the_http_api_has_ports_and_by_default_only_on_this_machine(nodes: dict[str, Node]) -> None:
    ports = [re.split(r":(?=\d+)", port) for node in nodes.values() for port in node["ports"]]
    assert len(ports) == len({outside for _, outside, _ in ports}) == 3
    assert {(bind, inside) for bind, _, inside in ports} == {("${QDRANT_BIND:-127.0.0.1}", "6333")}


def test_the_page_names_the_ports_of_the_file(nodes: dict[str, Node]) -> None:
    ports = [port.split(":")[-2] for node in nodes.values() for port in node["ports"]]
    assert ",".join(f"http://127.0.0.1:{port}" for port in ports) in text_of(PAGE)


def test_the_table_of_the_page_is_that_of_the_paper() -> None:
    assert "\n".join(paper_table()) in text_of(PAGE)


def test_every_node_comes_back_and_is_checked(nodes: dict[str, Node]) -> None:
    for node in nodes.values():
        assert node["restart"] == "unless-stopped"
        assert node["healthcheck"]["test"][:3] == ["CMD", "bash", "-c"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Nodes]:
    with run_cluster(
        tmp_path_factory.mktemp("qdrant"), variables={"QDRANT__SERVICE__API_KEY": "a long random text"}
    ) as one:
        yield one


def test_the_check_of_health_knows_a_node_that_answers(nodes: dict[str, Node], server: Nodes) -> None:
    (check,) = {node["healthcheck"]["test"][3] for node in nodes.values()}
    port = server.nodes[0].ports[0]
    assert subprocess.run(["bash", "-c", check.replace("6333", f"{port}")], check=False).returncode == 0
    closed = subprocess.run(["bash", "-c", check.replace("6333", "1")], capture_output=True, check=False)
    assert closed.returncode != 0
