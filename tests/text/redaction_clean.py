"""Lines without secrets: some made up to look like them, the others from what Python itself is made of.

The made-up ones hold what must never be taken for a secret: hashes, digests, UUIDs, versions, times, numbers
of telephones and books, names of variables, placeholders, and talk about passwords and keys.
"""

# ruff: noqa: E501 (a made-up line is as long as it is)

from __future__ import annotations

import base64
import random
import string
import sysconfig
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

_WORDS = (
    "agent build cache daily engine figure garden harbor index journal kernel ledger memory note output"
    " parser query record search table update value window worker yarn zone river signal market review sample"
)


class _Lines:
    """Draw lines from a seed."""

    def __init__(self, seed: int) -> None:
        self._randomly = random.Random(seed)
        self._words = _WORDS.split()
        self._makers: tuple[Callable[[], str], ...] = (
            self._talk, self._hash, self._code, self._log, self._json, self._placeholder, self._number, self._lock,
            self._markup, self._identifier,
        )  # fmt: skip

    def line(self) -> str:
        """Return a line of some kind."""
        return self._randomly.choice(self._makers)()

    def _one_of(self, text: str) -> str:
        return self._randomly.choice(text.strip().splitlines()).strip()

    def _word(self) -> str:
        return self._randomly.choice(self._words)

    def _hex(self, length: int) -> str:
        return "".join(self._randomly.choices("0123456789abcdef", k=length))

    def _digits(self, length: int) -> str:
        return "".join(self._randomly.choices(string.digits, k=length))

    def _uuid(self) -> str:
        return str(uuid.UUID(int=self._randomly.getrandbits(128), version=4))

    def _sentence(self) -> str:
        return " ".join(self._randomly.choices(self._words, k=self._randomly.randrange(4, 12))).capitalize()

    def _talk(self) -> str:
        return self._one_of(
            f"""
            The password is important, so choose a long one for the {self._word()}.
            We rotate every token: {self._digits(1)} times a year at least.
            Secret Santa is on the {self._digits(1)}th, bring a {self._word()}.
            A primary key: {self._word()}_id, and a foreign key: {self._word()}_ref.
            Your secret is safe with the {self._word()}, said the {self._word()}.
            The key was under the mat. {self._sentence()}.
            Password: required. Token: optional. Key: {self._word()}.
            The API key is read from the environment, never from the {self._word()}.
            Max tokens = {self._digits(4)}, and the token count was {self._digits(3)}.
            Is the password wrong? It is not the {self._word()} password, is it?
            Authorization: the {self._word()} decides who may read the {self._word()}.
            Basic authentication and bearer tokens are described in chapter {self._digits(1)}.
            Cookie: a small text that a browser keeps for the {self._word()}.
            He passed the {self._word()}: key points, secrets of the trade, tokens of love.
            Passwords must have 8 characters or more; {self._sentence()}.
            {self._sentence()}.
            """
        )

    def _hash(self) -> str:
        digest = base64.b64encode(self._randomly.randbytes(64)).decode()
        return self._one_of(
            f"""
            commit {self._hex(40)}
            {self._hex(7)} {self._sentence()}
            index {self._hex(7)}..{self._hex(7)} 100644
            sha256:{self._hex(64)}  {self._word()}.tar.gz
            "integrity": "sha512-{digest}",
            md5sum {self._hex(32)} {self._word()}.iso
            id: {self._uuid()}
            request_id={self._uuid()} status=200
            ETag: "{self._hex(32)}"
            cache_key = "{self._hex(32)}"
            image: registry.example.org/{self._word()}@sha256:{self._hex(64)}
            trace_id={self._hex(32)} span_id={self._hex(16)}
            """
        )

    def _code(self) -> str:
        word, other = self._word(), self._word()
        return self._one_of(
            f"""
            def {word}_{other}(password: str, token: str | None = None) -> None:
            password = getpass.getpass("{word.title()} password: ")
            token = tokens[{self._digits(1)}]
            api_key = os.environ["{word.upper()}_API_KEY"]
            const token = await get{word.title()}Token(request);
            self.{word}_key = {other}_key
            if password == confirm_password and key in {word}:
            key = f"{{{word}}}:{{{other}}}:{self._digits(2)}"
            secret = secrets.token_hex(32)
            return sorted(items, key=lambda {word}: {word}.{other})
            for key, value in {word}.items():
            const {word}Key = Symbol("{other}");
            headers = {{"Authorization": f"Bearer {{token}}"}}
            auth_token = response.json()["{word}_token"]
            parser.add_argument("--password", help="the {word}'s password")
            assert token.kind == "{word.upper()}"
            PASSWORD_FIELD = "{word}_password"
            key: "{word}-{other}-{self._digits(1)}",
            public_key = load_{word}("{other}.pub")
            """
        )

    def _log(self) -> str:
        stamp = f"2026-{self._randomly.randrange(10, 13)}-1{self._digits(1)}T1{self._digits(1)}:22:33.{self._digits(6)}Z"
        return self._one_of(
            f"""
            {stamp} INFO {self._word()} started in {self._digits(3)} ms
            {stamp} WARN token expired for user {self._digits(6)}, asking for another
            [{self._digits(10)}.{self._digits(6)}] {self._word()}: link is up, {self._digits(4)} Mbps
            {stamp} DEBUG key={self._word()} hits={self._digits(5)} misses={self._digits(2)}
            10.{self._digits(2)}.0.{self._digits(1)} - - "GET /{self._word()}?page={self._digits(1)} HTTP/1.1" 200 {self._digits(5)}
            {stamp} ERROR invalid password for {self._word()} from 10.0.{self._digits(1)}.{self._digits(2)}
            used tokens: prompt={self._digits(5)}, completion={self._digits(4)}, total={self._digits(5)}
            {stamp} pid={self._digits(5)} session={self._word()}-{self._digits(4)} state=ready
            https://example.org:8443/{self._word()}/{self._word()}?sort=key&limit={self._digits(2)}
            """
        )

    def _json(self) -> str:
        return self._one_of(
            f"""
            {{"key": "{self._word()}.{self._word()}", "value": {self._digits(3)}}}
            {{"type":"message","id":"{self._uuid()}","timestamp":"2026-11-02T10:15:31Z"}}
            {{"usage":{{"input_tokens":{self._digits(4)},"output_tokens":{self._digits(3)}}}}}
            {{"password": null, "token": "", "secret": false}}
            {{"password": "Kennwort", "token": "Zeichen", "key": "Taste"}}
            {{"type": "password", "name": "{self._word()}", "required": true}}
            {{"sessionId":"{self._uuid()}","parentUuid":"{self._uuid()}","cwd":"/home/amy/{self._word()}"}}
            {{"next_page_token": "{self._hex(24)}", "total": {self._digits(4)}}}
            {{"public_key": "{self._hex(40)}", "primary_key": "{self._word()}_id"}}
            """
        )

    def _placeholder(self) -> str:
        return self._one_of(
            f"""
            {self._word().upper()}_API_KEY=${{{self._word().upper()}_KEY}}
            export {self._word().upper()}_TOKEN=<your-token>
            password: {{{{ {self._word()}_password }}}}
            PASSWORD=changeme
            api_key: "your-api-key-here"
            Authorization: Bearer $TOKEN
            Authorization: Bearer <token>
            secret: ${{{{ secrets.{self._word().upper()} }}}}
            OPENAI_API_KEY=sk-...
            token = "xxxxxxxxxxxxxxxx"
            password: ********
            postgres://user:password@localhost/{self._word()}
            redis://:$REDIS_PASSWORD@cache:6379
            curl -H "X-Api-Key: $API_KEY" https://example.org/{self._word()}
            mysql -u root -p {self._word()} < dump.sql
            tool --password PASSWORD --token TOKEN
            {self._word().upper()}_SECRET=
            """
        )

    def _number(self) -> str:
        return self._one_of(
            f"""
            Call +49 30 {self._digits(4)} {self._digits(4)} or (0{self._digits(2)}) {self._digits(7)}.
            ISBN 978-3-16-{self._digits(6)}-0
            version 1{self._digits(1)}.{self._digits(1)}.{self._digits(2)}-rc{self._digits(1)}+build{self._digits(4)}
            {self._digits(1)}.{self._digits(16)}
            epoch {self._randomly.randrange(1_700_000_000_000, 1_800_000_000_000)} ms
            id {self._randomly.randrange(10**17, 10**18)}
            192.168.{self._digits(1)}.{self._digits(2)}:{self._digits(4)}
            {self._digits(4)}-{self._digits(2)}-{self._digits(2)} {self._digits(2)}:{self._digits(2)}
            order {self._digits(5)}-{self._digits(7)}-{self._digits(7)}
            IBAN-like DE{self._digits(2)} {self._digits(4)} {self._digits(4)} {self._digits(4)} {self._digits(4)} {self._digits(2)}
            """
        )

    def _lock(self) -> str:
        wheel = f"{self._hex(2)}/{self._hex(2)}/{self._hex(60)}"
        return self._one_of(
            f"""
            --hash=sha256:{self._hex(64)}
            resolved "https://registry.example.org/{self._word()}/-/{self._word()}-1.{self._digits(1)}.0.tgz#{self._hex(40)}"
            url = "https://files.example.org/packages/{wheel}/{self._word()}-2.{self._digits(1)}.whl"
            github.com/{self._word()}/{self._word()} v1.{self._digits(1)}.0 h1:{base64.b64encode(self._randomly.randbytes(32)).decode()}
            checksum = "{self._hex(64)}"
            uses: actions/checkout@{self._hex(40)}
            """
        )

    def _markup(self) -> str:
        pixels = base64.b64encode(self._randomly.randbytes(90)).decode()
        return self._one_of(
            f"""
            ![{self._word()}](data:image/png;base64,iVBORw0KGgo{pixels})
            <input type="password" name="{self._word()}" placeholder="Password">
            <label for="token">Token</label>
            .sk-{self._word()}-{self._word()}-{self._word()}-container {{ color: #{self._hex(6)}; }}
            ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{base64.b64encode(self._randomly.randbytes(32)).decode()} amy@{self._word()}
            -----BEGIN CERTIFICATE-----
            -----BEGIN PUBLIC KEY-----
            if "-----BEGIN PRIVATE KEY-----" in {self._word()}:
            | `{self._word()}.api_key` | text | the provider's key |
            """
        )

    def _identifier(self) -> str:
        return self._one_of(
            f"""
            {self._word()}_{self._word()}_token_v{self._digits(1)} = {self._word()}_{self._digits(1)}
            task-{self._word()}-{self._word()}-{self._digits(8)}-{self._word()}
            risk-{self._digits(20)}
            npm_config_{self._word()}_{self._word()}_{self._word()}=true
            hf_{self._word()}_{self._word()} = load("{self._word()}")
            secret_{self._word()}_{self._word()}_{self._word()}_{self._word()}_{self._word()}
            pa-{self._word()}-{self._word()}-{self._word()}-{self._word()}-{self._word()}
            ghp_{self._word()} is how these tokens begin
            xox-{self._word()}, sk-{self._word()} and AKIA are prefixes
            KEY_{self._word().upper()} = {self._digits(2)}
            """
        )


def made_up(seed: int, count: int) -> list[str]:
    """Return lines that only look as if they held secrets."""
    lines = _Lines(seed)
    return [lines.line() for _ in range(count)]


def found(count: int) -> Iterator[str]:
    """Yield texts of about so many lines: our pages, and the modules of Python's own library.

    The page about redaction is left out, which shows a private block.
    """
    library = Path(sysconfig.get_path("stdlib"))
    own = [*sorted((ROOT / "docs").glob("*.md")), *sorted(ROOT.glob("*.md")), ROOT / "LICENSE"]
    for file in [*own, *sorted(library.glob("*.py")), *sorted(library.glob("*/*.py"))]:
        if count <= 0:
            return
        if file.parent.name not in ("test", "tests", "site-packages") and file.name != "redaction.md":
            text = file.read_text(encoding="utf-8", errors="replace")
            count -= text.count("\n")
            yield text
