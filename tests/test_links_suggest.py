"""What is only suggested, what people decide, and which note a stale link meant."""

from __future__ import annotations

import pytest

from obsidian_import.judgement import LinkSettings, decision
from obsidian_import.lexicon import Known, Lexicon, build
from obsidian_import.links import Linker, repair, resolve
from obsidian_import.markdown import splice
from obsidian_import.notefacts import facts

NAMES = ["neural network", "Organization", "Auth flow design", "universe", "Rust", "Meeting", "People", "Kubernetes"]


def lexicon(*names: str, aliases: str = "") -> Lexicon:
    said = facts(f"---\naliases: [{aliases}]\n---\n")
    notes = [Known(f"{name}.md", said if i == 0 else {}) for i, name in enumerate(names)]
    return build(notes, [note.path for note in notes])


def suggested(
    text: str, settings: LinkSettings | None = None, names: list[str] | None = None
) -> list[tuple[str, str, str]]:
    found = Linker(lexicon(*(names or NAMES)), settings).find(text, "chats/x.md", suggest=True)
    return [(miss.text, miss.target, miss.tier) for miss in found.misses if miss.suggested]


@pytest.mark.parametrize(
    "text",
    [
        "an organ, a university, some trust",  # B30; rust and trust are 89 % alike
        "meetings of the meeting",  # an everyday word in the plural is one, too
        "the flow of water by design",
        "`neural networks` and https://x.org/neural-networks",
        "neural. Networks",
        "[[neural network]] and neural networks",  # it is linked already
    ],
)
def test_nothing_to_suggest(text: str) -> None:
    assert suggested(text) == []


@pytest.mark.parametrize(
    ("text", "target", "tier"),
    [
        ("neural networks", "neural network.md", "stem"),  # B29
        ("organizations", "Organization.md", "stem"),
        ("design of auth flow", "Auth flow design.md", "fuzzy"),
        ("auth flow designs", "Auth flow design.md", "stem"),
        ("universes", "universe.md", "stem"),
    ],
)
def test_suggested(text: str, target: str, tier: str) -> None:
    found = Linker(lexicon(*NAMES)).find(f"about {text} here", "chats/x.md", suggest=True)
    assert found.links == ()
    assert suggested(f"about {text} here") == [(text, target, tier)]
    reason = next(miss.reason for miss in found.misses if miss.suggested)
    assert reason.startswith(("same stem as ", "nearly the words of "))


def test_suggestions_are_asked_for() -> None:
    assert not any(miss.tier == "stem" for miss in Linker(lexicon(*NAMES)).find("neural networks", "c.md").misses)


def test_thresholds_are_those_of_the_settings() -> None:
    text = "about design of auth flow here"
    assert suggested(text, LinkSettings(threshold=95)) == []
    assert suggested(text, LinkSettings(jaccard=0.8)) == []
    assert len(suggested(text, LinkSettings(threshold=91, jaccard=0.7))) == 1


def test_two_equally_near_names_are_none() -> None:
    assert suggested("the auth flow", names=["Auth flow login", "Auth flow logon"]) == []


def test_what_was_accepted_is_a_link_what_was_rejected_never_comes_back() -> None:
    text = "about Neural networks here"
    told = decision("neural  networks", "neural network.md")
    assert told == "neural networks -> neural network"
    found = Linker(lexicon(*NAMES), LinkSettings(accepted=(told,))).find(text, "chats/x.md")
    assert splice(text, found.edits) == "about [[neural network|Neural networks]] here"
    assert "accepted by you" in found.links[0].edit.why
    assert suggested(text, LinkSettings(rejected=(told,))) == []
    assert suggested(text, LinkSettings(ignore=("neural network",))) == []


def test_an_unsure_name_is_proposed_and_can_be_accepted() -> None:
    names = ["Garden"]
    found = Linker(lexicon(*names)).find("in my garden today", "chats/x.md").misses[0]
    assert (found.suggested, found.tier, found.target) == (True, "exact", "Garden.md")
    accepted = LinkSettings(accepted=("garden -> Garden",))
    assert (
        Linker(lexicon(*names), accepted).find("in my garden today", "chats/x.md").links[0].edit.new
        == "[[Garden|garden]]"
    )


def test_decisions_that_name_nothing_change_nothing() -> None:
    odd = LinkSettings(accepted=("x", "-> y", "a ->", "words -> No such note", ""), rejected=("->",))
    assert Linker(lexicon(*NAMES), odd).find("words x Kubernetes", "c.md").links[0].target == "Kubernetes.md"


def test_settings_and_vault_are_in_the_fingerprint() -> None:
    one = lexicon(*NAMES)
    prints = {
        Linker(one).fingerprint,
        Linker(one, LinkSettings(ignore=("Rust",))).fingerprint,
        Linker(one, LinkSettings(score=2)).fingerprint,
        Linker(one, LinkSettings(rejected=("a -> b",))).fingerprint,
        Linker(lexicon(*NAMES, "Kafka")).fingerprint,
        Linker(lexicon(*NAMES, aliases="nn")).fingerprint,
    }
    assert len(prints) == 6
    assert Linker(lexicon(*NAMES)).fingerprint == Linker(one, LinkSettings()).fingerprint


# ------------------------------------------------------------------------------------------- stale links


@pytest.mark.parametrize("gone", ["Rusty.md", "Trust.md", "Note.md", "Completely Other Thing.md", "x/Peopled Area.md"])
def test_unclear_renames_are_left(gone: str) -> None:
    found = lexicon(*NAMES)
    assert repair([gone], found.index, found) == {gone: None}


@pytest.mark.parametrize(
    ("gone", "now"),
    [
        ("old/Rust.md", "Rust.md"),
        ("Auth flow desing.md", "Auth flow design.md"),
        ("notes/Design of auth flow.md", "Auth flow design.md"),
        ("Kuberneets.md", "Kubernetes.md"),
        ("rust.md", "Rust.md"),
    ],
)
def test_clear_renames_are_found(gone: str, now: str) -> None:
    found = lexicon(*NAMES)
    assert repair([gone], found.index, found) == {gone: now}


def test_the_old_name_as_an_alias_is_the_new_note() -> None:
    found = lexicon("Grafana dashboards", "Other", aliases="Panels")
    assert repair(["Panels.md"], found.index, found) == {"Panels.md": "Grafana dashboards.md"}


def test_two_candidates_are_none() -> None:
    found = lexicon("a/Release plan", "b/Release plan", "Release plans")
    assert repair(["c/Release plan.md"], found.index, found) == {"c/Release plan.md": None}


def test_resolve() -> None:
    found = lexicon("a/Grafana", "b/Grafana", "lib/Deep Thought", "Root", "sub/Root")
    assert resolve("Deep Thought", "x.md", found) == "lib/Deep Thought.md"
    assert resolve("deep thought.md#Part|shown", "x.md", found) == "lib/Deep Thought.md"
    assert resolve("Deep Thought\\|shown", "x.md", found) == "lib/Deep Thought.md"
    assert resolve("Grafana", "x.md", found) is None
    assert resolve("Grafana", "a/x.md", found) == "a/Grafana.md"
    assert resolve("b/Grafana", "a/x.md", found) == "b/Grafana.md"
    assert resolve("../b/Grafana", "a/x.md", found) == "b/Grafana.md"
    assert resolve("Root", "sub/x.md", found) == "Root.md"
    assert resolve("#Part", "a/x.md", found) == "a/x.md"
    assert resolve("Nowhere", "a/x.md", found) is None
