"""Each word that decides whether a value is a secret does so: names of keys, harmless names, examples, cards.

The words are written down once more here, so that none of them is lost unnoticed.
"""

from __future__ import annotations

import pytest

from memlines.text.redaction import redact

pytestmark = pytest.mark.promise("P8")

SECRET = "k7Qz2mXw9Rt4Lp8v"
LONG_SECRET = "k7Qz2mXw9Rt4Lp8vB3nH6jD1cV5sGy"
HEX = "48205d4ffd7feba348205d4ffd7feba3"
"""Is a secret only where the name says so: most values like it are hashes."""

SECRET_KEYS = """
    api access secret private auth app application client account master signing encrypt encryption
    decryption license storage shared subscription service admin root deploy signature consumer webhook
    jwt hmac aes cipher session write project server live integration personal prod production ssl"""
HARMLESS = {
    "key": """
        public pub publishable primary foreign sort partition cache row group dict map object
        idempotency dedupe routing shard index lookup translation i18n message hot short arrow unique
        composite natural surrogate range hash registry config cfg setting option parent child data json
        yaml meta lock s3 bucket host known ssh anon site""",
    "token": """
        page next continuation sync cursor pad eos bos sep cls mask unk stop special first last current
        max min num total prompt completion cached per string number identifier operator start end
        resume pagination publish public cancel cancellation key""",
    "secret": "open no top",
}
GROWN = {
    "key": f"{SECRET_KEYS} my",
    "token": "auth access refresh bot api session csrf id my bearer user",
    "secret": "client app api consumer shared my jwt",
}
EXAMPLES = """
    your my our the a an some any this that not example sample dummy fake mock placeholder insert enter
    put replace change paste todo tbd fixme none null nil undef undefined true false yes no on off empty
    blank redacted removed hidden masked omitted required optional default unset missing invalid wrong n
    na foo bar baz foobar test testing value val string str text bytes int bool boolean number object
    type field input password passwd passphrase pwd pass secret token key apikey api access auth user
    username admin login name email id prompt here abc changeme changeit letters see use get set env
    file xxx"""
IDENTIFIERS = """
    sha1 sha256 md5 h1 blake2b integrity toolu msg req call chatcmpl resp run thread asst file batch cus
    evt price prod acct sub in ch txn user usr org team proj project session request trace span id uid
    uuid etag commit build task job page doc node img image font chunk main index vendor hash nonce
    cursor pk"""
ISSUERS = "4 51 55 222 229 23 26 270 271 2720 34 37 35 6011 644 649 65 62"


def is_hidden(text: str, secret: str) -> bool:
    return secret not in redact(text).text


@pytest.mark.parametrize("kind", HARMLESS)
def test_a_name_of_something_harmless_hides_nothing(kind: str) -> None:
    names = HARMLESS[kind].split()
    assert [name for name in names if is_hidden(f'{name}_{kind} = "{LONG_SECRET}"', LONG_SECRET)] == []
    assert is_hidden(f'some_{kind} = "{LONG_SECRET}"', LONG_SECRET)


def test_the_name_of_a_secret_key_hides_what_could_be_a_hash() -> None:
    assert [name for name in SECRET_KEYS.split() if not is_hidden(f'{name}_key = "{HEX}"', HEX)] == []
    assert not is_hidden(f'some_key = "{HEX}"', HEX)


@pytest.mark.parametrize("kind", GROWN)
def test_a_name_may_be_grown_together_of_words_that_belong_to_it(kind: str) -> None:
    names = GROWN[kind].split()
    assert [name for name in names if not is_hidden(f'{name}{kind} = "{LONG_SECRET}"', LONG_SECRET)] == []
    assert not is_hidden(f'donk{kind} = "{LONG_SECRET}"', LONG_SECRET)


@pytest.mark.parametrize("word", ["pass", "passe", "pw", "clave", "jeton"])
def test_a_short_word_at_the_end_of_another_is_not_meant(word: str) -> None:
    assert is_hidden(f'{word}: "{SECRET}"', SECRET)
    assert not is_hidden(f'by{word}: "{SECRET}"', SECRET)


def test_an_example_hides_nothing() -> None:
    assert [word for word in EXAMPLES.split() if is_hidden(f'password = "{word}-1234"', f"{word}-1234")] == []
    assert is_hidden('password = "lamp-1234"', "lamp-1234")


@pytest.mark.parametrize("mask", ["...", "…", "***", "•••", "xxxx", "XXXX", "EXAMPLE"])
def test_a_masked_value_stays(mask: str) -> None:
    assert not is_hidden(f'password = "k7Qz{mask}Lp8v"', f"k7Qz{mask}Lp8v")


def test_an_identifier_of_a_known_kind_is_no_token() -> None:
    names = IDENTIFIERS.split()
    assert [name for name in names if is_hidden(f"see {name}_{LONG_SECRET} there", LONG_SECRET)] == []
    assert is_hidden(f"see acme_{LONG_SECRET} there", LONG_SECRET)


def checked(start: str, length: int) -> str:
    """Return a card number that begins like this, with its check digit."""
    digits = (start + "1602839475601827")[: length - 1]
    doubled = [sum(divmod(2 * int(digit), 10)) for digit in reversed(digits)][::2]
    rest = [int(digit) for digit in reversed(digits)][1::2]
    return digits + str(-(sum(doubled) + sum(rest)) % 10)


def test_a_card_of_each_issuer_is_hidden() -> None:
    cards = {start: checked(start, 15 if start in {"34", "37"} else 16) for start in ISSUERS.split()}
    assert [start for start, card in cards.items() if not is_hidden(f"card {card}.", card)] == []


@pytest.mark.parametrize("start", ["21", "2721", "30", "33", "36", "50", "56", "60", "61", "643", "63"])
def test_a_number_of_no_issuer_is_no_card(start: str) -> None:
    card = checked(start, 16)
    assert not is_hidden(f"card {card}.", card)


def test_a_card_may_have_two_digits_only() -> None:
    assert is_hidden("card 4242 4242 4242 4242.", "4242 4242")
