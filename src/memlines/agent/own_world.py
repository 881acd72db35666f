"""Whether a message is about the user's own world, which facts are about, or about the world at large.

"Where do we keep our secrets?" and "Who painted the Night Watch?" may be as near to some fact as each other;
what tells them apart is how they are said. Each sign below is a class of small words that every language has,
in English, Dutch, German, French, Spanish and Czech, so that nobody's style had to be learned.
"""

from __future__ import annotations

import re

_READ = 2_000
"""Characters of a message that are looked at."""


def _sign(*parts: str, opening: bool = False) -> re.Pattern[str]:
    where = r"(?:^|[.!?:;,\n(])[\W_]{0,4}" if opening else r"(?<![\w'-])"
    return re.compile(rf"{where}(?:{'|'.join(parts)})(?!\w)")


_ASKS = _sign(
    r"who(?:'s|se|m)?|what(?:'s)?|when(?:'s)?|where(?:'s)?|which|how(?:'s)?|why",
    r"(?:is|are|was|were|do|does|did|has|have|am)(?:n't)? (?:i|we|my|our|the|there|that|this|it|he|she|they)",
    r"wie|wat|waar|wanneer|welke?|hoe|hoeveel|waarom",
    r"(?:is|zijn|was|heb|heeft|hebben|had|moet) (?:ik|we|wij|er|de|het|mijn|onze?)",
    r"wer|wem|wen|was|wann|wo|wohin|woher|wieso|warum|welche[rnsm]?|wie",
    r"(?:ist|sind|war|hat|habe|haben|hatte) (?:ich|wir|es|der|die|das|mein\w*|unser\w*)",
    r"qui|que|qu'est-ce|quoi|quand|où|comment|combien|pourquoi|quel(?:le)?s?|à quelle|est-ce",
    r"qui[eé]n(?:es)?|qu[eé]|cu[aá]l(?:es)?|cu[aá]ndo|d[oó]nde|ad[oó]nde|c[oó]mo|cu[aá]nt[oa]s?",
    r"kdo|koho|komu|co|čeho|kdy|kde|kam|jak|jak[ýáéou]|kter\w+|kolik|proč",
    opening=True,
)
_PARTICULAR = _sign(
    r"when(?:'s)?|where(?:'s)?|who(?:'s|se|m)?|which|how (?:much|many|often|long|old)",
    r"what (?:time|day|date|kind|sort|type|colou?r|size|brand|version|name)",
    r"wanneer|waar|wie (?:is|zijn|was|heeft|doet|komt)|welke?|hoeveel|hoe (?:laat|vaak|lang|oud)",
    r"wann|wo|wohin|woher|wer|wem|wen|welche[rnsm]?|wie ?viele?|wie (?:oft|lange|alt)",
    r"quand|où|qui|quel(?:le)?s?|combien|à quelle heure",
    r"cu[aá]ndo|d[oó]nde|ad[oó]nde|qui[eé]n(?:es)?|cu[aá]l(?:es)?|cu[aá]nt[oa]s?|a qu[eé] hora",
    r"kdy|kde|kam|kdo|komu|koho|kter\w+|kolik|v kolik",
)
_OWN = _sign(
    r"my|mine|ours?|mijn|m'n|onze|ons|mein(?:e[rmns]?)?|unse?r(?:e[rmns]?)?|mon|mes|ma|notre|nos",
    r"mis?|nuestr[oa]s?|můj|moje|moji|mého|mému|mém|mým|mou|mojí|moj[ei]ho|náš|naše|naši|našeho|našemu",
    r"našem|naším|naší|našich",
)
_SELF = _sign(
    r"i|me|us|we|(?:i|we)'(?:m|ve|re|ll|d)|ik|mij|wij|ich|mich|mir|wir|uns|moi|nous|j'\w+|m'\w+",
    r"je (?:dois|peux|vais|veux|suis|préfère|prends|mets|garde|n'\w+)|\w+-je|(?:que|où|quand|si) je",
    r"yo|nosotr[oa]s|tengo|tenemos|hemos|estoy|vamos|já|mě|mně|nás|nám|jsem|jsme|mám|máme",
)
_KNOWN = _sign(
    r"remind me|again|still|last time|like (?:before|last)|as (?:always|usual|agreed|discussed|before)",
    r"(?:i|we) (?:\w+ )?(?:like|love|prefer|favou?r|use|take|want|agreed|decided|chose|picked)(?! to)",
    r"(?:my|our|the) (?:usual|regular|favou?rite|preferred|standard)|the (?:usual|way (?:i|we))",
    r"(?:ook )?alweer|nog (?:steeds|altijd)|zoals (?:altijd|gewoonlijk|afgesproken)|liever|liefst",
    r"gebruikelijke?|(?:ik|we|wij) (?:altijd|graag|meestal)|(?:graag|altijd) (?:heb|wil|drink|gebruik)",
    r"favoriete|besloten",
    r"nochmal|immer noch|wie (?:immer|üblich|abgemacht|vereinbart)|liebsten?|lieblings\w+",
    r"übliche\w?|beschlossen|(?:ich|wir) (?:immer|gern|meistens)|(?:gern|immer) (?:habe|nehme|mag|trinke)",
    r"déjà|toujours|comme (?:toujours|d'habitude|convenu)|habituel\w*|préf[éè]r\w*|on a décidé|j'aime",
    r"otra vez|todavía|como (?:siempre|acordamos)|de siempre|habitual|prefer\w*|favorit[oa]|me gusta",
    r"ještě|pořád|zase|jako (?:vždy|obvykle)|obvykl\w*|oblíben\w*|raději|nejraději|rád|ráda|domluvili",
)
_GENERAL = _sign(
    r"difference between|means?|meaning|stand for|explain|translate|convert|calculate|summari[sz]e|synonyms?",
    r"how (?:do|can|would|should) (?:i|you|we)|should (?:i|we)|how to|what (?:is|are|does) an?",
    r"how (?:do|does) \w+(?: \w+){0,3} work",
    r"verschil tussen|betekent|leg uit|vertaal|bereken|hoe werkt|wat is een|hoe (?:maak|kan) ik",
    r"unterschied|bedeutet|heißt|erklär\w*|übersetz\w*|berechne|wie funktioniert|was ist eine?",
    r"différence|signifie|veut dire|expli\w+|tradui\w+|calcule|comment fonctionne|(?:est|c'est) quoi une?",
    r"diferencia|significa|explica\w*|traduce|calcula|cómo funciona|qué es una?",
    r"rozdíl|znamená|vysvětli|přelož|spočítej|jak funguje|co je(?: to)?",
)
_ANY = _sign(r"an?|een|eine?[nmrs]?|une?|una")
_CODE = re.compile(
    r"```|`[^`\n]+`|[{};]\s*$|[=!<>]=|=>|->|\w\(\)|\w+(?:Error|Exception)\b|Traceback|npm |git "
    r"|\b[\w/-]+\.(?:py|js|jsx|ts|tsx|go|rs|c|h|cpp|cs|vue|sql|java|kt|rb|php|css|html|sh|ya?ml|toml|md)\b",
    re.MULTILINE,
)

_NAME = re.compile(r"(?<=[\w,] )[^\W\d_]\w{2,}")
"""A word that stands within a sentence; it is a name if it begins with a capital letter."""

_WORD = re.compile(r"[^\W\d_]\w{2,}")

_WEIGHTS = {
    "asks": 1.7,
    "named": 1.9,
    "particular": 0.7,
    "own": 1.1,
    "self": 0.8,
    "known": 0.9,
    "general": -1.4,
    "any": -0.3,
    "code": -1.6,
}
"""What each sign adds to the log odds that a fact is of use; docs/ranking.md says how that was fitted."""

_QUESTION = 2.6
"""What the signs of a question about the user's own world come to; a recalled fact is the answer to one."""


def own_world(message: str, fact: str) -> float:
    """Return what the way a message is said adds to the log odds that a fact which fits it is of use.

    It is about nothing for a question about the user's own world, and the less the further a message is from
    one. An order is as good as a question if it names whom or what the fact is about.
    """
    signs = _signs_of(message)
    signs["named"] = not signs["asks"] and bool(_names_in(message) & set(_WORD.findall(fact)))
    return sum(_WEIGHTS[sign] for sign, is_there in signs.items() if is_there) - _QUESTION


def _names_in(message: str) -> set[str]:
    return {word for word in _NAME.findall(message[:_READ]) if word[0].isupper()}


def _signs_of(message: str) -> dict[str, bool]:
    """Return which signs a message bears."""
    said = message[:_READ].replace("\u2019", "'").lower()
    return {
        "asks": "?" in said or bool(_ASKS.search(said)),
        "particular": bool(_PARTICULAR.search(said)),
        "own": bool(_OWN.search(said)),
        "self": bool(_SELF.search(said)),
        "known": bool(_KNOWN.search(said)),
        "general": bool(_GENERAL.search(said)),
        "any": bool(_ANY.search(said)),
        "code": bool(_CODE.search(message[:_READ])),
    }
