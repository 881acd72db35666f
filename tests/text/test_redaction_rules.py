"""Each rule finds what it is for, under its own name, and leaves the text around it."""

from __future__ import annotations

import base64
import random
import string

import pytest

from memlines.text.redaction import redact

pytestmark = pytest.mark.promise("P8")

SECRET = "k7Qz2mXw9Rt4Lp8v"
_HEX, _LETTERS = "0123456789abcdef", string.ascii_letters + string.digits


def hex_of(length: int) -> str:
    return "".join(random.Random(length).choices(_HEX, k=length))


def letters(length: int) -> str:
    return "".join(random.Random(length).choices(_LETTERS, k=length))


def digits(length: int) -> str:
    return "".join(random.Random(length).choices(string.digits, k=length))


_HEADER = base64.urlsafe_b64encode(b'{"alg":"HS256","typ":"JWT"}').decode().rstrip("=")
JWT = f"{_HEADER}.{letters(30)}.{letters(43)}"
BASIC = base64.b64encode(f"amy:{SECRET}".encode()).decode()

TOKENS = [
    ("slack-webhook", f"hooks.slack.com/services/[T0{letters(8)}/B0{letters(8)}/{letters(24)}]"),
    ("discord-webhook", f"discord.com/api/webhooks/[{digits(18)}/{letters(60)}]"),
    ("teams-webhook", f"acme.webhook.office.com/webhookb2/[{letters(60)}]"),
    ("telegram-token", f"[{digits(9)}:AA{letters(33)}]"),
    ("airtable-token", f"[pat{letters(14)}.{hex_of(64)}]"),
    ("mailchimp-key", f"[{hex_of(32)}-us12]"),
    ("terraform-token", f"[{letters(14)}.atlasv1.{letters(64)}]"),
    ("maxmind-key", f"[{letters(6)}_{letters(29)}_mmk]"),
    ("new-relic-key", f"[{hex_of(36)}NRAL]"),
    ("rapidapi-key", f"[{hex_of(10)}msh{hex_of(15)}p1{hex_of(6)}jsn{hex_of(12)}]"),
    ("asana-token", f"[1/{digits(16)}:{hex_of(32)}]"),
    ("asana-token", f"[2/{digits(16)}/{digits(16)}:{hex_of(32)}]"),
    ("azure-client-secret", f"[{letters(3)}8Q~{letters(34)}]"),
    ("azure-key", f"[{letters(52)}JQQJ9{letters(30)}]"),
    ("azure-key", f"[{letters(76)}+AzFu{letters(8)}]"),
    ("azure-key", f"[{letters(42)}AzSe{letters(6)}]"),
    ("azure-key", f"[{letters(43)}AzCa{letters(7)}]"),
    ("azure-key", f"[{letters(44)}ACDb{letters(8)}]"),
    ("azure-key", f"[{letters(45)}AIoT{letters(9)}]"),
    ("azure-devops-token", f"[{letters(76)}AZDO{letters(4)}]"),
    ("azure-key", f"Endpoint=sb://x;SharedAccessKey=[{letters(43)}=]"),
    ("azure-key", f"AccountName=x;AccountKey=[{letters(86)}==]"),
    ("azure-sas", f"https://x.blob.core.windows.net/a?sv=1&sig=[{letters(43)}%3D]"),
    ("jwt", f"[{JWT}]"),
    ("password-hash", f"[$2b$12${letters(53)}]"),
    ("password-hash", f"[$6${letters(16)}${letters(86)}]"),
    ("password-hash", f"[$apr1${letters(8)}${letters(22)}]"),
    ("password-hash", f"[$argon2id$v=19$m=65536,t=3,p=4${letters(22)}${letters(43)}]"),
    ("token", f"[acme_live_{letters(34)}]"),
]
TEXTS = [
    ("authorization", f"Authorization: Bearer [{SECRET}]"),
    ("authorization", f"authorization: token=[{SECRET}]"),
    ("authorization", f'"Authorization": "Custom-Scheme [{SECRET}]"'),
    ("bearer-token", f"sent with bearer [{SECRET}] as usual"),
    ("basic-auth", f"sent with Basic [{BASIC}] as usual"),
    ("cookie", f"Cookie: [sid={SECRET}; theme=dark]"),
    ("url-password", f"postgres://app:[{SECRET}]@db:5432/shop"),
    ("url-password", "redis://:[k7Qz2mXw]@cache:6379"),
    ("url-password", f"https://[{letters(32)}]@git.example.org/x"),
    ("url-password", f"amy:[{SECRET}]@tcp(db:3306)/shop"),
    ("password", f"CREATE USER app IDENTIFIED BY '[{SECRET}]';"),
    ("password", f"SET PASSWORD FOR 'a'@'%' = '[{SECRET}]';"),
    ("basic-auth", f"auth = [{BASIC}]"),
    ("private-key", f"client-key-data: [{letters(80)}]"),
    ("password", f'{{"value": "[{SECRET}]", "name": "DB_PASSWORD"}}'),
    ("password", f"ALTER ROLE app PASSWORD '[{SECRET}]'"),
    ("password", "ALTER ROLE app PASSWORD '[correct horse battery]'"),
    ("password", f"machine example.org login amy password [{SECRET}]"),
    ("password", f"db.example.org:5432:shop:amy:[{SECRET}]"),
    ("password", f"openssl rsa -passin pass:[{SECRET}]"),
    ("password", f"openssl rsa -passout pass:[{SECRET}]"),
    ("password", f"<password>\n  [{SECRET}]\n</password>"),
    ("password", f"<apiKey>[{SECRET}]</apiKey>"),
    ("mailgun-key", f"mailgun says [{hex_of(32)}-{hex_of(8)}-{'0a1b2c3d'}]"),
    ("cookie", f"curl -b [sid={SECRET}] https://example.org"),
    ("password", f"curl -u amy:[{SECRET}] https://example.org"),
    ("password", f"wget --user amy:[{SECRET}] https://example.org"),
    ("password", f"http --auth amy:[{SECRET}] example.org"),
    ("password", f"mysql -u root -p[{SECRET}] shop"),
    ("password", f"mariadb-dump -u root -p[{SECRET}] shop"),
    ("password", f"sshpass -p [{SECRET}] ssh amy@example.org"),
    ("password", f"docker login -u amy -p [{SECRET}] registry"),
    ("password", f"podman login -u amy -p [{SECRET}] registry"),
    ("password", f"redis-cli -a [{SECRET}] ping"),
    ("password", f"mongosh -u amy -p [{SECRET}] shop"),
    ("password", f"sqlcmd -S db -U sa -P [{SECRET}]"),
    ("password", f"ldapsearch -x -w [{SECRET}] -b dc=x"),
    ("password", f"unzip -P [{SECRET}] a.zip"),
    ("password", f"az login -u amy -p [{SECRET}]"),
    ("password", f"smbclient //x/y -U amy%[{SECRET}]"),
    ("api-key", f'api_key = "[{SECRET}]"'),
    ("token", f'auth_token = "[{SECRET}]"'),
    ("secret", f'client_secret = "[{SECRET}]"'),
    ("password", f'passphrase = "[{SECRET}]"'),
    ("password", f"pwd: [{SECRET}]"),
    ("password", f"pw: [{SECRET}]"),
    ("password", f"Kennwort: [{SECRET}]"),
    ("password", f"wachtwoord: [{SECRET}]"),
    ("password", f"contraseña: [{SECRET}]"),
    ("password", f"clave: [{SECRET}]"),
    ("api-key", f"API-Schlüssel: [{SECRET}]"),
    ("api-key", f"API-sleutel: [{SECRET}]"),
    ("api-key", f"clé: [{SECRET}]"),
    ("token", f"jeton: [{SECRET}]"),
]


@pytest.mark.parametrize(("kind", "text"), TOKENS + TEXTS)
def test_a_rule_hides_its_secret_and_nothing_else(kind: str, text: str) -> None:
    """The secret of a text is between brackets here, which are left out."""
    before, _, rest = text.partition("[")
    secret, _, after = rest.rpartition("]")
    assert redact(f"{before}{secret}{after}").text == f"{before}[redacted:{kind}]{after}"


@pytest.mark.parametrize(("kind", "text"), TOKENS)
def test_a_token_is_found_in_the_middle_of_a_sentence(kind: str, text: str) -> None:
    before, _, rest = text.partition("[")
    secret, _, after = rest.rpartition("]")
    shown = redact(f"I got {before}{secret}{after} yesterday.\nThat is all.").text
    assert shown == f"I got {before}[redacted:{kind}]{after} yesterday.\nThat is all."
