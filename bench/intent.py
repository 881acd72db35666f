"""Measures intent detection by rules: how well it tells, what it takes ordinary prompts for, how fast.

The sentences are in `tests/agent/intent/`. The rules were made while looking at the *develop* files; the
others say how well they do on sentences nobody tuned them to. Run `python -m bench.intent`, or with
`--unseen`.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from tests.agent.intents import Labelled, Pair, confusion, labelled, macro_f1

from bench.common import finish, parser, seconds, verdict
from memlines.agent.intent import about_past, detect
from memlines.agent.intent.detect import KINDS, LANGUAGES

ROUNDS = 5

Figures = dict[str, Any]


def quality(sentences: Sequence[Labelled]) -> Figures:
    """Return the macro-F1 of all sentences, of each language and of the traps, and what was told as what."""
    told = [(one, (one.intent, detect(one.text).intent)) for one in sentences]
    pairs: list[Pair] = [pair for _, pair in told]
    by_language = {code: macro_f1([pair for one, pair in told if one.language == code]) for code in LANGUAGES}
    traps = [pair for one, pair in told if one.trap]
    counts = confusion(pairs)
    return {
        "sentences": len(sentences),
        "macro_f1": macro_f1(pairs),
        "languages": by_language,
        "traps": {"sentences": len(traps), "right": sum(right == said for right, said in traps)},
        "confusion": {right: {said: counts[right, said] for said in KINDS} for right in KINDS},
    }


def ordinary(prompts: Sequence[Labelled]) -> Figures:
    """Return how many ordinary prompts are taken for something else."""
    told = [detect(one.text).intent for one in prompts]
    counts = {kind: told.count(kind) for kind in KINDS}
    searched = sum(about_past(one.text) for one in prompts)
    return {"prompts": len(prompts), "told": counts, "about_past": searched}


def topics(sentences: Sequence[Labelled]) -> Figures:
    """Return of how many sentences it is told what they are about."""
    right = sum(one.names(detect(one.text).entities) for one in sentences)
    return {"sentences": len(sentences), "right": right}


def speed(texts: Sequence[str]) -> Figures:
    """Return how long a message takes once the patterns are made."""
    taken = statistics.median([seconds(lambda: [detect(text) for text in texts]) for _ in range(ROUNDS)])
    return {"messages": len(texts), "microseconds": 1e6 * taken / len(texts)}


def table(name: str, found: Figures, prompts: Figures, about: Figures, fast: Figures) -> str:
    """Write the figures as Markdown."""
    share = found["macro_f1"]
    lines = [
        f"Sentences: {name}, {found['sentences']}; traps told right: "
        f"{found['traps']['right']} of {found['traps']['sentences']}.",
        "",
        "| language | macro-F1 | target |",
        "|---|---|---|",
        f"| all | {share:.3f} | ≥ .93: {verdict(share, 0.93, at_least=True)} |",
    ]
    for code, value in found["languages"].items():
        lines.append(f"| {code} | {value:.3f} | ≥ .90: {verdict(value, 0.90, at_least=True)} |")
    lines += ["", f"| right \\ told | {' | '.join(KINDS)} |", "|---" * (len(KINDS) + 1) + "|"]
    for right, row in found["confusion"].items():
        lines.append(f"| {right} | {' | '.join(str(row[said]) for said in KINDS)} |")
    false = prompts["told"]["remember"] / prompts["prompts"]
    lines += [
        "",
        "| ordinary prompts | told remember | share | target | told query | told forget | searched |",
        "|---|---|---|---|---|---|---|",
        f"| {prompts['prompts']} | {prompts['told']['remember']} | {false:.1%} "
        f"| ≤ 2 %: {verdict(false, 0.02)} | {prompts['told']['query']} "
        f"| {prompts['told']['forget']} | {prompts['about_past']} |",
        "",
        f"What a sentence is about: told right for {about['right']} of {about['sentences']}.",
        "",
        f"{fast['microseconds']:.0f} µs a message, over {fast['messages']} messages.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if a file was named."""
    options = parser(__doc__)
    options.add_argument("--unseen", action="store_true", help="the sentences nobody tuned the rules to")
    arguments = options.parse_args()
    name = "unseen" if arguments.unseen else "develop"
    sentences, prompts = labelled(name), labelled(f"coding_{name}")
    found, plain = quality(sentences), ordinary(prompts)
    about = topics(labelled(f"entities_{name}"))
    fast = speed([one.text for one in [*sentences, *prompts]])
    finish(
        {"sentences": name, "quality": found, "ordinary": plain, "entities": about, "speed": fast},
        table(name, found, plain, about, fast),
        arguments.json,
    )


if __name__ == "__main__":
    main()
