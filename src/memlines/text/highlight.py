"""Find the words of a hit in its lines, for all that shows a hit to a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from memlines.text.language import language_of
from memlines.text.terms import RUN, is_unspaced, query_terms, terms_of_run

Span = tuple[int, int]
"""Where a part of a text begins and ends."""


def make_word_finder(snippet: str, words: Sequence[str]) -> Callable[[str], list[Span]]:
    """Return a function that finds words in a line of a snippet, in any form."""
    language = language_of(snippet)
    wide = [word for word in words if is_unspaced(word)]
    # A snippet may be too short to show its language: then words are only found as they are written.
    tables = [
        (spoken, {term for word in words for term in query_terms(word, (spoken,))})
        for spoken in ("", language)
    ]

    def spans_in(line: str) -> list[Span]:
        spans: list[Span] = []
        for run in RUN.finditer(line):
            if not is_unspaced(run[0]):
                found = any(not terms.isdisjoint(terms_of_run(run[0], spoken)) for spoken, terms in tables)
                spans += [run.span()] if found else []
            elif wide:
                any_of = "|".join(map(re.escape, wide))
                spans += [match.span() for match in re.compile(any_of).finditer(line, *run.span())]
        return spans

    return spans_in
