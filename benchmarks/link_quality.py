"""How well the linker finds the links that people made: k folds over a vault with human links.

    python benchmarks/link_quality.py VAULT [VAULT …] [--folds 5] [--svg docs/link-quality.svg] [--json]

For each fold the links of its notes are taken out (what they show stays), the evidence is that of the other notes
only, the notes are linked again, and the pairs (note, target) are compared with the pairs people made. People link
less than they could, so precision is a lower bound. Also counted: the rule of the original importer, "every name of
four letters or more, first occurrence". Nothing of a vault's text is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from obsidian_import import markdown
from obsidian_import.judgement import WEIGHTS, LinkSettings, Weights
from obsidian_import.lexicon import Known, Lexicon, build, counted, occurrences
from obsidian_import.links import Linker
from obsidian_import.names.addresses import AppSettings, parse_link, stem
from obsidian_import.names.surfaces import key
from obsidian_import.notefacts import Facts, facts, frontmatter, prose
from obsidian_import.vault import look

Pair = tuple[str, str]


@dataclass
class Note:
    """One note, its links taken out."""

    path: str
    stripped: str
    facts: Facts
    words: str
    gold: set[str]
    shown: set[tuple[str, str]]
    """(folded display text, target)"""


@dataclass
class Vault:
    """What is measured."""

    files: list[str]
    settings: AppSettings
    notes: list[Note]


def read(root: Path) -> Vault:
    snapshot = look(root)
    resolver = build(snapshot.known(), snapshot.files, settings=snapshot.settings).index
    notes: list[Note] = []
    for path in sorted(snapshot.notes):
        text = (root / path).read_bytes().decode("utf-8", "replace")
        start = frontmatter(text)[1]
        body = text[start:]
        gold: set[str] = set()
        shown: set[tuple[str, str]] = set()
        edits: list[tuple[int, int, str]] = []
        for span in markdown.protected(body):
            written = body[span.start : span.end]
            link = parse_link(written) if written.startswith("[") else None
            target = resolver.resolve(link[0], path) if link else None
            if link is None or target is None or target == path or not target.lower().endswith(".md"):
                continue
            gold.add(target)
            shown.add((key(link[1]), target))
            edits.append((span.start, span.end, link[1]))
        for first, last, new in reversed(edits):
            body = body[:first] + new + body[last:]
        said = facts(text)
        notes.append(Note(path, text[:start] + body, said, prose(text[start:])[0], gold, shown))
    return Vault(snapshot.files, snapshot.settings, notes)


def fold_of(path: str, folds: int) -> int:
    # By the name, so that the folds are the same on every machine.
    return sum(path.encode()) % folds


def lexicon_without(vault: Vault, fold: int, folds: int) -> Lexicon:
    known = []
    for note in vault.notes:
        said = dict(note.facts)
        if fold_of(note.path, folds) == fold:
            said.pop("links", None)
        known.append(Known(note.path, said))  # type: ignore[arg-type]
    found = build(known, vault.files, settings=vault.settings)
    # What the notes of the fold do not link is no evidence either: only the other notes are counted.
    others = [note for note in vault.notes if fold_of(note.path, folds) != fold]
    found.counts = counted(found, {note.path: occurrences(found, note.path, note.words) for note in others})
    found.voters = frozenset(note.path for note in others)
    return found


def ours(vault: Vault, lexicons: list[Lexicon], folds: int, score: float, weights: Weights = WEIGHTS) -> set[Pair]:
    pairs: set[Pair] = set()
    linkers = [Linker(lexicon, LinkSettings(score=score), weights=weights) for lexicon in lexicons]
    for note in vault.notes:
        found = linkers[fold_of(note.path, folds)].find(note.stripped, note.path)
        pairs |= {(note.path, link.target) for link in found.links}
    return pairs


def original(vault: Vault) -> set[Pair]:
    """Every name of four letters or more, whole words, first occurrence, outside code and links; to itself, too."""
    names: dict[str, str] = {}
    for note in vault.notes:
        if len(stem(note.path)) >= 4:
            names.setdefault(stem(note.path).lower(), note.path)
    ordered = sorted(names, key=len, reverse=True)
    skip = re.compile(r"```.*?```|`[^`\n]*`|\[\[[^\]]*\]\]", re.DOTALL)
    pattern = re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, ordered)) + r")(?!\w)", re.IGNORECASE)
    pairs: set[Pair] = set()
    for note in vault.notes:
        text = skip.sub(" ", note.stripped[frontmatter(note.stripped)[1] :])
        for hit in pattern.finditer(text):
            target = names.get(hit[0].lower())
            if target:
                pairs.add((note.path, target))
    return pairs


@dataclass
class Count:
    """Pairs right, made, by people, and by people within reach of a rule over names."""

    right: int
    made: int
    gold: int
    reachable: int

    @property
    def precision(self) -> float:
        """Right of those made."""
        return self.right / self.made if self.made else 0.0

    @property
    def recall(self) -> float:
        """Right of people's."""
        return self.right / self.gold if self.gold else 0.0

    @property
    def f_half(self) -> float:
        """F0.5: a wrong link costs more than a missing one."""
        p, r = self.precision, self.recall
        return 1.25 * p * r / (0.25 * p + r) if p + r else 0.0

    @property
    def recall_reachable(self) -> float:
        """Right of those of people's whose text is a name or an alias."""
        return self.right / self.reachable if self.reachable else 0.0

    def row(self) -> dict[str, float]:
        """The figures, rounded."""
        return {
            "precision": round(self.precision, 3),
            "recall": round(self.recall, 3),
            "recall_reachable": round(self.recall_reachable, 3),
            "f0.5": round(self.f_half, 3),
            "links": self.made,
            "gold": self.gold,
        }


def compare(vault: Vault, made: set[Pair], *, linking_notes: bool) -> Count:
    """With `linking_notes` only notes that hold a human link are compared: others say nothing by not linking."""
    judged = {note.path for note in vault.notes if note.gold or not linking_notes}
    gold = {(note.path, target) for note in vault.notes for target in note.gold}
    forms: dict[str, set[str]] = {}
    for note in vault.notes:
        forms.setdefault(note.path, set()).add(key(stem(note.path)))
        forms[note.path].update(key(alias) for alias in note.facts.get("aliases", ()))
    reachable = {(n.path, target) for n in vault.notes for text, target in n.shown if text in forms[target]}
    made = {pair for pair in made if pair[0] in judged}
    return Count(len(made & gold), len(made), len(gold), len(reachable))


def curve(vault: Vault, lexicons: list[Lexicon], folds: int, scores: Iterable[float]) -> list[tuple[float, Count]]:
    return [(s, compare(vault, ours(vault, lexicons, folds, s), linking_notes=False)) for s in scores]


def picture(out: dict[str, dict[str, object]]) -> str:
    """Precision over recall as an SVG: a line per vault over all scores, a dot at 1.0, a cross for the original."""
    wide, high, left, top = 640, 420, 60, 40
    colours = ("#7a5af8", "#0a9396", "#bb3e03", "#6c757d")

    def x(recall: float) -> float:
        return left + recall * (wide - left - 30)

    def y(precision: float) -> float:
        return top + (1 - precision) / 0.7 * (high - top - 50)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" font-family="sans-serif" font-size="12">',
        f'<rect width="{wide}" height="{high}" fill="#fff"/>',
        f'<text x="{left}" y="22" font-size="14" font-weight="bold">Links compared with those people made</text>',
    ]
    for step in range(3, 11):
        parts.append(f'<path d="M{left} {y(step / 10):.1f}H{x(1):.1f}" stroke="#e5e5e5"/>')
        parts.append(f'<text x="{left - 8}" y="{y(step / 10) + 4:.1f}" text-anchor="end">{step / 10:.1f}</text>')
    parts += [
        f'<text x="{x(step / 10):.1f}" y="{y(0.3) + 18:.1f}" text-anchor="middle">{step / 10:.1f}</text>'
        for step in range(0, 11, 2)
    ]
    parts.append(f'<text x="{x(0.5):.1f}" y="{high - 8}" text-anchor="middle">recall (of all links people made)</text>')
    parts.append(f'<text x="14" y="{y(0.65):.1f}" transform="rotate(-90 14 {y(0.65):.1f})">precision</text>')
    for (name, table), colour in zip(out.items(), colours, strict=False):
        rows: list[dict[str, float]] = table["curve"]  # type: ignore[assignment]
        line = " ".join(f"{x(r['recall']):.1f},{y(max(0.3, r['precision'])):.1f}" for r in rows if r["links"])
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        rules: dict[str, dict[str, float]] = table["all notes"]  # type: ignore[assignment]
        at, old = rules["ours"], rules["original"]
        cx, cy = x(at["recall"]), y(at["precision"])
        parts.append(f'<circle cx="{cx:.1f}" cy="{cy:.1f}" r="5" fill="{colour}"/>')
        label = f"{name}, F0.5 {at['f0.5']:.2f}"
        parts.append(f'<text x="{cx - 10:.1f}" y="{cy + 22:.1f}" text-anchor="end" fill="{colour}">{label}</text>')
        cx, cy = x(old["recall"]), y(old["precision"])
        parts.append(f'<path d="M{cx - 5:.1f} {cy - 5:.1f}l10 10m0 -10l-10 10" stroke="{colour}" stroke-width="2"/>')
        label = f"original rule on {name}, F0.5 {old['f0.5']:.2f}"
        parts.append(f'<text x="{cx - 10:.1f}" y="{cy + 18:.1f}" text-anchor="end" fill="{colour}">{label}</text>')
    return "\n".join([*parts, "</svg>\n"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("vaults", nargs="*", type=Path)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--svg", type=Path)
    parser.add_argument("--curve", action="store_true")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    roots = [root for root in args.vaults if root.is_dir()]
    if not roots:
        print("no vault given (or none there): nothing measured")
        return 0
    out: dict[str, dict[str, object]] = {}
    for root in roots:
        vault = read(root)
        lexicons = [lexicon_without(vault, fold, args.folds) for fold in range(args.folds)]
        made, naive = ours(vault, lexicons, args.folds, 1.0), original(vault)
        table: dict[str, object] = {}
        for title, only in (("notes with links", True), ("all notes", False)):
            table[title] = {
                "ours": compare(vault, made, linking_notes=only).row(),
                "original": compare(vault, naive, linking_notes=only).row(),
            }
        if args.curve or args.svg:
            steps = [x / 2 for x in range(-6, 13)]
            table["curve"] = [{"score": s, **c.row()} for s, c in curve(vault, lexicons, args.folds, steps)]
        out[root.name] = table
    if args.svg:
        args.svg.write_text(picture(out), encoding="utf-8")
    if args.json:
        json.dump(out, sys.stdout, indent=1)
    else:
        for name, table in out.items():
            for title, rules in table.items():
                if title == "curve":
                    for row in rules:
                        print(f"{name:12} score >= {row['score']:4}: {row}")
                    continue
                for rule, row in rules.items():
                    print(f"{name:12} {title:17} {rule:9} {row}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
