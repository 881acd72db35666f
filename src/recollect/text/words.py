"""Words of a text, and which of them say nothing."""

from __future__ import annotations

import re

_WORD = re.compile(r"\w+")

_STOP_WORDS = """
a an the this that these those there here it its i me my mine we us our ours you your yours he him his
she her hers they them their theirs who whom whose which what when where why how is am are was were be
been being do does did done doing have has had having can could may might must shall should will would
of in on at by for from with without to into onto over under about against between through during before
after above below up down out off again further then once and or but nor so if because as until while
not no only own same too very just than such both each few more most other some any all also

de het een deze dit die dat er hier daar ik mij mijn wij ons onze jij jouw jullie hij hem zijn zij haar
hun wie wat welke wanneer waar waarom hoe ben bent waren wordt worden werd heeft heb hebben kan kunnen
zal zullen zou moet moeten van voor met zonder naar uit over onder tussen door en of maar als dan niet
geen ook nog al wel om te bij op aan

der die das den dem des ein eine einer eines einem einen dieser diese dieses ich mich mir mein wir uns
unser du dich dir dein ihr euch er ihn ihm sein sie wer welche welcher welches wann wo warum wie ist bin
bist sind war wird werden wurde hat habe haben hatte kann können soll sollen muss müssen von vom für mit
ohne nach aus über unter zwischen durch und oder aber wenn nicht kein keine auch noch schon zu zum zur
bei auf im

le la les un une ce cet cette ces je moi mon ma mes nous notre nos tu toi ton ta tes vous votre vos il
elle lui leur leurs ils elles qui que quoi quel quelle quels quelles quand où pourquoi comment est suis
sommes êtes sont était étaient été être ai avons avez ont avait avoir peut peuvent doit du d l dans sur
sous par pour avec sans vers entre et ou mais si ne pas non aussi plus au aux y

el los las una unos unas este esta estos estas ese esa eso yo mí mi mis nosotros nuestro nuestra tú tus
él ella ellos ellas su sus quien quién qué cual cuál cuando cuándo donde dónde porqué como cómo es soy
eres somos son era eran fue fueron ser está están estar ha he hemos han había haber puede pueden debe del
sobre bajo para con sin hacia pero ni también más o
"""

STOP_WORDS = frozenset(_STOP_WORDS.split())
"""What questions are made of in English, Dutch, German, French and Spanish.

They are left out of a query as long as another word remains: every chunk holds them, and none
is the answer because of them.
"""


def words_of(text: str) -> list[str]:
    """Return the runs of letters, digits and underscores of a text, as they are written."""
    return _WORD.findall(text)


def telling_words(text: str) -> list[str]:
    """Return the distinct words of a query in lower case, without those that say nothing.

    A query made of nothing else keeps them: "to be or not to be" is a question too.
    """
    every = list(dict.fromkeys(word.lower() for word in words_of(text)))
    telling = [word for word in every if word not in STOP_WORDS]
    return telling or every
