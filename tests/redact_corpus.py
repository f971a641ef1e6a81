"""Planted secrets, built from parts at run time: no text of this file looks like a secret to a scanner."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator
from dataclasses import dataclass

_HEX = "0123456789abcdef"
_ALNUM = string.ascii_letters + string.digits
_WORD = _ALNUM + "_-"
_UPPER = string.ascii_uppercase + string.digits
_B32 = string.ascii_uppercase + "234567"


@dataclass(frozen=True)
class Plant:
    """A text that holds one secret: `value` is what must not survive."""

    name: str
    text: str
    value: str


class Maker:
    def __init__(self, seed: int) -> None:
        self.rnd = random.Random(seed)

    def of(self, chars: str, size: int) -> str:
        return "".join(self.rnd.choice(chars) for _ in range(size))

    def mixed(self, size: int, chars: str = _ALNUM) -> str:
        """Letters of both cases and digits, as random tokens of some length always hold."""
        return "a7" + self.of(chars, size - 4) + "Q2"

    def password(self) -> str:
        return (
            self.of(string.ascii_letters, 5)
            + self.of("!@^%+", 1)
            + self.of(string.digits, 3)
            + self.of(string.ascii_letters, 4)
        )

    def uuid(self) -> str:
        return "-".join(self.of(_HEX, n) for n in (8, 4, 4, 4, 12))


def tokens(seed: int) -> Iterator[Plant]:
    """One token of each provider's shape."""
    m = Maker(seed)

    def t(name: str, *parts: str) -> Plant:
        value = "".join(parts)
        return Plant(name, value, value)

    for prefix in ("AK", "AS", "AB", "AC"):
        tail = "CA" if prefix == "AC" else "IA"
        yield t("aws-id-" + prefix, prefix, tail, m.of(_B32, 16))
    yield t("aws-session", "IQo", "Jb3", m.mixed(180, _ALNUM + "+/"))
    for kind in "pousr":
        yield t("github-" + kind, "gh", kind, "_", m.mixed(36))
    yield t("github-fine", "github", "_pat_", m.mixed(22), "_", m.mixed(59))
    for kind in ("pat", "dt", "rt", "cbt", "ptt"):
        yield t("gitlab-" + kind, "gl", kind, "-", m.mixed(20, _WORD))
    yield t("openai-legacy", "sk", "-", m.mixed(20), "T3Blbk", "FJ", m.mixed(20))
    for kind in ("proj", "svcacct", "admin"):
        yield t("openai-" + kind, "sk", "-", kind, "-", m.mixed(60, _WORD), "T3Blbk", "FJ", m.mixed(60, _WORD))
    yield t("anthropic-api", "sk", "-ant-", "api03-", m.mixed(93, _WORD), "AA")
    yield t("anthropic-oat", "sk", "-ant-", "oat01-", m.mixed(93, _WORD), "AA")
    yield t("anthropic-ort", "sk", "-ant-", "ort01-", m.mixed(93, _WORD), "AA")
    yield t("openrouter", "sk", "-or-", "v1-", m.of(_HEX, 64))
    yield t("deepseek", "sk", "-", m.of(_HEX, 30), "a7")
    yield t("groq", "gs", "k_", m.mixed(52))
    yield t("xai", "xa", "i-", m.mixed(80))
    yield t("huggingface", "hf", "_", m.of(string.ascii_letters, 34))
    yield t("google-api", "AI", "za", m.mixed(35, _WORD))
    yield t("google-secret", "GOC", "SPX-", m.mixed(28, _WORD))
    yield t("google-access", "ya", "29.", m.mixed(120, _WORD))
    yield t("google-refresh", "1/", "/0", m.mixed(60, _WORD))
    for kind in "abp":
        yield t(
            "slack-" + kind,
            "xo",
            "x",
            kind,
            "-",
            m.of(string.digits, 12),
            "-",
            m.of(string.digits, 12),
            "-",
            m.mixed(24),
        )
    yield t("slack-app", "xa", "pp-1-", m.of(_UPPER, 11), "-", m.of(string.digits, 13), "-", m.of(_HEX, 64))
    tail = "/".join(("T" + m.of(_UPPER, 9), "B" + m.of(_UPPER, 10), m.mixed(24)))
    yield Plant("slack-webhook", "https://hooks.slack" + ".com/services/" + tail, tail)
    yield t("discord-bot", "M", m.of(_ALNUM, 23), ".", m.mixed(6, _WORD), ".", m.mixed(30, _WORD))
    tail = m.of("123456789", 18) + "/" + m.mixed(68, _WORD)
    yield Plant("discord-webhook", "https://discord" + ".com/api/webhooks/" + tail, tail)
    yield t("telegram", m.of("123456789", 10), ":", "AA", m.mixed(33, _WORD[:-1]))
    for kind in ("sk_live", "rk_live", "sk_test"):
        yield t("stripe-" + kind, kind[:4], kind[4:], "_", m.mixed(24))
    yield t("stripe-webhook", "wh", "sec_", m.mixed(32))
    yield t("twilio", "S", "K", m.of(_HEX, 32))
    yield t("sendgrid", "S", "G.", m.mixed(22, _WORD), ".", m.mixed(43, _WORD))
    yield t("mailgun", "ke", "y-", m.of(_HEX, 32))
    yield t("mailchimp", m.of(_HEX, 32), "-us", "12")
    yield t("brevo", "xkey", "sib-", m.of(_HEX, 64), "-", m.mixed(16))
    yield t("npm", "np", "m_", m.mixed(36))
    yield t("pypi", "py", "pi-", "AgEIcHlwaS5vcmc", m.mixed(120, _WORD))
    yield t("docker", "dck", "r_pat_", m.mixed(27, _WORD))
    yield t("rubygems", "ruby", "gems_", m.of(_HEX, 48))
    yield t("digitalocean", "do", "p_v1_", m.of(_HEX, 64))
    yield t("shopify-at", "shp", "at_", m.of(_HEX, 32))
    yield t("shopify-ss", "shp", "ss_", m.of(_HEX, 32))
    yield t("databricks", "da", "pi", m.of(_HEX, 32))
    yield t("vault-s", "hv", "s.", m.mixed(95, _WORD))
    yield t("vault-b", "hv", "b.", m.mixed(120, _WORD))
    yield t("terraform", m.mixed(14), ".atl", "asv1.", m.mixed(67, _WORD))
    yield t("linear", "lin", "_api_", m.mixed(40))
    yield t("notion-ntn", "nt", "n_", m.mixed(46))
    yield t("notion-secret", "sec", "ret_", m.mixed(43))
    yield t("figma", "fi", "gd_", m.mixed(40, _WORD))
    yield t("sentry-u", "snt", "ryu_", m.of(_HEX, 64))
    yield t("sentry-s", "snt", "rys_", m.mixed(120))
    yield t("atlassian", "ATA", "TT3", m.mixed(180, _WORD), "=", m.of(_UPPER, 8))
    yield t("bitbucket", "ATB", "B", m.mixed(32))
    yield t("supabase-secret", "sb", "_secret_", m.mixed(31, _WORD))
    yield t("supabase-pat", "sb", "p_", m.of(_HEX, 40))
    yield t("age", "AGE-SEC", "RET-KEY-1", m.of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58))
    jwt = [
        base64.urlsafe_b64encode(("{" + f'"x":"{m.mixed(n)}"' + "}").encode()).decode().rstrip("=") for n in (20, 60)
    ]
    yield t("jwt", *jwt[:1], ".", *jwt[1:], ".", m.mixed(43, _WORD))
    yield t("grafana-c", "gl", "c_", m.mixed(80))
    yield t("grafana-sa", "gl", "sa_", m.mixed(32), "_", m.of(_HEX, 8))
    yield t("tailscale", "tsk", "ey-auth-", m.mixed(12), "-", m.mixed(32))
    yield t("doppler", "dp", ".pt.", m.mixed(43))
    yield t("postman", "PM", "AK-", m.of(_HEX, 24), "-", m.of(_HEX, 34))
    yield t("nvidia", "nv", "api-", m.mixed(64, _WORD))
    yield t("perplexity", "pp", "lx-", m.mixed(48))
    yield t("replicate", "r", "8_", m.mixed(37))
    yield t("fly", "Fly", "V1 fm2_", m.mixed(120, _ALNUM + "+/"))
    yield t("newrelic", "NR", "AK-", m.of(_UPPER, 27))
    yield t("dynatrace", "dt0", "c01.", m.of(_UPPER, 24), ".", m.of(_UPPER, 64))
    yield t("airtable", "pa", "t", m.mixed(14), ".", m.of(_HEX, 64))
    yield t("hubspot", "pat", "-na1-", m.uuid())
    yield t("square", "sq0", "atp-", m.mixed(22, _WORD))
    yield t("easypost", "EZ", "AK", m.mixed(54))
    yield t("planetscale", "psc", "ale_tkn_", m.mixed(43, _WORD))
    yield t("azure-ad", m.mixed(3 + 4)[:3], "8", "Q~", m.mixed(34, _ALNUM + "_.~-"))
    yield t("circleci", "CCI", "PAT_", m.mixed(22), "_", m.of(_HEX, 40))
    yield t("langsmith", "lsv", "2_pt_", m.of(_HEX, 32), "_", m.of(_HEX, 10))
    yield t("tavily", "tv", "ly-", m.mixed(32))
    yield t("pinecone", "pc", "sk_", m.mixed(70, _ALNUM + "_"))
    yield t("firecrawl", "f", "c-", m.of(_HEX, 32))
    yield t("onepassword", "op", "s_ey", m.mixed(120))
    yield t("netlify", "nf", "p_", m.mixed(36))
    yield t("prefect", "pn", "u_", m.mixed(36))
    yield t("pulumi", "pu", "l-", m.of(_HEX, 40))
    yield t("openshift", "sha", "256~", m.mixed(43, _WORD))
    body = "\n".join(m.of(_ALNUM + "+/", 64) for _ in range(6)) + "\n" + m.mixed(30) + "=="
    for kind in ("RSA ", "EC ", "OPENSSH ", "", "ENCRYPTED "):
        head = "-----BEGIN " + kind + "PRIVATE" + " KEY-----"
        yield Plant("pem-" + kind.strip().lower(), f"{head}\n{body}\n-----END {kind}PRIVATE KEY-----", body)
    head = "-----BEGIN PRIVATE" + " KEY-----"
    yield Plant("pem-truncated", head + "\n" + body[: 64 * 3 + 20], body[: 64 * 3 + 20])
    yield Plant(
        "pem-escaped",
        '{"private_key": "'
        + head
        + "\n".replace("\n", "\\n")
        + body.replace("\n", "\\n")
        + '\\n-----END PRIVATE KEY-----\\n"}',
        body.replace("\n", "\\n"),
    )
    yield Plant("pem-escaped-cut", head + "\\n" + body.replace("\n", "\\n")[:200], body.replace("\n", "\\n")[:200])
    pgp = "-----BEGIN PGP PRIVATE" + " KEY BLOCK-----"
    yield Plant("pem-pgp", f"{pgp}\nVersion: GnuPG v2\n\n{body}\n=a7Qz\n-----END PGP PRIVATE KEY BLOCK-----", body)
    yield Plant("pem-tail", body + "\n-----END RSA PRIVATE" + " KEY-----", body)


def contexts(seed: int) -> Iterator[Plant]:
    """One secret in each slot that grammar knows. `{}` is where it stands."""
    m = Maker(seed + 1000)
    b64 = lambda n: base64.b64encode(m.mixed(n).encode()).decode()  # noqa: E731
    rows: list[tuple[str, str, str]] = []

    def c(name: str, template: str, value: str | None = None) -> None:
        rows.append((name, template, value or m.password()))

    c("export", "export DB_PASSWORD={}")
    c("export-quoted", 'export API_SECRET="{}"')
    c("env-line", "SECRET_KEY_BASE={}", m.of(_HEX, 64))
    c("env-glued", "PGPASSWORD={} psql -h db app")
    c("env-webhook", "SLACK_WEBHOOK_URL=https://example.org/hook/{}", m.mixed(32))
    c("env-punctuated", "DB_PASSWORD={}", m.mixed(8) + "(,;)" + m.mixed(8))
    c("powershell", '$env:API_TOKEN = "{}"')
    c("powershell-bare", "$env:DB_PASSWORD='{}'")
    c("windows-set", "set DB_PASSWORD={}")
    c("windows-setx", 'setx API_KEY "{}"', m.mixed(24))
    c("root-password", "rootPassword: {}")
    c("bearer", "Authorization: Bearer {}", m.mixed(40))
    c("bearer-alone", "it sent Bearer {} to us", m.mixed(40))
    c("basic", "Authorization: Basic {}", base64.b64encode(("admin:" + m.password()).encode()).decode())
    c("basic-alone", "sent Basic {}", base64.b64encode(("admin:" + m.password()).encode()).decode())
    c("token-scheme", "Authorization: token {}", m.mixed(40))
    c("auth-no-scheme", "authorization: {}", m.mixed(40))
    c("auth-json", '{"Authorization": "Bearer {}"}', m.mixed(40))
    c("x-api-key", "X-API-Key: {}", m.mixed(32))
    c("api-key-header", 'curl -H "Api-Key: {}" https://example.org', m.mixed(32))
    c("private-token", "PRIVATE-TOKEN: {}", m.mixed(20))
    c("cookie", "Cookie: {}", "sid=" + m.mixed(30) + "; theme=" + m.mixed(12))
    c("set-cookie", "Set-Cookie: {}; Path=/; HttpOnly", "session=" + m.mixed(40))
    c("curl-u", "curl -u admin:{} https://example.org/x")
    c("curl-user", "curl --user 'admin:{}' https://example.org/x")
    c("curl-proxy-user", "curl --proxy-user bob:{} https://example.org/x")
    c("curl-cookie", "curl -b 'sid={}' https://example.org", m.mixed(32))
    c("curl-lines", "curl https://example.org \\\n  -X POST \\\n  -u admin:{}")
    c("url-userinfo", "postgres://app:{}@db.internal:5432/app", m.mixed(14))
    c("url-token", "git clone https://{}@git.example.org/x/y.git", m.mixed(40))
    c("git-remote", "origin\thttps://oauth2:{}@git.example.org/x/y.git (fetch)", m.mixed(20))
    c("mongodb-srv", "mongodb+srv://root:{}@c0.example.net/test", m.mixed(16))
    c("redis-url", "redis://:{}@cache:6379/0", m.mixed(20))
    c("query-token", "https://example.org/x?a=1&access_token={}&b=2", m.mixed(32))
    c("query-key", "https://example.org/x?key={}", m.mixed(32))
    c("query-amz", "https://b.example.org/o?X-Amz-Date=20260301T000000Z&X-Amz-Signature={}", m.of(_HEX, 63) + "7")
    c("azure-sas", "https://a.example.net/c?sv=2024-01-01&ss=b&sig={}&se=2027", m.mixed(43) + "%3D")
    c("flag-blank", "tool --password {} --verbose")
    c("flag-equals", "tool --token={}", m.mixed(24))
    c("flag-api-key", "tool --api-key {}", m.mixed(24))
    c("flag-client-secret", "az login --service-principal -u x --client-secret {}", m.mixed(34))
    c("mysql-p", "mysql -u root -p{} shop")
    c("mysqldump", "mysqldump -uroot -p'{}' shop > x.sql")
    c("sshpass", "sshpass -p {} ssh root@10.0.0.1")
    c("sshpass-quoted", "sshpass -p '{}' ssh root@10.0.0.1")
    c("docker-login", "docker login -u bob -p {} registry.example.org")
    c("helm-login", "helm registry login -u bob -p {} registry.example.org")
    c("sudo-S", "echo {} | sudo -S apt update")
    c("sudo-S-quoted", "echo '{}' | sudo -S apt update")
    c("stdin-login", "echo {} | docker login -u bob --password-stdin", m.mixed(24))
    c("chpasswd", "echo 'root:{}' | chpasswd")
    c("openssl", "openssl rsa -in k.pem -passin pass:{}")
    c("openssl-enc", "openssl enc -aes-256-cbc -pass pass:{} -in x")
    c("htpasswd", "htpasswd -b /etc/htpasswd bob {}")
    c("from-literal", "kubectl create secret generic db --from-literal=password={}")
    c("from-literal-odd", "kubectl create secret generic db --from-literal=whatever='{}'")
    c("k8s-data", "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ntype: Opaque\ndata:\n  value: {}\n", b64(18))
    c("k8s-string-data", "kind: Secret\nstringData:\n  config.yaml: {}\n", m.mixed(18))
    c("k8s-env", "env:\n  - name: DB_PASSWORD\n    value: {}\n")
    c("helm-set", "helm install x --set auth.rootPassword={}")
    c("ado", "Server=db;User Id=sa;Password={};Encrypt=true", m.mixed(16))
    c("odbc", "Driver={ODBC};Server=db;Uid=sa;Pwd={};", m.mixed(16))
    c("jdbc", "jdbc:mysql://db/shop?user=root&password={}&useSSL=false", m.mixed(16))
    c("oracle-thin", "jdbc:oracle:thin:scott/{}@db:1521:x", m.mixed(12))
    c("account-key", "DefaultEndpointsProtocol=https;AccountName=x;AccountKey={};EndpointSuffix=core", b64(60))
    c("netrc", "machine example.org login bob password {}")
    c("netrc-lines", "machine example.org\n  login bob\n  password {}")
    c("pgpass", "db.internal:5432:shop:app:{}", m.mixed(14))
    c("npmrc", "//registry.example.org/:_authToken={}", m.uuid())
    c("npmrc-auth", "_auth={}", b64(24))
    c("npmrc-password", "//registry.example.org/:_password={}", b64(24))
    c("pypirc", "[pypi]\nusername = bob\npassword = {}")
    c("docker-json", '{"auths": {"registry.example.org": {"auth": "{}"}}}', b64(24))
    c("terraform", 'password = "{}"')
    c("tfvars", 'variable "db_password" {\n  type = string\n  default = "{}"\n}')
    c("tfstate", '"db_password": {\n  "value": "{}",\n  "type": "string"\n}')
    c("python", "API_KEY = '{}'", m.mixed(32))
    c("python-typed", 'token: str = "{}"', m.mixed(32))
    c("js", "const apiKey = '{}';", m.mixed(32))
    c("json", '{"client_secret": "{}", "x": 1}', m.mixed(32))
    c("json-lines", '{\n  "password":\n    "{}"\n}')
    c("json-escaped", '"{\\"access_token\\": \\"{}\\"}"', m.mixed(40))
    c("yaml", "database:\n  password: {}\n  port: 5432")
    c("yaml-quoted", "  secret: '{}'")
    c("csharp", 'config["ApiKey"] = "{}";', m.mixed(30))
    c("php", "'password' => '{}',")
    c("php-define", "define('DB_PASSWORD', '{}');")
    c("java-property", "spring.datasource.password={}")
    c("xml", "<password>{}</password>", m.mixed(14))
    c("html-value", '<input type="password" name="password" value="{}">', m.mixed(14))
    c("sql-identified", "CREATE USER bob IDENTIFIED BY '{}';")
    c("sql-password", "ALTER USER bob WITH PASSWORD '{}';")
    c("prose-is", "The password is {} by the way")
    c("prose-for", "the password for the staging box is `{}`")
    c("prose-was", "My API key was {}, please rotate it", m.mixed(24))
    c("creds", "creds: admin / {}", m.mixed(12))
    c("table", "| DB_PASSWORD | {} |", m.mixed(16))
    c("aws-configure", "aws configure set aws_secret_access_key {}", m.mixed(40, _ALNUM + "/+"))
    c("aws-credentials", "[default]\naws_secret_access_key = {}", m.mixed(40, _ALNUM + "/+"))
    c("heredoc", "cat > .env <<'EOF'\nSTRIPE_SECRET={}\nPORT=3000\nEOF", m.mixed(30))
    c("docker-env", "ENV DB_PASSWORD={}")
    c("docker-run", "docker run -e MYSQL_ROOT_PASSWORD={} mysql:8")
    c("url-encoded", "body=password%3D{}%26user%3Dbob", m.mixed(20))
    c("url-encoded-bearer", "Bearer%20{}", m.mixed(30))
    c("cloudflare", "cloudflare api token {}", m.mixed(40, _WORD))
    c("heroku", "HEROKU_API_KEY={}", m.uuid())
    c("wireguard", "PrivateKey = {}", b64(32))
    c("redis-cli", "redis-cli -h cache -a {} ping")
    c("requirepass", "requirepass {}", m.mixed(20))
    c("zip", "zip -P {} out.zip a b")
    c(
        "seed",
        "seed phrase: {}",
        " ".join(
            m.rnd.choice("abandon ability able about above absent absorb abstract absurd abuse access accident".split())  # noqa: SIM905
            for _ in range(12)
        ),
    )
    c(
        "seed-block",
        "Here is the mnemonic:\n\n{}\n",
        " ".join(
            m.rnd.choice("legal winner thank year wave sausage worth useful zebra vessel trumpet canvas".split())  # noqa: SIM905
            for _ in range(24)
        ),
    )
    c("ecs", '{"name": "API_TOKEN", "value": "{}"}', m.mixed(24))
    c("sqlalchemy", "create_engine('postgresql+psycopg://app:{}@db/app')", m.mixed(14))
    c("requests-auth", "requests.get(url, auth=('bob', '{}'))")
    c("german", "Passwort: {}")
    c("chinese", "密码：{}", m.mixed(12))
    c("sentry-dsn", "dsn = https://{}@o1.ingest.example.org/2", m.of(_HEX, 31) + "7")
    c("jwk", '{"kty":"RSA","n":"abc","e":"AQAB","d":"{}"}', m.mixed(80, _WORD))
    c("eth-key", "private key: 0x{}", m.of(_HEX, 63) + "7")
    c("mongo-p", "mongosh -u root -p {} mongodb.internal")
    c("ldap", "ldapsearch -D cn=admin -w {} -b dc=x")
    for name, template, value in rows:
        yield Plant(name, template.replace("{}", value), value)
