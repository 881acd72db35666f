"""A table goes into the text of a TOML file and comes out again, and nothing else changes."""

from __future__ import annotations

import tomllib
from datetime import UTC, date, datetime, time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.clients.toml_text import check_added, table, values_of, without

OURS = ("mcp_servers", "memlines")
COMMENT = "# Written by Memlines."
VALUES = {"command": "/usr/bin/python3", "args": ["-m", "x"], "tools": {"forget": {"mode": "prompt"}}}

PIECES = (
    'model = "a"',
    "# a comment with [brackets] and 'quotes\"",
    "",
    "[mcp_servers.other]\ncommand = 'x'  # [mcp_servers.memlines]",
    '[profiles."a.b"]\ntext = """\n[mcp_servers.memlines]\ncommand = "no"\n"""',
    "[literal]\ntext = '''\n[mcp_servers.memlines]\n# ''\n''''",
    "[[list]]\nx = 1",
    "[array]\nlong = [\n  1, # ]\n  [2, 3],\n  '[mcp_servers.memlines]',\n]",
    "[inline]\nx = { y = [1, 2], \"z]\" = 'a' }",
    "[ spaced . 'key' ]\n'quoted = key' = 1979-05-27T07:32:00Z",
    "[dotted]\na.b.\"c=d\" = '='",
)


def with_ours(text: str, newline: str = "\n") -> str:
    gap = newline if text.endswith("\n") else newline * 2
    return text + gap + newline.join([COMMENT, *table(OURS, VALUES)]) + newline


def test_a_table_is_written_with_headers_of_its_own_for_inner_tables() -> None:
    assert table(OURS, VALUES) == [
        "[mcp_servers.memlines]",
        'command = "/usr/bin/python3"',
        'args = ["-m", "x"]',
        "",
        "[mcp_servers.memlines.tools.forget]",
        'mode = "prompt"',
    ]


@pytest.mark.parametrize(
    "value",
    [
        'quotes " and \\ and \x00\x1f\x7f and ü 東',
        True,
        -3,
        2.5,
        float("inf"),
        date(2026, 5, 1),
        time(7, 30),
        datetime(2026, 5, 1, 7, 30, tzinfo=UTC),
        [1, [2], {"a b": "c"}],
        {"inner": {}},
        {"a": 1, "inner": {"b": 2}},
    ],
    ids=repr,
)
def test_every_kind_of_value_is_written_so_that_it_is_read_again(value: Any) -> None:
    text = "\n".join(table(("a", "b c"), {"key": value}))

    assert tomllib.loads(text) == {"a": {"b c": {"key": value}}}


@given(st.lists(st.sampled_from(PIECES), unique=True), st.booleans())
def test_what_was_put_in_comes_out_again(pieces: list[str], ends: bool) -> None:
    pieces.sort(key=lambda piece: not piece.startswith("model"))  # keys of the root come first
    text = "\n".join(pieces) + "\n" * ends

    assert without(with_ours(text), OURS, COMMENT) in (text, f"{text}\n")


@given(st.lists(st.sampled_from(PIECES[3:]), unique=True, min_size=1))
def test_what_others_wrote_behind_it_stays(pieces: list[str]) -> None:
    behind = "\n".join(pieces) + "\n"

    assert without(with_ours("a = 1\n") + "\n" + behind, OURS, COMMENT) == "a = 1\n\n" + behind


@given(st.text(alphabet="[]{}\"'#=.,\\\n ab1", max_size=60))
def test_no_text_is_taken_apart_wrongly(text: str) -> None:
    try:
        before = values_of(text)
    except ValueError:
        return

    assert without(text, OURS, COMMENT) == text
    assert values_of(text) == before


def test_windows_line_breaks_and_a_byte_order_mark_stay() -> None:
    text = "\ufeffa = 1\r\n[b]\r\nc = '''\r\n'''\r\n"

    assert without(with_ours(text, "\r\n"), OURS, COMMENT) == text


def test_a_table_that_another_program_wrote_anew_is_found() -> None:
    rewritten = """\
[mcp_servers.memlines]
args = ["-m", "x"]
command = "/usr/bin/python3"

[mcp_servers.memlines.tools.forget]
mode = "prompt"

[mcp_servers.other]
command = "echo"

[mcp_servers.memlines.tools.search]
mode = "auto"
"""

    assert without(rewritten, OURS, COMMENT) == '\n[mcp_servers.other]\ncommand = "echo"\n'


def test_a_comment_behind_the_table_is_not_ours() -> None:
    assert without(with_ours("a = 1\n") + "# mine\n", OURS, COMMENT) == "a = 1\n# mine\n"


def test_a_table_inside_one_line_is_found() -> None:
    text = "[mcp_servers]\nother = { command = 'a' }\nmemlines = { command = 'b' }\n"

    assert without(text, OURS, COMMENT) == "[mcp_servers]\nother = { command = 'a' }\n"


def test_a_table_that_cannot_be_taken_out_alone_is_refused() -> None:
    with pytest.raises(ValueError, match="something else"):
        without("mcp_servers = { memlines = { command = 'b' }, other = { command = 'a' } }\n", OURS, COMMENT)


def test_an_inline_table_cannot_be_extended() -> None:
    text = "mcp_servers = { other = { command = 'a' } }\n"

    with pytest.raises(ValueError, match="mcp_servers"):
        check_added(text, with_ours(text), OURS, VALUES)


def test_dotted_keys_can_be_extended() -> None:
    text = "mcp_servers.other.command = 'a'\n"

    check_added(text, with_ours(text), OURS, VALUES)


def test_a_change_of_something_else_is_noticed() -> None:
    with pytest.raises(ValueError, match="something else"):
        check_added("a = 1\n", with_ours("a = 2\n"), OURS, VALUES)
