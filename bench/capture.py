"""Measures what is captured of a user's messages by rules: how well, what it takes from other text, how fast.

The messages are in `tests/capture/`. The rules were made while looking at *develop*; `--unseen` says how well
they do on messages nobody tuned them to, in totals only. The injections are read from `../shared/corpora`, if
that is there. Run `python -m bench.capture`, or with `--unseen`.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from tests.support_capture import NOW, Labelled, captures, injections, labelled
from tests.support_intent import labelled as prompts

from bench.common import finish, parser, seconds, verdict
from recollect.agent.capture import captured, is_injection
from recollect.agent.capture.speech import LANGUAGES

ROUNDS = 3

Figures = dict[str, Any]


def quality(messages: Sequence[Labelled]) -> Figures:
    """Return precision and recall by message, and how many of the categories fit."""
    told = [(one, captures(one.text)) for one in messages]
    right = sum(bool(found) and one.capture for one, found in told)
    fits = sum(one.capture and one.category in {each.category for each in found} for one, found in told)
    return {
        "messages": len(told),
        "precision": right / max(1, sum(bool(found) for _, found in told)),
        "recall": right / max(1, sum(one.capture for one, _ in told)),
        "category": fits / max(1, right),
    }


def elsewhere(name: str) -> Figures:
    """Return how many ordinary coding prompts something is captured of."""
    texts = [one.text for one in prompts(f"coding_{name}")]
    return {"prompts": len(texts), "captured": sum(bool(captures(text)) for text in texts)}


def attacks() -> Figures:
    """Return of how many injections something is captured, and how many are known for what they are."""
    texts = injections()
    return {
        "texts": len(texts),
        "captured": sum(bool(captures(text)) for text in texts),
        "told": sum(map(is_injection, texts)),
    }


def speed(texts: Sequence[str]) -> Figures:
    """Return how long a message takes once the patterns are made."""
    taken = statistics.median(
        [seconds(lambda: [captured(text, now=NOW) for text in texts]) for _ in range(ROUNDS)]
    )
    return {"messages": len(texts), "microseconds": 1e6 * taken / len(texts)}


def table(name: str, figures: Figures) -> str:
    """Write the figures as Markdown."""
    lines = [
        f"Messages: {name}.",
        "",
        "| language | messages | precision | target | recall | target | category |",
        "|---|---|---|---|---|---|---|",
    ]
    for code, found in figures["quality"].items():
        lines.append(
            f"| {code} | {found['messages']} "
            f"| {found['precision']:.3f} | ≥ .92: {verdict(found['precision'], 0.92, at_least=True)} "
            f"| {found['recall']:.3f} | ≥ .75: {verdict(found['recall'], 0.75, at_least=True)} "
            f"| {found['category']:.3f} |"
        )
    other, attacked, fast = figures["elsewhere"], figures["attacks"], figures["speed"]
    lines += [
        "",
        f"Coding prompts that something is captured of: {other['captured']} of {other['prompts']}.",
        f"Injections that something is captured of: {attacked['captured']} of {attacked['texts']}; "
        f"known for what they are: {attacked['told']}.",
        f"{fast['microseconds']:.0f} µs a message, over {fast['messages']} messages.",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if a file was named."""
    options = parser(__doc__)
    options.add_argument("--unseen", action="store_true", help="the messages nobody tuned the rules to")
    arguments = options.parse_args()
    name = "unseen" if arguments.unseen else "develop"
    messages = labelled(name)
    figures: Figures = {
        "messages": name,
        "quality": {
            code: quality([one for one in messages if code in ("all", one.language)])
            for code in ("all", *LANGUAGES)
        },
        "elsewhere": elsewhere(name),
        "attacks": attacks(),
        "speed": speed([one.text for one in messages]),
    }
    finish(figures, table(name, figures), arguments.json)


if __name__ == "__main__":
    main()
