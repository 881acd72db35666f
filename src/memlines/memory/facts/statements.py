"""What a fact states: a string of tags with the words behind them, which is alike in all languages."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from memlines.memory.facts.lexicon import languages, lexicon_of, longest_phrases, small_words
from memlines.records import dataclass
from memlines.text.language import stemmers
from memlines.text.terms import terms_of_run

VERBS = "bhLWUPKHMJQCEXBVYdTG"
"""The tags of verbs."""

_LONGEST = 400
_MOST_WORDS = 40

_SENTENCE = re.compile(r"(?<=[^\d\s][.!?\u2026])\s+(?=\S)|\s*;\s+|\s*\n\s*")
_OPENING = "\"'`*_([{<\u2018\u201c\u201e\u00ab\u00bf\u00a1"
_CLOSING = "\"'`*_)]}>\u2019\u201d\u201c\u00bb.,;:!\u2026"
_NUMBER = re.compile(r"[+(]?\d[\d.,:/()-]*(?:am|pm|h|%|st|nd|rd|th)?")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}|\d{1,2}[./-]\d{1,2}[./-](?:\d{4}|\d{2})?")
_PLAIN = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_ENGLISH = (
    (re.compile(r"\bcan[\u2019']t\b", re.IGNORECASE), "can not"),
    (re.compile(r"\bwon[\u2019']t\b", re.IGNORECASE), "will not"),
    (re.compile(r"(?<=\w)n[\u2019']t\b"), " not"),
    (re.compile(r"(?<=\bit)[\u2019']s\b", re.IGNORECASE), " is"),
    (re.compile(r"(?<=\w)[\u2019']m\b"), " am"),
    (re.compile(r"(?<=\w)[\u2019']re\b"), " are"),
    (re.compile(r"(?<=\w)[\u2019']ve\b"), " have"),
    (re.compile(r"(?<=\w)[\u2019']s\b"), " \u2032"),
)
_NOT_THAT = re.compile(r",\s+(?:not|niet|nicht|pas|no|ne)\s+(?=[^\W\d_]+[.!]*$)")
"""What a last word follows that is ruled out: "I live in Madrid, not Berlin"."""
_AMERICAN = {"our": "or", "tre": "ter", "ise": "ize", "isa": "iza", "isi": "izi", "grey": "gray"}
_BRITISH = re.compile(r"(?<=[^\W\d_]{3})(?:our|tre\b|is[aei])|\bgrey\b")
_CZECH_CASE = re.compile("[aeiouyáéíóúýěů]+$")
"""The end of a word that its case changes; only whether there is one distinguishes "Martin" and "Martina"."""
_OWNERS = "\u2032"
_RULED_OUT = "\u2260"
_COLON = "\u2236"
_SECOND_VERB = re.compile(rf"[iu]?[{VERBS}]|[nlt@][N#]+[{VERBS}]")
_CZECH_LETTERS = frozenset("ěřůčďťň")
_DENIED = re.compile(
    r"ne(?!j(?!í|d[eu]|ezd)|bo|ž|ch|m[eě]c|d[eě]l|dáv|moc|hod|pál|vlast|tt|tw|tf|o(?!d)|ut|ur|w|x).{3}"
)
"""The beginning of a denied Czech verb; other words begin with these letters, too."""

_NAMES = frozenset("NRkmowp")
"""Tags of words that say who or what."""

_CAPITALISED = frozenset("iDSRFk0")
"""Tags of words that may be capitalised within a sentence and mean what they mean."""


class Item(NamedTuple):
    """A word of a statement: its tag, what it is the same as another word by, and as it is written."""

    tag: str
    what: str
    word: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One sentence: its words without those that only say how it is meant, and how it is meant."""

    items: tuple[Item, ...]
    tags: str
    marks: frozenset[tuple[str, str]]
    """The words that say how it is meant, with their tags."""
    negative: bool = False
    change: bool = False
    """Whether it says that something is so now, or no longer."""
    also: bool = False
    doubtful: bool = False
    """Whether it speaks of the past, of a wish, of a condition, or asks."""


@lru_cache(maxsize=4_096)
def statements_of(text: str, language: str) -> tuple[Statement, ...]:
    """Return what the sentences of a text state; nothing for one that is too long to be understood."""
    if len(text) > _LONGEST:
        return ()
    composed = unicodedata.normalize("NFC", text).strip()
    sentences = (sentence for sentence in _SENTENCE.split(composed) if sentence.strip())
    return tuple(statement for sentence in sentences for statement in _statements(sentence, language))


def read_together(new: str, old: str) -> tuple[tuple[Statement, ...], tuple[Statement, ...]]:
    """Return what two texts state, read in one language if both may be in it: short texts hardly show it."""
    ours, theirs = languages_of(new), languages_of(old)
    shared = next((language for language in ours if language in theirs), "")
    return statements_of(new, shared or ours[0]), statements_of(old, shared or theirs[0])


@lru_cache(maxsize=4_096)
def languages_of(text: str) -> tuple[str, ...]:
    """Return the languages that a text is most likely in; most texts have one."""
    composed = unicodedata.normalize("NFC", text[:_LONGEST])
    if not _CZECH_LETTERS.isdisjoint(composed.casefold()):
        return ("cs",)
    known = {}
    for language in languages():  # words of phrases and small ones count more
        tokens = _tokens(composed, language)[:_MOST_WORDS]
        small = small_words(language)
        known[language] = sum(token.casefold() in small for token in tokens) + sum(
            2 * size for _, size, tags in _phrases(tokens, language) if tags
        )
    most = max(known.values())
    return tuple(language for language in known if known[language] == most)


def _tokens(sentence: str, language: str) -> list[str]:
    if language == "en":
        for pattern, plain in _ENGLISH:
            sentence = pattern.sub(plain, sentence)
    elif language == "fr":
        sentence = re.sub(r"(?<=\w)[\u2019'](?=\w)", " ", sentence)
    else:
        sentence = re.sub(r"(?<=\w)[\u2019']s?\b", f" {_OWNERS} ", sentence)
    sentence = _NOT_THAT.sub(f" {_RULED_OUT} ", sentence)
    sentence = re.sub(r"(?<=\w):\s", f" {_COLON} ", sentence)
    tokens = (token.lstrip(_OPENING).rstrip(_CLOSING) for token in sentence.split())
    found = [token for token in tokens if token.strip("-\u2013\u2014")]
    folded = [token.casefold() for token in found]
    # "now" goes before a phrase that it is in the middle of: "läuft jetzt auf".
    for at in range(len(found) - 2):
        word, following, *rest = folded[at:]
        is_whole = _longest_phrase(folded, at, word, language)[0] > 1
        if is_whole or lexicon_of(language).get(following) != ("now",):
            continue
        if _longest_phrase([word, *rest], 0, word, language)[0] > 1:
            found[at : at + 2] = found[at + 1], found[at]
            folded[at : at + 2] = following, word
    return found


def _statements(sentence: str, language: str) -> Iterator[Statement]:
    tokens = _tokens(sentence.removesuffix("?"), language)[: _MOST_WORDS + 1]
    read = [_apart(clause) for clause in _clauses(list(_tagged(tokens, language)))]
    if "?" in sentence or len(tokens) > _MOST_WORDS:
        read[0][1].add(("doubt", ""))
    for items, marks in read:  # "was moved" says what is now, "was blue" what is no longer
        tags = {item.tag for item in items}
        if "q" in tags and tags.isdisjoint("MEXT"):
            marks.add(("doubt", "q"))
    shared = {mark for _, marks in read for mark in marks if mark[0] in ("doubt", "also")}
    for items, marks in read:
        yield _statement(items, marks | shared)


def _statement(items: list[Item], marks: set[tuple[str, str]]) -> Statement:
    items = _with_subject_first(_with_colon([item for item in items if item.tag != "q"]))
    if items and items[-1].tag == "I":  # the rest of "findet … statt"
        items = items[:-1]
    for at, (item, following) in enumerate(pairwise(items)):
        if item.tag == "Y" and following.tag in "bhMXd":  # "deploy" is a noun before another verb
            items[at] = item._replace(tag="w")
    tags = "".join(item.tag for item in items)
    kinds = {kind for kind, _ in marks}
    return Statement(
        tuple(items),
        tags,
        frozenset(marks),
        negative=not kinds.isdisjoint(("not", "gone")),
        change=not (kinds.isdisjoint(("now", "gone", "ever", "since")) and set("MJET").isdisjoint(tags)),
        also="also" in kinds,
        doubtful="doubt" in kinds,
    )


def _clauses(every: list[Item]) -> list[list[Item]]:
    """Cut a sentence where "and" joins a second verb to its subject: "I left Acme and joined Globex"."""
    verbs = [at for at, item in enumerate(every) if item.tag in VERBS or item.tag == "gone"]
    first = verbs[0] if verbs else len(every)
    subject = [item for item in every[:first] if len(item.tag) == 1]
    cuts = []
    for at, item in enumerate(every):
        if at > first and item[:2] == ("&", "&"):
            following = "".join(one.tag for one in every[at + 1 :] if len(one.tag) == 1)
            cuts += [at] if _SECOND_VERB.match(following) else []
    if not cuts:
        return [every]
    tags = {item.tag for item in every[: cuts[0]]}
    if "not" in tags or ("gone" in tags and not tags.isdisjoint(VERBS)):
        return [every]  # what follows may be denied as well: "I no longer smoke and drink"
    if not subject and every[first].tag not in "JQ" and every[first + 1].tag in _NAMES:
        return [every]  # who it is of may be said after the verb
    clauses = [every[: cuts[0]]]
    for cut, end in zip(cuts, [*cuts[1:], len(every)], strict=True):
        clause = every[cut + 1 : end]
        said = next(item.tag for item in clause if len(item.tag) == 1)
        clauses.append(clause if said in "iu" else [*subject, *clause])
    return clauses


def _apart(every: list[Item]) -> tuple[list[Item], set[tuple[str, str]]]:
    """Return the words that say something, and those that say how it is meant."""
    denied = any(item.tag == "not" for item in every)
    items: list[Item] = []
    marks: set[tuple[str, str]] = set()
    since = False
    for at, item in enumerate(every):
        is_time = item.tag in ("D", "0")
        if item.tag == "since" and not (at + 1 < len(every) and every[at + 1].tag in ("D", "0")):
            items.append(item._replace(tag="r"))
        elif item.tag == "ever" and not denied:
            items.append(item._replace(tag="w"))
        elif since and is_time:
            marks.add(("since", item.what))
        elif len(item.tag) == 1:
            items.append(item)
        else:
            marks.add((item.tag, "" if item.tag in ("not", "ever") else item.what))
        since = item.tag == "since" or (since and is_time)
    return items, marks


def _tagged(tokens: list[str], language: str) -> Iterator[Item]:
    for at, size, tags in _phrases(tokens, language):
        denied = tags[:1] == ("denied",)
        word = tokens[at][2:] if denied else tokens[at]
        if denied:
            yield Item("not", "", "")
        known = tags[1:] if denied else tags
        phrase = " ".join([word, *tokens[at + 1 : at + size]]).casefold()
        yield from (_known(tag, word, phrase) for tag in known if tag != "the")
        if not known:
            yield _unknown(word, language)


def _phrases(tokens: list[str], language: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Cut a sentence into the longest phrases that are known: where each begins, its size, and its tags."""
    folded = [token.casefold() for token in tokens]
    at = 0
    while at < len(tokens):
        size, tags = _longest_phrase(folded, at, folded[at], language)
        if at and tags and tokens[at][0].isupper() and tags[0][0] not in _CAPITALISED:
            size, tags = 1, ()  # the "New" of "New York"
        elif not tags and language == "cs" and _DENIED.match(folded[at]):
            size, tags = _longest_phrase(folded, at, folded[at][2:], language)
            tags = ("denied", *tags)
        yield at, size, tags
        at += size


def _longest_phrase(folded: list[str], at: int, word: str, language: str) -> tuple[int, tuple[str, ...]]:
    """Return the size and the tags of the longest known phrase that begins with a word at a place."""
    lexicon = lexicon_of(language)
    most = min(longest_phrases(language).get(word, 0), len(folded) - at)
    for size in range(most, 1, -1):
        tags = lexicon.get(" ".join((word, *folded[at + 1 : at + size])))
        if tags is not None:
            return size, tags
    return 1, lexicon.get(word, ())


def _known(tag: str, word: str, phrase: str) -> Item:
    """Return what a known phrase is; a tag with a star has it mean nothing but itself."""
    kind, _, which = tag.rstrip("*").partition(":")
    if tag.endswith("*"):
        return Item(kind, f"{tag[:-1]} {phrase}", word)
    if len(kind) > 1:
        return Item(kind, phrase, word)
    same = which if kind == "0" else "me" if kind in "im" else "us" if kind in "uo" else tag
    return Item(kind, same, word)


def _unknown(token: str, language: str) -> Item:
    if token in (_OWNERS, _COLON):
        return Item(token, "", token)
    if token == _RULED_OUT:
        return Item("I", "I", token)
    if _DAY.fullmatch(token):
        return Item("D", token, token)
    if _NUMBER.fullmatch(token):
        return Item("0", _number(token), token)
    if not _PLAIN.fullmatch(token):
        return Item("#", token.casefold(), token)
    return Item("N" if token[0].isupper() else "w", _stem(token.casefold(), language), token)


def _number(token: str) -> str:
    """Return a number as all ways to write it have it: 5,000 is 5000, 10:00 is 10, and 5th is 5."""
    plain = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", token.strip("()").rstrip(".,"))
    return re.sub(r"(?<=\d)(?::00|am|h|st|nd|rd|th)$", "", plain)


def _stem(word: str, language: str) -> str:
    if language == "en":
        word = _BRITISH.sub(lambda found: _AMERICAN[found[0]], word)
    if language == "cs" and len(word) > 4:
        return _CZECH_CASE.sub("*", word)
    if language in stemmers():
        return "-".join(term for part in word.split("-") for term in terms_of_run(part, language)[:1])
    return word


def _with_colon(items: list[Item]) -> list[Item]:
    """Take a colon for "is", if nothing else is a verb: "Editor: Vim" is a statement, "Note: …" is not."""
    has_verb = any(item.tag in VERBS for item in items)
    if not has_verb and sum(item.tag == _COLON for item in items) == 1:
        return [Item("b", "b", item.word) if item.tag == _COLON else item for item in items]
    first = next((at + 1 for at, item in enumerate(items) if item.tag == _COLON), 0)
    return [item for item in items[first if first < 3 else 0 :] if item.tag != _COLON]


def _with_subject_first(items: list[Item]) -> list[Item]:
    """Put "I" and "we" before their verb, where Dutch and German put them after it, and only once."""
    at = next((at for at, item in enumerate(items) if item.tag in "iu"), 0)
    if (at and items[at - 1].tag in VERBS) or (at == 1 and items[0].tag == "w"):
        items = [*items[: at - 1], items[at], items[at - 1], *items[at + 1 :]]
    return [
        item
        for at, item in enumerate(items)
        if not (at and item.tag in "iu" and item.tag == items[at - 1].tag)
    ]
