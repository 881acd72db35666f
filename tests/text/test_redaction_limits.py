"""Where a value begins to be a secret: its length, its signs, and how much of it reads as words."""

from __future__ import annotations

import pytest

from memlines.text.redaction import redact
from memlines.text.redaction.copies import is_distinctive
from memlines.text.redaction.tokens import is_masked, is_path, is_placeholder, is_random, is_wordy

pytestmark = pytest.mark.promise("P8")

SECRET = "k7Qz2mXw9Rt4Lp8v"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a1!bcd", True),  # letters, digits and a sign
        ("a1!bc", False),
        ("a1bcdefg", True),  # letters and digits
        ("a1bcdef", False),
        ("hunter!x", True),  # letters and a sign
        ("hunter!", False),
        ("201611160427", True),
        ("20161116042", False),
        ("kqzxmwrtlpvbnhjd", True),  # letters that no one can speak
        ("kqzxmwrtlpvbnhj", False),
        ("butterflieswanderoff", True),
        ("butterflieswandered", False),
        ("a1!ba1!ba1!b", False),  # four different signs
        ("a1!bca1!bca1", True),
        ("changeme1", True),
        ("your-password-1", False),
        ("[redacted:password]x9", False),
    ],
)
def test_a_value_is_hidden_elsewhere_if_it_can_only_be_the_secret(value: str, expected: bool) -> None:
    assert is_distinctive(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("monkey-business", True),
        ("build-xz", True),  # a short part counts for the length only
        ("build-xyzz-bcdfg", False),
        ("apple-berry-cherries-bcdfg", True),  # three of four can be spoken
        ("apple-cherries-bcdfg", False),
        ("release2024notes", True),
        ("lamp1desk2", False),  # a number too many for so short a text
        ("release20notes24more", True),
        ("rel20ease24notes26more", False),
        ("abc-de", False),
        ("1234", False),
        ("", False),
    ],
)
def test_what_reads_as_words(value: str, expected: bool) -> None:
    assert is_wordy(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("k7Qz2mXw", True),
        ("k7Qz2mX", False),
        ("k7Qz2mXX", True),  # seven different signs
        ("k7Qz2mmm", False),
        ("kqZxmwRt", True),
        ("kqzxmwrt", False),
        ("KQZXMWRT", False),
        ("lampTable", False),
    ],
)
def test_what_looks_drawn_by_lot(value: str, expected: bool) -> None:
    assert is_random(value, 8) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [("aabb", True), ("abc", False), ("k7Qz****Lp8v", True), ("k7Qz**Lp8v", False)],
)
def test_what_is_masked(value: str, expected: bool) -> None:
    assert is_masked(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${DB}", True),
        ("$(pass show db)", True),
        ("<token>", True),
        ("%s", True),
        ("#{token}", True),
        ("@token@", True),
        ("*anchor", True),
        ("&anchor", True),
        (" your-token. ", True),
        (f"key {SECRET}", False),
        (SECRET, False),
    ],
)
def test_what_is_a_placeholder(value: str, expected: bool) -> None:
    assert is_placeholder(value) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("/etc/key", True),
        ("~/key", True),
        ("./a1/key", True),
        ("../a1", True),
        ("C:\\a1", True),
        ("https://a1", True),
        ("a1/b2", False),
        ("/", False),
    ],
)
def test_what_is_a_path(value: str, expected: bool) -> None:
    assert is_path(value) is expected


@pytest.mark.parametrize(
    ("line", "hidden"),
    [
        ('password: "123456"', True),
        ('password: "12345"', False),
        ('password: "123456789012"', True),
        ('password: "1234567890123"', False),
        ('password: "a1b2 c3d4"', True),
        ('password: "a1 b2 c3d4"', False),
        ('password: "hunter"', True),
        ('password: "hunte"', False),
        ('password: "Hunter"', False),
        ('password: "hunter$"', True),
        ("DB_PASSWORD=abcde", True),
        ("DB_PASSWORD=abcd", False),
        ("DB_TOKEN=kqzxmwrt", True),
        ("DB_TOKEN=kqzxmwr", False),
        ("DB_TOKEN=monkeybusiness", False),
        ('some_key = "k7Qz2mXw9Rt4Lp8vB3nH"', True),
        ('some_key = "k7Qz2mXw9Rt4Lp8vB3n"', False),
        ('some_key = "k7Qz2mXw 9Rt4Lp8vB3nH6jD"', False),
        ('auth_token = "k7Qz2mXw"', True),
        ('auth_token = "k7Qz2mX"', False),
        ("use password k7Qz2mXw to log in", True),
        ("use password k7Qz2mX to log in", False),
        (f"use token {SECRET} to log in", True),
        ("use token k7Qz2mXw9Rt4Lp8 to log in", False),
        ("pass k7Qz2mXw to the next", False),
        ("Authorization: Custom k7Qz2mXw", True),
        ("Authorization: Custom k7Qz2mX", False),
        ("Cookie: sid=k7Qz2mXw", True),
        ("Cookie: sid=k7Qz2mX", False),
        ("Cookie: theme=dark-and-quiet", False),
        ("password = os.environ.get(name1)", False),
        ("password = settings.password1", False),
        ("auth_token = k7Qz2mXw9Rt4", True),
        ("auth_token = k7Qz2mXw9Rt4(x)", False),
        ("auth_token = k7Qz2mXw9Rt4[0]", False),
    ],
)
def test_what_is_given_a_name_is_hidden_from_a_length_on(line: str, hidden: bool) -> None:
    assert bool(redact(line).counts) is hidden


def test_a_long_copy_is_hidden_inside_a_longer_word() -> None:
    shown = redact(f"password: {SECRET}\nsee x{SECRET}y\n").text
    assert shown == "password: [redacted:password]\nsee x[redacted:password]y\n"


def test_a_copy_of_fifteen_signs_is_left_inside_a_longer_word() -> None:
    assert redact(f"password: {SECRET[:15]}\nsee x{SECRET[:15]}y\n").text.endswith(f"x{SECRET[:15]}y\n")


@pytest.mark.parametrize("name", ["api_key", "token", "Schlüssel", "sleutel", "clé", "jeton"])
def test_a_name_of_much_else_hides_no_words_with_a_number(name: str) -> None:
    assert redact(f'{name}: "release24"').counts == {}


@pytest.mark.parametrize("name", ["client_secret", "password", "Kennwort", "wachtwoord", "clave"])
def test_a_name_of_a_password_does(name: str) -> None:
    assert redact(f'{name}: "release24"').counts != {}
