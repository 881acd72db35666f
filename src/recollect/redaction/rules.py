"""The table of tokens that can be told by how they begin, one line a rule.

A rule has the kind that its placeholder names, keywords of which a text must hold one (in small letters, with
blanks between them) before the pattern is tried at all, the pattern, and a check of what matched. The secret
is what the last group of the pattern holds, or all of it where there is none.

Every pattern begins with a literal or a small set of characters, so that the search for it skips quickly, and
every repetition is bounded or of one set of characters, so that no text can make it slow. A token with what
its keyword is part of has at least `SHORTEST` characters and neither blanks nor quotes, so only words as long
are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from recollect.redaction.checks import is_jwt, is_random_token, is_token

Check = Callable[[re.Match[str]], bool]


class Rule(NamedTuple):
    """What one kind of secret looks like."""

    kind: str
    keywords: str
    pattern: str
    check: Check | None = is_token
    anchored: bool = False
    """Whether the pattern begins with the keyword, which then is only one, and is tried only there."""


SHORTEST = 18
_H8, _H32, _H40 = "[0-9a-f]{8}", "[0-9a-f]{32}", "[0-9a-f]{40}"

TOKENS = (
    Rule("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{16,}"),
    Rule("openrouter-key", "sk-or-", r"sk-or-[\w-]{20,}"),
    Rule("openai-key", "sk-", r"sk-(?:proj|svcacct|admin|None)-[\w-]{20,}"),
    Rule("openai-key", "sk-", r"sk-[\w-]{20,}", is_random_token),
    Rule("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_\w{20,}(?:\.[\w-]{8,}){0,2}"),
    Rule("github-token", "github_pat_", r"github_pat_\w{20,}"),
    Rule("gitlab-token", "glpat- gldt- glrt- glptt-", r"gl(?:pat|dt|rt|ptt)-[\w-]{20,}(?:\.[\w-]{2,}){0,2}"),
    Rule("gitlab-token", "glcbt- glft- gloas- glsoat- glagent-", r"gl(?:cbt|ft|oas|soat|agent)-[\w-]{20,}"),
    Rule("slack-token", "xox", r"xox[a-eoprs][-.][\w%.-]{10,}"),
    Rule("slack-token", "xapp-", r"xapp-[\w-]{10,}"),
    Rule(
        "slack-webhook",
        "slack.com",
        r"hooks\.slack\.com/[a-z]{1,16}/([\w/+-]{20,})",
        None,
    ),
    Rule("discord-webhook", "api/webhooks/", r"api/webhooks/([0-9]{15,20}/[\w-]{30,})", None),
    Rule("teams-webhook", "webhook.office", r"webhook\.office\.com/webhookb2/([^\s\"'<>\\]{40,})", None),
    Rule("google-key", "aiza", r"AIza[\w-]{30,}"),
    Rule("google-key", "aq.ab", r"AQ\.Ab[\w-]{30,}"),
    Rule("google-oauth", "ya29.", r"ya29\.[\w-]{20,}(?:\.[\w-]{8,}){0,2}"),
    Rule("google-oauth", "gocspx-", r"GOCSPX-[\w-]{20,}"),
    Rule("google-oauth", "1//0", r"1//0[\w-]{30,}", is_random_token),
    Rule("aws-access-key", "akia asia abia acca", r"A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    Rule("stripe-key", "k_live_ k_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{10,}"),
    Rule("stripe-key", "whsec_", r"whsec_[\w+/=-]{20,}"),
    Rule("twilio-key", "sk", rf"SK{_H32}(?![A-Za-z0-9])"),
    Rule("sendgrid-key", "sg.", r"SG\.[\w-]{16,32}\.[\w-]{32,64}"),
    Rule("npm-token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    Rule("pypi-token", "pypi-", r"pypi-[\w-]{32,}", is_random_token),
    Rule("hugging-face-token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
    Rule("hugging-face-token", "api_org_", r"api_org_[A-Za-z0-9]{30,}"),
    Rule("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{32,}"),
    Rule("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{32,}"),
    Rule("xai-key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
    Rule("voyage-key", "pa-", r"pa-[\w-]{30,}", is_random_token),
    Rule("replicate-token", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    Rule("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{20,}", is_random_token),
    Rule("cerebras-key", "csk-", r"csk-[A-Za-z0-9]{32,}"),
    Rule("nvidia-key", "nvapi-", r"nvapi-[\w-]{40,}"),
    Rule("tavily-key", "tvly-", r"tvly-[\w-]{20,}"),
    Rule("langsmith-key", "lsv2_", rf"lsv2_(?:pt|sk)_{_H32}_{_H8}[0-9a-f]*"),
    Rule("firecrawl-key", "fc-", rf"fc-{_H32}(?![A-Za-z0-9])"),
    Rule("elevenlabs-key", "sk_", rf"sk_{_H40}[0-9a-f]*"),
    Rule("pinecone-key", "pcsk_", r"pcsk_\w{40,}"),
    Rule("jina-key", "jina_", r"jina_\w{40,}"),
    Rule("supabase-key", "sbp_", rf"sbp_{_H40}"),
    Rule("supabase-key", "sb_secret_", r"sb_secret_[\w-]{20,}"),
    Rule("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{30,}"),
    Rule("planetscale-token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{30,}"),
    Rule("neon-key", "napi_", r"napi_\w{40,}", is_random_token),
    Rule("render-key", "rnd_", r"rnd_[A-Za-z0-9]{24,}", is_random_token),
    Rule("fly-token", "fo1_ fm2_ fm1a_ fm1r_", r"f(?:o1|m2|m1a|m1r)_[\w+/=-]{40,}"),
    Rule("heroku-key", "hrku-", r"HRKU-[\w-]{30,}"),
    Rule("cloudflare-key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    Rule("cloudflare-key", "cfut_ cfat_ cfk_", r"cf(?:ut|at|k)_[\w-]{30,}"),
    Rule("telegram-token", ":aa", r"[0-9]{8,10}:AA[\w-]{32,36}"),
    Rule("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", rf"do[opr]_v1_{_H40}[0-9a-f]*"),
    Rule("databricks-token", "dapi", rf"dapi{_H32}(?:-[0-9])?(?![A-Za-z0-9])"),
    Rule("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    Rule("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}"),
    Rule("notion-token", "secret_", r"secret_[A-Za-z0-9]{40,50}(?![A-Za-z0-9])"),
    Rule("doppler-token", "dp.pt. dp.st. dp.ct. dp.sa.", r"dp\.[psc][ta]\.(?:[\w-]{1,32}\.)?[\w-]{30,}"),
    Rule("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}"),
    Rule("shopify-token", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_[0-9a-fA-F]{32}"),
    Rule("mailgun-key", "key-", rf"key-{_H32}(?![A-Za-z0-9])"),
    Rule("mailchimp-key", "-us", rf"{_H32}-us[0-9]{{1,2}}(?![A-Za-z0-9])"),
    Rule("square-token", "sq0", r"sq0[a-z]{3}-[\w-]{22,}"),
    Rule("square-token", "eaaa", r"EAAA[\w-]{56,}"),
    Rule("atlassian-token", "atatt3 atctt3", r"AT[AC]TT3[\w=-]{50,}"),
    Rule("bitbucket-token", "atbb", r"ATBB[A-Za-z0-9]{24,}"),
    Rule("figma-token", "figd_ figo_ figu_", r"fig[dou]r?_[\w-]{30,}"),
    Rule("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule("hubspot-token", "pat-na pat-eu", rf"pat-(?:na|eu)[0-9]-{_H8}-[0-9a-f-]{{27}}"),
    Rule("postman-key", "pmak-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
    Rule("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[\w+/=]{32,}"),
    Rule("new-relic-key", "nrak- nrii-", r"NR(?:AK|II)-[\w-]{26,}"),
    Rule("sentry-token", "sntrys_ sntryu_", r"sntry[su]_[\w+/=-]{40,}"),
    Rule("terraform-token", ".atlasv1.", r"[A-Za-z0-9]{14}\.atlasv1\.[\w-]{60,}"),
    Rule("pulumi-token", "pul-", rf"pul-{_H40}"),
    Rule("rubygems-key", "rubygems_", rf"rubygems_{_H40}[0-9a-f]*"),
    Rule("dynatrace-token", "dt0c01.", r"dt0c01\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{64}"),
    Rule("1password-token", "ops_eyj", r"ops_eyJ[\w+/=-]{100,}"),
    Rule("age-key", "age-secret-key-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    Rule("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,}"),
    Rule("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    Rule("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", is_random_token),
    Rule("facebook-token", "eaa", r"EAA[A-Za-z0-9]{90,}"),
    Rule("openshift-token", "sha256~", r"sha256~[\w-]{40,}"),
    Rule("sonar-token", "squ_ sqp_ sqa_", rf"sq[upa]_{_H40}"),
    Rule("buildkite-token", "bkua_", rf"bkua_{_H40}"),
    Rule("circleci-token", "ccipat_", r"CCIPAT_\w{30,}"),
    Rule("azure-client-secret", "q~", r"[\w~.]{3}[0-9]Q~[\w~.-]{31,34}(?![A-Za-z0-9])"),
    Rule("azure-key", "sharedaccesskey=", r"SharedAccessKey=([\w+/=]{40,})", None),
    Rule("azure-key", "accountkey=", r"AccountKey=([\w+/=]{40,})", None),
    Rule("azure-sas", "sig=", r"[?&;]sig=([\w%+/=-]{40,})", None),
    Rule("jwt", "eyj", r"eyJ(?<![\w-]eyJ)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*){0,3}", is_jwt),
    Rule("password-hash", "$2a$ $2b$ $2y$", r"\$2[aby]\$[0-9]{2}\$[\w./]{53}", None),
    Rule("password-hash", "$5$ $6$ $y$ $apr1$", r"\$(?:[56y]|apr1)\$[\w./=$-]{20,}", None),
    Rule("password-hash", "$argon2", r"\$argon2(?:id|i|d)\$[\w./=,$+-]{30,}", None),
)
