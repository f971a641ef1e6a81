"""The table `redact` works by: shapes of provider tokens, and the words a secret's name is made of.

A row is *literal(s) → regular expression*. The literals are ASCII lower case: one automaton finds all of them in
one pass over the lower-cased text, and only where one is found is its expression tried, on the text as it stands,
from where the literal begins. Every expression is bounded on its left by that literal and has no quantifier
that could be retried over a long text, so the work per hit is bounded.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

RUN: Final = re.compile(r"[\w+/=.~-]*", re.ASCII)
"""What may go on after a token was recognised: the whole run is taken, so that no tail stays."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A token known by its looks.

    `apart`: the character before must be no letter, digit, `_` or `-` (short prefixes that also end words).
    `wrap`: the exact length of the whole token, where it has one: such a token is also found when a line end cuts it.
    `mixed`: the token must hold a digit and no run of `x`: prefixes that documentation and code also use.
    """

    kind: str
    literals: tuple[str, ...]
    pattern: re.Pattern[str]
    apart: bool = False
    wrap: int = 0
    mixed: bool = False


def _shape(kind: str, literals: str, pattern: str, *, apart: bool = False, wrap: int = 0, mixed: bool = False) -> Shape:
    return Shape(kind, tuple(literals.split()), re.compile(pattern, re.ASCII), apart, wrap, mixed)


_HEX: Final = "0123456789abcdef"
_SK_HEX: Final = " ".join(f"sk{a}{b}" for a in _HEX for b in _HEX)
_AC_HEX: Final = " ".join(f"ac{a}{b}" for a in _HEX for b in _HEX)

SHAPES: Final[tuple[Shape, ...]] = (
    # ---- clouds
    _shape("aws-access-key-id", "akia asia abia acca", r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}", wrap=20),
    _shape("aws-session-token", "iqojb3", r"IQoJb3[\w+/=%-]{60,}"),
    _shape("aws-session-token", "fwogz", r"FwoGZ[\w+/=%-]{60,}"),
    _shape("google-api-key", "aiza", r"AIza[\w-]{33,}", wrap=39),
    _shape("google-oauth-secret", "gocspx-", r"GOCSPX-[\w-]{20,}", wrap=35),
    _shape("google-access-token", "ya29.", r"ya29\.[\w-]{20,}"),
    _shape("google-refresh-token", "1//0", r"1//0[\w-]{38,}", apart=True),
    _shape("azure-client-secret", "q~", r"(?i:q~)[\w.~-]{31,34}"),
    _shape("alibaba-key", "ltai", r"LTAI[A-Za-z0-9]{17,21}"),
    _shape("tencent-key", "akid", r"AKID[A-Za-z0-9]{32}"),
    _shape("yandex-key", "aqvn", r"AQVN[\w-]{35,}"),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{40,}", wrap=71),
    _shape("databricks-token", "dapi", r"dapi[0-9a-f]{32}", wrap=36),
    _shape("fly-token", "flyv1", r"FlyV1\s(?:fm\d_)?[\w+/=,-]{20,}"),
    _shape("fly-token", "fo1_", r"fo1_[\w-]{40,}", apart=True),
    _shape("heroku-key", "hrku-", r"HRKU-[\w-]{30,}"),
    _shape("netlify-token", "nfp_", r"nfp_[A-Za-z0-9]{32,}", apart=True),
    _shape("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", r"vc[piark]_[A-Za-z0-9]{24,}", apart=True),
    _shape("render-key", "rnd_", r"rnd_[A-Za-z0-9]{24,}", apart=True, mixed=True),
    _shape("railway-token", "rw_", r"rw_[A-Za-z0-9]{30,}", apart=True, mixed=True),
    _shape("cloudflare-token", "cfat_ cfut_ cfk_", r"cf(?:at|ut|k)_[\w-]{36,}", apart=True),
    _shape("cloudflare-origin-key", "v1.0-", r"v1\.0-[0-9a-f]{24}-[0-9a-f]{100,}"),
    _shape("planetscale-key", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{28,}"),
    _shape("neon-key", "napi_", r"napi_[A-Za-z0-9]{40,}", apart=True),
    _shape("supabase-key", "sb_secret_", r"sb_secret_[\w-]{20,}"),
    _shape("supabase-key", "sbp_", r"sbp_[0-9a-f]{36,}", apart=True),
    _shape("openshift-token", "sha256~", r"sha256~[\w-]{40,}"),
    _shape("pulumi-token", "pul-", r"pul-[0-9a-f]{40}", apart=True, wrap=44),
    _shape("terraform-token", ".atlasv1.", r"\.atlasv1\.[\w-]{50,}"),
    _shape("vault-token", "hvs. hvb. hvr.", r"hv[sbr]\.[\w-]{20,}", apart=True),
    _shape("doppler-token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}", apart=True),
    _shape("onepassword-token", "ops_ey", r"ops_ey[\w+/=.-]{40,}"),
    _shape("infisical-token", "st.", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}", apart=True),
    # ---- code hosts and registries
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}", wrap=40),
    _shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{36,}", wrap=93),
    _shape(
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glsoat- glft- glimt- glagent- gloas- glffct-",
        r"gl(?:pat|dt|rt|cbt|ptt|soat|ft|imt|agent|oas|ffct)-[\w.-]{18,}",
        wrap=26,
    ),
    _shape("bitbucket-token", "atbb", r"ATBB[A-Za-z0-9]{28,}"),
    _shape("atlassian-token", "atatt3 atctt3", r"AT[AC]TT3[\w=-]{60,}"),
    _shape("npm-token", "npm_", r"npm_[A-Za-z0-9]{36}", apart=True, wrap=40),
    _shape("pypi-token", "pypi-ag", r"pypi-Ag[\w-]{40,}"),
    _shape("docker-token", "dckr_pat_ dckr_oat_", r"dckr_[po]at_[\w-]{20,}", wrap=36),
    _shape("gem-key", "rubygems_", r"rubygems_[0-9a-f]{48}", wrap=57),
    _shape("nuget-key", "oy2", r"oy2[a-z0-9]{43}(?![a-z0-9])", apart=True),
    _shape("crates-token", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])", apart=True, mixed=True),
    _shape("clojars-token", "clojars_", r"(?i:clojars_)[0-9a-f]{60}"),
    _shape("artifactory-token", "akcp", r"AKCp[A-Za-z0-9]{60,}"),
    _shape("artifactory-token", "cmvmdg", r"cmVmdG[\w+/=-]{50,}"),
    _shape("circleci-token", "ccipat_ ccipr", r"CCIP(?:AT_|RJ_)[\w-]{40,}"),
    _shape("buildkite-token", "bkua_", r"bkua_[0-9a-f]{40}"),
    _shape("sourcegraph-token", "sgp_", r"sgp_(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}", apart=True),
    _shape("sonar-token", "sqp_ squ_ sqa_", r"sq[pua]_[0-9a-f]{40}", apart=True),
    # ---- models
    _shape("anthropic-key", "sk-ant-", r"sk-ant-[\w-]{20,}", mixed=True),
    _shape("openrouter-key", "sk-or-", r"sk-or-[\w-]{24,}", mixed=True),
    _shape("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"sk-(?:proj|svcacct|admin)-[\w-]{20,}", mixed=True),
    _shape("openai-key", "t3blbkfj", r"T3BlbkFJ[\w-]{16,}"),
    _shape("langfuse-key", "sk-lf-", r"sk-lf-[0-9a-f-]{32,}"),
    _shape("langsmith-key", "lsv2_", r"lsv2_(?:pt|sk)_[0-9a-f]{24,}_[0-9a-f]{8,}"),
    _shape("groq-key", "gsk_", r"gsk_[A-Za-z0-9]{40,}", wrap=56),
    _shape("xai-key", "xai-", r"xai-[A-Za-z0-9]{60,}", apart=True, wrap=84),
    _shape("huggingface-token", "hf_", r"hf_[A-Za-z]{30,}", apart=True, wrap=37),
    _shape("huggingface-token", "api_org_", r"api_org_[A-Za-z]{30,}", apart=True),
    _shape("nvidia-key", "nvapi-", r"nvapi-[\w-]{40,}"),
    _shape("perplexity-key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
    _shape("replicate-token", "r8_", r"r8_[\w-]{30,}", apart=True),
    _shape("pinecone-key", "pcsk_", r"pcsk_[\w-]{40,}"),
    _shape("tavily-key", "tvly-", r"tvly-[\w-]{20,}", mixed=True),
    _shape("firecrawl-key", "fc-", r"fc-[0-9a-f]{32}", apart=True, wrap=35),
    _shape("fireworks-key", "fw_", r"fw_[A-Za-z0-9]{20,}", apart=True, mixed=True),
    _shape("together-key", "tgp_v1_", r"tgp_v1_[\w-]{30,}"),
    _shape("cerebras-key", "csk-", r"csk-[a-z0-9]{40,}", apart=True),
    _shape("secret-key", "sk_", r"sk_[0-9a-f]{40,}", apart=True),
    # ---- talk and mail
    _shape(
        "slack-token", "xoxa- xoxb- xoxc- xoxd- xoxe- xoxe. xoxo- xoxp- xoxr- xoxs-", r"xox[a-eoprs][.-][\w%.-]{16,}"
    ),
    _shape("slack-token", "xapp-", r"xapp-\d-[\w-]{20,}", apart=True),
    _shape(
        "slack-webhook", "hooks.slack.com/", r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<v>[\w+/-]{20,})"
    ),
    _shape("slack-webhook", "/services/t", r"/services/(?P<v>T[A-Z0-9]{6,}/B[A-Z0-9]{6,}/[A-Za-z0-9]{16,})"),
    _shape("discord-webhook", "/webhooks/", r"/webhooks/(?P<v>\d{15,22}/[\w-]{40,})"),
    _shape("teams-webhook", "webhook.office.com/", r"webhook\.office\.com/webhookb2/(?P<v>[\w@/-]{40,})"),
    _shape("zapier-webhook", "hooks.zapier.com/", r"hooks\.zapier\.com/hooks/catch/(?P<v>[\w/-]{10,})"),
    _shape("telegram-token", ":aa", r":AA[\w-]{32,34}(?![\w-])"),
    _shape("sendgrid-key", "sg.", r"SG\.[\w-]{16,}\.[\w-]{30,}", apart=True, wrap=69),
    _shape("mailgun-key", "key-", r"key-[0-9a-f]{32}(?![0-9a-f])", apart=True, wrap=36),
    _shape("mailchimp-key", "-us1 -us2 -us3 -us4 -us5 -us6 -us7 -us8 -us9", r"-us\d{1,2}(?!\w)"),
    _shape("brevo-key", "xkeysib- xsmtpsib-", r"xs?(?:keysib|mtpsib)-[0-9a-f]{50,}(?:-[\w]+)?"),
    _shape("resend-key", "re_", r"re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,}", apart=True, mixed=True),
    _shape("twilio-key", _SK_HEX, r"SK[0-9a-f]{32}(?![0-9a-f])", apart=True, wrap=34),
    _shape("twilio-account", _AC_HEX, r"AC[0-9a-f]{32}(?![0-9a-f])", apart=True, wrap=34),
    # ---- money and shops
    _shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _shape("stripe-webhook-secret", "whsec_", r"whsec_[\w+/=-]{20,}"),
    _shape("square-token", "sq0atp- sq0csp-", r"sq0(?:atp|csp)-[\w-]{20,}"),
    _shape("square-token", "eaaa", r"EAAA[\w-]{56,}", apart=True),
    _shape("facebook-token", "eaac eaag eaaj eaaf", r"EAA[CGJF][A-Za-z0-9]{80,}", apart=True),
    _shape("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{32}", wrap=38),
    _shape("flutterwave-key", "flwseck", r"FLWSECK(?:_TEST)?-[\w-]{12,}"),
    _shape("easypost-key", "ezak eztk", r"EZ[AT]K[A-Za-z0-9]{50,}"),
    _shape("shippo-token", "shippo_", r"shippo_(?:live|test)_[0-9a-f]{40}"),
    _shape("duffel-token", "duffel_", r"duffel_(?:live|test)_[\w-]{40,}"),
    # ---- tools
    _shape("linear-key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}", wrap=48),
    _shape("notion-token", "ntn_", r"ntn_[A-Za-z0-9]{40,}", apart=True, wrap=50),
    _shape("notion-token", "secret_", r"secret_[A-Za-z0-9]{43}(?![A-Za-z0-9_])", wrap=50),
    _shape("figma-token", "figd_ figo_ figu_", r"fig[dou]_[\w-]{30,}"),
    _shape("sentry-token", "sntryu_ sntrys_ sntryi_", r"sntry[usi]_[\w+/=-]{40,}"),
    _shape("grafana-token", "glc_ glsa_", r"gl(?:c|sa)_[\w+/=-]{32,}", apart=True),
    _shape("tailscale-key", "tskey-", r"tskey-(?:[a-z]+-)?[\w-]{16,}", mixed=True),
    _shape("postman-key", "pmak-", r"PMAK-[0-9a-f-]{50,}", wrap=64),
    _shape("newrelic-key", "nrak- nrii- nrjs- nrra-", r"NR(?:AK|II|JS|RA)-[\w-]{19,}"),
    _shape("dynatrace-token", "dt0c01. dt0s01. dt0s16.", r"dt0[a-z]\d\d\.[A-Z0-9]{20,}\.[A-Z0-9]{40,}"),
    _shape("airtable-token", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", apart=True),
    _shape("hubspot-token", "pat-na1- pat-eu1-", r"pat-(?:na|eu)1-[0-9a-f-]{36}"),
    _shape("asana-token", "asana", r"(?i:asana)[^\n]{0,40}?(?P<v>[12]/\d{10,}(?:/\d+)?:[0-9a-f]{32})"),
    _shape("clickup-token", "pk_", r"pk_\d{5,}_[A-Z0-9]{32}", apart=True),
    _shape("typeform-token", "tfp_", r"tfp_[\w-]{40,}", apart=True),
    _shape("contentful-token", "cfpat-", r"CFPAT-[\w-]{43}"),
    _shape("dropbox-token", "sl.", r"sl\.[\w-]{100,}", apart=True),
    _shape("mapbox-token", "sk.ey", r"sk\.ey[\w-]{20,}\.[\w-]{20,}", apart=True),
    _shape("launchdarkly-key", "sdk-", r"sdk-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", apart=True),
    _shape("adafruit-key", "aio_", r"aio_[A-Za-z0-9]{28}", apart=True),
    _shape("prefect-key", "pnu_ pnb_", r"pn[ub]_[A-Za-z0-9]{36}", apart=True),
    _shape("zuplo-key", "zpka_", r"zpka_[A-Za-z0-9_]{30,}"),
    _shape("age-key", "age-secret-key-1", r"(?i:AGE-SECRET-KEY-1)[A-Za-z0-9]{50,}", wrap=74),
    _shape("jwt", "eyj", r"ey[JK][\w-]{8,}\.(?:ey[JK]|[\w-])[\w-]{8,}(?:\.[\w-]*){0,3}", apart=True),
    _shape("jwt", "eyj", r"ey[JK][\w%-]{8,}%2[eE]ey[JK][\w%-]{8,}", apart=True),
    _shape("api-key", "sk-", r"sk-[A-Za-z0-9]{32,}", apart=True, mixed=True),
    _shape(
        "api-key", "sk-", r"sk-(?:[a-z]{2,10}-)?(?=[a-z_-]*\d)(?=[a-z0-9_-]*[A-Z])[\w-]{24,}", apart=True, mixed=True
    ),
)

BACK: Final[dict[str, re.Pattern[str]]] = {
    # what stands before the literal belongs to the token; the expression is tried on the 128 characters before it
    "azure-client-secret": re.compile(r"[\w.~-]{3}\d\Z", re.ASCII),
    "telegram-token": re.compile(r"(?<!\d)\d{8,10}\Z", re.ASCII),
    "mailchimp-key": re.compile(r"(?:(?<![0-9a-f])|(?<=\\[nrt]))[0-9a-f]{32}\Z", re.ASCII),
    "terraform-token": re.compile(r"(?:(?<!\w)|(?<=\\[nrt]))[A-Za-z0-9]{14}\Z", re.ASCII),
}
BACK_OPTIONAL: Final[dict[str, re.Pattern[str]]] = {
    "openai-key": re.compile(r"(?<!\w)sk-[\w-]{10,80}\Z", re.ASCII),
}

DISCORD: Final = re.compile(r"\.[\w-]{6}\.[\w-]{27,}", re.ASCII)
"""A Discord bot token has no literal; this scan starts at dots and runs at memory speed."""
DISCORD_BACK: Final = re.compile(r"(?:(?<![\w-])|(?<=\\[nrt]))[MNO][\w-]{22,27}\Z", re.ASCII)

# ------------------------------------------------------------------ names

_KEYS: Final = (  # noqa: SIM905
    "api access private account encryption encrypt signing auth master service license subscription shared storage "
    "admin jwt app application deploy ssh crypt hmac webhook functions root consumer client preshared function "
    "secret session project integration ingest gpg wif cipher aes symmetric decryption cosmos sas"
).split()
NAMES: Final[tuple[str, ...]] = (
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "credential",
    "passwort",
    "kennwort",
    "contraseña",
    "mot de passe",
    "senha",
    "пароль",
    "Пароль",
    "密码",
    "パスワード",
    "webhook",
    *(f"{word}{gap}key" for word in _KEYS for gap in ("", "_", "-", ".")),
    *(f"{word} key" for word in ("api", "access", "private", "account", "license", "encryption", "signing", "master")),
    "apikeys",
    "connectionstring",
    "connection_string",
    "creds",
)
"""Words that make a name secret. What follows them (`_v2`, `_prod`) and stands before (`DB_`, `root`) is free."""

_HARMLESS: Final = frozenset(
    (  # noqa: SIM905
        "es ed ing er ers izer izers ize ized ization count counts type types url urls uri name names field fields "
        "path file filename dir length len limit limits budget usage ttl lifetime policy id ids endpoint index idx input "
        "regex pattern hint label placeholder reset form page required enabled manager provider store service version "
        "algorithm alg format prefix class kind status state error errors message msg text at date time timestamp age ref "
        "arn fingerprint checksum rotation scope scopes mode strength validator validation change changed updated created "
        "command cmd helper header param parameter column encoder encoding hasher method source kid visibility visible "
        "rate cost price total used max min size window group groups list set map by position offset start end range pos "
        "stream parser generator interval timeout table user username role env var through ive ion enger engers port "
        "ports expiry expires expired expire expiration per "
    ).split()
)
"""Tails that turn the name into one of something else: `token_count`, `secretName`, `password_field`."""

STOP: Final = frozenset(
    "string str text password passwd pwd secret token tokens key keys value values none null nil undefined true false yes no on off "  # noqa: SIM905
    "bearer basic type required optional hidden visible enabled disabled default unknown invalid valid missing empty any object "
    "number int integer float bool boolean bytes buffer array list dict function self this void char varchar unset set get "
    "changeme change_me changeit replaceme example test testing sample dummy placeholder redacted masked removed secretstr "
    "optional[str] admin user username login email file env vault prompt ask stdin keyring keychain jwt oauth oauth2 api apikey "
    "api_key access refresh session id auth credentials credential private public data name field input output foo bar baz "
    "foobar passw0rd postgres root guest todo tbd n/a na xxx abc abcd abc123 const let var new await return import from "
    "process request response config settings options params props ctx context identifier keyword operator comment literal "
    "punctuation comma colon lparen rparen newline eof ident symbol generated rotated expired revoked sealed encrypted inherit "
    "always never auto manual ok fail failed pass passed error warning info debug plain cleartext md5 sha1 sha256 sha512 bcrypt".split()
)
"""Values that are words about secrets and no secrets."""

_FILLER_START: Final = re.compile(
    r"(?:<|\[|\{|\$\{|\$\(|%[A-Z_(]\w*[%)]|%[sd]|\$[A-Z_][\w:.]*\Z|\$\{?[A-Z_]\w*(?:[/:@.-]+\$\{?\w*\}?)*\Z|\*\*|\*[\w.]*\Z|\.\.|…"
    r"|(?:your|my|the|some|an?|insert|enter|replace|change|put|paste|add|use|set|example|sample|dummy|fake|placeholder|redacted|hidden|masked)[-_ ]"
    r"|(?:your|insert|replace|placeholder|redacted|example)[a-z]*\Z"
    r"|data:|sha\d{1,3}[-:]|op://|arn:aws|ref\+|vault:|projects/|enc\[|![A-Z][a-z]+|&[a-z]|@[a-z]+\Z|:[a-z_]+\Z|\?|//|/\*|#[0-9a-f]{3,8}\Z|[\\/]+\Z)",
    re.IGNORECASE,
)


def placeholder(value: str) -> bool:
    """Say whether this is a reference, a variable or a filler that stands where a secret would."""
    low = value.lower()
    return (
        _FILLER_START.match(value) is not None
        or "xxxx" in low
        or "***" in low
        or "•" in low
        or "…" in low
        or low.endswith(("...", "-here", "_here", "-placeholder", "_placeholder"))
    )


_TAIL: Final = re.compile(r"[-_.]?([A-Za-z]+)(?![0-9])")


def harmless_tail(text: str, end: int) -> bool:
    """Say whether the name, whose secret word ends at `end`, goes on to name something else (`token_count`)."""
    if text[end : end + 1] in _NO_TAIL:
        return False
    found = _TAIL.match(text, end, min(len(text), end + 24))
    return found is not None and found[1].lower() in _HARMLESS


_NO_TAIL: Final = frozenset(" \t\n=:\"'|,>)]}")
