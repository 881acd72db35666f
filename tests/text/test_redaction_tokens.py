"""Every listed format of a token is recognised bare, and so are secrets in the forms that people write."""

from __future__ import annotations

import random
import string

import pytest

from memlines.text.redaction import redact
from memlines.text.redaction.tokens import _PART, _TABLE

pytestmark = pytest.mark.promise("P8")

_HEX = "0123456789abcdef"
_LETTERS = string.ascii_letters + string.digits
_ALPHABETS = {
    "d": string.digits, "h": _HEX, "H": _HEX + "ABCDEF", "l": string.ascii_lowercase + string.digits,
    "c": string.ascii_uppercase + string.digits, "w": _LETTERS, "u": _LETTERS + "_-", "b": _LETTERS + "+/",
    "x": _LETTERS + "_-", "t": _LETTERS + "_-", "e": _LETTERS + "_-",
}  # fmt: skip
_LONG_ENOUGH = 24

PROSE = (
    "I pasted {} into the settings page and it still says unauthorised.",
    "Please rotate {}, it was in the logs.",
    "old one: {}\nnew one: to follow",
    '{{"text":"here it is:\\n{}\\nthanks"}}',
    "see https://example.org/?x={}&y=2",
)


def formats() -> list[tuple[str, list[str]]]:
    """Return the listed formats: how each begins, and its parts."""
    shapes = [
        line.split("\t")[1].split()
        for line in _TABLE.read_text(encoding="utf-8").splitlines()
        if line and not line.startswith("#")
    ]
    return [
        (begin, [part for part in parts if part != "?"])
        for first, *parts in shapes
        for begin in first.split("|")
    ]


def drawn(begin: str, parts: list[str], randomly: random.Random) -> str:
    """Draw a token of a format; one whose rest may have any length is given a usual one."""
    token = begin
    for part in parts:
        number = _PART.fullmatch(part)
        if number is None:
            token += part
            continue
        length = max(int(number[1]), _LONG_ENOUGH) if number[2] else int(number[1])
        token += "".join(randomly.choices(_ALPHABETS[number[4]], k=length))
    return token


def test_at_least_180_formats_are_listed() -> None:
    assert len({begin for begin, _ in formats()}) >= 180


def test_a_token_of_every_listed_format_is_hidden_bare_in_prose() -> None:
    randomly = random.Random(17)
    missed: dict[str, int] = {}
    count = 0
    for begin, parts in formats():
        for place in PROSE:
            token = drawn(begin, parts, randomly)
            count += 1
            if token[-12:] in redact(place.format(token)).text:
                missed[begin] = missed.get(begin, 0) + 1
    assert sum(missed.values()) <= count / 100
    assert {begin: misses for begin, misses in missed.items() if misses > 2} == {}


@pytest.mark.parametrize(
    "text",
    [
        "commit 3f2b8c1d9e0a4b5c6d7e8f901a2b3c4d5e6f7a8b",
        "id 123e4567-e89b-12d3-a456-426614174000 and 9f8e7d6c5b4a39281706f5e4d3c2b1a0",
        "sk-some-name-of-a-class-in-a-style-sheet",
        "sha512-" + "k7Qz2mXw9Rt4Lp8vB3nH6jD1" * 3 + "==",
        "hf_some_variable_with_a_name_of_many_words",
        "AKIAIOSFODNN7EXAMPLE",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "test_that_a_long_name_of_a_function_is_not_taken_for_one",
        "toolu_01A9vQzX7mKp2LrT8wYbN4cD",
    ],
)
def test_what_only_begins_like_a_token_stays(text: str) -> None:
    assert redact(text).text == text


def test_a_token_of_a_service_that_is_not_listed_is_hidden() -> None:
    token = "acme_live_" + "k7Qz2mXw9Rt4Lp8vB3nH6jD1cV5sGy"
    assert redact(f"use {token} now").text == "use [redacted:token] now"


SECRET = "k7Qz2mXw9Rt4Lp8v"


@pytest.mark.parametrize(
    "text",
    [
        "curl -u :{} https://example.org",
        "curl --user amy:{} https://example.org",
        "curl -uamy:{} https://example.org",
        "Authorization: Api-Token {}",
        "authorization: GenieKey {}",
        '"Authorization": "Custom-Scheme {}"',
        "<password>\n    {}\n</password>",
        '<property name="password" value="{}"/>',
        "password: |\n  {}\nuser: amy",
        "api_key: >-\n    {}\n",
        '{{"name":"DB_PASSWORD","value":"{}"}}',
        '{{"Name":"secret","Type":"String","Value":"{}"}}',
        '{{"value":"{}","name":"DB_PASSWORD"}}',
        "- name: API_TOKEN\n  value: {}",
        "kubectl create secret generic db --from-literal=password={}",
        "helm install x --set auth.password={}",
        "The password for the staging server is {}.",
        "the password has been set to {}",
        "use password {} to log in",
        "pw: {}",
        "Das Passwort ist {}",
        "Das Passwort für den Server lautet {}.",
        "Mein Kennwort ist {}",
        "Der API-Schlüssel ist {}",
        "Het wachtwoord van de server is {}",
        "De API-sleutel is {}",
        "Le mot de passe est {}",
        "Mot de passe : {}",
        "La clé API est {}",
        "La contraseña es {}",
        "La contraseña del servidor es {}",
        "la clave es {}",
        "SET PASSWORD FOR 'a'@'%' = '{}';",
        "az login -u amy -p {}",
    ],
)
def test_secrets_are_hidden_in_the_forms_that_people_write(text: str) -> None:
    assert SECRET not in redact(text.format(SECRET)).text


@pytest.mark.parametrize(
    "text",
    [
        "Das Passwort ist wichtig.",
        "Le mot de passe est obligatoire.",
        "La contraseña es necesaria.",
        "Het wachtwoord is verplicht.",
        "la clave es el tiempo",
        "The password for the server is in the vault.",
        "Upgrade the password to Argon2id.",
        "The token for v2 is not used.",
        "you may pass ssl=True here",
        '{"name": "password", "value": ""}',
        "password: |\n  ",
        "key: |\n  some text of many words",
        '"AWS::IAM::AccessKey": "48205d4ffd7feba3"',
        "Authorization: Basic authentication is enough",
    ],
)
def test_talk_about_passwords_stays_in_every_language(text: str) -> None:
    assert redact(text).text == text
