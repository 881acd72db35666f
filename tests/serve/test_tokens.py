"""The file of tokens: what it may say, who is let in by it, and what happens when it changes."""

from __future__ import annotations

import hashlib
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.errors import SettingsError, UsageError
from memlines.serve.mcp import tokens
from memlines.serve.mcp.tokens import Token, TokenFile

posix_only = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX system")

HASH = "a" * 64


def write(file: Path, text: str | bytes) -> Path:
    """Write a token file that only its owner can read."""
    file.touch(mode=0o600)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


# Making tokens


def test_a_new_token_is_found_by_what_was_printed(tmp_path: Path) -> None:
    secret = tokens.add(tmp_path / "deep/tokens.toml", "anna", "write", ())
    found = TokenFile(tmp_path / "deep/tokens.toml").find(secret.encode())
    assert found == Token("anna", hashlib.sha256(secret.encode()).hexdigest(), "write", ("project",))


@pytest.mark.promise("P13")
def test_the_file_does_not_hold_the_token(tmp_path: Path) -> None:
    secret = tokens.add(tmp_path / "tokens.toml", "anna", "write", ())
    assert secret not in (tmp_path / "tokens.toml").read_text(encoding="utf-8")


@posix_only
@pytest.mark.promise("P13")
def test_only_its_owner_can_read_a_new_file(tmp_path: Path) -> None:
    tokens.add(tmp_path / "tokens.toml", "anna", "write", ())
    assert stat.S_IMODE((tmp_path / "tokens.toml").stat().st_mode) == 0o600


def test_a_token_is_added_to_what_the_file_says(tmp_path: Path) -> None:
    file = write(tmp_path / "tokens.toml", f'# the team\n[ci]\nsha256 = "{HASH}"\naccess = "read"')
    tokens.add(file, "anna", "write", ["personal"])
    assert [(one.name, one.access, one.scopes) for one in tokens.load(file)] == [
        ("ci", "read", ("project",)),
        ("anna", "write", ("project", "personal")),
    ]
    assert file.read_text(encoding="utf-8").startswith("# the team\n")


def test_a_name_is_given_once(tmp_path: Path) -> None:
    tokens.add(tmp_path / "tokens.toml", "anna", "write", ())
    before = (tmp_path / "tokens.toml").read_bytes()
    with pytest.raises(UsageError, match="has a token 'anna' already"):
        tokens.add(tmp_path / "tokens.toml", "anna", "read", ())
    assert (tmp_path / "tokens.toml").read_bytes() == before


@pytest.mark.parametrize("name", ["", "a b", "a.b", "-a", "ä", 'a"]', "x" * 41, "a\n"])
def test_a_name_that_the_file_could_not_hold_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match="not a name for a token"):
        tokens.add(tmp_path / "tokens.toml", name, "write", ())
    assert not (tmp_path / "tokens.toml").exists()


def test_no_token_is_added_to_a_file_that_is_wrong(tmp_path: Path) -> None:
    file = write(tmp_path / "tokens.toml", "[anna\n")
    with pytest.raises(SettingsError, match="is not TOML"):
        tokens.add(file, "ci", "read", ())
    assert file.read_bytes() == b"[anna\n"


# Files that are refused

GOOD = f'sha256 = "{HASH}"\naccess = "read"\n'
WRONG = {
    "": "holds no token",
    "\n# none\n": "holds no token",
    "[anna": "is not TOML",
    f"[anna]\n{GOOD}[anna]\n{GOOD}": "is not TOML",
    f"[anna]\n{GOOD}[ci]\n{GOOD}": r"\[ci\].* is the same token as \[anna\]",
    f"[anna]\n{GOOD}tokn = 1\n": "unknown field 'tokn'",
    f"[anna]\n{GOOD}[anna.more]\nx = 1\n": "unknown field 'more'",
    "anna = 1\n": "is not a table",
    f'["an na"]\n{GOOD}': "is not a name",
    '[anna]\naccess = "read"\n': "no sha256",
    '[anna]\nsha256 = "abc"\naccess = "read"\n': "no sha256",
    '[anna]\nsha256 = 7\naccess = "read"\n': "no sha256",
    f'[anna]\nsha256 = "{HASH}"\n': "does not say what it allows",
    f'[anna]\nsha256 = "{HASH}"\naccess = "admin"\n': "does not say what it allows",
    f'[anna]\nsha256 = "{HASH}"\naccess = ["read"]\n': "does not say what it allows",
    f"[anna]\n{GOOD}scopes = []\n": "scopes",
    f'[anna]\n{GOOD}scopes = ["personal"]\n': "scopes",
    f'[anna]\n{GOOD}scopes = ["project", "all"]\n': "scopes",
    f'[anna]\n{GOOD}scopes = "project"\n': "scopes",
    f'[anna]\n{GOOD}scopes = ["project", ["x"]]\n': "scopes",
}


@pytest.mark.parametrize("text", WRONG)
def test_a_file_that_is_wrong_is_refused_with_the_reason(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=WRONG[text]):
        tokens.load(write(tmp_path / "tokens.toml", text))


@given(st.binary(max_size=200) | st.text(alphabet='[]=" \nax1.\\', max_size=60).map(str.encode))
def test_whatever_the_file_holds_the_answer_is_tokens_or_a_reason(content: bytes) -> None:
    try:
        found = tokens.parse(Path("tokens.toml"), content)
    except SettingsError:
        found = ()
    assert all(len(token.sha256) == 64 for token in found)


def test_a_missing_file_is_refused_with_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no token file .*--new-token"):
        tokens.load(tmp_path / "tokens.toml")


@posix_only
@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o622])
@pytest.mark.promise("P13")
def test_a_file_that_others_can_read_or_change_is_refused(tmp_path: Path, mode: int) -> None:
    tokens.add(tmp_path / "tokens.toml", "anna", "write", ())
    (tmp_path / "tokens.toml").chmod(mode)
    with pytest.raises(SettingsError, match="others can read or change"):
        tokens.load(tmp_path / "tokens.toml")


@posix_only
@pytest.mark.promise("P13")
def test_a_link_to_a_file_is_refused(tmp_path: Path) -> None:
    tokens.add(tmp_path / "tokens.toml", "anna", "write", ())
    (tmp_path / "link").symlink_to(tmp_path / "tokens.toml")
    with pytest.raises(SettingsError, match="symbolic link"):
        tokens.load(tmp_path / "link")


def test_a_folder_is_no_token_file(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="cannot be read"):
        tokens.load(tmp_path)


# Changes


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with two tokens whose hashes are those of their names."""
    table = '[{name}]\nsha256 = "{hash}"\naccess = "read"\n'
    text = "".join(
        table.format(name=name, hash=hashlib.sha256(name.encode()).hexdigest()) for name in ("anna", "ci")
    )
    return write(tmp_path / "tokens.toml", text)


@pytest.mark.parametrize(
    "given", [b"", b"x", b"Anna", b"anna ", b"\xff", hashlib.sha256(b"anna").hexdigest().encode()]
)
def test_another_token_is_not_found(file: Path, given: bytes) -> None:
    assert TokenFile(file).find(given) is None


def test_a_token_that_is_removed_is_not_found_any_more(file: Path) -> None:
    opened = TokenFile(file)
    assert opened.find(b"anna") is not None
    file.write_text(
        file.read_text(encoding="utf-8").partition("[ci]")[2].join(["[ci]", ""]), encoding="utf-8"
    )
    assert (opened.find(b"anna"), opened.find(b"ci") is None) == (None, False)


def test_a_token_that_is_added_is_found(file: Path) -> None:
    opened = TokenFile(file)
    secret = tokens.add(file, "new", "read", ())
    assert opened.find(secret.encode()) is not None


@posix_only
@pytest.mark.parametrize("how", ["broken", "gone", "open", "empty", "link"])
def test_a_file_that_becomes_wrong_lets_no_one_in_until_it_is_repaired(
    file: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = TokenFile(file)
    good = file.read_bytes()
    if how == "open":
        file.chmod(0o644)
    elif how == "gone":
        file.unlink()
    elif how == "link":
        file.rename(file.with_name("other"))
        file.symlink_to("other")
    else:
        file.write_bytes(b"" if how == "empty" else good + b"[")
    for _ in range(3):
        with pytest.raises(SettingsError):
            opened.find(b"anna")
    assert capsys.readouterr().err.count("no client is let in until this is repaired") == 1
    file.unlink(missing_ok=True)
    write(file, good)
    assert opened.find(b"anna") is not None
