"""The small words of each language that tell who speaks of whom, what ought to be, and when.

`later` announces with a colon what should be remembered.
"""

from __future__ import annotations

WORDS = {
    "en": {
        "unsure": r"maybe|perhaps|probably|possibly|might|not sure|i guess",
        "later": r"""
            remember\w*|memory|later|next time|(?:in )?future|forget|keep in mind|write (?:this|that
            it) down|for reference
        """,
        "me": r"i|i'm|im|i've|i'd|i'll|me|my|mine|myself",
        "us": r"we|we're|we've|we'll|we'd|our|ours|us",
        "you": r"you|your|you're|yours|u|ur",
        "ought": r"should|must|has to|have to|needs? to|ought to|shall",
        "now": r"""
            now|today|tonight|yesterday|tomorrow|just|already|again|still|currently|this (?:morning|week|time)
            at the moment|in (?:an|\w+) (?:hour|minutes|hours)|(?:an|\w+) hours? ago|since (?:yesterday|noon)
        """,
        "only": r"only|no|none|never|nobody|nothing|without|always|every|all|each|nowhere|any|not",
        "spot": r"here|this|that|these|those|above|below|the (?:first|second|last|other|same|next)|line \d+",
        "did": r"(?:i|we)(?:'ve| have| had| just| already)* \w+(?:ed|ught|ound|an|ew|id|ost|ut|old|ept|ade)",
    },
    "nl": {
        "unsure": r"misschien|wellicht|waarschijnlijk|zou kunnen",
        "later": r"onthou\w*|later|volgende ke\w+|voortaan|vergeet|noteer|geheugen|toekomst",
        "me": r"ik|me|mij|mijn|m'n|mn|mezelf|'k",
        "us": r"we|wij|ons|onze",
        "you": r"je|jij|jou|jouw|u|uw|jullie",
        "ought": r"moet|moeten|mag|mogen|hoort|horen|dient|dienen|zou|zouden",
        "now": r"""
            nu|net|vandaag|vanavond|vanmorgen|vanmiddag|gisteren|morgen|al|alweer|weer|even|nog|zo|zojuist
            momenteel|straks|op dit moment|over (?:een|\w+) (?:uur|minuten)
        """,
        "only": r"alleen|enkel|geen|niemand|niets|nooit|zonder|altijd|elke?|iedere?|alle|alles|nergens|niet",
        "spot": r"hier|deze?|dit|dat|die|hierboven|hieronder|de (?:eerste|tweede|laatste|andere|volgende)",
        "did": r"""
            (?:ik|we|wij) (?:heb|hebben|had|hadden|ben|zijn) (?:\w+ ){0,6}(?:ge\w+|ver\w+|be\w+|\w+ge\w+)
        """,
    },
    "de": {
        "unsure": r"vielleicht|eventuell|wahrscheinlich|moglicherweise|konnte sein",
        "later": r"""
            merk\w*|spater|nachste\w* mal|kunftig\w*|zukunft|vergiss|vergessen|notier\w*|gedachtnis
            hinterkopf
        """,
        "me": r"ich|mir|mich|mein\w{0,2}|ick",
        "us": r"wir|uns|unser\w{0,2}",
        "you": r"du|dich|dir|dein\w{0,2}|ihr|euch",
        "ought": r"soll|sollen|sollte|sollten|muss|mussen|darf|durfen|musste",
        "now": r"""
            jetzt|gerade|grad|heute|gestern|morgen|vorhin|eben|schon|wieder|noch|gleich|derzeit|momentan|nun
            im moment|seit (?:\w+ ){1,3}(?:stunden?|minuten)|in (?:\w+ ){1,2}(?:stunden?|minuten)
        """,
        "only": r"""
            nur|kein\w{0,2}|niemand|nichts|nie|niemals|ohne|immer|jede\w?|alle\w?|stets|nicht|grundsatzlich
        """,
        "spot": r"""
            hier|diese\w?|das|da|oben|unten|hieran|jene\w?|(?:der|die|das) (?:erste|zweite|letzte|andere
            nachste)
            zeile \d+
        """,
        "did": r"""
            (?:ich|wir) (?:hab|habe|haben|hatte|hatten|bin|sind) (?:\w+ ){0,6}(?:ge\w+|ver\w+|be\w+
            \w+ge\w+)
        """,
    },
    "fr": {
        "unsure": r"peut-etre|probablement|sans doute",
        "later": r"""
            retenir|retiens|plus tard|la suite|prochaines? fois|memoire|avenir|oublie\w*|de cote|rappelle\w*
        """,
        "me": r"je|j'\w+|moi|ma|mon|mes|me|m'\w+|j|jsuis|jai",
        "us": r"nous|on|notre|nos",
        "you": r"tu|te|toi|ton|ta|tes|t'\w+|vous|votre|vos",
        "ought": r"doit|doivent|devrait|devraient|faut|faudrait|peut|peuvent",
        "now": r"""
            maintenant|aujourd'hui|hier|demain|ce (?:matin|soir)|deja|encore|actuellement|la tout de suite
            en ce moment|tout a l'heure|depuis (?:une|\w+) (?:heure|heures|minutes|demi-heure)|en train de
            en cours|dans (?:une|\w+) (?:heure|heures|minutes)|il y a
        """,
        "only": r"""
            que|seul\w*|seulement|aucune?|personne|rien|jamais|sans|toujours|chaque|tous|toutes?|pas
            uniquement
        """,
        "spot": r"ici|cette?|ces|ca|cela|ceci|ci-dessus|la|(?:le|la) (?:premiere?|deuxieme|derniere?|meme)",
        "did": r"(?:j'ai|on a|nous avons|je viens de|on vient de|je suis) (?:\w+ ){0,2}\w+(?:e|i|u|is|it|er)",
    },
    "es": {
        "unsure": r"quizas?|tal vez|a lo mejor|probablemente|puede que",
        "later": r"""
            recuerd\w*|acuerdate|adelante|proximas?(?: ve\w+)?|otras? ve\w+|futuro|apunta\w*|anota\w*
            olvid\w+|memoria
        """,
        "me": r"yo|me|mi|mis|conmigo|soy|tengo|vivo|trabajo|prefiero|uso|mio|mia",
        "us": r"nos|nosotr[oa]s|nuestr[oa]s?|somos|tenemos|usamos|hemos|vamos|estamos|\w+amos|\w+emos",
        "you": r"tu|te|ti|tus|usted|ustedes|vos|contigo",
        "ought": r"debe|deben|deberia|deberian|tiene que|tienen que|hay que|ha de|han de|puede|pueden",
        "now": r"""
            ahora|ahorita|hoy|ayer|manana|esta (?:manana|tarde|noche)|ya|otra vez|todavia|aun|actualmente
            en este momento|ahora mismo|desde hace|lleva \w+ \w+|hace (?:una|\w+) (?:hora|horas|minutos|rato)
        """,
        "only": r"solo|ningun\w*|nadie|nada|nunca|jamas|sin|siempre|cada|tod[oa]s?|no|unicamente",
        "spot": r"""
            aqui|est[eao]s?|es[eao]s?|arriba|abajo|ahi|(?:el|la) (?:primer\w?|segund\w|ultim\w|otr\w|mism\w)
        """,
        "did": r"""
            he \w+[ai]do|hemos \w+[ai]do|acabo de|acabamos de|ayer \w+|\w+(?:aste|imos|e)(?= el| la| un)
        """,
    },
    "cs": {
        "unsure": r"mozna|asi|snad|pravdepodobne",
        "later": r"pamat\w*|zapamat\w*|priste|pozdej\w*|budouc\w*|zapis\w*|poznac\w*|poznamen\w*|nezapom\w*",
        "me": r"ja|me|mi|mne|muj|moje|moji|mou|mym|mych|mam|jsem|bych|\w{2,}(?:uju|uji|im|am)",
        "us": r"my|nas|nam|nami|nas\w|nas\w{2,4}|jsme|mame|\w{2,}(?:ujeme|ime|ame|eme)",
        "you": r"ty|te|ti|tobe|tvuj|tvoje|vas|vam|jsi|\w{3,}(?:es|is|as)",
        "ought": r"ma|maji|musi|mel|mela|melo|mely|by|smi|nesmi|ma byt",
        "now": r"""
            ted|tedka|nyni|dnes|dneska|vcera|zitra|prave|uz|zase|jeste|zrovna|aktualne|momentalne|hned
            pred chvili
            za (?:\w+ )?(?:hodinu|hodiny|minut\w*|chvili)|porad|odpoledne|dopoledne
        """,
        "only": r"""
            jen|jenom|pouze|zadn\w+|nikdo|nic|nikdy|bez|vzdy|vzdycky|kazd\w+|vsechn\w+|vsichni|nikde|ne\w+
        """,
        "spot": r"""
            tady|tu|tohle|tahle|tenhle|toto|tato|ten|ta|to|te|tom|tam|nahore|dole|(?:prvni|druh|posledni)\w*
        """,
        "did": r"(?:\w+la?|\w+li|\w+lo) (?:jsem|jsme)|(?:jsem|jsme) (?:\w+ ){0,4}\w+(?:l|la|li|lo)",
    },
}
