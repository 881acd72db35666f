"""Measures what is captured of a user's messages: how well, what it takes from other text, how fast.

The messages are in `tests/agent/capture/`. The rules and the weights were made while looking at all of them
but `unseen_second`; `--unseen` says how well they do on those, in totals only. Each figure is taken twice:
with the builtin model's vectors, and without, as for a memory that uses another model. The injections are
read from `../shared/corpora`, if that is there. Run `python -m bench.capture`, or with `--unseen`.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from functools import partial
from typing import Any

from tests.agent.capture.messages import Labelled, builtin, captures, injections, labelled
from tests.agent.intents import labelled as prompts

from bench.common import finish, parser, seconds, verdict
from memlines.agent.capture.find import Embed, find_facts
from memlines.agent.capture.reading import LANGUAGES
from memlines.text.injection import is_injection

ROUNDS = 3

Figures = dict[str, Any]


def quality(messages: Sequence[Labelled], embed: Embed | None) -> Figures:
    """Return precision and recall by message, and how many of the categories fit."""
    told = [(one, captures(one.text, embed)) for one in messages]
    right = sum(bool(found) and one.capture for one, found in told)
    fits = sum(one.capture and one.category in {each.category for each in found} for one, found in told)
    return {
        "messages": len(told),
        "precision": right / max(1, sum(bool(found) for _, found in told)),
        "recall": right / max(1, sum(one.capture for one, _ in told)),
        "category": fits / max(1, right),
    }


def elsewhere(name: str, embed: Embed | None) -> Figures:
    """Return how many ordinary coding prompts in the languages of capture something is captured of."""
    texts = [one.text for one in prompts(name) if one.language in LANGUAGES]
    return {"prompts": len(texts), "captured": sum(bool(captures(text, embed)) for text in texts)}


def attacks(embed: Embed | None) -> Figures:
    """Return of how many injections something is captured, and how many are known for what they are."""
    texts = injections()
    return {
        "texts": len(texts),
        "captured": sum(bool(captures(text, embed)) for text in texts),
        "told": sum(map(is_injection, texts)),
    }


def orders(name: str, embed: Embed | None) -> Figures:
    """Return of how many orders to drop its rules a model would be told again, and of how many others."""
    told = [(one.capture, bool(captures(one.text, embed))) for one in labelled(name)]
    return {
        "orders": sum(not wanted for wanted, _ in told),
        "captured": sum(found and not wanted for wanted, found in told),
        "alike": sum(wanted for wanted, _ in told),
        "alike_captured": sum(found and wanted for wanted, found in told),
    }


def speed(texts: Sequence[str], embed: Embed | None) -> Figures:
    """Return how long a message takes once the patterns are made and the model is loaded."""
    judged = partial(find_facts, embed=embed)
    taken = statistics.median([seconds(lambda: list(map(judged, texts))) for _ in range(ROUNDS)])
    return {"messages": len(texts), "microseconds": 1e6 * taken / len(texts)}


def measured(messages: Sequence[Labelled], other: str, embed: Embed | None) -> Figures:
    """Return every figure, with the vectors of the builtin model or without."""
    return {
        "quality": {
            code: quality([one for one in messages if code in ("all", one.language)], embed)
            for code in ("all", *LANGUAGES)
        },
        "elsewhere": elsewhere(other, embed),
        "attacks": attacks(embed),
        "orders": orders("orders_unseen" if other == "coding_unseen" else "orders_develop", embed),
        "speed": speed([one.text for one in messages], embed),
    }


def table(name: str, figures: Figures) -> str:
    """Write the figures as Markdown."""
    lines = [
        f"{name}:",
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
    told = figures["orders"]
    lines += [
        "",
        f"Coding prompts that something is captured of: {other['captured']} of {other['prompts']}.",
        f"Injections that something is captured of: {attacked['captured']} of {attacked['texts']}; "
        f"known for what they are: {attacked['told']}.",
        f"Orders to drop its rules that something is captured of: {told['captured']} of {told['orders']}; "
        f"ordinary orders that sound alike: {told['alike_captured']} of {told['alike']}.",
        f"{fast['microseconds']:.0f} µs a message, over {fast['messages']} messages.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    """Measure, print the tables, and write the figures if a file was named."""
    options = parser(__doc__)
    options.add_argument("--unseen", action="store_true", help="the messages nobody looked at")
    arguments = options.parse_args()
    files = ("unseen_second",) if arguments.unseen else ("develop", "develop_more", "unseen")
    messages = [one for file in files for one in labelled(file)]
    other = "coding_unseen" if arguments.unseen else "coding_develop"
    figures = {
        "with vectors": measured(messages, other, builtin()),
        "without vectors": measured(messages, other, None),
    }
    shown = "\n".join(table(f"{' + '.join(files)}, {name}", part) for name, part in figures.items())
    finish({"messages": files, **figures}, shown, arguments.json)


if __name__ == "__main__":
    main()
