"""Plan → one self-contained HTML page: note by note, each link in its sentence, each tag with the word that gave it.

No script, no font, no address of anybody: the page can be kept, mailed and opened in ten years. All text in it has
gone through the same redaction as the notes; here it is only escaped.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from obsidian_import.plan import Plan, Row

_WORDS = {
    "create": ("create", "new notes"),
    "update": ("update", "notes that change"),
    "delete": ("delete", "notes that go"),
    "conflict": ("conflict", "need a look"),
    "keep": ("keep", "stay as they are"),
    "skip": ("skip", "no chats, skipped"),
}
_ORDER = ("conflict", "create", "update", "delete", "skip", "keep")

_CSS = """
:root { color-scheme: light dark; --ink: #23262b; --soft: #6b7280; --line: #e3e5ea; --card: #fff; --page: #f6f6f8;
  --mark: #ede4ff; --accent: #7c3aed; --create: #15803d; --update: #b45309; --conflict: #b91c1c; --delete: #b91c1c; }
@media (prefers-color-scheme: dark) { :root { --ink: #dcddde; --soft: #9aa0aa; --line: #3a3d44; --card: #262629;
  --page: #1e1e20; --mark: #43346b; --accent: #a78bfa; --create: #4ade80; --update: #fbbf24; --conflict: #f87171; --delete: #f87171; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.55 system-ui, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 2rem 1.2rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .2rem; } h2 { font-size: 1.05rem; margin: 2rem 0 .6rem; }
.soft { color: var(--soft); } code { font-size: .9em; }
.totals { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1.2rem 0; padding: 0; list-style: none; }
.totals li { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .5rem .9rem; }
.totals b { display: block; font-size: 1.3rem; line-height: 1.2; }
details, .problem { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; margin: .5rem 0; padding: .55rem .9rem; }
summary { cursor: pointer; overflow-wrap: anywhere; } summary b { font-weight: 600; }
.badge { font-size: .75rem; font-weight: 600; text-transform: uppercase; letter-spacing: .04em; margin-right: .5rem; color: var(--soft); }
.create { color: var(--create); } .update { color: var(--update); } .conflict { color: var(--conflict); } .delete { color: var(--delete); }
.path { color: var(--soft); font-size: .85rem; overflow-wrap: anywhere; margin: .3rem 0 .6rem; }
.tag { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 .55rem; margin: 0 .3rem .3rem 0; font-size: .85rem; }
.tag small { color: var(--soft); }
ul.links { list-style: none; padding: 0; margin: .6rem 0 0; } ul.links li { border-top: 1px solid var(--line); padding: .5rem 0; }
mark { background: var(--mark); color: inherit; border-radius: .2rem; padding: 0 .15rem; }
.why { display: block; color: var(--soft); font-size: .85rem; } .to { color: var(--accent); }
.facts { color: var(--soft); font-size: .9rem; margin: .4rem 0; }
"""


def page(plan: Plan, *, vault: str, dry_run: bool, suggested: Sequence[Mapping[str, Any]] = ()) -> str:
    """The whole page. `vault` is the name people know the vault by; `suggested` as `suggest --json` gives it. Pure."""
    totals = plan.totals()
    verb = "would do" if dry_run else "did"
    body = [
        f"<h1>What obsidian-import {verb} in “{escape(vault)}”</h1>",
        f'<p class="soft">{escape(plan.command)} · {totals["read"]:,} talks read'
        + (" · dry run: nothing was written" if dry_run else "")
        + "</p>",
        _totals(totals),
    ]
    body += [f'<p class="problem">{escape(notice)}</p>' for notice in plan.notices]
    if plan.problems:
        body.append(f"<h2>Problems ({len(plan.problems)})</h2>")
        for problem in plan.problems:
            where = escape(problem.source) + (f", line {problem.line}" if problem.line else "")
            hint = f'<span class="why">{escape(problem.hint)}</span>' if problem.hint else ""
            level = "conflict" if problem.fatal else "soft"
            body.append(
                f'<div class="problem"><span class="{level}">{where}</span>: {escape(problem.what)}{hint}</div>'
            )
    if suggested:
        body.append(f"<h2>Links worth a look ({len(suggested):,})</h2>")
        body.append(
            '<p class="soft">Likely, not sure: nothing is linked until you say so. A rejected pair never comes back.</p>'
        )
        body += [_suggestion(item) for item in suggested[:200]]
    for action in _ORDER:
        rows = [r for r in plan.rows if r.action == action]
        if rows:
            body.append(f"<h2>{len(rows):,} {escape(_WORDS[action][1])}</h2>")
            body += [_row(row) for row in rows]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>obsidian-import: {escape(vault)}</title>\n<style>{_CSS}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )


def _suggestion(item: Mapping[str, Any]) -> str:
    words = f"{shlex.quote(str(item['text']))} {shlex.quote(str(item['target']))}"
    where = f"in {item['notes']} note{'s' if item['notes'] != 1 else ''}"
    target = escape(str(item["target"]).removesuffix(".md"))
    return (
        f'<div class="problem"><mark>{escape(str(item["text"]))}</mark> <span class="to">→ {target}</span>'
        f'<span class="why">{where} · {escape(str(item["reason"]))}</span>'
        f'<span class="why"><code>obsidian-import suggest --accept {escape(words)}</code></span></div>'
    )


def _totals(totals: Mapping[str, int]) -> str:
    shown = (
        ("create", "new"),
        ("update", "changed"),
        ("delete", "removed"),
        ("keep", "kept"),
        ("conflict", "in conflict"),
        ("skip", "skipped"),
        ("links", "links"),
        ("redactions", "secrets taken out"),
    )
    items = [f"<li><b>{totals[name]:,}</b>{word}</li>" for name, word in shown if totals.get(name)]
    return f'<ul class="totals">{"".join(items)}</ul>'


def _row(row: Row) -> str:
    title = escape(row.title or row.path.rpartition("/")[2] or row.key)
    badge = f'<span class="badge {row.action}">{_WORDS[row.action][0]}</span>'
    facts = [f for f in (row.created[:10], row.project, row.source) if f]
    head = f'{badge}<b>{title}</b> <span class="soft">{escape(" · ".join(facts))}</span>'
    inner = [f'<p class="path">{escape(row.path)}</p>']
    if row.why:
        inner.append(f'<p class="facts">{escape(row.why)}</p>')
    if row.tags:
        inner.append("<p>" + "".join(_tag(tag, row.words.get(tag, "")) for tag in row.tags) + "</p>")
    for name, counts in (("Secrets taken out", row.redactions), ("Made inert", row.inert)):
        if counts:
            said = ", ".join(f"{n} {kind}" for kind, n in counts.items())
            inner.append(f'<p class="facts">{name}: {escape(said)}</p>')
    if row.links:
        inner.append(f'<ul class="links">{"".join(_links(row.links))}</ul>')
    opened = " open" if row.links and row.action in ("create", "update", "conflict") else ""
    return f"<details{opened}><summary>{head}</summary>{''.join(inner)}</details>"


def _tag(tag: str, word: str) -> str:
    said = f" <small>“{escape(word)}”</small>" if word and word.casefold() != tag.casefold() else ""
    return f'<span class="tag">#{escape(tag)}{said}</span>'


def _links(links: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for link in links:
        target = escape(str(link["target"]).removesuffix(".md"))
        sentence = link.get("sentence")
        if isinstance(sentence, list | tuple) and len(sentence) == 3:
            left, text, right = (escape(str(part)) for part in sentence)
            words = f"{left}<mark>{text}</mark>{right}"
        else:
            words = f"<mark>{escape(str(link['text']))}</mark>"
        why = f"line {link['line']} · {escape(str(link.get('why', '')))}"
        yield f'<li>{words} <span class="to">→ {target}</span><span class="why">{why}</span></li>'
