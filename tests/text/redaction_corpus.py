"""Secrets planted in lines as agents leave them behind, all made up and drawn when asked for.

A `Form` is one way a secret is written; a form with a token of a service is put into the settings of
`PLACES`, the others bring settings of their own. Of every list of settings, one part is for developing and
the other is only ever measured: `planted(seed, held_out=True)`.
"""

# ruff: noqa: E501 (a planted line is as long as it is)

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_LOWER, _DIGITS = string.ascii_lowercase, string.digits
_LETTERS = string.ascii_letters + _DIGITS
_URL_SAFE = _LETTERS + "_-"
_HEX = "0123456789abcdef"
_BASE64 = _LETTERS + "+/"

Draw = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Planted:
    """A text with a secret in it."""

    form: str
    prefixed: bool
    text: str
    secret: str


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write a secret: how it is drawn, and in which settings it stands."""

    name: str
    draw: Draw
    developed: tuple[str, ...]
    held_out: tuple[str, ...]
    prefixed: bool = False


def _signs(alphabet: str, length: int) -> Draw:
    return lambda randomly: "".join(randomly.choices(alphabet, k=length))


def _token(pattern: str) -> Draw:
    """Return a way to draw a token from parts such as `ghp_ 36w`: a literal, or a number and an alphabet."""
    alphabets = {
        "w": _LETTERS, "u": _URL_SAFE, "h": _HEX, "d": _DIGITS, "b": _BASE64, "l": _LOWER + _DIGITS,
        "A": string.ascii_uppercase + "234567",
    }  # fmt: skip

    def part(randomly: random.Random, piece: str) -> str:
        if piece[:-1].isdigit() and piece[-1] in alphabets:
            return "".join(randomly.choices(alphabets[piece[-1]], k=int(piece[:-1])))
        return piece

    return lambda randomly: "".join([part(randomly, piece) for piece in pattern.split()])


_TOKENS = {
    "anthropic": "sk-ant-api03- 93u AA", "openai": "sk- 48w", "openai project": "sk-proj- 74u T3 58u",
    "openai service": "sk-svcacct- 60u", "openrouter": "sk-or-v1- 64h", "deepseek": "sk- 32h",
    "github classic": "ghp_ 36w", "github oauth": "gho_ 36w", "github app": "ghs_ 36w",
    "github user": "ghu_ 36w", "github refresh": "ghr_ 76w", "github fine": "github_pat_ 22w _ 59w",
    "gitlab": "glpat- 20u", "slack bot": "xoxb- 12d - 13d - 24w", "slack user": "xoxp- 12d - 12d - 12d - 32h",
    "slack app": "xapp-1-A 10A - 13d - 64h", "google key": "AIza 35u", "google token": "ya29.a0 120u",
    "google secret": "GOCSPX- 28u", "aws key": "AKIA 16A", "aws session key": "ASIA 16A",
    "stripe": "sk_live_ 24w", "stripe restricted": "rk_live_ 24w", "stripe webhook": "whsec_ 32w",
    "twilio": "SK 32h", "sendgrid": "SG. 22u . 43u", "npm": "npm_ 36w", "pypi": "pypi-AgEIcHlwaS5vcmc 140u",
    "hugging face": "hf_ 34w", "groq": "gsk_ 52w", "perplexity": "pplx- 48w", "xai": "xai- 80w",
    "voyage": "pa- 43u", "replicate": "r8_ 37w", "telegram": "7 9d :AA 33u", "digitalocean": "dop_v1_ 64h",
    "databricks": "dapi 32h", "linear": "lin_api_ 40w", "notion": "ntn_ 11d 35w", "notion old": "secret_ 43w",
    "doppler": "dp.pt. 43w", "vault": "hvs. 90u", "shopify": "shpat_ 32h", "mailgun": "key- 32h",
    "cloudflare origin": "v1.0- 24h - 146h", "atlassian": "ATATT3 180u", "figma": "figd_ 40u",
    "docker hub": "dckr_pat_ 27u", "supabase": "sbp_ 40h", "nvidia": "nvapi- 64u", "pinecone": "pcsk_ 70w",
    "grafana": "glsa_ 32w _ 8h", "sentry": "sntrys_ 120b", "postman": "PMAK- 24h - 34h", "tavily": "tvly- 32w",
}  # fmt: skip

_PLACES = (
    "export SERVICE_TOKEN={s}",
    'curl -s https://api.example.org/v1/things -H "Authorization: Bearer {s}" | jq .',
    '{{"type":"message","message":{{"role":"user","content":"here is the key:\\n{s}\\nplease use it"}}}}',
    "I pasted {s} into the settings page and it still says unauthorised.",
    "    client = Client(api_key='{s}', timeout=30)",
    "2026-11-02T10:15:31Z ERROR auth failed for credential {s} (status 401)",
    "  token: {s}",
    "`{s}`",
    '{{"role":"assistant","text":"I set \\"apiKey\\": \\"{s}\\" in config.json"}}',
    "+API={s}",
)
_HELD_OUT_PLACES = (
    "| staging | {s} | rotated last week |",
    "git remote set-url origin https://{s}@git.example.org/team/repo.git",
    "File \"app.py\", line 88, in call\n    raise Denied('{s}')\napp.Denied: {s}",
    "Use this one ({s}), not the old one.",
    "https://api.example.org/v2/list?limit=5&access={s}&page=2",
    '["{s}","fallback"]',
    "$ ./deploy.sh --region eu-west-1 {s}\nok",
    '{{"event":"tool_use","input":{{"command":"login {s} && sync"}}}}',
    "INSERT INTO credentials (name, value) VALUES ('ci', '{s}');",
    '<header name="x">{s}</header>',
)


def _password(randomly: random.Random) -> str:
    """Draw a password as people make them: some words and digits, some of random signs."""
    words = ("harbor", "Falcon", "winter", "Copper", "tulip", "Marble", "orbit", "Violet", "pepper", "Canyon")
    made = (
        lambda: randomly.choice(words) + str(randomly.randrange(10, 9999)) + randomly.choice("!$#*_"),
        lambda: "".join(randomly.choices(_LETTERS + "!#%*+-_.@^~", k=randomly.randrange(10, 20))) + "7q",
        lambda: (
            randomly.choice(words) + randomly.choice(words).title() + str(randomly.randrange(100)).zfill(2)
        ),
        lambda: "".join(randomly.choices(_LETTERS, k=16)) + "3x",
    )
    return randomly.choice(made)()


def _jwt(randomly: random.Random) -> str:
    claims = {"sub": str(randomly.randrange(10**9)), "exp": 1790000000 + randomly.randrange(10**6)}
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    signed = [
        *(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts),
        _token("43u")(randomly),
    ]
    return ".".join(signed)


def _basic(randomly: random.Random) -> str:
    return base64.b64encode(f"deploy:{_password(randomly)}".encode()).decode()


def _card(randomly: random.Random, separator: str) -> str:
    """Draw digits that have the form of a card's number."""
    body = randomly.choice(("4", "52", "55", "2231", "6011")) + _signs(_DIGITS, 15)(randomly)
    body = body[:15]
    total = sum(sum(divmod(int(digit) * (2 - place % 2), 10)) for place, digit in enumerate(body))
    digits = body + str(-total % 10)
    return separator.join(digits[place : place + 4] for place in range(0, 16, 4))


def _pem(randomly: random.Random, label: str, between: str) -> str:
    lines = [_signs(_BASE64, 64)(randomly) for _ in range(6)]
    return between.join([f"-----BEGIN {label}PRIVATE KEY-----", *lines, f"-----END {label}PRIVATE KEY-----"])


def _aws_secret(randomly: random.Random) -> str:
    return _signs(_BASE64, 40)(randomly)


_OTHERS = (
    Form("env line", _password, ("DB_PASSWORD={s}", "export ADMIN_PASSWORD={s}", "FOO=1\nSMTP_PASSWD={s}\nBAR=2"),
         ("MYSQL_ROOT_PASSWORD={s}", "  - POSTGRES_PASSWORD={s}", "ENV APP_PWD={s}")),
    Form("env key", _token("32w"), ("ACME_API_KEY={s}", 'export ACME_SECRET_KEY="{s}"', "set ACME_TOKEN={s}"),
         ("ACME_AUTH_TOKEN='{s}'", "WEBHOOK_SECRET={s}", "$env:ACME_API_KEY = \"{s}\"")),
    Form("env hex", _token("32h"), ("DATADOG_API_KEY={s}", "SESSION_SECRET={s}"),
         ("JWT_SECRET={s}", "export MEILI_MASTER_KEY={s}")),
    Form("yaml password", _password, ("database:\n  user: app\n  password: {s}\n", "    password: '{s}'"),
         ("redis:\n  host: cache\n  password: \"{s}\"", "smtp_password: {s}")),
    Form("yaml token", _token("40w"), ("  auth_token: {s}", "api_key: '{s}'"), ("clientSecret: {s}", "  token: \"{s}\"")),
    Form("json field", _token("36u"), ('{{"client_secret": "{s}", "id": 7}}', '{{"apiKey":"{s}"}}'),
         ('{{"refresh_token" : "{s}","expires_in":3600}}', '{{"name":"x","privateKey":"{s}"}}')),
    Form("json password", _password, ('{{"user":"bob","password":"{s}"}}', '"passwd": "{s}",'),
         ('{{"login": "amy", "userPassword": "{s}"}}', '{{"passphrase":"{s}"}}')),
    Form("json in json", _token("30w"), ('{{"text":"{{\\"api_key\\": \\"{s}\\"}}"}}', '{{"arguments":"{{\\"token\\":\\"{s}\\"}}"}}'),
         ('{{"output":"config: {{\\"secret\\":\\"{s}\\",\\"n\\":1}}"}}', '{{"a":"{{\\\\\\"accessToken\\\\\\":\\\\\\"{s}\\\\\\"}}"}}')),
    Form("python code", _token("28w"), ('API_KEY = "{s}"', "client = Client(token='{s}')", 'config["secret_key"] = "{s}"'),
         ('os.environ["ACME_TOKEN"] = "{s}"', 'auth_token: str = "{s}"', 'settings.setdefault("api_key", "{s}")')),
    Form("python password", _password, ('password = "{s}"', "connect(user='app', password='{s}')"),
         ('db_password: str = "{s}"', "    self.passwd = '{s}'")),
    Form("other code", _token("30w"), ('const apiKey = "{s}";', "apiToken := `{s}`", 'private String secretKey = "{s}";'),
         ("let authToken: string = '{s}';", 'static const char *api_key = "{s}";', "'token' => '{s}',")),
    Form("option", _token("32w"), ("tool --api-key {s} --verbose", "tool --token={s}"),
         ("tool run --auth-token \"{s}\"", "tool --client-secret={s} list")),
    Form("option password", _password, ("tool login --user amy --password {s}", "tool --password='{s}'"),
         ("tool --db-password {s} migrate", "tool --passphrase={s}")),
    Form("mysql", _password, ("mysql -u root -p{s} shop < dump.sql", "mysqldump -h db -u app -p'{s}' shop"),
         ("$ mysql -hdb.example.org -uapp -p{s} -e 'select 1'", "mariadb --user=app -p{s}")),
    Form("other tools", _password, ("sshpass -p {s} ssh root@host", "docker login -u amy -p {s} registry.example.org"),
         ("redis-cli -h cache -a {s} ping", "sshpass -p '{s}' rsync -a . host:/srv")),
    Form("curl user", _password, ("curl -u amy:{s} https://api.example.org/", "curl -sS --user 'amy:{s}' https://x.example.org"),
         ("curl https://x.example.org -u \"amy:{s}\" -o out", "wget --user=amy --password={s} https://x.example.org")),
    Form("bearer", _token("40w"), ("Authorization: Bearer {s}", "-H 'authorization: bearer {s}'"),
         ('headers = {{"Authorization": "Bearer {s}"}}', "{{\\\"Authorization\\\":\\\"Bearer {s}\\\"}}", "sent Bearer {s} to it")),
    Form("basic", _basic, ("Authorization: Basic {s}", "Proxy-Authorization: Basic {s}"),
         ("> authorization: Basic {s}\n> accept: */*", "'Authorization' => 'Basic {s}'")),
    Form("other scheme", _token("32w"), ("Authorization: token {s}", "Authorization: {s}"),
         ("Authorization: ApiKey {s}", "authorization: Bot {s}")),
    Form("key header", _token("32w"), ("X-Api-Key: {s}", '-H "x-auth-token: {s}"'),
         ("'X-API-KEY': '{s}'", "Ocp-Apim-Subscription-Key: {s}", "PRIVATE-TOKEN: {s}")),
    Form("cookie", _token("32w"), ("Cookie: sessionid={s}; theme=dark", "-b 'sid={s}' (curl)"),
         ("cookie: theme=dark; connect.sid=s%3A{s}", '"Cookie": "auth={s}"')),
    Form("set cookie", _token("40u"), ("Set-Cookie: session={s}; Path=/; HttpOnly", "set-cookie: sid={s}; Secure"),
         ('"set-cookie": ["id={s}; Max-Age=3600"]', "< Set-Cookie: remember_me={s}; SameSite=Lax")),
    Form("pem", lambda r: _pem(r, "", "\n"), ("{s}", "the key:\n{s}\nthat was it"), ("cat key.pem\n{s}\n$ ls", "```\n{s}\n```")),
    Form("rsa pem", lambda r: _pem(r, "RSA ", "\n"), ("{s}",), ("<<EOF\n{s}\nEOF",)),
    Form("pem escaped", lambda r: _pem(r, "", "\\n"), ('"private_key": "{s}\\n",',), ('{{"content":"it is\\n{s}\\nok"}}', "KEY='{s}'")),
    Form("pem cut off", lambda r: _pem(r, "EC ", "\n")[:300], ("{s}",), ("head -5 key.pem\n{s}",)),
    Form("openssh pem", lambda r: _pem(r, "OPENSSH ", "\n"), ("$ cat ~/.ssh/id_ed25519\n{s}",), ("  key: |\n{s}",)),
    Form("url password", _password, ("https://amy:{s}@git.example.org/x.git", "pip install --index-url https://bot:{s}@pkg.example.org/simple"),
         ("proxy=http://amy:{s}@10.0.0.7:3128", "cloning 'https://oauth2:{s}@git.example.org/x'")),
    Form("dsn", _password, ("postgres://app:{s}@db:5432/shop", "DATABASE_URL=mysql://app:{s}@db/shop"),
         ("mongodb+srv://app:{s}@c0.example.org/?retryWrites=true", "redis://:{s}@cache:6379/0", "amqp://u:{s}@mq/vhost")),
    Form("dsn words", _password, ("host=db user=app password={s} dbname=shop", "Server=db;User Id=sa;Password={s};Encrypt=True"),
         ("jdbc:postgresql://db/shop?user=app&password={s}&ssl=true", "Data Source=db;uid=sa;pwd={s};", "app:{s}@tcp(db:3306)/shop")),
    Form("azure storage", lambda r: _signs(_BASE64, 86)(r) + "==", ("DefaultEndpointsProtocol=https;AccountName=a;AccountKey={s};EndpointSuffix=x",),
         ("Endpoint=sb://b.example.net/;SharedAccessKeyName=k;SharedAccessKey={s}",)),
    Form("aws secret", _aws_secret, ("aws_secret_access_key = {s}", "AWS_SECRET_ACCESS_KEY={s}"),
         ('"SecretAccessKey": "{s}",', "export AWS_SECRET_ACCESS_KEY='{s}'")),
    Form("jwt", _jwt, ("{s}", "token {s} expired", '{{"id":"{s}"}}'), ("?jwt={s}", "[debug] got {s}", "eyes on {s}, please")),
    Form("card", lambda r: _card(r, ""), ("card {s} exp 12/28", '"number":"{s}"'), ("pay with {s} please", "pan={s};cvv=123")),
    Form("card spaced", lambda r: _card(r, " "), ("My card is {s}.", "| {s} | 04/29 |"), ("charge {s}, then mail me", "Visa: {s}")),
    Form("card dashed", lambda r: _card(r, "-"), ("number {s}",), ("({s})",)),
    Form("form body", _password, ("user=amy&password={s}&remember=1", "grant_type=password&username=a&password={s}"),
         ("POST /login HTTP/1.1\n\npwd={s}&user=amy", "-d 'login=amy&passwd={s}'")),
    Form("query key", _token("39w"), ("GET /v1/items?api_key={s}&page=2", "https://x.example.org/?access_token={s}"),
         ("https://x.example.org/a?token={s}#top", "wss://x.example.org/s?auth_token={s}")),
    Form("sql", _password, ("CREATE USER app IDENTIFIED BY '{s}';", "ALTER ROLE app WITH PASSWORD '{s}';"),
         ("create user app with encrypted password '{s}';", "SET PASSWORD FOR 'a'@'%' = '{s}';")),
    Form("netrc", _password, ("machine api.example.org login amy password {s}",), ("machine x.example.org\n  login amy\n  password {s}",)),
    Form("xml", _password, ("<password>{s}</password>",), ("<server><id>x</id><apiKey>{s}</apiKey></server>", '<property name="password" value="{s}"/>')),
    Form("told", _password, ("the password is {s}", "my password: {s}"), ("Password for staging is {s}", "the wifi password was {s}.")),
    Form("slack webhook", _token("T 9A /B 9A / 24w"), ("https://hooks.slack.com/services/{s}",), ("curl -d x https://hooks.slack.com/services/{s}",)),
    Form("password hash", _token("$2b$12$ 53w"), ("amy:{s}", "hash: {s}"), ("('amy', '{s}')", "UPDATE users SET p='{s}'")),
    Form("discord bot", _token("MTA 21w . 6w . 38u"), ("DISCORD={s}", "client.run('{s}')  # bot"), ("bot token {s}", "Discord login with {s}")),
)  # fmt: skip


def forms() -> list[Form]:
    """Return every form."""
    tokens = [
        Form(name, _token(pattern), _PLACES, _HELD_OUT_PLACES, prefixed=True)
        for name, pattern in _TOKENS.items()
    ]
    return [*tokens, *_OTHERS]


def planted(seed: int, *, held_out: bool, each: int = 10) -> Iterator[Planted]:
    """Yield texts with a secret in each: as many of every form, in settings to develop with or held out."""
    randomly = random.Random(seed)
    for form in forms():
        places = form.held_out if held_out else form.developed
        for number in range(each):
            secret = form.draw(randomly)
            place = places[number % len(places)] if len(places) <= each else randomly.choice(places)
            yield Planted(form.name, form.prefixed, place.format(s=secret), secret)


def survives(planted_text: Planted, shown: str) -> bool:
    """Tell whether a secret, or a piece of it that would help to guess it, is still there."""
    secret = planted_text.secret.strip("=")
    size = min(len(secret), max(6, len(secret) // 3))
    pieces = (secret[place : place + size] for place in range(len(secret) - size + 1))
    return any(piece in shown for piece in pieces if not piece.startswith("-----"))
