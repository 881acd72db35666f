"""The notes as resources: listed page by page, read whole up to a limit, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlines.serve.mcp import offers as resources
from tests.serve.mcp import Lines, lines, write_notes
from tests.serve.rpc import ErrorAnswer


@pytest.fixture
def client(workspace: Path) -> Iterator[Lines]:
    with lines(workspace) as client:
        client.shake_hands()
        yield client


def listed(client: Lines, **params: Any) -> list[str]:
    """Return the names of the resources on a page."""
    return [one["uri"] for one in client.ask("resources/list", **params)["resources"]]


def text(client: Lines, uri: str) -> str:
    """Return the text of a resource."""
    (content,) = client.ask("resources/read", uri=uri)["contents"]
    assert (content["uri"], content["mimeType"]) == (uri, "text/markdown")
    found: str = content["text"]
    return found


# Listing


def test_notes_are_listed_and_nothing_else(client: Lines, workspace: Path) -> None:
    write_notes(
        workspace,
        {
            "memory/people.md": "x",
            "MEMORY.md": "x",
            "memory/2026-11-16.md": "x",
            "README.md": "x",
            "memory/data.json": "{}",
            ".memory/config.yaml": "",
            "sessions/one.jsonl": "",
        },
    )
    assert listed(client) == [
        "memory://MEMORY.md",
        "memory://memory/2026-11-16.md",
        "memory://memory/people.md",
    ]


def test_a_note_is_described(client: Lines, workspace: Path) -> None:
    write_notes(workspace, {"MEMORY.md": "four"})
    (one,) = client.ask("resources/list")["resources"]
    assert (one["name"], one["mimeType"], one["size"]) == ("MEMORY.md", "text/markdown", 4)
    assert one["annotations"]["lastModified"].endswith("Z")


def test_a_folder_without_notes_has_none(client: Lines, workspace: Path) -> None:
    assert listed(client) == []
    assert not (workspace / ".memory").exists()


def test_a_memory_that_is_switched_off_lists_nothing(client: Lines, workspace: Path) -> None:
    write_notes(workspace, {"MEMORY.md": "x", ".memory/config.yaml": "enabled: false\n"})
    assert listed(client) == []


@pytest.fixture
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PAGE", 3)


def pages(client: Lines) -> list[list[str]]:
    """Return every page."""
    found: list[list[str]] = []
    params: dict[str, Any] = {}
    while True:
        answer = client.ask("resources/list", **params)
        found.append([one["uri"] for one in answer["resources"]])
        if "nextCursor" not in answer:
            return found
        params = {"cursor": answer["nextCursor"]}


@pytest.mark.usefixtures("_small_pages")
@pytest.mark.parametrize(("count", "sizes"), [(0, [0]), (2, [2]), (3, [3]), (4, [3, 1]), (6, [3, 3])])
def test_many_notes_are_listed_page_by_page(
    client: Lines, workspace: Path, count: int, sizes: list[int]
) -> None:
    write_notes(workspace, {f"memory/{number}.md": "x" for number in range(count)})
    found = pages(client)
    assert [len(page) for page in found] == sizes
    assert [uri for page in found for uri in page] == [f"memory://memory/{n}.md" for n in range(count)]


@pytest.mark.usefixtures("_small_pages")
def test_a_note_that_goes_between_two_pages_takes_no_other_with_it(client: Lines, workspace: Path) -> None:
    write_notes(workspace, {f"memory/{number}.md": "x" for number in range(5)})
    cursor = client.ask("resources/list")["nextCursor"]
    (workspace / "memory/2.md").unlink()
    assert listed(client, cursor=cursor) == ["memory://memory/3.md", "memory://memory/4.md"]


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", "//8=", "bWVtb3J5LzIubWQ", 5, ["a"], "é"])
def test_a_cursor_that_was_not_given_out_is_refused_or_ends(client: Lines, cursor: Any) -> None:
    answer = client.answer(client.send("resources/list", cursor=cursor))
    assert answer.get("error", {}).get("code") == -32602 or answer["result"]["resources"] == []


def test_the_template_is_listed(client: Lines) -> None:
    (template,) = client.ask("resources/templates/list")["resourceTemplates"]
    assert template["uriTemplate"] == "memory://{+path}"


# Reading


@pytest.mark.parametrize("content", ["", "x\n", "# Memory\n\n- Grüße, 東京 🚢\n", "\n\nx\n\n", "a\tb  \n"])
def test_a_note_is_read_as_it_is(client: Lines, workspace: Path, content: str) -> None:
    write_notes(workspace, {"MEMORY.md": content})
    assert text(client, "memory://MEMORY.md") == content


NAMES = [
    "a b.md",
    "ü.md",
    "100%.md",
    "a#b.md",
    "a?b=c.md",
    "a+b.md",
    "%41.md",
    "a;b.md",
    "東京/x.md",
    "a&b.md",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_note_can_be_read_whatever_its_name(client: Lines, workspace: Path, name: str) -> None:
    write_notes(workspace, {f"memory/{name}": f"This is {name}.\n"})
    (uri,) = listed(client)
    assert uri.isascii()
    assert text(client, uri) == f"This is {name}.\n"


def test_a_name_may_be_written_without_escapes(client: Lines, workspace: Path) -> None:
    write_notes(workspace, {"memory/ü b.md": "Here.\n"})
    assert text(client, "memory://memory/ü b.md") == "Here.\n"


def test_a_long_note_is_read_over_its_pages(client: Lines, workspace: Path) -> None:
    content = "".join(f"- line {number} {'x' * (number % 200)}\n" for number in range(1500))
    write_notes(workspace, {"MEMORY.md": content})
    assert text(client, "memory://MEMORY.md") == content


def test_a_long_line_is_read_whole(client: Lines, workspace: Path) -> None:
    content = f"# Head\n{'abc' * 20_000}\nlast\n"
    write_notes(workspace, {"MEMORY.md": content})
    assert text(client, "memory://MEMORY.md") == content


def test_a_note_above_the_limit_is_cut_and_says_so(
    client: Lines, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "MOST_CHARACTERS", 30_000)
    content = "".join(f"- line {number}\n" for number in range(20_000))
    write_notes(workspace, {"MEMORY.md": content})
    given = text(client, "memory://MEMORY.md")
    shown, _, notice = given.partition("\n\n[Cut here by Memlines")
    assert content.startswith(shown)
    assert 30_000 <= len(given) < 60_000
    assert f"from line {shown.count(chr(10)) + 2} of 20000" in notice


def test_a_secret_in_a_note_is_not_given_away(client: Lines, workspace: Path) -> None:
    secret = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    write_notes(workspace, {"MEMORY.md": f"The token is {secret}, and the port is 5433.\n"})
    given = text(client, "memory://MEMORY.md")
    assert (secret in given, "the port is 5433" in given) == (False, True)


# What cannot be read


@pytest.mark.parametrize(
    "uri",
    [
        "memory://memory/none.md",
        "memory://README.md.txt",
        "memory://",
        "memory:MEMORY.md",
        "file:///etc/passwd",
        "memory://memory/%ff.md",
        "memory://sessions/one.jsonl",
        "",
    ],
)
def test_a_resource_that_does_not_exist_is_not_found(client: Lines, workspace: Path, uri: str) -> None:
    write_notes(workspace, {"sessions/one.jsonl": "{}\n"})
    with pytest.raises(ErrorAnswer) as refused:
        client.ask("resources/read", uri=uri)
    assert (refused.value.code, refused.value.data) == (-32002, {"uri": uri})


def test_a_client_without_a_handshake_learns_that_in_another_number(client: Lines) -> None:
    with pytest.raises(ErrorAnswer) as refused:
        client.stateless("resources/read", uri="memory://memory/none.md")
    assert (refused.value.code, refused.value.data) == (-32602, {"uri": "memory://memory/none.md"})


@pytest.mark.parametrize(
    "path",
    [
        "../secret.md",
        "memory/../../secret.md",
        "memory/%2e%2e/%2e%2e/secret.md",
        "..%2fsecret.md",
        "memory/..%2f..%2fsecret.md",
        "%2e%2e/secret.md",
        "{outside}/secret.md",
        "/{outside}/secret.md",
        "~/secret.md",
        "memory/link.md",
        "memory/linked/secret.md",
        ".memory/private.md",
        "memory/.git/x.md",
        "README.md",
        "MEMORY.md%00.md",
        "memory/a%0ab.md/../../../secret.md",
    ],
)
def test_what_is_not_part_of_the_memory_is_refused(client: Lines, workspace: Path, path: str) -> None:
    outside = workspace.parent
    write_notes(outside, {"secret.md": "A SECRET\n"})
    write_notes(workspace, {".memory/private.md": "A SECRET\n", "memory/.git/x.md": "A SECRET\n"})
    write_notes(workspace, {"README.md": "A SECRET\n"})
    (workspace / "memory/link.md").symlink_to(outside / "secret.md")
    (workspace / "memory/linked").symlink_to(outside)
    uri = f"memory://{path.format(outside=outside)}"
    answer = client.answer(client.send("resources/read", uri=uri))
    assert answer["error"]["code"] in (-32602, -32002)
    assert "A SECRET" not in str(answer)


@pytest.mark.parametrize("name", ["MEMORY.md", "memory/missing.md", "no-note"])
def test_a_memory_that_is_switched_off_gives_nothing(client: Lines, workspace: Path, name: str) -> None:
    write_notes(workspace, {"MEMORY.md": "x", ".memory/config.yaml": "enabled: false\n"})
    with pytest.raises(ErrorAnswer, match="enabled") as refused:
        client.ask("resources/read", uri=f"memory://{name}")
    assert (refused.value.code, refused.value.data["code"]) == (-32603, "off")


@pytest.mark.parametrize("params", [{}, {"uri": 5}, {"uri": None}])
def test_a_read_without_a_name_is_refused(client: Lines, params: dict[str, Any]) -> None:
    assert client.refused("resources/read", **params) == -32602


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("../secret.md", -32602),
        ("memory/link.md", -32602),
        ("README.md", -32602),
        ("../../etc/passwd", -32002),
    ],
)
def test_what_is_named_like_a_note_is_refused_and_anything_else_does_not_exist(
    client: Lines, workspace: Path, path: str, code: int
) -> None:
    write_notes(workspace, {"README.md": "x", "memory/tea.md": "x"})
    (workspace / "memory/link.md").symlink_to(workspace / "memory/tea.md")
    assert client.refused("resources/read", uri=f"memory://{path}") == code
