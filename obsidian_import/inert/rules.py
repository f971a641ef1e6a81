"""Tables and patterns of `inert`: what a plugin, the core or a reader would take for more than text.

Nothing here decides; `inert` and `inert_blocks` do. Every pattern is linear on hostile text: no star stands beside another that can take
the same character, and what looks back looks back a bounded way.
"""

from __future__ import annotations

import re
from functools import cache

MARK = "\u2060"
"""Word joiner: the one character that says "this was put in". Doubled where the source itself has it."""
PAD = "\u200b"
"""Zero-width space: after a MARK it ends the mark, where the next character could be read as part of it."""

# ------------------------------------------------------------------ characters (N15)

UNSAFE = re.compile(
    "\U0001f3f4\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074|\U000e0077\U000e006c\U000e0073)\U000e007f"
    "|\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\U000e0000-\U000e007f]"
)
"""The three flags of Unicode that are made of tag characters (first alternative) stay; U+2060 is here to be doubled."""
CONTROLS = bytes([*range(9), 11, 12, *range(14, 32), 127])
"""The C0 controls (but tab and line ends) and DEL, as bytes: `bytes.translate` finds them five times as fast as a pattern does."""
ASCII = bytes(range(128))
STRANGE = re.compile("[\x80-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\U000e0000-\U000e007f]")

# ------------------------------------------------------------------ fence languages (N3)

LANGUAGES = frozenset(
    """
    ada apl applescript arduino armasm asciidoc asm assembly awk bash basic bat batch bib bibtex bicep brainfuck c c# c++ cc cfg clj clojure
    cmake cmd cobol code coffee coffeescript commonlisp conf config console cpp cql crystal cs csharp cshtml css csv cu cuda cxx cypher cython d
    dart delphi diff dns docker docker-compose dockerfile dos dotenv edn ejs elisp elixir elm emacs-lisp env erb erl erlang ex excel exs f# f90
    fish fortran fs fsharp gawk gcode gdscript gherkin git gitignore glsl gml gnuplot go go-mod gohtml golang gql gradle graphql groovy h haml
    handlebars haskell hbs hcl hlsl hpp hs html htm htmlbars http https hxx ignore ini ino ipynb irc jade java javascript jinja jinja2 jl jq js
    json json5 jsonc jsonl jsonnet jsp jsx julia kotlin ks kt kts ksh latex less liquid lisp llvm log lua m make makefile man markdown mathematica
    matlab md mdx mips mjs ml mongodb mysql mustache nasm ndjson nginx nim nix nu nushell objc objective-c objectivec ocaml octave odin
    openscad output pascal patch perl pgsql php pine pl plain plaintext plpgsql plsql po postgres postgresql postscript powerquery powershell
    prisma prolog promql properties proto protobuf ps ps1 pseudo pseudocode psql pug puppet purescript py py3 pycon pyi pytb python python-repl
    python3 pyx q qml r racket rake raku rb re reason regex regexp rego rest rescript rs rst ruby rust sas sass scala scheme scm scss sed sh
    shell shell-session shellscript smali smalltalk smarty sml sol solidity sparql sql sqlite ssh-config stata stylus styl svelte svg swift
    systemd systemverilog sv tcl terminal terraform tex text tf thrift toml traceback ts tsql tsv tsx twig txt typescript typst
    v vala vb vba vbnet verilog vhdl vi vim viml visualbasic vue wasm wat wgsl wolfram x86asm xhtml xml xsl xslt yaml yang yara yml zig zsh
    none math ascii tree stdout stderr shellsession git-commit go.mod gotemplate helm sourcepawn
    """.split()  # noqa: SIM905
)
"""First words of a fence's info string that a highlighter knows and no well-known plugin acts on."""

ACTIVE_LANGUAGES = frozenset(
    """
    dataview dataviewjs tasks query base button buttons js-engine customjs plantuml excalidraw chart tracker templater kanban query-control
    leaflet timeline ad-note mermaid-active graphviz dot d2 tikz chartsview dbfolder sqlseal sqlite-query datacorejs datacorejsx datacorets
    datacoretsx datacore-list habittracker media-slider image-layout gallery img-gallery rss feed calendar-timeline iframe embed html-embed
    cardlink cookbook advanced-chart bookmarks folder-overview-list contributiongraph todoist jira-search jira-issue github-query gitlab view
    """.split()  # noqa: SIM905
)
ACTIVE_PREFIXES = ("meta-bind", "run-", "ad-", "dataview", "datacore", "tasks", "js-engine")
MERMAID_ACTIVE = re.compile(
    r"@\{|^[ \t]*(?:click|links?|callback)\b|\bhref\b|\bimg\s*:|url\s*\(|%%\{|://|<(?!br\s*/?>|[-=.|<])|^[ \t]*---[ \t\r]*$",
    re.IGNORECASE | re.MULTILINE,
)
"""In a diagram: what loads, links or configures. Without any of it a diagram is drawn on this machine alone and stays."""

SCHEMES = frozenset(
    """http https mailto ws wss postgres postgresql mysql mariadb redis rediss mongodb mongodb+srv amqp amqps kafka s3 gs tcp udp grpc nats
    sqlite jdbc bolt neo4j clickhouse mqtt mqtts unix docker oci""".split()  # noqa: SIM905
)
"""Before `://` in plain words: no program on a person's machine is registered for these, or the browser is."""

# ------------------------------------------------------------------ text


@cache
def query(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    """Matches at the start of code that Dataview would run: blanks (all that JavaScript trims; quote marks), then a prefix (group 1)."""
    return re.compile(r"[\s\ufeff>]*+(" + "|".join(map(re.escape, prefixes)) + ")")


TAG_CHARACTER = r"[^\s0-9!-,.:-@\[-^`{-~\u2000-\u206f\u2e00-\u2e7f]"
OURS = "tool|thinking|agent|branch|compaction|client|command|media|context"


GATES = tuple(
    (1 << n, literals[0][0], literals[0], literals[-1])
    for n, literals in enumerate(
        (["<"], ["[["], ["["], ["!["], ["](", "]:"], ["#"], ["%%"], ["::", "://"], ["^"], ["`"])
    )
)
"""Before any pattern runs: bit, first character and the literals one of which must be there for that alternative of `candidates`."""


QUERY_BIT = GATES[-1][0]


@cache
def candidates(prefixes: tuple[str, ...], which: int) -> re.Pattern[str]:
    """Every place in text that may need something; each alternative starts with a literal, so that the search can skip.

    `which` has bit n set where alternative n can match at all (`GATES`).
    """
    start = "|".join(map(re.escape, prefixes))
    alternatives = (
        r"<(?=/?[A-Za-z][A-Za-z0-9-]*+(?:[\s/>]|\Z)|[!?]|(?!(?:https?://|mailto:)[^\s<>`]*+>)[A-Za-z][A-Za-z0-9+.-]{1,31}:[^\s<>]*+>)",
        r"\[\[++",
        rf"\[(?=\^[^\]\s]|[^\n]\](?:[ \t\r\n]|\Z)|!(?i:{OURS})\])",
        r"!(?=\[(?!\[))",
        r"\](?=[(:])",
        rf"#(?<![^\s(*_~\"'>|,;{{}}\u3000-\u303f\uff00-\uffef]#)(?<!\]\(#)(?=[0-9]*+{TAG_CHARACTER})|#(?<===#)(?=[0-9]*+{TAG_CHARACTER})",
        r"%(?=%)",
        r":(?=:|//)",
        r"\^(?=\[)|\^(?<![^\s>]\^)(?=[A-Za-z0-9-]++[ \t]*+(?:\r?\n|\r?\Z))",
        rf"`(?=[\s\ufeff>]*+(?:{start}))",
    )
    return re.compile("|".join(a for n, a in enumerate(alternatives) if which >> n & 1))


CONTAINERS = re.compile(r"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t])*+")
FIELD_KEY = re.compile(r"[^0-9A-Za-z_]*+[0-9A-Za-z_\s/\-\x80-\U0010ffff]*+[_*~`]*+\Z")
"""What Dataview takes for the key of a full-line field, wide (any non-ASCII character counts as a letter and as none)."""
GOOD_TARGET = re.compile(r"\((?:\s*+(?:<?(?:https?://|mailto:)|\))|#)", re.IGNORECASE)
SCHEME_TARGET = re.compile(r"[(:][\s>]*+<?(?:[A-Za-z][A-Za-z0-9+.-]{0,60}:|[^\s()<>/\u2060]{0,60}[&\\:])")
GOOD_DEFINITION = re.compile(r":[ \t]*+<?(?:https?://|mailto:)", re.IGNORECASE)
LABEL = re.compile(r"(?:[^\]\\\n]|\\.)*+\Z")
SCHEME_BEFORE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+\Z")
DOLLARS = re.compile(r"\${2,}+")
RUN = re.compile(r"`++")
DELIMITER_ROW = re.compile(r"^(?=[ \t>:-]*+\|)[ \t>|:-]++\r?$", re.MULTILINE)


@cache
def indented_query(prefixes: tuple[str, ...]) -> re.Pattern[str]:
    """A line of indented code that starts with an inline query (group 1)."""
    start = "|".join(map(re.escape, prefixes))
    return re.compile(rf"^(?:[ \t>]|[-*+][ \t]|\d{{1,9}}[.)][ \t])*+(?:(?<= {{4}})|(?<=\t))({start})", re.MULTILINE)


# ------------------------------------------------------------------ findings

HTML_ACTIVE = re.compile(
    r"<(?:/?(?:script|iframe|frame|img|image|video|audio|source|track|object|embed|applet|link|style|form|input|button|textarea|select"
    r"|svg|math|base|meta|portal|webview)\b|[A-Za-z][^<>\n]{0,2000}?\s(?:on[a-z]+|src|srcset|style|action|formaction|background|poster)\s*="
    r"|a\s[^<>\n]{0,2000}?href\s*=\s*[\"']?(?!https?:|mailto:|#))",
    re.IGNORECASE,
)
REMOTE_IMAGE = re.compile(
    r"!\[[^\n]{0,2000}?\]\([\s>]*<?(?:[A-Za-z][A-Za-z0-9+.-]*:|//|[^\s)]{0,40}&)|!\[[^\]\n]{0,2000}\]\["
)
MEDIA_EMBED = re.compile(
    r"!\[\[[^\[\]#^|\n]+\.(?:png|jpe?g|gif|bmp|svg|webp|avif|mp3|wav|m4a|ogg|3gp|flac|mp4|webm|ogv|mov|mkv|pdf)(?:[#|][^\[\]\n]*)?\]\]",
    re.IGNORECASE,
)

RESTORE = re.compile(
    rf"text {MARK}{PAD}|({MARK}{MARK})|{MARK}(?:\\u\{{([0-9a-f]{{1,6}})\}}|\\|{PAD}|\n[ >]*+(?:`{{3,}}+|~{{3,}}+))?+|(\\\[\\\[)"
)
