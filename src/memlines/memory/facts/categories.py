"""Guess the category of a fact by its words, in English, Dutch, German, French, Spanish and Czech.

All languages are looked for at once, because people mix them. What is to be done comes first, because it
often names people and days; then what was decided, what somebody likes or always does, who is who, and what
happens on a day. Anything else that is a sentence is a plain fact.
"""

from __future__ import annotations

import re

from memlines.text import cues
from memlines.text.decisions import composed, is_decision
from memlines.text.facts import Category

_FEWEST_WORDS = 3


def _words(lines: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{_joined(lines)})(?!\w)")


def _opening(lines: str) -> re.Pattern[str]:
    return re.compile(rf"\W*(?:{_joined(lines)})(?!\w)")


def _joined(lines: str) -> str:
    """Return alternatives that are written on several lines as one pattern."""
    return "|".join([line.strip() for line in lines.splitlines() if line.strip()])


_TO_DO = _opening(
    r"""
    to-? ?do|fixme|reminder|open question|action item|next step|follow-?up|remind me|don't forget to
    (?:buy|ask|email|renew|cancel|pay|send|finish|write|prepare|submit|pick up|look into|reply|invite
    investigate)(?! (?:always|never|is|are|was))
    (?:call|mail|book|order|fix|review|schedule|check|clean|return|contact|plan|register|print
    collect) (?:an?|the|my|our|his|her|up|with|whether|if|for|out)
    nog (?:te )?doen|te doen|herinnering|actiepunt|open vraag|volgende stap|niet vergeten om
    noch (?:zu )?(?:tun|erledigen)|zu (?:tun|erledigen)|erinnerung|offene frage|nächster schritt|aufgabe
    à faire|rappel|reste à faire|question ouverte|prochaine étape|tâche
    (?:acheter|appeler|demander|envoyer|réserver|renouveler|annuler|résilier|commander|payer|écrire
    finir|préparer|vérifier|contacter|prévenir|réparer|relancer|inviter|imprimer|rendre)
    pendiente|recordatorio|por hacer|tarea|pregunta abierta|próximo paso
    (?:comprar|llamar|preguntar|enviar|reservar|renovar|cancelar|pedir|pagar|escribir|terminar|preparar
    revisar|contactar|avisar|arreglar|invitar|imprimir|devolver|entregar)
    úkol|připomenutí|udělat|koupit|zavolat|zaplatit|poslat|objednat|zařídit
    """
)
_ERRANDS = _joined("""
    kopen|bellen|vragen|boeken|verlengen|opzeggen|bestellen|betalen|sturen|schrijven|afmaken|voorbereiden
    regelen|controleren|kaufen|anrufen|fragen|buchen|erneuern|kündigen|bezahlen|schicken|schreiben
    fertigstellen|vorbereiten|prüfen|abholen|einreichen|reparieren
""")
_TO_DO_AT_END = re.compile(
    rf"(?:[^\W\d_][\w-]*,? ){{1,6}}(?:.{{0,40}} )?(?:{_ERRANDS})"
    r"(?: (?:voor|bij|met|om|für|bei|mit|bevor|vor) .*)?\W*$"
)
"""An errand in Dutch or German, where the verb stands at the end, without a subject."""
_SUBJECT = _words(
    r"""
    ik|we|wij|hij|zij|ze|je|jij|jullie|wordt|worden|kan|kunnen|moet|mag|zal|heeft|hebben|is|zijn|altijd
    nooit|alle
    ich|wir|er|sie|du|ihr|man|wird|werden|kann|können|muss|müssen|darf|soll|hat|haben|ist|sind|immer|nie
    niemals|stets|möchte|will|wil
    """
)

_DECIDED = _words(
    r"""
    we(?:'ve| have)? dropped|retiring|goin with|closed that discussion
    we (?:no longer|won't|will not)|switched to
    vervalt|we stoppen|stoppen we|we schrappen|goedgekeurd|geschrapt|definitief|overgestapt
    verworfen|gestrichen|vom tisch|wird eingestellt|genehmigt|verabschiedet|umgestiegen|abgeschafft
    gardera|est abandonnée?|partie?s? sur|validé|voté|reste sur|retenu|ne proposera plus|c'est acté|adopté
    se descartó|descartad[oa]|descartao|ya no vamos|lo votamos|aprobó|aprobado|se jubila|nos vamos con
    se acordó
    rozhodli|rozhodl[ao]?|rozhodnuto|rozhodnutí|vybrali|vybral[ai]?|zavrhli|shodl[ai]?|dohodli|domluvili
    upustili|schválil[ai]?|odhlasovali|převedli|přecházíme|zůstaneme u|zrušili jsme
    """
)

_LIKES = _words(
    r"""
    prefers?|preferred|preferably|likes?|loves?|hates?|dislikes?|detests?|loathes?|enjoys?|adores?
    can't (?:stand|bear)|cannot (?:stand|bear)|(?:would|'d) rather|i'd rather|favou?rites?|fond of|fan of
    wants?(?! to (?:know|see|ask))|insists? on|picky|keen on|vegan|vegetarian|pet peeve|on my nerves
    liever|het liefst|voorkeur|verkiest|houdt? (?:niet )?van|hou (?:niet )?van|haat|hekel aan|favoriet
    favoriete|lievelings\w+|wil|willen|vindt? .{1,40}(?:fijn|prettig|vervelend|lekker|mooi)
    bevorzug\w*|lieber|am liebsten|lieblings\w+|mag|mögen|hass\w{1,2}|liebt|vorliebe|möchten?|will|wünscht
    zieht .{1,60} vor|kann .{1,40} nicht (?:leiden|ausstehen)|favorit|finde ich|nichts für mich|nervt|nerven
    préf[èé]r\w+|préférées?|aim(?:e|ent|ons)|ador(?:e|ent|ons)|détest(?:e|ent|ons)|veu(?:t|x|lent)|horreur
    de préférence|plutôt que d|favorite?s?|ne supporte pas|souhaite|très peu pour moi|végé\w+
    prefier\w+|preferimos|preferid[oa]s?|gustan?|encantan?|odi(?:a|o|an)|detest(?:a|o|an)|favorit[oa]s?
    quier(?:e|o|en)|no soport(?:a|o)|no van conmigo|vegan[oa]|vegetarian[oa]
    radši|raději|nejradši|nejraději|má rád[ai]?|mám rád[ai]?|nemám rád[ai]?|nesnáší\w*|preferuj\w+
    oblíben\w+|chce|chci|nechci|neberou|na nervy
    """
)
_RULE = _words(
    r"""
    always|allways|never|whenever you|from now on|going forward|must (?:not )?|mustn't|as a rule|house rule
    one rule|only on|not allowed|forbidden|without exception|without a second|nothing gets
    everything goes through|convention is
    altijd|nooit|voortaan|va(?:naf nu|n nu af)|in het vervolg|verboden|uitsluitend|geen .{1,30} zonder
    afspraak is
    immer|nie|niemals|stets|künftig|ab (?:jetzt|sofort)|in zukunft|verboten|grundsätzlich|ausschließlich
    tabu|pflicht
    toujours|tjs|jamais|désormais|dorénavant|à l'avenir|à partir de maintenant|interdit|sans exception
    aucun .{1,30} sans|c'est la convention|systématiquement|uniquement
    siempre|nunca|jamás|a partir de ahora|de (?:ahora|aquí) en adelante|prohibido|sin excepción|sin emojis
    vždy|vždycky|vzdycky|nikdy|odteď|od teď|do budoucna|zásadně|jedině|bez výjimky|zakázáno
    """
)
_ORDER = _opening(
    r"""
    use|avoid|no|only|(?:don't|do not)(?! (?:forget|let))|prefer
    gebruik|vermijd|geen|alleen|noem|antwoord
    benutze?|verwende|nutze|vermeide|keine?|nur|nenn|antworte
    utilise[rz]?|évite[rz]?|pas d[e']|ne (?:pas|jamais)|seulement|n'utilise
    usar?|usad|evita[r]?|no (?:usar|uses|utilizar)|sin|solo|sólo
    používej|nepoužívej|žádné|jen|bez
    """
)

_PERSON = _words(
    r"""
    birthday|birth ?date|date of birth|born|(?:is|are|was) (?:called|named)|'s name is|names? (?:is|are)
    called|nicknamed
    phone(?: number)? (?:is|of|:)|mobile (?:is|number)|e-?mail(?: address)? (?:is|of)|extension|home address
    address (?:is|of)|lives at|postcode|iban|licen[cs]e plate|contact (?:is|person|at)
    reach(?:ed|able)? .{0,30}at
    verjaardag|jarig|geboren|geboortedatum|heet|heten|genaamd|naam is|telefoonnummer|mobiel|e-?mailadres
    adres|contactpersoon|kenteken|toestel|bereikbaar
    geburtstag|geburtsdatum|geboren|heißt|heißen|heisst|heissen|namens|name ist|telefonnummer|handynummer
    nummer|e-?mail-?adresse|adresse|anschrift|ansprechpartner(?:in)?|kennzeichen|erreichbar|durchwahl
    anniversaire|date de naissance|née?s? (?:le|en|à)|s'appelle(?:nt)?|se nomme|nommée?|nom est
    téléphone (?:de|est)|portable (?:de|est)|numéro de|adresse|courriel|mail (?:de|est)|contact (?:est|chez)
    joindre|poste
    cumpleaños|fecha de nacimiento|nació|nacid[oa]|se llaman?|llamad[oa]|nombre es
    (?:teléfono|móvil|tlf) (?:del?|es)|correo(?: electrónico)? de|dirección (?:del?|es)|contacto|matrícula
    extensión
    narozeniny|narozen[áý]?|jmenuj\w+|jménem|říkáme|telefon|adresa|e-?mail|kontakt|spz|bydliště|volá na
    """
)
_NAME = r"[A-ZÀ-ÖØ-ÞŁŚŠŽČŘ][\w'’-]+"  # noqa: RUF001
_RELATIONS = "|".join(
    (
        cues.ROLES,
        _joined(r"""
            dentist|plumber|landlady|vet|aunt|uncle|cousin|friend|grandmother|grandfather|nanny|coach|trainer
            parents?|supplier|tandarts|huisarts|broer|zus|moeder|vader|loodgieter|leverancier|vriend(?:in)?
            buur\w*|zahn(?:arzt|ärztin)|arzt|ärztin|bruder|schwester|mutter|vater|klempner|freund(?:in)?
            nachbar(?:in)?|lieferant(?:in)?|betreuer(?:in)?|dentiste|frère|sœur|mère|père|plombier|amie?
            voisine?|kiné|fournisseur|dentista|herman[oa]|madre|padre|fontanero|amig[oa]|vecin[oa]
            veterinari[oa]|proveedor(?:a)?|vedoucí|šéf(?:ová)?|bratr|sestra|matka|otec|zubař(?:ka)?
            doktor(?:ka)?|veterin[aá]ř|správce|účetní|dodavatel
        """),
    )
)
_TITLE = r"(?:(?:Dr|Mr|Mrs|Ms|Herr|Frau|Mme|M|Sr|Sra|Dra|dokter|mevrouw|meneer|pan|paní|MUDr)\.? )*"
_WHO = re.compile(
    rf"(?<!\w)(?:{_NAME}(?: {_NAME})* (?:is|are|ist|est|es|je|wordt|wird|becomes) (?:[\w'-]+ ){{0,4}}"
    rf"(?i:{_RELATIONS})(?!\w)"
    rf"|(?i:{_RELATIONS})(?: (?:at|of|bij|bei|von|chez|de|en|in|van|der|la|le|el|du) [\w ]{{1,30}}?)?"
    rf" (?:is|are|ist|est|es|je|c'est|heet) (?:now |nu |jetzt )?{_TITLE}{_NAME})"
)
"""Who somebody is to others: "Priya is our lead", "our dentist is Dr. Alvarez"."""

_IN_CHARGE = re.compile(
    rf"(?<!\w)(?!(?:The|An?|Our|My|De|Het|Een|Onze|Der|Die|Das|Unsere?|Le|La|Les|Un|Une|Notre|El|Los|Las)\b)"
    rf"{_NAME}(?: {_NAME})* (?:handles|looks after|leads|verzorgt|leitet|dirige|lleva|má na starosti"
    rf"|{cues.IN_CHARGE.pattern})"
)
CONTACTS = re.compile(
    r"(?<![\w.+-])[\w.+-]++@[\w-]++\.[\w.-]+\w"
    r"|(?<![\w.:/-])(?!\d{4}-\d\d-\d\d|\d+\.\d+\.\d)\+?\(?\d{2,4}\)?(?:[ /.-]?\d{2,4}){2,4}(?![\w:])"
)

_MONTHS = (
    r"(?:jan|feb|fév|mar|mär|maart|mrt|apr|avr|abr|mai|maj|may|mei|jun|juin|jul|juil|aug|aoû|ago|sep|set"
    r"|okt|oct|nov|dez|dec|déc|dic|led|úno|bře|dub|kvě|čer|srp|zář|říj|lis|pro)\w*"
)
_DATE = re.compile(
    rf"(?<![\w.,])(?:\d{{1,2}}(?:st|nd|rd|th|er)?\.? (?:de |of )?{_MONTHS}"
    rf"|{_MONTHS} \d{{1,2}}(?:st|nd|rd|th)?(?!\w)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}\.(?:\d{2,4})?|\d{1,2}/\d{1,2}/\d{2,4})"
)
_HAPPENS = _words(
    r"""
    due|deadline|expires?|appointment|takes place|starts?|ends?|begins?|anniversary|audit|surgery|conference
    wedding|is on
    uiterlijk|verloopt|loopt .{0,30}af|afspraak|vindt plaats|begint|eindigt|moet .{0,40} binnen zijn
    binnen zijn
    fällig|frist|läuft .{0,40}(?:ab|aus)|termin|findet statt|beginnt|endet|ansteht|abgabe|bis zum|am
    échéance|expire|à rendre|rendez-vous|a lieu|commence|se termine|date limite|avant le|tombe le|le
    vence|caduca|plazo|cita|tiene lugar|empieza|termina|antes del|el
    končí|začíná|termín|do|uzavřený
    """
)


def category_of(text: str) -> Category:
    """Return the category that fits a fact best."""
    words = composed(text)
    low = words.lower().strip()
    found: Category = "fact" if len(low.split()) >= _FEWEST_WORDS else "other"
    if _is_to_do(low):
        found = "other"
    elif is_decision(words) or _DECIDED.search(low):
        found = "decision"
    elif _LIKES.search(low) or _RULE.search(low) or _ORDER.match(low):
        found = "preference"
    elif (
        CONTACTS.search(low)
        or _PERSON.search(low)
        or _WHO.search(words)
        or _IN_CHARGE.search(words)
        or cues.CALLED.search(low)
    ):
        found = "entity"
    elif _DATE.search(low) and _HAPPENS.search(low):
        found = "other"
    return found


def _is_to_do(low: str) -> bool:
    if _TO_DO.match(low) or (low.endswith("?") and not re.search(r"[.!] ", low)):
        return True
    return _TO_DO_AT_END.match(low) is not None and not _SUBJECT.search(low)
