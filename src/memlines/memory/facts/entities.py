"""Who is who by the facts themselves: "Henk is my father" has "my father" and "Henk" mean the same.

The statements of facts are read as they are to find contradictions (`statements`), so a name is known in
every language whose statements are understood, and "my boss" is "my manager".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import pairwise, takewhile

from memlines.memory.facts.lexicon import languages, lexicon_of
from memlines.memory.facts.statements import VERBS, Item, languages_of, statements_of
from memlines.records import dataclass
from memlines.text.aliases import NO_EXPANSION, Expansion
from memlines.text.facts import Fact, FactLine
from memlines.text.language import stop_words
from memlines.text.terms import telling_words, words_of

_NAME, _WHAT = "(?P<name>N{1,3})", "[wSRkN#]{1,3}"
_OWN = "[mo]|i\u2032|N{1,2}\u2032"
_NAMED = tuple(
    re.compile(rule)
    for rule in (
        rf"{_NAME}b(?P<what>(?:{_OWN})?{_WHAT}(?:\u2032{_WHAT})?)(?P<more>[^{VERBS}\u2032].*)?",
        rf"(?P<what>(?:{_OWN}){_WHAT}?)\u2032Sb{_NAME}",
        rf"(?P<what>(?:{_OWN}){_WHAT})(?:bC?|C){_NAME}(?:[^{VERBS}\u2032].*)?",
        rf"(?P<what>(?:{_OWN})[wSRkN]{{1,2}}?){_NAME}[{VERBS}w].*",
    )
)
"""How a statement names a person or a thing: "Henk is my father" and "the user's father", where more may
follow ("of the mobile app"); "my father's name is Henk"; "my father is called Henk"; "my father Henk lives".
"""

_OWNER = frozenset("moi\u2032")

_FIRST_PART = re.compile(r"[^,;:(]+")

_MOST_READ = 1_000
"""Facts that are read for names, the latest: each takes a fraction of a millisecond the first time."""

_STEPS = 2
"""How often names are looked for: "my wife's sister" is that of Yasmin, if Yasmin is my wife."""


@dataclass(frozen=True, slots=True)
class Entity:
    """A person or thing that has a name and a description."""

    name: tuple[str, ...]
    """The words of the name, as they are written."""
    said: tuple[str, ...]
    """The words of the description, as they are written."""
    what: frozenset[str]
    """What these are the same as other words by; "boss" and "manager" are the same."""
    head: str
    """What is enough to say of a relative or a single word: "sister" of "my younger sister". It is empty if
    one word says too little: a blood type is not the type."""
    names: tuple[str, ...]
    """The same of the words of the name."""
    of: frozenset[str]
    """What it is of, if the fact says so: finance, of "head of finance"."""


@dataclass(frozen=True, slots=True)
class Meant:
    """What a query means by the names and descriptions in it."""

    expansion: Expansion = NO_EXPANSION
    lines: tuple[FactLine, ...] = ()
    """The facts that say who is who."""
    words: frozenset[str] = frozenset()
    """The words of the query that are names and descriptions, and those that count as them."""


def find_meant(query: str, lines: Sequence[FactLine]) -> Meant:
    """Return whom and what a query speaks of, by the facts that still hold."""
    known = _known_by(lines)
    if not known:
        return Meant()
    language = languages_of(query)[0]
    items = [item for one in statements_of(query, language) for item in one.items]
    said = {item.what: item.word for item in items if item.what}
    written = {item.word.casefold() for item in items}
    definite = _definite_words(query, language)
    followed = {item.what for item, following in pairwise(items) if following.tag in "gf"}
    meant: dict[Entity, Sequence[str]] = {}
    for _ in range(_STEPS):
        full = [entity for _, entity in known if entity.what <= said.keys()]
        heads = {what for entity in full for what in entity.what}
        for _, entity in known:
            is_full = entity in full
            # "My sister" is the younger one, if no other sister is spoken of.
            whats = entity.what if is_full else {entity.head} & said.keys() - heads - followed
            mention = [said[what] for what in whats if what not in entity.names]
            if len(mention) == 1 and mention[0].casefold() not in definite:
                continue  # a package manager is not the manager
            if followed.isdisjoint(entity.what) or entity.of <= said.keys():  # the head of what
                meant |= {entity: mention} if mention else {}
        said |= {what: word for entity in meant for what, word in zip(entity.names, entity.name, strict=True)}
    found = Meant()
    for line, entity in known:
        if entity in meant:
            found = _add(found, line, meant[entity], entity.said, entity.name, adds=True)
        elif len(entity.said) == 1 and not written.isdisjoint(map(str.casefold, entity.name)):
            # Most facts have the name as well, so the text stays as it is.
            found = _add(found, line, entity.name, entity.name, entity.said, adds=False)
    return found


def _add(
    meant: Meant,
    line: FactLine,
    mention: Sequence[str],
    shown: Sequence[str],
    others: Sequence[str],
    *,
    adds: bool,
) -> Meant:
    """Add to what a query means that some of its words are other ones, by a fact."""
    words, new = telling_words(" ".join(mention)), [word.casefold() for word in others]
    expansion = Expansion(
        (" ".join(others),) if adds else (),
        {word: tuple(new) for word in words},
        frozenset(new).difference(words),
        {" ".join(shown): " ".join(others)},
    )
    return Meant(meant.expansion | expansion, (*meant.lines, line), meant.words.union(words, new))


def _definite_words(query: str, language: str) -> frozenset[str]:
    """Return the words of a query that follow "my", "our" or "the", in lower case."""
    lexicon = lexicon_of(language)
    words = [word.casefold() for word in words_of(query)]
    return frozenset(
        word for before, word in pairwise(words) if lexicon.get(before, ("",))[0] in ("m", "o", "the")
    )


_last: tuple[Sequence[FactLine], list[tuple[FactLine, Entity]]] = ((), [])


def _known_by(lines: Sequence[FactLine]) -> list[tuple[FactLine, Entity]]:
    """Return the persons and things that facts name, without those whose description fits others too."""
    global _last  # of the last note, which is the same for most questions
    if _last[0] is not lines:
        _last = (lines, _read_names(lines))
    return _last[1]


def _read_names(lines: Sequence[FactLine]) -> list[tuple[FactLine, Entity]]:
    naming = [line for line in lines if line.fact.is_current and _may_name(line.fact)]
    known = [(line, entity) for line in naming[-_MOST_READ:] for entity in entities_in(line.fact.text)]
    names: dict[frozenset[str], set[tuple[str, ...]]] = {}
    for _, entity in known:
        names.setdefault(entity.what, set()).add(entity.name)
    # Of two contacts one may be meant, but of my two sisters both may be.
    return [(line, entity) for line, entity in known if entity.head or len(names[entity.what]) == 1]


def names_in(text: str) -> frozenset[str]:
    """Return the names in a fact, in lower case."""
    statements = statements_of(text, languages_of(text)[0])
    return frozenset(item.word.casefold() for one in statements for item in one.items if item.tag == "N")


def _may_name(fact: Fact) -> bool:
    """Return whether a fact is worth reading: it says "my", or is "Coral is …"."""
    words = fact.text.casefold().split()
    return not (_words_for("moi").isdisjoint(words) and _words_for("bC").isdisjoint(words[1:4]))


@cache
def _words_for(tags: str) -> frozenset[str]:
    """Return the words of all languages that have one of some tags."""
    return frozenset(
        word
        for language in languages()
        for phrase, known in lexicon_of(language).items()
        if known[0] in tags
        for word in (phrase, f"{phrase}'s")
    )


@lru_cache(maxsize=4_096)
def entities_in(text: str) -> tuple[Entity, ...]:
    """Return the persons and things that a fact names."""
    part = _FIRST_PART.match(text)
    language = languages_of(text)[0]
    found = []
    for statement in statements_of(part[0], language) if part else ():
        matches = (rule.fullmatch(statement.tags) for rule in _NAMED)
        match = next(filter(None, matches), None)
        if match is None or statement.negative or statement.doubtful:
            continue
        name, what = (statement.items[slice(*match.span(key))] for key in ("name", "what"))
        more = statement.items[match.start("more") :] if match.groupdict().get("more") else ()
        entity = _entity(name, what, more, stop_words(language))
        if entity is not None:
            found.append(entity)
    return tuple(found)


def _entity(
    name: Sequence[Item], what: Sequence[Item], more: Sequence[Item], small: frozenset[str]
) -> Entity | None:
    """Return an entity by its name and description, unless that says too little to be recognised by."""

    def telling(items: Iterable[Item]) -> list[Item]:
        return [*takewhile(lambda item: item.word.casefold() not in small, items)]

    described = telling(item for item in what if item.tag not in _OWNER)
    if not described or len(name[-1].word) == 1:
        return None
    is_own, last = what[0].tag in _OWNER, described[-1]
    of = telling(more[1:]) if more and more[0].tag == "g" else []
    if len(described) == 1 and not (is_own or of or last.tag == "R"):
        return None  # "Anna is tired"
    is_others = any(item.tag == "\u2032" for item in what[2:]) or what[0].tag == "N"
    return Entity(
        tuple(item.word for item in name),
        tuple(item.word for item in described),
        frozenset(item.what for item in described),
        last.what if is_own and not is_others and (last.tag == "k" or len(described) == 1) else "",
        tuple(item.what for item in name),
        frozenset(item.what for item in of if item.tag in "wNS#"),
    )
