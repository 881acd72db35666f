"""The words that say when, by language, and a query cut into them for `dates.py`.

A language is one entry: groups of words behind their tag, which says what part they play in an expression.
Words are in lower case and without accents; `_` is the blank in a phrase, and the longest phrase wins.

| tag | plays the part of | value |
|---|---|---|
| T | a day named from today | days from today |
| u U | a unit of time, one and many | h d w m q y, e for a weekend |
| L B | last, this, next before a noun; B also after it | -2 to 1 |
| K J | the same for the time up to or from today; J is plural | -1 or 1 |
| N A | a number; an article that means one | least-most |
| g G z | "ago" after the time; before it; about | |
| W | a weekday | 0 to 6 |
| M m a v b | a month; m, a, v are also other words (a: a name, v: a verb); b is short | 1 to 12 |
| S s | a season; s is also another word | its first month |
| Q | a quarter of a year | 1 to 4 |
| E | early, mid, late | 0 to 2 |
| P p H O t | in; by; on; of; the | |
| F X | since; before -1, after 1, until 0 | |
| Z & | between; and 0, to 1 | |
| ! | a phrase that only looks like a time | |
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from datetime import date
from functools import cache
from typing import NamedTuple

Days = tuple[date, date]
"""The first and the last day of a run."""

UNITS = "hdwmqye"


class Part(NamedTuple):
    """A piece of a query, or a phrase of several, with the part it plays and its value."""

    tag: str
    start: int
    end: int
    least: int = 0
    most: int = 0
    days: Days | None = None


class Meaning(NamedTuple):
    """The part a word or phrase plays, and its value, as the least and the most it can mean."""

    tag: str
    least: int = 0
    most: int = 0


_UNKNOWN = Meaning("x")

_TABLES = {
    "en": """
        T: today=0 tonight=0 this_morning=0 this_afternoon=0 this_evening=0 yesterday=-1 last_night=-1
           day_before_yesterday=-2 tomorrow=1 day_after_tomorrow=2
        u: hour=h day=d week=w month=m quarter=q year=y weekend=e
        U: hours=h days=d weeks=w months=m quarters=q years=y weekends=e
        L: last=-1 previous=-1 this=0 current=0 next=1 coming=1 upcoming=1 | K: past=-1 this_past=-1
           the_last=-1 recent=-1 the_next=1
        N: one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12
           couple_of=2-3 a_couple_of=2-3 a_couple=2-3 few=2-4 a_few=2-4 several=2-5 some=2-4
        A: a=1 an=1 | g: ago
        W: monday=0 tuesday=1 wednesday=2 thursday=3 friday=4 saturday=5 sunday=6
        M: january=1 february=2 july=7 september=9 october=10 november=11 december=12
        a: april=4 june=6 august=8 | v: march=3 may=5
        b: jan=1 feb=2 mar=3 apr=4 jun=6 jul=7 aug=8 sep=9 sept=9 oct=10 nov=11 dec=12
        S: summer=6 autumn=9 winter=12 | s: spring=3 fall=9 | Q: q1=1 q2=2 q3=3 q4=4
        E: early=0 beginning_of=0 start_of=0 mid=1 middle_of=1 late=2 end_of=2
        P: in during throughout month_of as_of | p: by from for | H: on | O: of | t: the these
        F: since | X: before=-1 prior_to=-1 after=1 until=0 till=0 | Z: between | &: and=0 to=1 through=1
    """,
    "nl": """
        T: vandaag=0 vanmorgen=0 vanochtend=0 vanmiddag=0 vanavond=0 gisteren=-1 gisteravond=-1
           eergisteren=-2 morgen=1 overmorgen=2
        u: uur=h dag=d week=w maand=m kwartaal=q jaar=y weekend=e
        U: uren=h dagen=d weken=w maanden=m kwartalen=q jaren=y
        L: vorige=-1 vorig=-1 verleden=-1 voorvorige=-2 deze=0 dit=0 volgende=1 volgend=1 komende=1 komend=1
        K: afgelopen=-1 laatste=-1
        N: twee=2 drie=3 vier=4 vijf=5 zes=6 zeven=7 acht=8 negen=9 tien=10 elf=11 twaalf=12
           een_paar=2-4 paar=2-4 enkele=2-4
        A: een=1 | g: geleden
        W: maandag=0 dinsdag=1 woensdag=2 donderdag=3 vrijdag=4 zaterdag=5 zondag=6
        M: januari=1 februari=2 juli=7 september=9 oktober=10 november=11 december=12
        m: maart=3 april=4 mei=5 juni=6 augustus=8
        b: jan=1 feb=2 mrt=3 apr=4 jun=6 jul=7 aug=8 sep=9 sept=9 okt=10 nov=11 dec=12
        S: voorjaar=3 lente=3 zomer=6 herfst=9 najaar=9 winter=12
        E: begin=0 begin_van=0 half=1 halverwege=1 medio=1 midden=1 eind=2 einde=2 eind_van=2 einde_van=2
        P: in tijdens gedurende rond | p: uit | H: op | O: van | t: de het
        F: sinds vanaf | X: voor=-1 na=1 tot=0 | Z: tussen | &: en=0
        !: goede_morgen de_morgen elke_morgen iedere_morgen s_morgen
    """,
    "de": """
        T: heute=0 heute_morgen=0 gestern=-1 gestern_morgen=-1 vorgestern=-2 morgen=1 ubermorgen=2
        u: stunde=h tag=d woche=w monat=m monats=m quartal=q jahr=y jahres=y wochenende=e
        U: stunden=h tage=d tagen=d wochen=w monate=m monaten=m quartale=q jahre=y jahren=y
        L: letzte=-1 letzten=-1 letzter=-1 letztes=-1 letztem=-1 vorige=-1 vorigen=-1 voriger=-1 voriges=-1
           vergangene=-1 vergangenen=-1 vergangener=-1 vergangenes=-1 vorletzte=-2 vorletzten=-2 vorletztes=-2
           diese=0 diesen=0 dieser=0 dieses=0 diesem=0 nachste=1 nachsten=1 nachster=1 nachstes=1
           kommende=1 kommenden=1 kommender=1 kommendes=1
        N: zwei=2 drei=3 vier=4 funf=5 sechs=6 sieben=7 acht=8 neun=9 zehn=10 elf=11 zwolf=12
           ein_paar=2-4 paar=2-4 einige=2-4 einigen=2-4 wenigen=2-4 mehreren=2-5
        A: ein=1 eine=1 einem=1 einen=1 einer=1 | g: her | G: vor | z: etwa ungefahr circa ca rund
        W: montag=0 dienstag=1 mittwoch=2 donnerstag=3 freitag=4 samstag=5 sonnabend=5 sonntag=6
        M: januar=1 janner=1 februar=2 marz=3 juli=7 september=9 oktober=10 november=11 dezember=12
        m: april=4 mai=5 juni=6 | a: august=8
        b: jan=1 feb=2 mrz=3 apr=4 jun=6 jul=7 aug=8 sep=9 sept=9 okt=10 nov=11 dez=12
        S: fruhling=3 fruhjahr=3 sommer=6 herbst=9 winter=12 | E: anfang=0 mitte=1 ende=2
        P: im in wahrend vom | p: aus fur | H: am | O: von | t: der die das dem den des
        F: seit ab | X: nach=1 bis=0 bis_zum=0 | Z: zwischen | &: und=0
        !: guten_morgen am_morgen jeden_morgen der_morgen den_morgen
    """,
    "fr": """
        T: aujourd_hui=0 ce_matin=0 ce_soir=0 hier=-1 hier_soir=-1 avant_hier=-2 demain=1 apres_demain=2
        u: heure=h jour=d semaine=w mois=m trimestre=q an=y annee=y week_end=e weekend=e
        U: heures=h jours=d semaines=w trimestres=q ans=y annees=y
        L: ce=0 cet=0 cette=0 | J: derniers=-1 dernieres=-1 prochains=1 prochaines=1
        B: dernier=-1 derniere=-1 passe=-1 passee=-1 precedent=-1 precedente=-1 prochain=1 prochaine=1
        N: deux=2 trois=3 quatre=4 cinq=5 six=6 sept=7 huit=8 neuf=9 dix=10 onze=11 douze=12 quelques=2-4
        A: un=1 une=1 | G: il_y_a | z: environ
        W: lundi=0 mardi=1 mercredi=2 jeudi=3 vendredi=4 samedi=5 dimanche=6
        M: janvier=1 fevrier=2 juin=6 juillet=7 aout=8 septembre=9 octobre=10 novembre=11 decembre=12
        m: mars=3 avril=4 mai=5 | b: janv=1 fevr=2 juil=7 oct=10 nov=11 dec=12
        S: printemps=3 l_ete=6 automne=9 hiver=12 | E: debut=0 debut_de=0 mi=1 fin=2 fin_de=2
        P: en au durant pendant courant | O: de d du | t: le la les l ces
        F: depuis | X: avant=-1 apres=1 jusqu_a=0 jusqu_en=0 | Z: entre | &: et=0 a=1
        !: champ_de_mars planete_mars
    """,
    "es": """
        T: hoy=0 esta_manana=0 esta_tarde=0 esta_noche=0 ayer=-1 anoche=-1 anteayer=-2 antier=-2
           manana=1 pasado_manana=2
        u: hora=h dia=d semana=w mes=m trimestre=q ano=y fin_de_semana=e finde=e
        U: horas=h dias=d semanas=w meses=m trimestres=q anos=y
        L: este=0 esta=0 | J: ultimos=-1 ultimas=-1 pasados=-1 pasadas=-1 proximos=1 proximas=1
        B: pasado=-1 pasada=-1 anterior=-1 antepasado=-2 antepasada=-2 proximo=1 proxima=1 que_viene=1
        K: ultimo=-1 ultima=-1
        N: dos=2 tres=3 cuatro=4 cinco=5 seis=6 siete=7 ocho=8 nueve=9 diez=10 once=11 doce=12
           un_par_de=2-3 unos=2-4 unas=2-4 algunos=2-4 algunas=2-4 pocos=2-4 pocas=2-4
        A: un=1 una=1 | g: atras | G: hace | z: aproximadamente como
        W: lunes=0 martes=1 miercoles=2 jueves=3 viernes=4 sabado=5 domingo=6
        M: enero=1 febrero=2 junio=6 septiembre=9 setiembre=9 octubre=10 noviembre=11 diciembre=12
        m: marzo=3 mayo=5 agosto=8 | a: abril=4 julio=7
        b: ene=1 feb=2 abr=4 jun=6 jul=7 oct=10 nov=11 dic=12
        S: primavera=3 verano=6 otono=9 invierno=12
        E: principios_de=0 comienzos_de=0 mediados_de=1 finales_de=2 fines_de=2
        P: en durante | H: el | O: de del | t: la los las
        F: desde desde_hace | X: antes=-1 despues=1 hasta=0 | Z: entre | &: y=0 a=1
        !: la_manana cada_manana plaza_de_mayo
    """,
    "pt": """
        T: hoje=0 ontem=-1 anteontem=-2 amanha=1 depois_de_amanha=2
        u: hora=h dia=d semana=w mes=m trimestre=q ano=y fim_de_semana=e
        U: horas=h dias=d semanas=w meses=m trimestres=q anos=y
        L: este=0 esta=0 neste=0 nesta=0 deste=0 desta=0 esse=0 essa=0 nesse=0 nessa=0
        B: passado=-1 passada=-1 anterior=-1 proximo=1 proxima=1 que_vem=1 | K: ultimo=-1 ultima=-1
        J: ultimos=-1 ultimas=-1 proximos=1 proximas=1
        N: dois=2 duas=2 tres=3 quatro=4 cinco=5 seis=6 sete=7 oito=8 nove=9 dez=10 onze=11 doze=12
           alguns=2-4 algumas=2-4 uns=2-4 umas=2-4
        A: um=1 uma=1 | g: atras | G: ha faz
        W: segunda_feira=0 terca_feira=1 quarta_feira=2 quinta_feira=3 sexta_feira=4 sabado=5 domingo=6
        M: fevereiro=2 setembro=9 outubro=10 novembro=11 dezembro=12
        m: janeiro=1 abril=4 maio=5 junho=6 julho=7 agosto=8 | a: marco=3
        S: primavera=3 verao=6 outono=9 inverno=12
        E: inicio_de=0 comeco_de=0 meados_de=1 final_de=2 fim_de=2
        P: em durante | H: na no | O: de do da
        F: desde | X: antes=-1 depois=1 ate=0 | Z: entre | &: e=0 a=1
        !: rio_de_janeiro
    """,
    "it": """
        T: oggi=0 stamattina=0 stasera=0 ieri=-1 altro_ieri=-2 domani=1 dopodomani=2
        u: ora=h giorno=d settimana=w mese=m trimestre=q anno=y fine_settimana=e weekend=e
        U: ore=h giorni=d settimane=w mesi=m trimestri=q anni=y
        L: questo=0 questa=0 quest=0 | K: ultimo=-1 ultima=-1
        B: scorso=-1 scorsa=-1 passato=-1 passata=-1 prossimo=1 prossima=1
        J: ultimi=-1 ultime=-1 scorsi=-1 scorse=-1 prossimi=1 prossime=1
        N: due=2 tre=3 quattro=4 cinque=5 sei=6 sette=7 otto=8 nove=9 dieci=10 undici=11 dodici=12
           un_paio_di=2-3 alcuni=2-4 alcune=2-4 qualche=2-4
        A: un=1 una=1 | g: fa
        W: lunedi=0 martedi=1 mercoledi=2 giovedi=3 venerdi=4 sabato=5 domenica=6
        M: gennaio=1 febbraio=2 giugno=6 luglio=7 settembre=9 ottobre=10 novembre=11 dicembre=12
        m: marzo=3 aprile=4 maggio=5 agosto=8 | S: primavera=3 l_estate=6 autunno=9 inverno=12
        E: inizio=0 inizio_di=0 meta=1 meta_di=1 fine=2 fine_di=2
        P: in nel durante | O: di del dell a | t: il lo la i gli le l
        F: da dal | X: prima=-1 dopo=1 fino=0 | Z: tra fra | &: e=0
    """,
}


def _meanings(table: str) -> dict[str, Meaning]:
    """Read one language's table."""
    found: dict[str, Meaning] = {}
    tag = ""
    for entry in table.split():
        if entry[-1] == ":":
            tag = entry[:-1]
        elif entry != "|":
            word, _, value = entry.partition("=")
            found[word.replace("_", " ")] = _meaning(tag, value)
    return found


@cache
def _meaning(tag: str, value: str) -> Meaning:
    if value in UNITS:
        return Meaning(tag, UNITS.find(value))
    least, _, most = value.partition("-") if value[0] != "-" else (value, "", "")
    return Meaning(tag, int(least), int(most or least))


_MEANINGS = {language: _meanings(table) for language, table in _TABLES.items()}
"""What each word and phrase of a language means."""

_LONGEST_PHRASE = 1 + max(phrase.count(" ") for words in _MEANINGS.values() for phrase in words)
_OPENINGS = {phrase.split()[0] for words in _MEANINGS.values() for phrase in words if " " in phrase}
"""Words with which a phrase begins, in any language."""


def _gathered(pairs: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found


_TELLING = _gathered(
    (phrase.split()[-1], language)
    for language, words in _MEANINGS.items()
    for phrase, meaning in words.items()
    if meaning.tag in "TuUWMmavbSs"
)
"""The words without which nothing is said about time, and the languages in which they say it."""

_CLAUSE_HEAD = (
    r"(?:^|[.?!:;\u00bf(])\W{0,3}(?:(?:and|so|en|et|y|e|since|by|sinds|vanaf|depuis|desde|para|da) )?"
)
_ASKED = "know|tell me|find out|weet je|zeg me|sais[ -]tu|savez[ -]vous|sabes|dime|sabe|sai|dimmi"
_ASKING = (
    ("wann", ""),
    ("when", r"when(?:['\u2019]?s| (?:did|was|were|is|are|will|do|does|has|have|had|would|should|can))\b"),
    ("when", rf"{_CLAUSE_HEAD}when\b(?! (?:i|we|you|he|she|they|it|the|my|our|an?)\b)(?![^?]*,)"),
    ("wanneer quand cuando quando", rf"{_CLAUSE_HEAD}(?:wanneer|quand|cuando|quando)\b(?![^?]*,)"),
    ("cuando", r"\u00bfcuando\b"),
    ("when wanneer quand cuando quando", rf"\b(?:{_ASKED}) (?:when|wanneer|quand|cuando|quando)\b"),
    ("what which", r"\b(?:what|which) (?:exact |specific )?(?:date|day|week|weekday|month|year)s?\b"),
    ("ago", r"\bhow (?:long|many (?:days|weeks|months|years)) ago\b"),
    ("welk welke", r"\bwelke? (?:dag|datum|week|maand|jaar)\b"),
    ("geleden", r"\bhoe(?: ?lang|veel \w+) geleden\b"),
    ("tag datum wochentag woche monat jahr", r"\bwelche[mnrs]? (?:tag|datum|wochentag|woche|monat|jahr)\b"),
    ("her", r"\bwie lange\b.{0,60}\bher\b"),
    ("vor", r"\bvor wie ?vielen?\b"),
    ("quel quelle", r"\bquel(?:le)? (?:jour|date|semaine|mois|annee)\b"),
    ("combien", r"\bil y a combien\b"),
    ("que", r"\bque (?:dia|fecha|data|ano)\b|\be[nm] que mes\b"),
    ("fecha", r"\bcual (?:fue|es|era) la fecha\b"),
    ("cuanto", r"\bhace cuanto\b|\bcuanto (?:tiempo )?hace\b"),
    ("qual", r"\bqual (?:foi )?(?:[oa] )?(?:dia|data|ano)\b"),
    ("quanto", r"\bha quanto tempo\b|\bquanto tempo fa\b"),
    ("che quale", r"\b(?:che|quale) (?:giorno|data|mese|anno)\b"),
)
"""What asks for a time: words that must be there, and the pattern that one of them then has to fit.

"When" and its like ask at the head of a question, and join two clauses elsewhere.
"""
_ASKING_BY_WORD = _gathered((word, pattern) for words, pattern in _ASKING for word in words.split())
_ASKING_UNSPACED = "什么时候|什麼時候|何时|何時|哪一?[年月天]|いつ(?!も)"


def asks_for_a_time(folded: str) -> bool:
    """Say whether a folded query asks when."""
    patterns = [pattern for word in set(_WORD.findall(folded)) for pattern in _ASKING_BY_WORD.get(word, ())]
    if not folded.isascii():
        patterns.append(_ASKING_UNSPACED)
    return any(re.search(pattern, folded) for pattern in patterns)


# Letters keep their number, so that what is found in the folded text can be cut out of the query.
_FOLDED = {
    code: unicodedata.normalize("NFKD", chr(code))[0].lower()
    for code in (*range(0x41, 0x5B), *range(0xAA, 0x180), *range(0xFF10, 0xFF1A))
}
_WORD = re.compile(r"[a-z]+|[0-9]{4}")
_ISO = r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])"
_PIECE = (
    r"(?P<figures>(?>[0-9]{4}\s?年(?:\s?[0-9]{1,2}\s?月(?:\s?[0-9]{1,2}\s?[日号號])?)?)(?!\s?[之以])"
    rf"|{_ISO}|(?<![\w./:-])[0-9]+(?:[./:-][0-9]+|,[0-9]{{3}}(?![0-9]))+(?![a-z0-9_]))"
    r"|(?P<number>[0-9]+)(?P<ordinal>st|nd|rd|th|er|ste|de|e|o|a)?(?![a-z0-9_])"
    rf"|(?P<word>(?:(?!{_ISO})[a-z0-9_])+)|(?P<mark>\S)"
)
_NUMBER = re.compile("[0-9]+")
_WITHOUT_NUMBERS = str.maketrans("", "", "0123456789")
_YEAR_FIRST = {"--", "//", "-", "年", "年月", "年月日", "年月号", "年月號"}
_QUOTED = re.compile('"[^"]*"|“[^“”]*”|«[^«»]*»')
_GLUE = re.compile(r"(?<=[^\W_])[-'\u2019](?=[^\W_])")


def fold(text: str) -> str:
    """Return a text in lower case and without accents, letter for letter."""
    return text.translate(_FOLDED)


def languages_of(folded: str) -> list[str]:
    """Return the languages in which a folded query may say when: with a word for it, or with a year."""
    words = set(_WORD.findall(folded))
    if any(word.isdigit() for word in words):
        return [language for language in _MEANINGS if language == "en" or words & _MEANINGS[language].keys()]
    meant = {language for word in words & _TELLING.keys() for language in _TELLING[word]}
    return [language for language in _MEANINGS if language in meant]


def pieces_of(folded: str) -> list[Part]:
    """Cut a query into words, numbers, dates and marks; what is quoted is a title, unless it is a date."""
    quoted = {place for match in _QUOTED.finditer(folded) for place in range(*match.span())}
    glue = {match.start() for match in _GLUE.finditer(folded)}
    parts = [_part(piece) for piece in re.finditer(_PIECE, folded) if piece.start() not in glue]
    return [part._replace(tag="x") if part.tag != "D" and part.start in quoted else part for part in parts]


def _part(piece: re.Match[str]) -> Part:
    start, end = piece.span()
    if piece["figures"]:
        days = _dated(piece["figures"])
        return Part("D" if days else "x", start, end, days=days)
    if piece["number"]:
        value = int(piece["number"])
        tag = "o" if piece["ordinal"] else "y" if _is_year(value) else "n"
        return Part(tag, start, end, value, value)
    return Part("w" if piece["word"] else piece["mark"] if piece["mark"] in ",." else ";", start, end)


def tagged(folded: str, pieces: list[Part], language: str) -> list[Part]:
    """Give the words and phrases of a query the tags they have in a language."""
    meanings = _MEANINGS[language]
    words = [folded[piece.start : piece.end] for piece in pieces]
    parts: list[Part] = []
    at = 0
    while at < len(pieces):
        part, size = pieces[at], 1
        if part.tag == "w":
            if words[at] in _OPENINGS:
                sizes = range(min(_LONGEST_PHRASE, len(words) - at), 1, -1)
                size = next((size for size in sizes if " ".join(words[at : at + size]) in meanings), 1)
            tag, least, most = meanings.get(" ".join(words[at : at + size]), _UNKNOWN)
            part = Part(tag, part.start, pieces[at + size - 1].end, least, most)
        parts.append(part)
        at += size
    return parts


def _dated(figures: str) -> Days | None:
    """Read a date in figures; 05/07/2023 is one day in Europe and another in America, so it is none here."""
    numbers = _NUMBER.findall(figures)
    marks = "".join(figures.translate(_WITHOUT_NUMBERS).split())
    values = [int(number) for number in numbers]
    if marks in ("..", "--", "//") and len(numbers[2]) == 4:
        day, month, year = values
        if marks != ".." and day != month and max(day, month) <= 12:
            return None
        values = [year, day, month] if month > 12 and marks != ".." else [year, month, day]
    elif marks not in _YEAR_FIRST or (marks == "-" and len(numbers[1]) != 2):
        return None
    year, month, day = (*values, 0, 0)[:3]
    if not _is_year(year) or month > 12 or (month == 0 and len(values) > 1):
        return None
    if len(values) < 3:
        return whole_months(year, month or 1, 1 if month else 12)
    return one_day(date(year, month, day)) if 0 < day <= days_in(year, month) else None


def _is_year(number: int) -> bool:
    """Say whether a number of four figures is likely to be a year."""
    return 1900 <= number < 2100


def one_day(day: date) -> Days:
    """Return a day as a run of one."""
    return day, day


def whole_months(year: int, month: int, count: int) -> Days:
    """Return the days of whole months; the first month may be counted beyond the year."""
    first, last = year * 12 + month - 1, year * 12 + month - 2 + count
    end = days_in(last // 12, last % 12 + 1)
    return date(first // 12, first % 12 + 1, 1), date(last // 12, last % 12 + 1, end)


def days_in(year: int, month: int) -> int:
    """Return how many days a month has; the standard calendar module would load all locales for it."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31
