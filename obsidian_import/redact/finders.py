"""The table of contexts: literal → finder. Literals are lower case; several finders may share one."""

from __future__ import annotations

import re
from typing import Final

from obsidian_import.redact.blocks import jwk, kubernetes, pem, pem_tail, piped, seed
from obsidian_import.redact.context import Finder, named
from obsidian_import.redact.rules import NAMES
from obsidian_import.redact.slots import SESSION, arg, authorization, basic, command, cookie, slot, userinfo
from obsidian_import.redact.values import Style

# ------------------------------------------------------------------ the table

_QUERY: Final = (
    "?key= &key= ?sig= &sig= ?signature= &signature= -signature= ?auth= &auth= &code_verifier= ?hmac= &hmac=".split()  # noqa: SIM905
)

FINDERS: Final[tuple[tuple[str, Finder], ...]] = (
    *((name, named(name)) for name in NAMES),
    *(
        (
            lit,
            slot(
                r"[?&-](?i:key|sig|signature|auth|code_verifier|hmac|session)=(?P<v>[^\s&\"'`<>\\|)\]]{8,4096})",
                "query-secret",
                Style.ENV,
            ),
        )
        for lit in _QUERY
    ),
    *(
        (
            lit,
            slot(
                r"(?i:[\w%]{1,4}(?:sig|signature|key)(?:%3d|=))(?P<v>[\w%+/=.~-]{16,4096})", "query-secret", Style.ENV
            ),
        )
        for lit in ("%26sig%3d", "%3fsig%3d", "%26sig=", "%3fkey%3d", "%26key%3d")
    ),
    ("?session=", slot(r"\?session=(?P<v>[^\s&\"'`<>\\]{16,4096})", "query-secret", Style.PROSE)),
    ("&session=", slot(r"&session=(?P<v>[^\s&\"'`<>\\]{16,4096})", "query-secret", Style.PROSE)),
    *(
        (lit, slot(f"(?i:{re.escape(lit[:-1])})" + SESSION, "cookie", Style.ENV))
        for lit in (
            "sessid=",
            "connect.sid=",
            "jsessionid=",
            "sessionid=",
            "csrftoken=",
            "laravel_session=",
            "xsrf-token=",
        )
    ),
    ("://", userinfo),
    ("%3a%2f%2f", slot(r"(?i:%3a%2f%2f)[\w.~-]{0,128}%3[aA](?P<v>[\w.~%+-]{3,512}?)(?:%40)", "url-password")),
    ("authorization", authorization),
    ("bearer ", slot(r"(?i:bearer)[ ]+(?P<v>[\w+/=.~-]{16,8192})", "bearer-token", Style.PROSE)),
    ("bearer%20", slot(r"(?i:bearer)%20(?P<v>[\w+/=.~%-]{16,8192})", "bearer-token", Style.PROSE)),
    ("basic", basic),
    ("cookie", cookie),
    (
        "curl",
        command(
            "curl",
            (
                arg(r"(?:-u|-U|--user|--proxy-user)(?:[ =]|(?=[\w\"'])){1}[ ]*").replace(
                    "(?P<v>", r"(?:[^\s:\"'\\]{0,128}:)(?P<v>"
                ),
                arg(r"(?:-b|--cookie)[ =]+").replace("(?P<v>", r"(?=[^\s=]{1,128}=)(?P<v>"),
                arg(r"--(?:oauth2-bearer|pass|tlspassword|proxy-pass)[ =]+"),
            ),
            "password",
        ),
    ),
    (
        "http ",
        command(
            "httpie", (arg(r"(?:-a|--auth)[ =]+").replace("(?P<v>", r"(?:[^\s:\"'\\]{0,128}:)(?P<v>"),), "password"
        ),
    ),
    ("wget", command("wget", (arg(r"--(?:http-|ftp-|proxy-)?password[ =]+"),), "password")),
    *(
        (lit, command("mysql", (arg(r"-p(?=[^\s])(?!assword|rotocol|ort|ager|lugin)"),), "password"))
        for lit in ("mysql", "mariadb")
    ),
    ("sshpass", command("sshpass", (arg(r"-p[ ]*"),), "password")),
    *(
        (
            lit,
            command(
                "login",
                (
                    arg(r"-p[ =]+"),
                    arg(r"(?:--creds|--src-creds|--dest-creds)[ =]+").replace(
                        "(?P<v>", r"(?:[^\s:\"'\\]{0,128}:)(?P<v>"
                    ),
                ),
                "password",
            ),
        )
        for lit in (
            "docker login",
            "podman login",
            "nerdctl login",
            "buildah login",
            "skopeo ",
            "helm registry login",
            "oras login",
            "crane auth login",
            "az login",
            "oc login",
            "cf login",
            "registry login",
            "acr login",
        )
    ),
    ("redis-cli", command("redis", (arg(r"(?:-a|--pass)[ =]+"),), "password")),
    *(
        (lit, command("mongo", (arg(r"-p[ ]+"),), "password"))
        for lit in ("mongosh", "mongodump", "mongorestore", "mongo ", "mongoimport", "mongoexport")
    ),
    *(
        (lit, command("ldap", (arg(r"-w[ ]*"),), "password"))
        for lit in ("ldapsearch", "ldapadd", "ldapmodify", "ldappasswd", "ldapdelete")
    ),
    (
        "smbclient",
        command("smb", (arg(r"(?:-U|--user)[ =]*").replace("(?P<v>", r"(?:[^\s%\"']{1,128}%)(?P<v>"),), "password"),
    ),
    *((lit, command("zip", (arg(r"-P[ ]*"),), "password")) for lit in ("zip ", "zipcloak")),
    *((lit, command("7z", (arg(r"-p(?=\S)"),), "password")) for lit in ("7z ", "7za ", "7zz ", "unrar ", "rar ")),
    *((lit, command("ansible", (arg(r"-e[ ]+ansible_\w*pass\w*="),), "password")) for lit in ("ansible-playbook",)),
    *((lit, command("sqlcmd", (arg(r"-P[ ]*"),), "password")) for lit in ("sqlcmd", "bcp ", "osql ")),
    *(
        (lit, command("mosquitto", (arg(r"-P[ ]+"),), "password"))
        for lit in ("mosquitto_pub", "mosquitto_sub", "ipmitool")
    ),
    *((lit, command("xfreerdp", (arg(r"/p:"),), "password")) for lit in ("freerdp", "cmdkey", "rdesktop")),
    *((lit, command("curlftp", (r"-u[ ]+[^\s,\"']{1,128},(?P<v>[^\s\"']{3,300})",), "password")) for lit in ("lftp",)),
    *(
        (
            lit,
            command(
                "netuse",
                (
                    r"(?i:net[ ]+use)[^\n]{0,200}?/user:\S+[ ]+(?P<v>[^\s/\"']{3,200})",
                    r"(?i:net[ ]+user)[ ]+\w+[ ]+(?P<v>[^\s/\"'*]{4,200})[ ]+/add",
                ),
                "password",
            ),
        )
        for lit in ("net use", "net user")
    ),
    *(
        (lit, slot(rf"(?i:{lit})[ ]+[\"']?(?P<v>[^\s\"']{{4,300}})", "password"))
        for lit in ("requirepass", "masterauth")
    ),
    (
        "pass:",
        slot(
            r"(?i:pass):(?P<v>[^\s\"'`\\]{3,300})",
            "password",
            Style.SLOT,
            r"(?:-pass(?:in|out)?|-passin|-passout|-password|-k|/)[ :]*[\"']?",
        ),
    ),
    ("openssl", command("openssl", (arg(r"-(?:k|K)[ ]+"), r"pass:(?P<v>[^\s\"'\\]{3,300})"), "password")),
    (
        "htpasswd",
        command(
            "htpasswd",
            (
                r"htpasswd[ ]+-(?=\w*b)(?!\w*n)\w+(?:[ ]+-\w+)*[ ]+[^\s-]\S*[ ]+\S+[ ]+[\"']?(?P<v>[^\s\"'|;&`]{3,300})",
                r"htpasswd[ ]+-(?=\w*b)(?=\w*n)\w+(?:[ ]+-\w+)*[ ]+[^\s-]\S*[ ]+[\"']?(?P<v>[^\s\"'|;&`]{3,300})",
            ),
            "password",
        ),
    ),
    (
        "from-literal",
        slot(r"(?i:from-literal)[ =]+\\?[\"']?[\w./-]{1,128}=\\?[\"']?(?P<v>[^\s\"'`\\]{3,4096})", "kubernetes-secret"),
    ),
    ("identified by", slot(r"(?i:identified by)[ ]+(?i:password[ ]+)?\\?[\"'](?P<v>[^\n\"'\\]{3,300})", "password")),
    (
        "identified with",
        slot(r"(?i:identified with)[ ]+[\w\"'`]+[ ]+(?i:by|as)[ ]+\\?[\"'](?P<v>[^\n\"'\\]{3,300})", "password"),
    ),
    (
        "password for",
        slot(r"(?i:password for)[ ][\w@'\". -]{1,60}?[ ]*(?:=|:)[ ]*(?P<v>[^\s\"'`]{4,300})", "password", Style.PROSE),
    ),
    ('"auth"', slot(r"(?i:\"auth\")\s{0,8}:\s{0,8}\"(?P<v>[A-Za-z0-9+/=_-]{8,8192})\"", "docker-auth", Style.PROSE)),
    (
        '\\"auth\\"',
        slot(r"\\\"(?i:auth)\\\"\s{0,8}:\s{0,8}\\\"(?P<v>[A-Za-z0-9+/=_-]{8,8192})\\", "docker-auth", Style.PROSE),
    ),
    ("_auth", slot(r"_auth[ ]{0,4}=[ ]{0,4}\"?(?P<v>[A-Za-z0-9+/=_-]{8,8192})", "npm-auth", Style.ENV)),
    *(
        (
            lit,
            slot(
                r":(?:\d{2,5}|\*):[^:\s]{1,128}:[^:\s]{1,128}:(?P<v>[^\s:\"'`]{3,300})(?=\s|$|[\"'`\\])",
                "password",
                Style.SLOT,
                r"(?:\A|[\s\"'`n])(?:[\w.-]{1,128}|\*)",
            ),
        )
        for lit in (":5432:", ":5433:", ":6432:", ":*:")
    ),
    ("thin:", slot(r"(?i:thin):[\w$]{1,64}/(?P<v>[^\s@/\"']{3,128})@", "password")),
    ("sqlplus", slot(r"(?i:sqlplus)[ ]+(?:-\w+[ ]+)*[\w$]{1,64}/(?P<v>[^\s@/\"']{3,128})@", "password")),
    ("accountkey=", slot(r"(?i:accountkey)=(?P<v>[\w+/=-]{16,200})", "azure-account-key", Style.ENV)),
    ("accesskey=", slot(r"(?i:accesskey)=(?P<v>[\w+/=-]{16,200})", "azure-access-key", Style.ENV)),
    (".login(", slot(r"\.(?i:login)\(\s*[\"'][^\"'\n]{1,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password")),
    *(
        (
            lit,
            slot(
                rf"{lit}[\"']?(?P<v>[^\s\"'`]{{8,4096}})",
                "secret",
                Style.PROSE,
                r"(?i:secret|password|token)[^\n]{0,60}",
            ),
        )
        for lit in ("--body ", "--value ")
    ),
    ("-----begin", pem),
    ("-----end", pem_tail),
    (
        "private-lines:",
        slot(
            r"(?i:private-lines): \d{1,4}\s{1,3}(?P<v>(?:[A-Za-z0-9+/=]{1,100}\s{0,3}){1,200})",
            "private-key",
            Style.SLOT,
        ),
    ),
    ("kind: secret", kubernetes),
    ('"kind": "secret"', kubernetes),
    ('"kind":"secret"', kubernetes),
    ('"kty"', jwk),
    ('\\"kty\\"', jwk),
    *(
        (lit, seed)
        for lit in (
            "seed phrase",
            "seed words",
            "recovery phrase",
            "recovery words",
            "mnemonic",
            "secret phrase",
            "seed_phrase",
            "backup phrase",
            "wallet seed",
        )
    ),
    *(
        (lit, piped)
        for lit in (
            "sudo -s",
            "sudo -k -s",
            "sudo --stdin",
            "-stdin",
            "chpasswd",
            "smbpasswd -s",
            "passwd --stdin",
            "cryptsetup",
            "gpg --batch",
        )
    ),
    *(
        (
            lit,
            slot(
                r"(?:creds|credentials|Credentials|CREDENTIALS|login|Login|user/pass(?:word)?)\b[ ]{0,4}(?:are|is|:|=)[ ]{0,4}[`\"']?[\w.@+-]{1,64}[ ]?[/:][ ]?(?P<v>[^\s\"'`,;]{4,200})",
                "password",
                Style.PROSE,
            ),
        )
        for lit in ("creds", "credentials", "login:", "login is", "user/pass")
    ),
    *(
        (lit, slot(rf"{lit}\"?\s{{0,4}}[:=]\s{{0,4}}\\?[\"']?(?P<v>[\w+/=-]{{20,200}})", "shared-key", Style.ENV))
        for lit in ("presharedkey", "psk")
    ),
    (
        "0x",
        slot(
            r"0x(?P<v>[0-9a-fA-F]{64})(?![0-9a-fA-F])",
            "private-key",
            Style.SLOT,
            r"(?i:priv(?:ate)?[-_ ]?key|wallet[-_ ]key|pk)[\"']?\s*[:=]\s*[\"']?",
        ),
    ),
    (
        "cloudflare",
        slot(
            r"(?i:cloudflare)[^\n]{0,40}?(?<![\w-])(?P<v>(?=[\w-]*\d)(?=[\w-]*[A-Z])[\w-]{40})(?![\w-])",
            "cloudflare-token",
            Style.ENV,
        ),
    ),
    (
        "heroku",
        slot(
            r"(?i:heroku)[^\n]{0,40}?(?<![\w-])(?P<v>[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12})(?![\w-])",
            "heroku-key",
            Style.SLOT,
        ),
    ),
    (
        "convertto-securestring",
        slot(r"(?i:convertto-securestring)[ ]+(?:-(?i:string)[ ]+)?[\"'](?P<v>[^\n\"']{3,300})", "password"),
    ),
    (
        "networkcredential(",
        slot(r"(?i:networkcredential)\([\"'][^\"'\n]{0,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password"),
    ),
    (
        "basicauth",
        slot(r"(?i:httpbasicauth|basicauth)\([\"'][^\"'\n]{0,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password"),
    ),
    ("auth=(", slot(r"auth=\([\"'][^\"'\n]{0,128}[\"'],\s*[\"'](?P<v>[^\n\"']{3,300})", "password")),
    ("add-generic-password", command("keychain", (arg(r"-w[ ]+"),), "password")),
    ("vault login", slot(r"vault login[ ]+(?:-\S+[ ]+)*(?P<v>[^\s=\"'-][^\s=\"']{7,200})", "vault-token")),
)
