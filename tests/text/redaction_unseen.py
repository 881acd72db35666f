"""Secrets in forms and sentences that the rules were not developed with, drawn from a seed.

The formats are those that vendors and public scanners document, collected by another author than that of the
rules. They are only reported on: read the totals, but do not look here to change a rule. Everything is
random; no value was ever valid.
"""

# ruff: noqa: E501 (a planted line is as long as it is)

from __future__ import annotations

import random
import string
from collections.abc import Iterator

from tests.text.redaction_corpus import Planted

_ALPHABETS = {
    "w": string.ascii_letters + string.digits,
    "u": string.ascii_letters + string.digits + "_-",
    "h": "0123456789abcdef",
    "H": "0123456789ABCDEF",
    "d": string.digits,
    "b": string.ascii_letters + string.digits + "+/",
    "l": string.ascii_lowercase + string.digits,
    "U": string.ascii_uppercase + string.digits,
    "A": string.ascii_uppercase + "234567",
}
_UUID = "8h - 4h - 4h - 4h - 12h"

_TOKENS = {
    "adafruit": "aio_ 28w", "adobe client": "p8e- 32h", "age": "AGE-SECRET-KEY-1 58A", "airtable": "pat 14w . 64h",
    "alibaba": "LTAI 20w", "anthropic": "sk-ant-api03- 93u AA", "anthropic admin": "sk-ant-admin01- 93u AA",
    "apify": "apify_api_ 36w", "artifactory": "AKCp 69w", "artifactory reference": "cmVmd 59w",
    "asana": "2/ 16d / 16d : 32h", "atlassian": "ATATT3xFfGF0 180u =1A2B3C4D", "aws": "AKIA 16A", "aws sts": "ASIA 16A",
    "aws bedrock": "ABSK 109b ==", "bitbucket app": "ATBB 32w", "brevo": "xkeysib- 64h - 16w", "brevo smtp": "xsmtpsib- 64h - 16w",
    "buildkite": "bkua_ 40h", "cerebras": "csk- 48l", "circleci": "CCIPAT_ 22w _ 40h", "clojars": "CLOJARS_ 60h",
    "clickup": "pk_ 8d _ 32U", "cockroach": "CCDB1_ 22w _ 40w", "contentful": "CFPAT- 43u", "databricks": "dapi 32h",
    "defined networking": "dnkey- 26U - 52U", "deno": "ddp_ 36w", "digitalocean": "dop_v1_ 64h", "digitalocean refresh": "dor_v1_ 64h",
    "docker": "dckr_pat_ 27u", "docker org": "dckr_oat_ 32u", "doppler": "dp.pt. 43w", "doppler service": "dp.st.prd. 43w",
    "dropbox short": "sl. 140u", "duffel": "duffel_live_ 43u", "dynatrace": "dt0c01. 24U . 64U", "easypost": "EZAK 54w",
    "elevenlabs": "sk_ 48h", "endor": "endr+ 16w", "figma": "figd_ 40u", "firecrawl": "fc- 32h", "flutterwave": "FLWSECK_TEST- 32h -X",
    "fly": "fo1_ 43u", "frameio": "fio-u- 64u", "gitlab": "glpat- 20u", "gitlab runner": "glrt- 20u", "gitlab runner old": "GR1348941 20u",
    "gitlab feed": "glft- 20u", "gitlab mail": "glimt- 25u", "gitlab trigger": "glptt- 40h", "gitlab flags": "glffct- 20u",
    "gitlab deploy": "gldt- 20u", "gitlab job": "glcbt-5a_ 20u", "gitlab scim": "glsoat- 20u", "gitlab oauth app": "gloas- 64h",
    "github": "ghp_ 36w", "github fine": "github_pat_ 22w _ 59w", "github app": "ghs_ 36w", "gocardless": "live_ 40u",
    "google": "AIza 35u", "google oauth secret": "GOCSPX- 28u", "google refresh": "1//0 40u", "grafana cloud": "glc_eyJ 80w",
    "grafana service": "glsa_ 32w _ 8h", "groq": "gsk_ 52w", "harness": "pat. 22u . 24h . 20w", "heroku": "HRKU-AA 58u",
    "hubspot": "pat-eu1- " + _UUID, "hugging face": "hf_ 34w", "hugging face org": "api_org_ 34w", "infracost": "ico- 32w",
    "inngest": "signkey-prod- 64h", "intra42": "s-s4t2ud- 64h", "jfrog": "AKCp8 68w", "langfuse": "sk-lf- " + _UUID,
    "langsmith": "lsv2_pt_ 32h _ 10h", "launchdarkly": "api- " + _UUID, "launchdarkly sdk": "sdk- " + _UUID,
    "linear": "lin_api_ 40w", "lob": "live_ 35h", "mailersend": "mlsn. 64h", "mailgun": "key- 32h", "mailchimp": "32h -us14",
    "mapbox": "sk.eyJ1 60w . 22w", "maxmind": "6w _ 29w _mmk", "mollie": "live_ 30w", "neon": "napi_ 64l",
    "netlify": "nfp_ 36w", "new relic user": "NRAK- 27U", "new relic insert": "NRII- 32u", "new relic browser": "NRJS- 19h",
    "notion": "ntn_ 11d 35w", "npm": "npm_ 36w", "nuget": "oy2 43l", "nvidia": "nvapi- 64u", "octopus": "API- 26U",
    "openai": "sk-proj- 74u T3BlbkFJ 74u", "openai legacy": "sk- 20w T3BlbkFJ 20w", "openai admin": "sk-admin- 58u T3BlbkFJ 58u",
    "openrouter": "sk-or-v1- 64h", "openshift": "sha256~ 43u", "paddle": "pdl_live_apikey_ 26l _ 22w _ 3w", "paystack": "sk_live_ 40h",
    "perplexity": "pplx- 48w", "pinecone": "pcsk_ 6w _ 63w", "plaid": "access-production- " + _UUID, "planetscale": "pscale_tkn_ 43u",
    "planetscale password": "pscale_pw_ 43u", "portainer": "ptr_ 43b =", "posthog": "phx_ 43w", "postman": "PMAK- 24h - 34h",
    "prefect": "pnu_ 36w", "pulumi": "pul- 40h", "pypi": "pypi-AgEIcHlwaS5vcmc 150u", "ramp": "ramp_sec_ 48w",
    "razorpay": "rzp_live_ 14w", "readme": "rdme_ 70l", "replicate": "r8_ 37w", "resend": "re_ 8w _ 24w", "rootly": "rootly_ 64h",
    "rubygems": "rubygems_ 48h", "scalingo": "tk-us- 48u", "sendgrid": "SG. 22u . 43u", "sentry user": "sntryu_ 64h",
    "sentry org": "sntrys_eyJ 90w _ 43w", "settlemint": "sm_pat_ 16w", "shippo": "shippo_live_ 40h", "shopify": "shpat_ 32h",
    "shopify secret": "shpss_ 32h", "slack bot": "xoxb- 12d - 13d - 24w", "slack app": "xapp-1-A 10U - 13d - 64h",
    "slack config": "xoxe.xoxp-1- 163U", "sonar": "squ_ 40h", "sonar project": "sqp_ 40h", "sourcegraph": "sgp_ 16h _ 40h",
    "square": "sq0atp- 22u", "square secret": "sq0csp- 43u", "square long": "EAAA 60u", "stripe": "sk_live_ 99w", "stripe restricted": "rk_live_ 24w",
    "stripe webhook": "whsec_ 32w", "supabase": "sbp_ 40h", "supabase secret": "sb_secret_ 31u", "tailscale": "tskey-api- 12w CNTRL- 32w",
    "tailscale auth": "tskey-auth- 12w CNTRL- 32w", "tavily": "tvly-dev- 32w", "telegram": "6 9d :AA 33u", "terraform": "14w .atlasv1. 67u",
    "together": "tgp_v1_ 43u", "trello": "ATTA 64h", "trigger": "tr_prod_ 20w", "twilio": "SK 32h", "typeform": "tfp_ 44u _ 14w",
    "ubidots": "BBFF- 30w", "vault": "hvs. 95u", "vault batch": "hvb. 145u", "voiceflow": "VF.DM. 24h . 16w", "weights biases": "wandb_v1_ 77u",
    "xai": "xai- 80w", "xata": "xau_ 40w", "yandex": "AQVN 36u", "1password secret": "A3- 6U - 11U - 5U - 5U - 5U", "1password service": "ops_eyJ 250w",
    "azure client": "3w 8Q~ 34u", "facebook": "EAA 120w", "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI 40w . 43u",
}  # fmt: skip

_PROSE = (
    "ok so the one that works is {s} and the old one is dead",
    "Anna sent me {s} over chat, can you try the deploy with it?",
    "- staging uses {s} since Tuesday",
    "I think {s} belongs to the build account.",
    "Kannst du bitte {s} nehmen? Der andere geht nicht mehr.",
    "gebruik {s} voor de testomgeving, die andere is verlopen",
    "Le nouveau est {s}, merci de ne pas le partager.",
    "prueba con {s} y dime si funciona",
    "why does {s} give me 403 on every call?",
    "got it:\n\n    {s}\n\nthat should be all",
    "(was {s}, rotated in May)",
    '"{s}" is what the dashboard shows',
)

_OTHER = {
    "curl no user": ("curl -sS -u :{s} https://build.example.net/api/json", "p"),
    "curl user": ("curl --user deploy:{s} https://files.example.net/upload -T out.zip", "p"),
    "api-token header": ("Authorization: Api-Token {s}", "t"),
    "apikey header": ("x-api-key: {s}", "t"),
    "basic header": ("authorization: Basic {s}=", "t"),
    "xml element": ("<connection>\n  <password>\n    {s}\n  </password>\n</connection>", "p"),
    "xml inline": ('<add key="DbPassword" value="{s}" />', "p"),
    "yaml block": ("db:\n  user: app\n  password: |\n    {s}\n  port: 5432", "p"),
    "yaml folded": ("secret_key: >-\n  {s}\nname: x", "t"),
    "yaml plain": ("spring:\n  datasource:\n    password: {s}\n", "p"),
    "name value": ('{{"name": "DB_PASSWORD", "value": "{s}"}}', "p"),
    "name value lines": ("- name: API_TOKEN\n  value: {s}", "t"),
    "english": ("the password is {s}, please change it after the demo", "p"),
    "english for": ("password for the wiki is {s}", "p"),
    "english my": ("my api key is {s}", "t"),
    "german": ("Das Passwort lautet {s}, bitte nicht weitergeben.", "p"),
    "german ist": ("Unser Kennwort ist {s}", "p"),
    "dutch": ("het wachtwoord is {s}, staat ook in de kluis", "p"),
    "dutch voor": ("wachtwoord voor de router: {s}", "p"),
    "french": ("le mot de passe est {s}", "p"),
    "french colon": ("Mot de passe : {s}", "p"),
    "spanish": ("la contraseña es {s}, no la compartas", "p"),
    "spanish clave": ("contraseña del servidor: {s}", "p"),
    "env": ("export PGPASSWORD='{s}'", "p"),
    "dotenv": ("AWS_SECRET_ACCESS_KEY={s}", "t"),
    "docker": ("docker run -e MYSQL_ROOT_PASSWORD={s} -d mysql:8", "p"),
    "kubectl": ("kubectl create secret generic db --from-literal=password={s}", "p"),
    "url": ("postgres://app:{s}@db.internal:5432/billing", "u"),
    "redis url": ("REDIS_URL=redis://:{s}@cache.example.net:6379/0", "u"),
    "git url": ("git clone https://oauth2:{s}@git.example.net/team/app.git", "t"),
    "mysql flag": ("mysql -h db.example.net -u root -p{s} billing", "u"),
    "sshpass": ("sshpass -p '{s}' ssh deploy@example.net", "p"),
    "json": ('{{"client_id": "web", "client_secret": "{s}"}}', "t"),
    "python": ('conn = connect(host="db", passwd="{s}")', "p"),
    "ini": ("[smtp]\nuser = mailer\npass = {s}", "p"),
    "toml": ('auth_token = "{s}"', "t"),
    "query": ("https://api.example.net/v1/items?api_key={s}&limit=5", "t"),
    "jdbc": ("jdbc:sqlserver://db:1433;user=sa;password={s};encrypt=true", "u"),
    "netrc": ("machine git.example.net login bot password {s}", "p"),
    "npmrc": ("//registry.example.net/:_authToken={s}", "t"),
    "terraform variable": ('variable "db_password" {{\n  default = "{s}"\n}}', "p"),
    "htpasswd": ("htpasswd -bc users.txt admin {s}", "p"),
    "cookie": ("Cookie: sessionid={s}; theme=dark", "t"),
    "dotnet": ("Server=db;Database=app;User Id=sa;Password={s};", "u"),
}

_WORDS = (
    "Quartz",
    "meadow",
    "Lantern",
    "cobalt",
    "Pepper",
    "thunder",
    "willow",
    "Saffron",
    "kestrel",
    "Ember",
)


def _draw_token(pattern: str, rng: random.Random) -> str:
    """Draw a token from parts such as `ghp_ 36w`: literals, or a number and an alphabet."""
    parts = []
    for part in pattern.split():
        if part[-1] in _ALPHABETS and part[:-1].isdigit():
            parts.append("".join(rng.choices(_ALPHABETS[part[-1]], k=int(part[:-1]))))
        else:
            parts.append(part)
    return "".join(parts)


def _draw_other(kind: str, rng: random.Random) -> str:
    """Draw a password as people write it (p), one that may be in an address (u), or a random token (t)."""
    if kind == "t":
        return "".join(rng.choices(_ALPHABETS["w"], k=rng.randrange(24, 44)))
    end = rng.choice("!?$#" if kind == "p" else "_-")
    if rng.random() < 0.5:
        return rng.choice(_WORDS) + rng.choice("-_") + rng.choice(_WORDS) + str(rng.randrange(10, 9999)) + end
    return "".join(rng.choices(_ALPHABETS["w"], k=rng.randrange(9, 16))) + str(rng.randrange(10)) + end


def unseen(seed: int, each: int) -> Iterator[Planted]:
    """Yield texts with a secret in each: tokens bare in prose, then every other form, so many times."""
    rng = random.Random(seed)
    for name, pattern in _TOKENS.items():
        for sentence in rng.sample(_PROSE, k=min(each, len(_PROSE))):
            token = _draw_token(pattern, rng)
            yield Planted(name, True, sentence.format(s=token), token)
    for name, (form, kind) in _OTHER.items():
        for _ in range(each):
            secret = _draw_other(kind, rng)
            yield Planted(name, False, form.format(s=secret), secret)
