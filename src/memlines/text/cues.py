"""Words that tell what should last of a conversation, in English, Dutch, German, French and Spanish.

They are looked for in lower case and composed Unicode. Each kind is one pattern for all languages, because
people mix them; a word that is harmless in one and frequent in another stands with its neighbours.
"""

from __future__ import annotations

import re


def _cue(*parts: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(parts)})(?!\w)")


DECISION = _cue(
    r"(?:we|i)(?:'ve| have)? (?:just |now |finally )?(?:decided|agreed|chose|chosen|settled on|picked|opted)",
    r"decision ?:|(?:the|our) decision (?:is|was)|it's decided|agreed[,:]",
    r"(?:is|are|was|were) (?:decided|agreed)",
    r"(?:we're|we are) (?:now )?(?:dropping|switching|moving to|going with|keeping|migrating)",
    r"(?:we|wij|ik) (?:hebben|heb) .{0,60}?(?:besloten|gekozen|afgesproken)|is besloten|afgesproken ?[,:]",
    r"het besluit (?:is|was)|besluit ?:|(?:we|wij) (?:nemen|kiezen voor|houden|stappen over|schakelen over)",
    r"(?:we|wij) (?:gaan voor|stoppen met|blijven bij|gebruiken voortaan|zetten in op)",
    r"(?:wir|ich) haben? .{0,60}?(?:entschieden|beschlossen|vereinbart|geeinigt|gewählt)|beschlossen ?[,:]",
    r"(?:beschluss|entscheidung|abgemacht|ausgemacht|vereinbart) ?:|es bleibt (?:bei|dabei)",
    r"wir (?:nehmen|behalten|streichen|wechseln|bleiben bei|steigen|entscheiden uns|gehen mit)",
    r"wir setzen .{0,30}auf",
    r"(?:nous avons|on a|j'ai) (?:finalement |donc )?(?:décidé|choisi|convenu|opté|retenu)|décision ?:",
    r"on (?:part sur|part avec|prend|garde|passe à|passe sur|reste sur|abandonne|arrête|choisit)",
    r"nous (?:prenons|gardons|passons à|choisissons|abandonnons)|c'est (?:entendu|décidé|convenu)",
    r"(?:hemos|he|se ha) (?:finalmente )?(?:decidido|elegido|acordado|quedado en|optado)|decisión ?:",
    r"decidimos",
    r"(?:nos quedamos|vamos) con|(?:pasamos a|elegimos|optamos por|seguimos con|acordamos|queda decidido)",
    r"dejamos de|de acuerdo[,:]|quedamos en",
)

INTENT = _cue(
    r"let's (?:use|go with|go for|stick with|stick to|keep|take|switch|drop|move to|pick|call|stay with)",
    r"(?:we'll|we will|we're going to|we are going to) (?:use|go|keep|stick|switch|drop|move|take|stay)",
    r"laten we .{1,60} (?:gebruiken|nemen|houden|kiezen|doen)|we gaan .{1,40} gebruiken|we gebruiken",
    r"lass(?:t)? uns .{1,60} (?:nehmen|verwenden|behalten|nutzen)|wir (?:verwenden|nutzen|benutzen)",
    r"(?:on|nous) (?:utilise|utilisons|va utiliser|allons utiliser|va prendre)",
    r"(?:usaremos|usamos|vamos a usar)",
)
"""What is a decision if the user says it; an assistant speaks like that of its next step."""

PREFERENCE = _cue(
    r"(?:i|we) (?:really |usually |strongly |much )?(?:prefer|hate|dislike|can't stand)",
    r"(?:i|we) (?:really |usually )?(?:like|love) (?!the|this|that|these|those|your|it|how|what|where)",
    r"(?:i|we) (?:do not|don't|never) want|i want (?!you to|to)|i'd rather|my favou?rite",
    r"i always (?:use|want)",
    r"the (?:customer|client|team|boss|user|board) (?:wants|prefers|insists on|needs|likes|expects)",
    r"from now on|going forward|must (?:always|never)|should (?:always|never)|allergic to",
    r"please (?:always|never|don't|do not|avoid|use)|i am (?:a )?(?:vegan|vegetarian)",
    r"i'm (?:a )?(?:vegan|vegetarian)",
    r"ik (?:wil (?!dat je|even|nu|graag dat je)|heb liever|hou van|hou niet van|haat|gebruik liever)",
    r"liever|het liefst",
    r"voorkeur|voortaan|in het vervolg|vanaf nu|moet altijd|mag nooit|allergisch voor|de klant wil",
    r"ich (?:bevorzuge|mag|hasse|hätte gern|möchte (?!dass du)|ziehe .{1,40} vor)|ich will (?!dass)",
    r"am liebsten|lieber",
    r"künftig|in zukunft|ab (?:jetzt|sofort)|bitte .{0,60}(?:immer|nie|niemals|stets|keinen?)",
    r"allergisch gegen",
    r"muss immer|darf nie|der kunde will|der kunde möchte",
    r"je (?:préfère|déteste|souhaite|n'aime pas|ne veux (?:pas|plus)|veux (?!que tu)|voudrais (?!que tu))",
    r"dorénavant|désormais|à partir de maintenant|à l'avenir|doit toujours|ne doit jamais|allergique",
    r"le client (?:veut|préfère|demande)",
    r"(?:yo )?(?:prefiero|preferimos|odio|detesto|no quiero|quiero (?!que))|(?:no )?me gusta",
    r"a partir de ahora",
    r"de ahora en adelante|en adelante|debe siempre|nunca debe|alérgic[oa]",
    r"el cliente (?:quiere|prefiere|pide)",
)

STANDING = re.compile(
    r"^(?:(?:and|but|so|also|please|en|maar|dus|graag|und|aber|bitte|et|mais|aussi|y|pero|por favor),? )*"
    r"(?:(?:always|avoid|never(?! (?:mind|seen|heard))"
    r"|(?:don't|do not)(?! (?:worry|know|think|hesitate|understand|see|get|have|need|remember|work|care"
    r"|like|want|forget)))(?!\w)"
    r"|(?:gebruik|schrijf|antwoord|zet|noem|doe|maak|geef|deploy|commit)\b.{0,80}\b(?:altijd|nooit|geen)\b"
    r"|(?:nooit|altijd|nie|niemals|immer|jamais|toujours|nunca|siempre)(?!\w)"
    r"|(?:benutze?|verwende|nutze|schreib(?:e)?|antworte|nenne?|setze?|mach(?:e)?|gib)\b.{0,80}"
    r"\b(?:immer|nie|niemals|stets|keine?)\b"
    r"|(?:utilise|écris|réponds|mets|fais|emploie|appelle|donne)\w*\b.{0,80}\b(?:toujours|jamais)\b"
    r"|(?:n'|ne )\w+ (?:jamais|plus)\b"
    r"|(?:usa|utiliza|escribe|responde|pon|haz|llama|da|contesta)\b.{0,80}\b(?:siempre|nunca)\b"
    r"|no (?:uses|utilices|escribas|pongas|hagas)\b)"
)
"""A lasting order stands at the beginning of its sentence: "it never works" is none."""

REMEMBER = _cue(
    r"remember(?: that| to|,| ?:)|please note|note(?: that| ?:)",
    r"(?<!to )(?<!ll )(?<!ly )(?<!also )(?:keep|bear) in mind|for the record",
    r"(?<!i )don't forget|do not forget|fyi|important ?:|just so you know|for (?:later|reference) ?:",
    r"onthoud|vergeet niet|denk (?:eraan|erom)|let op ?:|ter info|belangrijk ?:|noteer",
    r"merke? dir|denke? (?:daran|dran)|nicht vergessen|vergiss nicht|zur info|wichtig ?:|notiere?",
    r"retiens|souviens-toi|rappelle-toi|n'oublie(?:z)? pas|ne (?:faut )?pas oublier|pas oublier|à noter",
    r"notez? que|pour info|important ?:",
    r"recuerda(?: que)?|acuérdate|no (?:te )?olvides?|no (?:hay que )?olvidar|ten en cuenta|toma nota|anota",
    r"importante ?:|para que conste",
)

TODO = _cue(
    r"to-?do ?:?|action items?|(?:i|we) (?:still|also) (?:need|have) to|(?:needs|has) to be done|remind me",
    r"follow up (?:with|on)|open point|next step ?:",
    r"actiepunt|herinner me|(?:ik|we) moet(?:en)? .{0,80}\bnog|moet(?:en)? nog|nog te doen|volgende stap ?:",
    r"erinnere? mich|(?:ich muss|wir müssen) .{0,80}\bnoch|noch zu (?:tun|erledigen|klären)|offener punkt",
    r"à faire ?:|rappelle-moi|reste à|il reste à|prochaine étape ?:",
    r"pendiente ?:|recuérdame|falta por|queda por|próximo paso ?:|tarea ?:",
)

DUTY = _cue(
    r"(?:i|we|he|she|they) (?:need|needs|have|has) to|(?:i|we) must|(?:ik|we|hij|zij) moet(?:en)?|moeten we",
    r"ich muss|wir müssen|ich soll|je dois|(?:il|on) (?:faut|doit)|nous devons|tengo que|hay que",
    r"tenemos que|debo",
)
"""Something to be done, which is worth keeping only with a day or a name."""

EVENT = _cue(
    r"deadline|due|demo|meeting|call with|release|launch|delivery|appointment|exam|audit|interview|go-live",
    r"(?:contract|licen[cs]e|subscription|certificate|trial|domain)s?|ends?|expires?|starts?|birthday",
    r"holiday",
    r"vacation|wedding|conference|workshop|review|flight|trip|moving",
    r"oplevering|afspraak|vergadering|verjaardag|loopt af|verloopt|vakantie|livegang|begint|eindigt",
    r"abgabe|termin|besprechung|geburtstag|läuft .{0,40}aus|endet|beginnt|urlaub|lieferung|frist|prüfung",
    r"livraison|réunion|rendez-vous|anniversaire|expire|échéance|vacances|mise en production|commence",
    r"prévue?",
    r"entrega|reunión|cita|cumpleaños|vence|caduca|plazo|vacaciones|lanzamiento|empieza|termina",
    r"by|before|until|vóór|voor|uiterlijk|bis|vor dem|avant|d'ici|antes del?|hasta",
)

WEEKDAY = _cue(
    r"(?<!last )(?<!past )(?:mon|tues|wednes|thurs|fri|satur|sun)day|tomorrow|morgen",
    r"(?<!vorige )(?<!afgelopen )(?:maan|dins|woens|donder|vrij|zater|zon)dag",
    r"(?<!letzten )(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|demain|mañana",
    r"(?:(?:lun|mar|mercre|jeu|vendre|same)di|dimanche)(?! dernier)",
    r"(?:lunes|martes|miércoles|jueves|viernes|sábado|domingo)(?! pasado)|next (?:week|month)",
    r"volgende week|nächste woche",
)

QUANTITY = _cue(
    r"(?:rate )?limits?|budget|quota|price|costs?|fee|port|timeout|retention|threshold|capacity|salary",
    r"limiet|prijs|kosten|kost|poort|drempel|bewaartermijn|preis|kostet|grenze|schwelle|frist",
    r"limite|prix|coûte|seuil|délai|límite|presupuesto|precio|cuesta|umbral|puerto|plazo",
)

FINDING = _cue(
    r"(?:root )?cause (?:was|is)|turned out (?:that|to be)|the (?:problem|bug|issue|culprit) was|the fix was",
    r"oorzaak (?:was|is)|bleek (?:een|te|dat)|het probleem was|lag (?:aan|an)|kwam door",
    r"ursache (?:war|ist)|stellte sich heraus|das problem war|der fehler war",
    r"la cause (?:était|est)|le problème (?:était|venait)|s'est avéré|la causa (?:era|fue|es)",
    r"el problema (?:era|fue)",
    r"resultó (?:que|ser)|se debía a",
)

PLACE = _cue(
    r"(?:lives?|live|stored|saved|kept|located|is|are|goes|go|found) (?:in|at|under|on)",
    r"staa[nt]|staan|ligt|liggen|bewaard|liegt|liegen|steht|stehen|befindet sich|gespeichert",
    r"se trouvent?|est (?:dans|sous)|sont dans|está(?:n)? en|se encuentra|vive en",
)

MADE = re.compile(
    r"^(?:(?:i|we)(?:'ve| have)? (?:now |just )?)?(?:created|wrote|written|added|saved|generated|moved"
    r"|renamed)\b"
    r"|^ik heb .{0,80}\b(?:aangemaakt|gemaakt|geschreven|verplaatst|toegevoegd|opgeslagen)\b"
    r"|^ich habe .{0,80}\b(?:angelegt|erstellt|geschrieben|verschoben|hinzugefügt|gespeichert)\b"
    r"|^j'ai (?:créé|écrit|ajouté|enregistré|déplacé|renommé)\b"
    r"|^he (?:creado|escrito|añadido|guardado|movido|renombrado)\b"
)
"""How somebody says that a file is there now."""

ROLES = "|".join(
    (
        r"lead|manager|owner|engineer|developer|designer|boss|cto|ceo|cfo|coo|director|head of|accountant",
        r"colleague|assistant|officer|contact|client|customer|intern|admin|wife|husband|partner|son|daughter",
        r"analyst|architect|consultant|freelancer|teacher|neighbou?r|landlord|brother|sister|mother|father",
        r"doctor|lawyer|baas|collega|beheerder|eigenaar|ontwikkelaar|ontwerper|klant|boekhouder|stagiair",
        r"verantwoordelijke|hoofd|leidinggevende|contactpersoon|zoon|dochter|vrouw|man|arts|advocaat",
        r"chef(?:in)?|\w*leiter(?:in)?|kollege|kollegin|\w*entwickler(?:in)?|kund(?:e|in)|sohn|tochter",
        r"frau|mann",
        r"ansprechpartner(?:in)?|\w*beauftragter?|buchhalter(?:in)?|steuerberater(?:in)?",
        r"verantwortliche[rn]?",
        r"cheffe?|responsable|collègue|développeu(?:r|se)|cliente?|comptable|directeur|directrice|gérante?",
        r"avocate?|fils|fille|femme|mari|médecin|jef[ea]|compañer[oa]|desarrollador(?:a)?|contable",
        r"directora?",
        r"encargad[oa]|abogad[oa]|gestora?|dueñ[oa]|hij[oa]|mujer|marido|médic[oa]",
    )
)
"""What people are to each other; part of a pattern with a name beside it."""

CALLED = _cue(
    r"my name is|you can call me|ik heet|mijn naam is|noem me|ich heiße|mein name ist|nenn mich",
    r"je m'appelle|appelle-moi|me llamo|llámame|mi nombre es",
)

IN_CHARGE = _cue(
    r"owns|is responsible for|takes care of|is in charge of|maintains|beheert|is verantwoordelijk",
    r"regelt|kümmert sich um|ist (?:zuständig|verantwortlich) für|betreut|pflegt",
    r"s'occupe de|est responsable de|gère|se encarga de|es responsable de|gestiona",
)

HEDGE = _cue(
    r"maybe|perhaps|might|could|probably|what if|not sure|i guess|(?:i )?don't know|no idea|wondering",
    r"would be nice",
    r"misschien|wellicht|zouden? .{0,30}kunnen|kunnen we|stel dat|weet (?:het )?niet|geen idee|we zien wel",
    r"vielleicht|könnten?|könntest|was wäre|keine ahnung|weiß (?:ich )?nicht|eventuell|mal sehen|wäre es",
    r"peut-être|pourrait|pourrions|et si|aucune idée|(?:je )?ne sais pas|on verra|éventuellement",
    r"quizás?|tal vez|podríamos|podría|y si|ni idea|no sé|ya veremos|a lo mejor",
)

NARRATION = re.compile(
    r"^(?:(?:ok(?:ay)?|sure|great|now|first|next|then|so|well|right|perfect|goed|prima|gut|also|bien"
    r"|bueno)[,.!:]* )*"
    r"(?:let me|let's (?:look|see|check|start|first|begin|run|open|try)|i'll|i will|i'm (?:going|now)"
    r"|i am (?:going|now)"
    r"|i (?:can|could|see|think|found|checked|ran|have (?:run|checked))|we (?:need to|can|could|should"
    r"|have to|must)"
    r"|looking at|running|checking|reading|here(?:'s| is| are)|you (?:can|could|may|might|should)"
    r"|this (?:is|must|will)"
    r"|these are|there (?:is|are)|of course|would you"
    r"|ik (?:ga|kijk|zie|zal|open|controleer)|laat me|laten we (?:eens|eerst|kijken)|hier(?:onder)? (?:is"
    r"|staan|volg)"
    r"|je kunt|je kan|u kunt|dit is|we (?:kunnen|moeten)"
    r"|ich (?:schaue|werde|öffne|sehe|prüfe|führe|kann|starte)|lass (?:mich|uns (?:erst|mal))|hier (?:ist"
    r"|sind)"
    r"|(?:du|man|sie|wir) (?:kannst|kann|können|müssen)|das ist|zuerst"
    r"|je (?:regarde|vais|vérifie|lance|peux|vois)|laissez?-moi|voici|(?:vous|tu|on) (?:pouvez|peux|peut)"
    r"|ceci est"
    r"|(?:primero )?(?:miro|voy a|veo|abro|déjame|compruebo)|aquí (?:está|están|tienes)|puedes"
    r"|se puede[ns]?|esto es)"
    r"(?!\w)"
)
"""How an assistant begins to tell what it does, or what one could do."""

QUESTION = re.compile(
    r"^(?:¿|why|how come|can (?:you|we|i)|could (?:you|we|i)|would you|do (?:you|we|i)|does|did|is (?:it"
    r"|there)|are there"
    r"|should (?:i|we)|what(?:'s| is| if| about)|waarom|kun je|kan je|kunnen we|wil je|hoe kan|wat als"
    r"|stel dat"
    r"|warum|wieso|kannst du|können wir|könntest|was wäre|soll ich|pourquoi|(?:est|qu'est)-ce|peux-tu|tu peux"
    r"|et si|(?:y )?por qué|puedes|podrías|y si)(?!\w)"
)

COMMAND_TO_MODEL = re.compile(
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|rules)\b|system prompt"
    r"|developer message|you are now\b|(?:do not|don't) (?:tell|inform) the user|<\|"
)
"""What poisons a memory: orders to whatever model reads it later."""
