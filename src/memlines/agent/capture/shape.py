"""Tell what nobody says: pastes, markup, mails of others, lists made by models, floods of emoji."""

from __future__ import annotations

import re

SHORTEST = 10
MOST_EMOJI = 3

_EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\u2b50\u2b55\u231a-\u23ff]")
_MARKUP = re.compile(
    r"<!--|</\w|<\w+(?:\s[^<>]*)?/?>|<\||&lt;\w|\[/?(?:system|inst|user|assistant)\]", re.IGNORECASE
)
_BOLD = re.compile(r"\*\*[^*\n]+\*\*|__[^_\n]+__")
_BULLET = re.compile(r"^[^\S\n]*(?:[-+*•]|\d{1,3}[.)])\s", re.MULTILINE)
_MAIL = re.compile(
    r"^[^\S\n]*>?[^\S\n]*(?:subject|betreff|onderwerp|objet|asunto|predmet|předmět|re|fwd|fw|aw|wg|tr)\s?: ",
    re.MULTILINE | re.IGNORECASE,
)
_LETTER = re.compile(
    r"^[^\S\n]*(?:dear\s|sehr geehrte|liebe (?:eltern|nachbarn|kolleg|mitglieder|gäste|kund|mieter)|geachte"
    r"|beste (?:ouders|buren|collega|leden|klant|bewoners)|ch(?:ers?|ères?)\s|mesdames|estimad[oa]s?\s"
    r"|vážen[íáýé])"
    r"|\b(?:mit freundlichen grüßen|met vriendelijke groet|(?:kind|best) regards"
    r"|yours (?:sincerely|faithfully)|bien cordialement|cordialement,|salutations distinguées"
    r"|un (?:cordial )?saludo,|atentamente|s pozdravem)",
    re.IGNORECASE | re.MULTILINE,
)
"""How letters begin and end, which users hand over to have something done with them."""
_FROM_MEMORY = re.compile(r"\.md#L\d|\.jsonl?#L\d|\[session |\[redacted:[^\]]*\]|\[forgotten\]")
_CODE = re.compile(
    r"^\s*[\w.-]+\s?[:=]\s?\S*$"  # a setting
    r"|^\s*\w{3} \d{1,2} \d\d:\d\d:\d\d|^\s*npm ERR!"  # a log
    r"|\w\(\w*\)|[;{}]\s*$|=>|->|==|\w_\w++\s?[:=]|^\s*(?:#|//|\$ )"
)


def is_no_speech(text: str, max_chars: int) -> bool:
    """Tell whether nothing of a message can be taken for what its writer says."""
    words = text.strip()
    return (
        not SHORTEST <= len(words) <= max_chars
        or len(_EMOJI.findall(words)) > MOST_EMOJI
        or _MARKUP.search(words) is not None
        or _MAIL.search(words) is not None
        or _LETTER.search(words) is not None
        or (_BOLD.search(words) is not None and _BULLET.search(words) is not None)
    )


def is_no_sentence(text: str) -> bool:
    """Tell whether a sentence is code, a setting, or taken from the memory."""
    return (
        len(text.strip()) < SHORTEST
        or _CODE.search(text) is not None
        or _FROM_MEMORY.search(text) is not None
    )
