"""Which language a text is in, and which of its words say nothing."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from memlines.paths import LANGUAGES_DIR

_LISTS = {
    "en": """
        a an the this that these those there here it its i me my mine we us our ours you your yours he him
        his she her hers they them their theirs who whom whose which what when where why how is am are was
        were be been being do does did done doing have has had having can could may might must shall should
        will would of in on at by for from with without to into onto over under about against between
        through during before after above below up down out off again further then once and or but nor so
        if because as until while not no only own same too very just than such both each few more most
        other some any all also don doesn didn isn wasn aren weren won wouldn couldn shouldn ve ll re
    """,
    "nl": """
        de het een deze dit die dat er hier daar ik mij mijn me we wij ons onze je jij jouw jullie u uw hij
        hem zijn ze zij haar hun wie wat welke welk wanneer waar waarom hoe is ben bent was waren wordt
        worden werd werden heeft heb hebt hebben had hadden kan kunnen kon zal zullen zou zouden moet moeten
        mag wil van voor met zonder naar uit over onder tussen door tot en of maar want als dan toen niet
        geen ook nog al wel om te bij op aan in zich ons dus toch
    """,
    "de": """
        der die das den dem des ein eine einer eines einem einen dieser diese dieses diesem diesen jener ich
        mich mir mein meine wir uns unser unsere du dich dir dein deine ihr euch er ihn ihm sein seine sie
        es wer was welche welcher welches welchen wann wo warum wie ist bin bist sind seid war waren wird
        werden wurde wurden hat habe haben hatte hatten kann können konnte soll sollen sollte muss müssen
        darf will von vom für mit ohne nach aus über unter zwischen durch bis und oder aber denn wenn als ob
        nicht kein keine keinen auch noch schon zu zum zur bei beim auf an am im in ins man sich
    """,
    "fr": """
        le la les un une des ce cet cette ces je me moi mon ma mes nous notre nos tu te toi ton ta tes vous
        votre vos il elle on lui leur leurs ils elles se sa son ses qui que quoi quel quelle quels quelles
        quand où pourquoi comment est suis es sommes êtes sont était étaient été être a ai as avons avez ont
        avait avaient avoir peut peuvent doit fait du de d l qu c j n s m t dans sur sous par pour avec sans
        vers chez entre et ou mais donc car si ne pas non aussi plus très au aux en y
    """,
    "es": """
        el la los las un una unos unas este esta estos estas ese esa eso esos esas lo yo me mí mi mis
        nosotros nos nuestro nuestra tú te tu tus usted él ella ellos ellas se le les su sus quien quién
        quiénes que qué cual cuál cuáles cuando cuándo donde dónde por porqué porque como cómo cuánto
        cuántos cuántas es soy eres somos son era eran fue fueron ser está están estaba estar ha he hemos
        han había haber hay puede pueden debe de del a al en sobre bajo para con sin hacia desde hasta
        entre y e o u pero si no ni también más muy ya
    """,
    "pt": """
        o a os as um uma uns umas este esta estes estas esse essa isso isto aquele aquela eu me mim meu
        minha nós nos nosso nossa tu te teu tua você vocês ele ela eles elas se lhe seu sua seus suas quem
        que qual quais quando onde porque porquê como é sou és somos são era eram foi foram ser está estão
        estava estar há tem têm tinha ter pode podem deve de do da dos das em no na nos nas por pelo pela
        para com sem sobre sob entre até desde e ou mas se não nem também mais muito já ao aos à às
    """,
    "it": """
        il lo la i gli le un uno una questo questa questi queste quel quello quella io me mi mio mia noi ci
        nostro nostra tu te ti tuo tua voi vi vostro lui lei egli ella essi loro si suo sua suoi sue chi che
        cosa quale quali quando dove perché come è sono sei siamo siete era erano fu essere sta stanno ha ho
        hai abbiamo hanno aveva avere può possono deve di del dello della dei degli delle a al allo alla ai
        alle da dal dalla in nel nella nei nelle su sul sulla con per tra fra e ed o ma se non né anche più
        molto già
    """,
    "ar": """
        من في على إلى عن مع هذا هذه ذلك تلك هو هي هم هن نحن أنا أنت ما ماذا متى أين كيف لماذا هل كان كانت يكون
        قد لا لم لن إن أن أو و ثم كل بعض التي الذي الذين
    """,
    "ko": """
        은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 그 저 것 수 등 및 나 너
        우리 무엇 언제 어디 누구 왜 어떻게 있다 하다
    """,
    "ja": """
        は が を に で と も の へ や から まで より か ね よ これ それ あれ この
        その あの ここ そこ どこ いつ 誰 何 なに なぜ どう です ます した する ある いる
    """,
    "zh": """
        的 了 是 在 和 与 或 也 都 就 不 有 我 你 他 她 它 我们 你们 他们 这 那
        这个 那个 什么 谁 哪 哪里 哪个 何时 怎么 为什么 吗 呢 吧 被 把 从 到 对 于
    """,
}

STOP_WORDS = {language: frozenset(words.split()) for language, words in _LISTS.items()}
"""What questions are made of, by language.

They are left out of a query as long as another word remains: every chunk holds them, and none
is the answer because of them.
"""

UNSPACED_STOP_WORDS = STOP_WORDS["ko"] | STOP_WORDS["ja"] | STOP_WORDS["zh"]

STEMMED = ("en", "nl", "de", "fr", "es", "pt", "it")
"""The languages whose words are cut to their stems."""

_WORD = re.compile(r"[^\W\d_]{2,}|(?<!['\u2019])[^\W\d_]|(?<=['\u2019])[^\W\d_dmst]")
"""A word; the letter behind the apostrophe of what's and isn't is none, or English would look like French."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]{2}")
_UNLEARNED = re.compile("[ěščřžůďťňđőűășțāēīūņģķļėųåø]", re.IGNORECASE)
_SURELY = 3
_LOOKED_AT = 4_000
"""Characters of a text that are enough to tell its language."""


@cache
def section(code: str, name: str) -> dict[str, Any]:
    """Return one section of a language's file; empty if it has none.

    Only the lines of the section are parsed, because most uses need one section of a long file.
    """
    text = (LANGUAGES_DIR / f"{code}.toml").read_text(encoding="utf-8")
    start = text.find(f"\n[{name}]\n")
    if start < 0:
        return {}
    import tomllib

    end = text.find("\n[", start + 1)
    parsed: dict[str, Any] = tomllib.loads(text[start : end if end > 0 else None])[name]
    return parsed


def language_of(text: str) -> str:
    """Return the language of a text among those that are stemmed; English if it does not show.

    The small words decide: they are the most frequent ones of any text, and each language has its
    own. That needs no model, and what has none of them (a list of names, a line of code) is
    mostly written with English words.
    """
    counts = _small_words(text)
    return max(STEMMED, key=counts.__getitem__)


def is_foreign(query: str, text: str) -> bool:
    """Tell whether a text is surely in another language than a query, so that both share few words.

    Names and quotations bring a few small words of other languages into any text.
    """
    unspaced = _is_unspaced(query)
    if unspaced != _is_unspaced(text):
        return True
    asked, written = _small_words(query), _small_words(text)
    spoken = max(asked, key=asked.__getitem__)
    return not unspaced and asked[spoken] > 0 and max(written.values()) > _SURELY * (written[spoken] + 1)


def is_unlearned(text: str) -> bool:
    """Tell whether a text is by its letters in a language of Europe that the builtin model did not learn.

    Czech is one: it finds Czech texts near each other, whatever they say.
    """
    return bool(_UNLEARNED.search(text[:_LOOKED_AT]))


def _is_unspaced(text: str) -> bool:
    return 2 * len(_UNSPACED.findall(text[:_LOOKED_AT])) > len(_WORD.findall(text[:_LOOKED_AT]))


def _small_words(text: str) -> dict[str, int]:
    words = _WORD.findall(text[:_LOOKED_AT].lower())
    return {language: sum([word in STOP_WORDS[language] for word in words]) for language in STEMMED}
