"""Split a message into the sentences that its writer says, ready to be matched with word classes.

Code, quotations, lines of logs and what clients add are left out: no one says them. What is in quotation
marks or backticks within a sentence stays, but cannot be matched. Two words in lower case are a sentence as
well: "remember this".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from memlines.paths import languages_with
from memlines.records import dataclass
from memlines.text.language import section
from memlines.text.neutral import without_quotes
from memlines.text.outline import closes
from memlines.text.patterns import fold

READ = 64_000
"""Characters of a message that are read."""
FIRST, LAST = 3_000, 1_000
"""Characters of speech that are kept at both ends: people say what they want around what they paste."""
MOST_SENTENCES = 80
LONGEST_SENTENCE = 500

HIDDEN = "\x00"
"""Replaces every character that cannot be matched."""

_FENCE = re.compile(r"(`{3,}|~{3,})")
_ITEM = re.compile(r"(?:[-+*•]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?")
_NOT_SAID = re.compile(
    r"[>|#{}<$%]|(?:Traceback|diff --git|commit [0-9a-f]{7,}|Author:|\+\+\+|---|@@)"
    r"|[+-](?=[\w#/])"  # a line of a diff, which has no blank behind its sign
    r"|\[?\d{4}-\d\d-\d\d|\[?\d\d?:\d\d(?!\w)|\[?(?:INFO|DEBUG|WARN(?:ING)?|ERROR|FATAL|TRACE)\b"
    r"|(?:at|File) [\"'\w./$<]+[(:\"]"
    r"|(?:feat|fix|chore|docs|refactor|test|style|perf|ci|build|revert)(?:\([\w./-]*\))?!?: "
    r"|(?://|/\*|\*/|--|;;) ?"
    r"|(?:import|from|def|class|return|const|let|var|function|public|private|static|func|fn)[ \t].*[({;=]"
)
_SIGNS = re.compile(r"[{}();=<>|\\$^~\[\]]")
_SIGNS_SHARE = 12
"""A line with more signs of code than one in this many characters is code."""

_QUOTES = ('""', "“”", "„“”", "«»", "»«", "‘’", "‚‘’", "``", "''")  # noqa: RUF001
"""Each opening sign of a quotation, and the signs that may close it."""
_QUOTED = re.compile(
    rf"(?<![^\W_])(?:{'|'.join(f'{signs[0]}.{{0,398}}?[{signs[1:]}]' for signs in _QUOTES)})(?![^\W_])"
)
_ENDS = re.compile(r"(?<=[.!?…])[\"'”’»)*_]*\s+|(?<=[。！？])")  # noqa: RUF001
_DAY = re.compile(r"(?:^|\s)\d{1,2}\.$")
_ENDED = tuple(".!?:;…")
_LONGEST_SHORT_FORM = 10
_WRAPPED_AT = 50
"""A line that is shorter than this was not broken by a program."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as it was written, and as it is matched: small letters without accents, as long."""

    shown: str
    low: str

    @property
    def asks(self) -> bool:
        """Whether it ends like a question, or begins like a Spanish one."""
        return self.low.rstrip("\"')» ").endswith("?") or "¿" in self.low


def sentences(text: str) -> list[Sentence]:
    """Return the sentences that the writer of a message says, as far as they are looked at."""
    said = "\n".join(_lines(without_quotes(text[:READ])))
    if len(said) > FIRST + LAST:
        said = f"{said[:FIRST]}\n\n{said[-LAST:]}"
    found = [sentence for paragraph in _paragraphs(said) for sentence in _cut(paragraph)]
    if len(found) > MOST_SENTENCES:
        return [*found[: MOST_SENTENCES // 2], *found[-MOST_SENTENCES // 2 :]]
    return found


def _lines(text: str) -> Iterator[str]:
    """Yield the lines that may be speech, and an empty one where something was left out."""
    fence = ""
    for line in unicodedata.normalize("NFC", text).splitlines():
        words = line.strip()
        mark = _FENCE.match(words)
        if fence:
            fence = "" if closes(words, fence) else fence
        elif mark:
            fence = mark[1]
        elif not _is_code(line, words):
            yield line
            continue
        yield ""


def _is_code(line: str, words: str) -> bool:
    if line.startswith(("    ", "\t")) and not _ITEM.match(words):
        return True
    return bool(_NOT_SAID.match(words)) or len(_SIGNS.findall(words)) * _SIGNS_SHARE > max(len(words), 24)


def _paragraphs(said: str) -> Iterator[str]:
    """Yield what belongs together, each on one line: a line, with the next ones if it was only wrapped."""
    run = ""
    for line in said.split("\n"):
        words = " ".join(line.split())
        item = _ITEM.match(words)
        goes_on = len(run) >= _WRAPPED_AT and not run.endswith(_ENDED) and words[:1].islower() and not item
        if not goes_on and run:
            yield run
            run = ""
        run = f"{run} {words}".strip() if goes_on else words[item.end() :] if item else words
    if run:
        yield run


def borders(low: str) -> Iterator[tuple[int, int]]:
    """Yield where a sentence of a folded text ends, and where the next one begins.

    Neither a short form ("e.g.") nor the day of a date ("3. Mai") ends a sentence.
    """
    for found in _ENDS.finditer(low):
        start, end = found.span()
        near = max(0, start - _LONGEST_SHORT_FORM)
        short_forms, behind_ordinals = _not_ends()
        if short_forms.search(low, near, start):
            continue
        if not (_DAY.search(low, near, start) and behind_ordinals.match(low, end)):
            yield start, end


@cache
def _not_ends() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return what makes a full stop end no sentence: a short form before it, a month behind the day."""

    def listed(key: str) -> str:
        words = [
            word for code in languages_with("words") for word in section(code, "words").get(key, "").split()
        ]
        return "|".join([re.escape(word).replace(r"\.", r"\.\s?") for word in words])  # "z. B." is a form too

    return (
        re.compile(rf"(?:^|[\s(])(?:[^\W\d]|{listed('abbreviations')})\.$"),
        re.compile(rf"{listed('behind_ordinals')}|\d"),
    )


def _cut(paragraph: str) -> Iterator[Sentence]:
    low = fold(_QUOTED.sub(lambda quoted: HIDDEN * len(quoted[0]), paragraph))
    start = 0
    for border in [*borders(low), (len(low), len(low))]:
        for at in range(start, border[0], LONGEST_SENTENCE):
            part = slice(at, min(at + LONGEST_SENTENCE, border[0]))
            if any(character.isalpha() for character in low[part]):
                yield Sentence(paragraph[part], low[part])
        start = border[1]
