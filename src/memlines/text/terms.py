"""Find the words of a query, and the terms of a text: folded, stemmed, cut where there are no blanks.

The index stores these terms, and a query is turned into the same ones, so both always agree.
"""

from __future__ import annotations

import re
import string
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import Stemmer

from memlines.text.language import language_of, stemmers, stop_words, unspaced_stop_words

_UNSPACED = (
    "\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\uac00-\ud7af\uf900-\ufaff\U00020000-\U0002fa1f"
)
"""Thai, Hangul, kana and Han: scripts that are cut into pairs of characters."""

RUN = re.compile(f"[{_UNSPACED}]+|[^\\W{_UNSPACED}]+")
"""A run of characters that belong together: one of a script without blanks, or a word."""

COMPOUND = re.compile(f"\\b(?=[^\\W\\d_])[^\\W{_UNSPACED}]++(?:[-\u2010\u2011][^\\W{_UNSPACED}]++)++")
"""A word with hyphens."""

_WHOLE = "_"
"""What the term of several words that are written as one begins with."""

_WORD = re.compile(r"\w+")
_ASCII_RUNS = "".join(chr(code) if RUN.match(chr(code)) else " " for code in range(128))
_UNSPACED_CHARACTER = re.compile(f"[{_UNSPACED}]")
_INNER_HYPHEN = re.compile(r"[-\u2010](?<=\w.)(?=\w)")
_HYPHEN = re.compile("[-\u2010\u2011]")
_BESIDE = re.compile("[- \u2010\u2011]")
"""What is between two words that may as well be written as one."""

_PART = re.compile(r"[A-Z]+(?![a-z])\d*|[A-Z]?[a-z]+\d*|\d+")
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")
_MARKS = bytes([ord(" ") if chr(byte) in {*string.punctuation} - {"_", "-"} else byte for byte in range(256)])
"""Turns punctuation in UTF-8 into blanks, several times faster than it can be done in a `str`."""

_UNSPACED_BYTES = bytes([0xE0, 0xE1, *range(0xE3, 0xF1)])
"""What the characters of scripts without blanks begin with in UTF-8."""

MOST_SEEN = 50_000
_MOST_TEXTS = 4_096
"""What is kept of each language: runs, at about 250 bytes each, and texts that may answer again."""

_COMBINING = "\u0300"
"""The first accent that is a character of its own."""

_LONGEST = 64
"""Longer runs (hashes, encoded data) are kept by their beginning; no one types the rest."""

MOST_KNOWN = 50_000
"""Different words whose terms are remembered, those of all languages together: about 10 MB. Numbers, times,
names and hashes bring new ones without end."""

_own = threading.local()


def terms_of(text: str, language: str) -> list[str]:
    """Return the terms of a text, in their order, with the parts of identifiers after the whole.

    What consists of several words has a term of its own beside theirs, written as one and with a mark before
    it: `_rollback` for `roll-back`, `_invoicerender` for `invoiceRenderer` and `invoice_renderer`. The mark
    keeps apart what can be found by its parts, so that nothing counts twice.
    """
    return join_terms(text, language).split()


def join_terms(text: str, language: str) -> str:
    """Return the terms of a text with blanks between them, as they are indexed."""
    pairs: list[str] = []
    if text.isascii():
        runs = text.translate(_ASCII_RUNS).split()  # much quicker than a pattern
    else:
        text = unicodedata.normalize("NFKC", text)
        if not _UNSPACED_CHARACTER.search(text):
            runs = _WORD.findall(text)
        else:
            # Overlapping pairs, and the last character, so that each character begins a term.
            every = RUN.findall(text)
            unspaced = [run for run in every if is_unspaced(run)]
            pairs = [run[at : at + 2] for run in unspaced for at in range(len(run))]
            runs = [run for run in every if not is_unspaced(run)]
    terms = map(_terms_of_runs(language).__getitem__, runs)
    whole: list[str] = []
    if _INNER_HYPHEN.search(text):  # which is quick to see
        hyphened = " ".join([part for part in text.split() if "-" in part or "\u2010" in part])
        words = [_HYPHEN.sub("", word).casefold() for word in COMPOUND.findall(hyphened)]
        whole = stem_words([_WHOLE + word[:_LONGEST] for word in words], language)
    return " ".join([*terms, *whole, *pairs])


class _TermsOfRuns(dict[str, str]):
    """The terms of words and identifiers in one language, each worked out once: words repeat."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language
        known_terms.append(self)

    def __missing__(self, run: str) -> str:
        is_camel = not (run.islower() or run[1:].islower() or len(run) == 1)
        if run.isascii() and run.isalpha() and not is_camel:
            words = [run.lower()]
        else:
            parts, whole = parts_of(run), run.replace("_", "")[:_LONGEST].casefold()
            words = [_WHOLE + whole if parts else whole, *parts] if whole else []
        terms = " ".join(stem_words(words, self._language))
        if sum(map(len, known_terms)) >= MOST_KNOWN:
            for one in known_terms:
                one.clear()
        self[run] = terms = run if terms == run else terms  # one object is found sooner than two
        return terms


known_terms: list[_TermsOfRuns] = []
"""What is remembered, one for each language."""


@cache
def _terms_of_runs(language: str) -> _TermsOfRuns:
    return _TermsOfRuns(language)


@lru_cache(maxsize=50_000)
def terms_of_run(run: str, language: str) -> tuple[str, ...]:
    """Return the terms of one run of letters; the same words come in every answer, so they are kept."""
    return tuple(join_terms(run, language).split())


class Vocabulary:
    """The runs of characters in texts of a language, by their terms: most texts have the same words.

    Here a run may hold hyphens, and scripts without blanks have none. Only what was never seen is stemmed.
    """

    def __init__(self, language: str) -> None:
        """Begin without words."""
        self.by_term: dict[str, tuple[str, ...]] = {}
        """All runs that were seen."""
        self._language = language
        self.seen: set[str] = set()
        self._texts: dict[str, frozenset[str]] = {}
        self._lock = threading.Lock()

    def runs_of(self, text: str) -> frozenset[str]:
        """Return the runs in a text, all of which were seen then."""
        if text in self._texts:
            return self._texts[text]
        encoded = text.encode(errors="surrogatepass")
        if len(encoded.translate(None, _UNSPACED_BYTES)) < len(encoded):
            # Those of a script without blanks are looked for in the text itself.
            encoded = _UNSPACED_RUN.sub(" ", text).encode(errors="surrogatepass")
        runs = frozenset(encoded.translate(_MARKS).decode(errors="surrogatepass").split())
        terms = _terms_of_runs(self._language)
        new = runs - self.seen
        with self._lock:
            for run in new - self.seen:  # which another thread may have seen meanwhile
                is_one = run.isascii() and run.isalnum()
                for term in {*(terms[run] if is_one else join_terms(run, self._language)).split()}:
                    self.by_term[term] = (*self.by_term.get(term, ()), run)
            self.seen |= new
            if len(self._texts) > _MOST_TEXTS:
                self._texts.clear()
            self._texts[text] = runs
        return runs


def title_of(path: str, heading: str) -> str:
    """Return what is written above a chunk: the name of its file and the headings above it."""
    name = path.rpartition("/")[2].removesuffix(".md")
    return f"{name} {heading}"


def query_terms(word: str, languages: Iterable[str], *, in_parts: bool = True) -> dict[str, list[str]]:
    """Return every term that one word of a query may have in the index, with the languages it is from.

    A chunk holds the stems of its own language, so each term only counts in chunks of its languages. Without
    `in_parts`, that of the word written in several parts is left out.
    """
    found: dict[str, list[str]] = {}
    for first in terms_of_run(word, "")[:1]:
        if is_unspaced(first):  # which has no stem, and no accents either
            return {first: [*languages]}
        plain = first.removeprefix(_WHOLE)
        both = [plain, _WHOLE + plain] if in_parts else [plain]
        for language in languages:
            for term in stem_words(both, language):
                found.setdefault(term, []).append(language)
    return found


def parts_of(identifier: str) -> list[str]:
    """Return the parts of an identifier in lower case; nothing if it has only one.

    `parse_http2Url` has the parts parse, http2 and url. A word with an accent is no identifier.
    """
    if not identifier.isascii():
        return []
    parts = [part.lower() for part in _PART.findall(identifier)]
    return parts[:8] if len(parts) > 1 else []


def is_unspaced(run: str) -> bool:
    """Return whether a run is written in a script without blanks between words."""
    character = run[0]
    return (
        "\u0e00" <= character <= "\u0e7f"
        or "\u1100" <= character <= "\u11ff"
        or "\u3040" <= character <= "\u9fff"
        or "\uac00" <= character <= "\ud7af"
        or "\uf900" <= character <= "\ufaff"
        or character >= "\U00020000"
    )


def fold_words(words: Sequence[str]) -> list[str]:
    """Remove the accents of words, which people leave out when they ask."""
    apart = unicodedata.normalize("NFD", "\n".join(words))
    kept = [one for one in apart if one < _COMBINING or not unicodedata.combining(one)]
    return "".join(kept).split("\n") if words else []


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Fold words, then cut them to their stems; in this order a word matches with and without accents."""
    folded = [*words] if "".join(words).isascii() else fold_words(words)
    if language not in stemmers():
        return folded
    # Each thread has its own, because one object must not be used by two at once; it need not remember words.
    own = _own.__dict__.setdefault("stemmers", {})
    if language not in own:
        own[language] = Stemmer.Stemmer(stemmers()[language], 0)
    stems: list[str] = own[language].stemWords(folded)
    return stems


_WORD = re.compile(r"\w+")
_CLIPPED = re.compile(
    r"(?<=\w)['\u2019](?:s|t|d|m|ll|ve|re)\b|\b(?:d|l|j|m|t|s|n|c|qu)['\u2019](?=\w)", re.IGNORECASE
)
"""What is left of a small word beside an apostrophe: what's, isn't, d'accord, qu'il."""


def words_of(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores of a text, as they are written."""
    return _WORD.findall(text)


def telling_words(text: str) -> list[str]:
    """Return the distinct words of a query in lower case, without those that say nothing.

    Only the small words of the query's own language count as such: Ben is a name in English and
    a verb in Dutch. A query made of nothing else keeps them: "to be or not to be" is a question
    too. Where a script has no blanks between words, pairs of characters replace them.
    """
    every, telling = split_words(text)
    return telling or every


def joined_words(text: str) -> dict[str, list[str]]:
    """Return for the words of a query what they are as one word with the one beside them.

    `roll back` may be `rollback` in a note. Only the last may be a small word, as in `set up`: what begins
    with one is seldom meant.
    """
    small = stop_words(language_of(text))
    joined: dict[str, list[str]] = {}
    for first, second in pairwise(RUN.finditer(text)):
        one, other = first[0].lower(), second[0].lower()
        if (
            one.isalpha()
            and other.isalnum()
            and not is_unspaced(one)
            and not is_unspaced(other)
            and one not in small
            and _BESIDE.fullmatch(text, first.end(), second.start())
        ):
            for word in (one, other):
                joined.setdefault(word, []).append(one + other)
    return joined


def is_small_talk(text: str) -> bool:
    """Return whether a query has words, and all of them are small ones that say nothing."""
    every, telling = split_words(text)
    return bool(every) and not telling


def split_words(text: str) -> tuple[list[str], list[str]]:
    """Return the distinct words of a query, and those of them that say something."""
    words: list[str] = []
    for run in RUN.findall(_CLIPPED.sub(" ", text)) or RUN.findall(text):
        if is_unspaced(run) and len(run) > 2:
            words += [run[at : at + 2] for at in range(len(run) - 1)]
        elif run.strip("_"):
            words.append(run.lower())
    every = list(dict.fromkeys(words))
    small = stop_words(language_of(text)) | unspaced_stop_words()
    return every, [word for word in every if word not in small]
