"""What makes a Dutch sentence worth keeping, and what speaks against it."""

from __future__ import annotations

_ASKED = {
    "start": r"""
        alsjeblieft|aub|svp|graag|ook|ok|oke|okay|hoi|hallo|hey|he|dus|en|maar|oh|o|nou|goed|prima|top
        bedankt|dank je
        dankjewel|ja|nee(?=,)|eigenlijk|sorry|nu(?=,)|dan(?=,)
        trouwens|overigens|tussen haakjes|nog (?:een|iets|wat)
        even|super
        nog een (?:dingetje|ding|puntje)|goedemorgen|goeiemorgen|in het algemeen|persoonlijk|eerlijk gezegd
        btw|ah|ach
        voordat (?:je|we|ik) \w+|voor de duidelijkheid|luister|kijk|weet je|ps|oja|o ja|oh ja|en dan nog
    """,
    "lead": r"""
        (?:{asking_to} )?{kept}(?: {aside})* ?(?:dat(?= )|:|[,\u2013\u2014-](?= ))
        (?:{asking_to} )?{kept}(?: {aside})* (?=(?:ik|mijn|we|wij|onze?|altijd|nooit) )
        (?:voor ik het vergeet|voordat ik het vergeet|ter info voor later|voor (?:later|de volgende keer)
        nieuwe (?:regel
        afspraak)|ter herinnering|notitie(?: voor later)?|voor in je geheugen|vaste regel
        huisregel)(?: ?[:,\u2013\u2014-]| (?=\w))
        (?:kun|kan|wil|zou) je(?: \w+){0,3} (?:onthouden|opschrijven|noteren
        bewaren)(?: {aside})* ?(?:dat(?= )|:)
        je (?:moet|mag|kunt)(?: \w+){0,2} (?:onthouden|weten|noteren)(?: {aside})* ?(?:dat(?= )|:)
    """,
    "asking_to": r"(?:kun|kan|wil|zou) je(?: \w+){0,3}|je (?:moet|mag|kunt)|ik wil dat je|alsjeblieft",
    "kept": r"""
        onthoud(?:t|en)?|vergeet niet|vergeet nooit|niet vergeten|noteer|schrijf(?: {aside})* op
        hou(?:d)? er rekening mee
        hou(?:d)? in (?:gedachten|je achterhoofd|het achterhoofd)|bewaar|sla(?: {aside})* op|denk er(?:aan
        om|(?: \w+)? aan)
        weet|knoop in je oren|leg vast|zet in je geheugen|maak een (?:notitie|aantekening)|prent je in
        let op
        hou(?:d)? rekening met het feit|wees je ervan bewust|neem mee
    """,
    "aside": r"""
        alsjeblieft|aub|svp|even|ook|goed|dit|dat(?= ?[:,])|het|maar|voor (?:later|de volgende keer|mij
        altijd|de toekomst)
        vanaf nu|voortaan|a\.u\.b\.|eens|nog|in je (?:geheugen|hoofd)|het volgende|dus
    """,
    "soft": r"""
        (?:ter info|fyi|ter informatie|voor de goede orde|even ter info|belangrijk|let wel|weetje
        je moet weten
        goed om te weten|kleine toelichting|context|over mij)(?: dat(?= )| ?[:,\u2013\u2014-])
    """,
    "tail": r"""
        (?:onthoud|noteer|bewaar|vergeet)(?: \w+)? (?:dat|dit|het)(?: {aside}| niet)*[.! ]*$
        (?:dat|dit) (?:mag|moet|kun) je (?:\w+ )?(?:onthouden|noteren|opschrijven)[.! ]*$
        voor de volgende keer[.! ]*$
        (?:schrijf|sla) (?:dat|dit|het)(?: {aside})* op[.! ]*$|hou(?:d)? (?:dat|daar) .{0,20}(?:rekening mee
        in gedachten)[.! ]*$
    """,
    "infinitive": r"te \w+n[.! ]*$",
    "unkept": r"""
        laat maar|niet nodig|hoeft niet|vergeet het|alleen een (?:test|voorbeeld)|maar een (?:test|voorbeeld)
        even testen
        niet (?:\w+ ){0,2}(?:te )?(?:onthouden|bewaren|noteren|opslaan|opschrijven)|onthou(?:d
        dt) (?:\w+ ){0,4}niet
        (?:ik|we) (?:weet|weten|herinner\w*) (?:\w+ ){0,3}(?:niet|nog)|weet je nog|herinner je|(?:ik
        we) (?:ben|zijn) .{0,30}vergeten
        vergeet (?:dat|dit|het|alles|wat|maar)(?! niet)|hoef(?:t)? je niet|hardop|brainstorm\w*|grapje
        geintje|ter plekke
        (?:ik|we) (?:kan|kunnen) (?:me|mij|ons) .{0,30}herinneren|nooit vergeten
        zal ik (?:altijd |nooit )?(?:onthouden|vergeten)|onthoudt
    """,
}

_KEPT = {
    "adverb": r"""
        altijd|nooit|meestal|graag|echt|ook|nog|alleen|zelf|trouwens|trouwns|eigenlijk|gewoon|liever|nu|al
        sowieso|steeds|zelden|vaak
        over het algemeen|in principe|sinds \w+(?: \w+)?|inmiddels|uiteindelijk|samen|definitief|allebei|dus
        juist
    """,
    "prefer": r"""
        liever|het liefst|liefst|(?:mijn|onze) (?:\w+ ){0,2}(?:voorkeur|lievelings\w*|favoriete)|favoriet
        voorkeur voor|hekel aan
        (?:ik|we|wij) (?:{adverb} )*(?:hou|houd|houden) (?:{adverb} |helemaal |wel |erg |meer )*(?:van
        niet van)
        (?:hou|houd) ik (?:{adverb} )*(?:niet )?van|(?:ik|we|wij) (?:{adverb} )*(?:haat|haten|verafschuw)
        ik (?:word|krijg) (?:\w+ )?(?:gek|kriegel|hoofdpijn) van
        (?:ik|we|wij) (?:{adverb} )*(?:wil|willen) (?!dat (?:je|de|het|dit)|(?:even|nu|weten|dit|die|deze
        een)|graag dat)(?:.{0,60} )?(?:altijd|nooit|geen|alleen)
        ik .{0,80}(?:altijd|nooit|geen|alleen) .{0,40}wil|(?:ik|we|wij) (?:gebruik|gebruiken|werk|werken
        drink|eet|lees|schrijf|koop|reis|neem|kies|doe|pak|draai) (?:\w+ )?(?:altijd|nooit|geen|alleen
        standaard|enkel|uitsluitend|zelden)|(?:gebruik|werk|drink|eet|lees|neem
        schrijf) ik (?:\w+ )?(?:altijd|nooit|geen|alleen|standaard)|(?:ik|wij|we) (?:eet|eten|drink|drinken
        rook|lust|lusten) (?:geen|nooit)
        (?:ik|mij|me) (?:vind|vinden) .{1,60}(?:fijner|prettiger|makkelijker|vreselijk|verschrikkelijk
        irritant)|ben (?:een|geen|dol|gek) (?:groot |grote )?(?:fan|liefhebber|op)
        (?:noem|spreek) (?:me|mij)|zeg maar (?:jij|je|gewoon)|da's veel (?:gemakkelijker|fijner|beter)
        doe (?:maar )?altijd|geef (?:me )?altijd|tutoyeer
        (?:kan|kunnen) (?:\w+ )?niet (?:tegen|uitstaan)|werkt (?:voor mij )?het beste|(?:irriteert|irriteren
        stoort|storen|ergert) (?:me|mij)|erger (?:me|ik me)|zeg (?:maar )?(?:gewoon )?\w+ tegen (?:mij|me)
    """,
    "moment": r"""
        (?:haat|hou(?:d)? van|vind|gek van|houd van|lust|hekel aan|voorkeur voor|wil|liever
        liefst) (?:ik )?(?:dit|dat|deze|die|jouw|je|het|hier|daar|zulke)(?! (?:liefst|soort))
        (?:deze|die|dit|dat|je|jouw) (?:\w+ )?(?:\w+ )?(?:vind|bevalt|lijkt)|de (?:eerste|tweede|derde
        laatste|vorige|nieuwe) (?:versie|optie|oplossing|variant)|hier hou ik van|versie|variant|optie
    """,
    "decide": r"""
        (?:we|wij|ik|team|directie|bestuur|is|zijn|werd|er|iedereen|hebben) (?:\S+ ){0,9}(?:besloten
        afgesproken|gekozen|overeengekomen|geschrapt|doorgehakt)|(?:besloten|afgesproken
        overeengekomen) (?:dat|om)|^(?:besloten|afgesproken|besluit)(?= ?[:,])|het besluit (?:is|was) (?:dat
        om|genomen)|(?:zijn|is|ben) (?:we |er )?(?:uiteindelijk |toch |dus )?voor .{1,40}gegaan
        (?:we|wij|het team) (?:{adverb} )*(?:gaan (?:{adverb} )*(?:voor|over|met|niet|geen|alles)
        stappen (?:{adverb} )*(?:over|af)|stoppen (?:{adverb} )*(?:met|definitief)|kiezen|houden het (?:bij
        op)|blijven bij|nemen|zetten in op|laten .{1,40}vallen|kozen
        schakelen (?:{adverb} )*over|bieden .{1,40}(?:niet meer|geen)|ondersteunen .{0,40}(?:niet meer
        geen))|het (?:wordt|is) .{1,30}geworden|van de baan|valt af|vallen af
    """,
    "changed": r"""
        (?:overgestapt|verhuisd|gemigreerd|overgezet|omgezet|herschreven|vervangen door|opgeheven
        uitgefaseerd|uitgezet|uitgeschakeld|afgeschaft|gesloten|geupgraded|bijgewerkt naar|overgegaan)
        sinds (?:vorige? (?:week|maand|jaar|zomer|winter)|januari|februari|maart|april|mei|juni|juli
        augustus|september|oktober
        november|december|kort|deze (?:week|maand)|een (?:week|maand|jaar)|begin|eind)|niet meer (?:bij|op
        in|met|via)|niet langer
    """,
    "onwards": r"""
        vanaf nu|voortaan|in het vervolg|van nu af aan|vanaf (?:vandaag|volgende \w+)|tot nader order
        in de toekomst|met ingang van|als (?:vaste )?regel|elke keer dat je|telkens als je
        wanneer je (?:code|iets|tekst)
    """,
    "self": r"""
        ik (?:{adverb} )*(?:spreek|woon|geef|fiets|kom uit|studeer|geef les|ben geboren|verhuis
        ben (?:{adverb} )*(?:allergisch|vegetari\w+|veganist\w*|diabeet|kleurenblind|linkshandig
        rechtshandig|doof|blind|slechthorend|zwanger|gehuwd|getrouwd|gescheiden|vrijgezel
        met (?:\w+)?verlof|dyslectisch|met pensioen|zelfstandig\w*|gepensioneerd|moslim|joods|afkomstig
        een? (?!beetje|held|eikel|fan|idioot)\w+|\d+ jaar|\w+(?:er|aar|ist|ster|eur|loog|arts|ant|ent
        kundige|man|vrouw|lid|zzp'er)(?: |$|[.,])))
        (?:zit|ben) (?:ik )?(?:\w+ ){0,3}(?:met|in|op) \w*verlof|ik (?:schrijf|programmeer|codeer) (?:in|met
        op)|(?:woon|werk|studeer) ik (?:{adverb} )*(?:in|bij|als|vanuit|op|\w+ dagen|parttime|deeltijds)
        ik werk (?:{adverb} )*(?:als|bij|in|voor|vanuit|thuis|\w+ dagen|parttime|deeltijds|halftijds
        van thuis|'s nachts|op (?:maan|dins|woens|donder|vrij|zater|zon)dag)
        (?:ik|we|wij) heb(?:ben)? (?:{adverb} )*(?:een |twee |drie |vier |geen |\d+ )?(?:\w+ )?(?:coeliakie
        diabetes|adhd|astma|epilepsie|dyslexie|migraine|allergie|\w*allergie|kind|kinderen|kids|kleuters
        zoons?|zonen
        dochters?|honden|hond|katten|kat|paard|broers?|zussen|zus|rijbewijs|auto|tweeling|poezen|poes|kippen
        kleinkinderen)
        allergisch (?:voor|aan)|intolerant\w*|(?:ik|mijn \w+) (?:kan|mag|verdraagt?) (?:geen|niet tegen)
        (?:mijn|onze) (?:\w+ )?(?:verjaardag|trouwdag|schoenmaat|maat|tijdzone|moedertaal|beroep|functie
        leeftijd|hobby|bloedgroep|werkdagen)
    """,
    "relation": r"""
        (?:vrouw|man|partner|vriendin|vriend|verloofde|zoon|dochter|kinderen|kind|kids|baby|broer|zus|zusje
        broertje|moeder|vader|mama|papa|ouders|oma|opa|tante|oom|neef|nicht|hond|kat|poes|paard|konijn|baas
        manager|collega|teamleider|teamlead
        team|klant|huisbaas|verhuurder|dokter|huisarts|tandarts|therapeut|boekhouder
        accountant|advocaat|huisgenoot|bedrijf|werkgever|mentor|leidinggevende|stagiaire?|assistente?
        trainer|leraar|juf|meester|dierenarts|oppas
        leverancier|hostingpartij|contactpersoon|contact|ontwerper|notaris|loodgieter|kapper|kinesist
        fysio\w*|schoonmoeder|schoonvader|schoonouders|tweeling|cto|ceo|eigenaar|provider|school|huisdier
        productowner|product owner|beheerder)
    """,
    "asset": r"""
        (?:\w*systeem|\w*servers?|\w*database|db|api|repo\w*|\w*site|domein|kantoor|stack|backend|frontend
        cluster
        budget|deadline|sprints?|product|project|afspraak|beleid|magazijn|bank|\w*winkel|webshop|vpn|netwerk
        printer|auto|fiets|huis|appartement|laptop|wifi|ci
        pipeline|back-?ups?|documentatie|codebase|app|platform|productie|staging|diensten?|dienst|facturatie
        facturen|boekhouding|tests?|machine|meetings|vergadering|overleg|stand-?up|releases?|export|taken
        certificaat|branch|klanten|tickets|module|omgeving|bestanden|scripts?|logs?|huur|verzekering
        contract)
    """,
    "steady": r"""
        (?:is|zijn|draait|draaien|staat|staan|gebruikt|gebruiken|begint|beginnen|eindigt|heeft|hebben|sluit
        opent|ligt|liggen|bestaat|bestaan|zit|zitten|kost|kosten|hoort|gaat|gaan|blijft|loopt|lopen|was
        wordt|worden|heet|heten|werkt|werken|moet|moeten
        ondersteunt|vereist|komt|komen|spreekt|spreken|woont|wonen|schrijven|mag|mogen|bewaren|luistert|valt
        hangt|zetten)
    """,
    "named": r"""
        (?:heet|heten|heette|genaamd|noemen)|(?:aanspreekpunt|verantwoordelijk|verantwoordelijke) (?:voor
        van) [\w ]{1,40} is|(?:mijn|me|m'n|onze?|ons) (?:[\w'-]+ ){0,3}{relation}(?: (?:bij|van|voor|voor de
        in) [\w ]{1,30}?)? (?:is|zijn|:) (?!een\b|het\b|de\b|niet|heel|erg|zo\b|altijd|nooit|in\b|op\b|ziek
        allergisch|te\b|aan\b|vegetar\w+|veganist)
        mijn naam is|ik heet|[\w-]+(?: \w+)? is (?:mijn|onze?|de) (?:[\w'-]+ ){0,2}{relation}|(?:de
        het) (?:\w+ )?{relation} (?:van|bij|voor) [\w ]{1,40} (?:is|:)|door \w+ (?:beheerd|gedaan|geregeld
        onderhouden)|[\w-]+ (?:beheert|regelt|is verantwoordelijk|gaat over|zorgt voor|leidt)
        (?:mijn|ons|onze|de|het|haar|zijn) (?:[\w'-]+ ){0,2}(?:e-?mail(?:adres)?|mailadres|mail
        telefoonnummer|nummer|adres|gebruikersnaam|iban|rekeningnummer|gsm|nummerplaat
        kenteken)(?: \w+){0,5} (?:is|:)
    """,
    "owned": r"""
        (?:mijn|m'n|onze?|ons) (?:[\w'-]+ ){0,2}{relation} (?:[\w'-]+ ){0,2}(?:studeert|rijdt|eet|drinkt
        draagt|kan|speelt|volgt|houdt)|(?:alleen|enkel|uitsluitend) (?:bereikbaar
        beschikbaar|toegankelijk|via|op|met|door|in|\w+ deployt)|gedeelde (?:agenda|map|schijf|mailbox)
        (?:mijn|m'n|me|onze?|ons) (?:[\w'-]+ ){0,4}{steady}|{steady} (?:mijn|onze?|ons) [\w-]+ (?!\w+ ?\?)
        (?:de|het|deze|alle|elke|iedere|hele) (?:[\w'-]+ ){0,3}{asset}(?: [\w'@.-]+){0,4} {steady}
        {steady} (?:de|het) (?:[\w'-]+ ){0,2}{asset}
        (?:in|voor|binnen|op) (?:deze|dit|ons|onze|mijn|de hele) (?:repo\w*|project|codebase|team|bedrijf
        kantoor|huis|gezin|code)|bij ons(?: op| thuis| in)?|op (?:kantoor|het werk|mijn werk)
        (?:we|wij) (?:{adverb} )*(?:gebruiken|deployen|hosten|releasen|draaien|vergaderen|bewaren|schrijven
        factureren|ondersteunen|volgen|hebben|werken|zitten|betalen|verkopen|testen|bouwen|loggen|zetten
        doen|zijn met|noemen|leveren) (?!het\b|dit|dat\b|een\b)
        (?:gebruiken|werken|draaien|hebben|zitten|schrijven|bewaren|vangen|testen|deployen|zetten
        noemen) (?:we|wij)
    """,
    "rule": r"""
        (?:we|wij|ik|je|jij|men|iedereen|niemand)(?: \w+){0,2} (?:altijd|nooit)
        ^(?:altijd|nooit)(?! (?:idee|zin|probleem|dank|nieuws|gedacht|geweten|meer gezien|een)) |(?:vangen
        gebruiken|doen|pushen|zetten|maken|testen|schrijven) (?:we|wij|ik)(?: \w+){0,4} (?:altijd|nooit
        geen)
        ^(?:gebruik|schrijf|antwoord|zet|noem|doe|maak|geef|deploy|commit|push|stuur|vraag|spreek
        vermijd)(?: \w+){0,6} (?:altijd|nooit)
    """,
    "habit": r"""
        ^alle [\w-]+ (?:gaan|zijn|worden|staan|moeten|schrijven|hebben|draaien)
        ^geen [\w-]+ (?:in|op|bij|voor|zonder|na) (?!de|dit|deze|het)
        (?:moet|moeten|mag|mogen|wordt|worden|hoort|horen)(?: \w+){0,4} (?:altijd|nooit|niet|verplicht
        verboden)
    """,
    "recurring": r"""
        elke (?:maan|dins|woens|donder|vrij|zater|zon)dag|iedere (?:maan|dins|woens|donder|vrij|zater
        zon)dag|elke (?:week|maand|nacht|ochtend|eerste|laatste)
    """,
    "due": r"""
        deadline|verloopt|loopt (?:\w+ ){0,4}af|verjaardag|jarig|trouwdag|trouwen
        wordt op \d|(?:is|zijn|begint|eindigt|vertrekt|staat|gepland|valt|gaat|moet|hebben
        heb)(?: \w+){0,4} (?:op|vanaf|tot|van|voor|uiterlijk|tegen) (?:\w+dag )?\d{1,2} (?:jan|feb|maa|apr
        mei|jun|jul|aug|sep|okt|nov|dec)\w*
        op \d{1,2} (?:jan|feb|maa|apr|mei|jun|jul|aug|sep|okt|nov|dec)\w*
    """,
}

_AGAINST = {
    "byway": r"trouwens|overigens|ter info|voor de goede orde|tussen haakjes|nog een dingetje|btw",
    "every": r"alles|iedereen|niemand|niets",
    "final": r"(?:definitief|voorgoed|voor altijd)",
    "thus": r"dus|daarom",
    "definite": r"de|het|een|alle|elke|onze?|mijn|in|op|bij|voor|productie|facturen",
    "plain": r"""
        (?:ik|wij|we) \w+ \w+|\w+ (?:ik|wij|we) \w+|(?:helft|meeste|deel) van (?:onze|mijn)
    """,
    "passing": r"""
        wil|willen|moet|moeten|kan|kunnen|zal|zullen|zou|zouden|denk|denken|weet|weten|vind|vinden|zie|zien
        krijg|krijgen
        probeer|proberen|heb|hebben|had|ben|was|waren|ga|gaan|kom|komen|snap|begrijp|bedoel|hoop|vraag|geloof
        zoek|mis
        slapen|welterusten|bedankt|dank|honger|lunch|even|straks|zo terug|net|nu|dit|dat|deze|die|dan|hier|je
        jij|jouw
        lach|huil|rammel|voel|snappen|doe|doen|maak|maken|laat|laten|zeg|zei|hoor|hoorde|weekend|vergeet|het
    """,
    "asks": r"""
        (?:hebben|willen|zullen|kunnen|moeten|gaan) (?:we|wij)
        wie|wat(?! (?:ik|mij|me) )|waar(?! (?:ik|we) )|waarom|hoe(?! (?:ik|wij) )|hoeveel|welke?
        wanneer (?:is|was|moet|kan|wordt|gaat|heb)|(?:kun|kan|wil|zou|moet|mag|heb|ben|weet|vind|denk|ken
        zie|snap|bedoel|zal|hoef|is|was|heeft|zijn|klopt|werkt|komt|gaat|bestaat) (?:je|jij|ik|we|wij
        u|jullie|het|er|dat|dit|de|een|iemand|ze|hij|men|onze|mijn)(?! (?:eerste|deze) )|(?:weet|kent) (?:je
        iemand)|stel|enig idee|ik vraag me af|benieuwd|sinds wanneer|herinner me|vraag(?:je)?(?= ?:)
        leg (?:eens )?uit|vertel|zeg eens|help je|zet je|lekker
    """,
    "unreal": r"""
        mocht(?:en)? (?:ik|we|wij)|in het geval dat|ook al zou
        stel dat|stel je voor|stel(?=,)|als (?:ik|we|wij|je|het) .{0,60}(?:zou|zouden|was|waren|had|hadden
        geweest)|zou(?:den)? .{0,40}(?:hebben|zijn|moeten|kunnen|willen|wonen|werken)|wat als|alsof
        doe alsof|hypothetisch|theoretisch|gesteld dat|denk je eens in|had ik|hadden we|laten we aannemen
        net alsof
    """,
    "condition": r"als(?= (?:ik|we|wij|je|jij|het|hij|zij|er|de|mijn|onze|dat|dit) )|indien|zodra",
    "doubt": r"""
        {unreal}|nooit (?:gezegd|gezien|gehoord|begrepen|gedacht|geweten)|misschien|wellicht|mogelijk|zou
        zouden|waarschijnlijk|vermoedelijk|weet (?:het )?niet
        geen idee|ik denk dat|twijfel|twijfelen|overweeg|overwegen|of ik|of we|blijkbaar|schijnt|lijkt
        hopelijk|hoop
        ooit|bijna(?! alle| altijd| nooit| allemaal| iedereen)|we zien wel|vroeger|tenzij|eventueel|ik geloof
        soms|nog niet (?:besloten|zeker)|haast
    """,
    "told": r"""
        (?:hij|zij|ze|men|mensen|iemand|{relation}|artikel|boek|docent|minister|auteur|documentatie|docs
        handleiding|\w+) (?:net |gisteren |altijd |ook |laatst )?(?:zei|zeggen|zegt|zeiden|beweert|beweerde
        schrijft dat|schreef|appte|mailde|vertelde|vertelt|vindt dat|meent|meende|denkt|dacht|raadt|roept
        riep|antwoordde|vroeg|tweette|stelt dat|stuurde)
        volgens|naar verluidt|las ik|ik las|ik hoorde|gelezen|gehoord dat|citaat|in (?:de film|het boek
        het artikel|de krant|het verhaal|het interview)|gezegde|personage|hoofdpersoon|in mijn roman
        spreekwoord
    """,
    "task": r"""
        (?:commit|start|bewaar (?:de|het)|sla|push|deploy|verplaats|hernoem|herstel|draai .{0,40}terug|maak
        los|configureer|valideer|documenteer|beperk|verklein|vergroot|splits|voer|laad|gebruik|gooi|wissel
        plaats)(?=\s)
        (?:ik (?:heb|had) .{0,60}nodig|ik (?:wil|zou)(?: \w+){0,2} (?:dat (?:je|de|het|dit|deze)|een|graag
        even)|ik zoek|ik probeer|kun je|kan je|wil je|zou je|help|maak|schrijf(?! .{0,60}(?:altijd|nooit))
        geef|toon|laat|zoek|vind|voeg|verwijder|hernoem|vervang|verander|pas|wijzig|los|fix|repareer
        vertaal|vat|leg uit|controleer|check|bekijk|kijk|test|draai|run|open|lees|verplaats|sorteer
        vergelijk|beschrijf|analyseer|ontwerp|probeer|begin|stop|ga|zet|stuur|installeer|bereken|bouw
        implementeer|genereer|refactor|haal|doe (?!maar altijd|altijd)|bedenk|leg|noem(?! me| mij)|neem
        laten we
        update|splits|plan|herschrijf|verbeter|corrigeer|rond|verhoog|werk .{0,40}bij|zorg|wis|lijst|kies
        combineer|optimaliseer|migreer|exporteer|schrap|zoek)
    """,
    "here": r"""
        in (?:deze|dit|die|dat) (?:functie|bestand|methode|klasse|test|script|geval|voorbeeld|query
        component|mail|brief|tekst|alinea|bericht|document|verhaal|gedicht)|deze keer|dit keer|op dit moment
        momenteel|nu even|vandaag|vanavond|vanochtend|vanmorgen|vanmiddag|hierboven|hieronder|zojuist
        daarnet|net (?:klaar|gedaan|gepusht)
        (?:deze|die) (?:fout\w*|bug|functie|test|code|regel|versie|melding|knop|pagina|film|aanpak
        oplossing)|dit (?:bestand|antwoord|script|probleem)|al de hele|zo moe|de hele (?:dag|ochtend|middag
        avond)|even geen|eerst even|voorlopig|tot nu toe
    """,
    "vague": r"""
        het(?= (?:is|was|werkt|wordt|moet|kan|gaat|lijkt|heeft|mag|staat))|dit|dat|die|deze|ze|hij|zij|er
        daar|hier|zo|jij|je|u|pff+|bah|jakkes|argh|wow|oei|tja
    """,
    "state": r"""
        in de file|doodop|uitgeput|hoofdpijn(?! van)|slaap|doorweekt|zenuwachtig
        regel \d+|slaagt|tot (?:morgen|straks|later)|naar huis|onderweg|heerlijk|wachten|te laat|typ dit
        over (?:vijf|tien|\d+) minuten|op dit moment
        kapot|stuk|faalt|falen|mislukt|crasht|crash\w*|traag|langzaam|werkt niet|werken niet|doet het niet
        fout|fouten|foutmelding\w*|verkeerd|leeg|rood|vast(?:gelopen)?|raar|vreemd|rommel|moe|honger|ziek
        druk|gestrest|gek|klaar|bezig|blij|boos|verdrietig|geirriteerd|bang|geweldig|vreselijk|mooi|leuk
        grappig|goed gedaan
        huilt|zo terug|net (?:met|gegeten|geluncht|terug|klaar|even|een)|puinhoop|zooitje|bende|lek
        geheugenlek|null|undefined|exception|time-?out|bug|bugs|hangt|lekt
        geeft (?:een )?(?:fout|error|lege|null)|error|probleem|plotseling|opeens|ineens|ontbreekt|ontbreken
        dubbel|twee keer|verdwijnt|gooit|retourneert|hoofd|pijn|hersenen|worden nooit|geen zin|verschijnt
        hapert|knippert|springt|reageert niet
    """,
}

WORDS = _ASKED | _KEPT | _AGAINST
