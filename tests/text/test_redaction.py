"""Secrets are replaced by what they are, and everything else stays."""

from __future__ import annotations

import random

import pytest

from memlines.text.redaction import Redacted, add_counts, redact
from tests.text.redaction_corpus import forms

pytestmark = pytest.mark.promise("P8")


def drawn(form: str, seed: int = 5) -> str:
    """Return a secret of a form."""
    return next(found for found in forms() if found.name == form).draw(random.Random(seed))


def test_a_token_is_replaced_by_its_kind() -> None:
    assert redact(f"use {drawn('github classic')} for now").text == "use [redacted:github-token] for now"


def test_what_was_replaced_is_counted_by_kind() -> None:
    text = f"{drawn('github classic', 1)} {drawn('github classic', 2)} {drawn('npm')}"
    assert redact(text).counts == {"github-token": 2, "npm-token": 1}


def test_a_text_without_secrets_is_the_same_object() -> None:
    text = "The password is important, and the key is under the mat."
    assert redact(text).text is text


def test_nothing_is_counted_where_nothing_is_found() -> None:
    assert redact("nothing to see") == Redacted("nothing to see", {})


def test_counts_of_two_texts_add_up() -> None:
    assert add_counts({"jwt": 1, "password": 2}, {"password": 1, "token": 4}) == {
        "jwt": 1,
        "password": 3,
        "token": 4,
    }


@pytest.mark.parametrize(
    ("before", "kind", "after"),
    [
        ("DB_PASSWORD=", "password", ""),
        ('{"apiKey": "', "api-key", '", "id": 7}'),
        ("client_secret: '", "secret", "'"),
        ("tool --auth-token ", "token", " --verbose"),
        ("tool --password=", "password", ""),
        ('os.environ["ACME_TOKEN"] = "', "token", '"'),
        ('password: str = "', "password", '"'),
        ("user=amy&password=", "password", "&remember=1"),
        ("Server=db;User Id=sa;Password=", "password", ";Encrypt=True"),
        ("X-Api-Key: ", "api-key", ""),
        ("Authorization: Bearer ", "authorization", ""),
        ("Authorization: token ", "authorization", ""),
        ("the password is ", "password", ""),
        ("postgres://app:", "url-password", "@db:5432/shop"),
        ("curl -u amy:", "password", " https://example.org"),
        ("mysql -u root -p", "password", " shop"),
        ("CREATE USER app IDENTIFIED BY '", "password", "';"),
        ("Cookie: ", "cookie", "; theme=dark"),
        ("Set-Cookie: ", "cookie", "; Path=/; HttpOnly"),
        ("machine example.org login amy password ", "password", ""),
        ("<password>", "password", "</password>"),
    ],
)
def test_the_value_goes_and_its_name_stays(before: str, kind: str, after: str) -> None:
    secret = "sid=" * (kind == "cookie") + "k7Qz2mXw9Rt4Lp8v"
    shown = redact(f"{before}{secret}{after}").text
    kept = after.removeprefix("; theme=dark").removeprefix("; Path=/") if kind == "cookie" else after
    assert shown == f"{before}[redacted:{kind}]{kept}"


def test_escaped_quotes_of_json_in_json_end_a_value() -> None:
    line = r'{"arguments":"{\"token\":\"k7Qz2mXw9Rt4Lp8v\",\"n\":1}"}'
    assert redact(line).text == r'{"arguments":"{\"token\":\"[redacted:token]\",\"n\":1}"}'


def test_an_escaped_line_break_does_not_hide_a_token() -> None:
    assert redact(rf'"the key:\n{drawn("slack bot")}\nok"').text == r'"the key:\n[redacted:slack-token]\nok"'


def test_a_value_of_any_length_goes_whole() -> None:
    secret = "".join(random.Random(3).choices("abcdefGHIJKL0123456789", k=5000))
    assert redact(f'{{"api_key": "{secret}", "n": 1}}').text == '{"api_key": "[redacted:api-key]", "n": 1}'


def test_a_private_key_leaves_its_line_breaks() -> None:
    key = drawn("rsa pem")
    assert redact(f"a\n{key}\nb").text == "a\n[redacted:private-key]" + "\n" * key.count("\n") + "\nb"


def test_a_private_key_that_is_cut_off_takes_nothing_else_with_it() -> None:
    key = drawn("pem")[:200]
    assert redact(f"{key}\n\nThat was all I got.").text.endswith("\n\nThat was all I got.")


def test_a_private_key_on_one_line_goes_whole() -> None:
    line = f'"private_key": "{drawn("pem escaped")}\\n",'
    assert redact(line).text == '"private_key": "[redacted:private-key]\\n",'


def test_a_card_needs_its_check_digit() -> None:
    number = drawn("card")
    wrong = number[:-1] + str((int(number[-1]) + 1) % 10)
    assert redact(f"{number} {wrong}").text == f"[redacted:payment-card] {wrong}"


def test_digits_in_a_longer_run_are_no_card() -> None:
    text = f"id 9{drawn('card')}"
    assert redact(text).text == text


def test_a_token_whose_header_is_not_json_is_no_jwt() -> None:
    assert redact("eyJzzzzzzzzzzz.abcdefghijk.lmnop").counts == {}


@pytest.mark.parametrize(
    "text",
    [
        "API_KEY=${ACME_KEY}",
        "export TOKEN=$(pass show token)",
        "token: <your-token>",
        'api_key="your-api-key-here"',
        "PASSWORD=changeme",
        "password: ********",
        "password = None",
        "token=true",
        'password = os.environ["DB_PASSWORD"]',
        "secret = config.client_secret",
        "token = tokens[3]",
        "password: str",
        "Authorization: Bearer $TOKEN",
        "Authorization: Basic authentication is enough",
        "postgres://user:password@localhost/db",
        "key = value",
        "token: 5",
        "Secret Santa",
        "the password is important",
        "primary_key: user_1a2b3c4d5e6f7a8b9c0d1e2f",
        "commit 3f2b8c1d9e0a4b5c6d7e8f901a2b3c4d5e6f7a8b",
        "id=123e4567-e89b-12d3-a456-426614174000",
        "-----BEGIN PUBLIC KEY-----",
        'if "-----BEGIN PRIVATE KEY-----" in text:',
        "monkey=k7Qz2mXw9Rt4Lp8v",
        "ISBN 978-3-16-148410-0",
        "https://registry:5000/image@sha256:abc",
        "Cookie: a small text that a browser keeps",
        "def login(self, user='', passwd='', acct=''):",
    ],
)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text).text == text


def test_what_stands_behind_a_placeholder_is_not_taken_for_its_value() -> None:
    assert redact("[redacted:github-token]: k7Qz2mXw9Rt4Lp8v").counts == {}


def test_a_private_block_is_dropped_whole() -> None:
    assert redact("before <private>my diagnosis</private> after").text == "before   after"


def test_a_private_block_keeps_its_line_breaks() -> None:
    assert redact("a\n<private>\nb\nc\n</private>\nd").text == "a\n\n\n\n\nd"


def test_a_private_block_that_is_not_closed_reaches_to_the_end() -> None:
    assert redact("a <private> b\nc").text == "a \n"


def test_a_private_block_may_hold_another() -> None:
    assert redact("a<private>b<private>c</private>d</private>e").text == "a e"


def test_private_blocks_are_counted() -> None:
    assert redact("<PRIVATE>a</PRIVATE> <private>b</private>").counts == {"private": 2}


def test_a_private_tag_that_is_talked_about_is_no_tag() -> None:
    text = "Put it between `<private>` and `</private>`, and it stays out."
    assert redact(text).text == text


@pytest.mark.parametrize(
    "tag", ["<private >", "<private class=x>", '<Private title="a b">', "<private\tlang='en'>"]
)
def test_a_private_tag_may_have_blanks_and_attributes(tag: str) -> None:
    assert "diagnosis" not in redact(f"before {tag} my diagnosis</private > after").text


@pytest.mark.parametrize("tag", ["<private/>", "<private />", "<private-note>", "<privateer>"])
def test_what_is_no_private_tag_hides_nothing(tag: str) -> None:
    assert redact(f"before {tag} after").text == f"before {tag} after"
