"""How people ask and talk about the past in Dutch, and what stands around a wish."""

from __future__ import annotations

_PAST = {
    "asking": r"""
        wat|welke?|wanneer|waar|waarom|wie|wiens|hoe|hoeveel|waarover|waarvoor|waarmee|waarop|waartoe|waarin
        hoezo|of
        (?:heb|hebben|had|hadden|is|was|waren|zijn|weet|kun|kan|kunt|staat|ligt|bestaat|hebt|heeft|herinner)
        (?:vertel|zeg|laat|geef|vat|som|zoek|kijk|check|lees|praat)(?: \w+)?
        (?:sinds|tot|vanaf|voor|op|in|met|bij|aan|naar|van|over|uit|onder|tegen|volgens) (?:wanneer|wat
        welke?|wie)
    """,
    "recall": r"""
        weet (?:je|jij|u|jullie) (?:\w+ )?nog
        (?:herinner|herinnert) (?:je|jij|u|jullie) (?:je|zich|u)?
        (?:kun|kan|kunt) (?:je|jij|u) (?:je|zich|u) … herinneren
        (?:kun|kan|kunt|wil|wilt) (?:je|jij|u) (?:me|mij|ons) … (?:herinneren aan|eraan herinneren
        helpen herinneren) (?!te )
        (?:help me|help mij) … herinneren|(?:herinner|herinnert) (?:me|mij|ons) (?:\w+ )?(?:aan|eraan) (?:de
        het|wat|welke|wie|waarom|hoe|onze|mijn|waar)
        wat (?:weet|herinner) (?:je|jij|u) (?:je )?(?:nog|uit|over|van)
        voor zover (?:je|u) (?:nog )?weet
        (?:kun|kan|kunt|wil) (?:je|jij|u) (?:me|mij) … helpen herinneren
        (?:help|herinner) (?:me|mij|ons) (?:{fill} |eens )*(?:te )?herinneren|help me (?:{fill} )*op weg
    """,
    "lookup": r"""
        (?:zoek|kijk|check|duik|blader|raadpleeg
        spit)(?: {fill}| eens| in| door| op)* (?:in |door |op )?(?:je|jouw|uw|mijn|onze) (?:\w+ )?{stock}
        (?:volgens|uit) (?:je|jouw|uw|mijn|onze) (?:\w+ )?{stock}
        zoek (?:even |eens )?(?:op |terug )?(?:wat|welke|waarom|wanneer|hoe|wie) … (?:we|wij|ik)
        (?:zoek|kijk|check|blader
        lees)(?: {fill}| eens| in| door| terug)*(?: in| door)? (?:de |onze |mijn )?(?:oude|eerdere|vorige
        vroegere) (?:gesprekken|sessies|notities|chats)
        (?:haal|zoek|pak|roep)(?: {fill}| eens)* (?:ons|onze|mijn) (?:\w+ )?(?:eerdere?|oude
        vorige)? ?(?:besluit(?:en)?|afspraken?|notities|beslissing(?:en)?|conclusies?|gesprek(?:ken)?)
    """,
    "remind": r"""
        (?:herinner|help) (?:me|mij|ons)|fris mijn geheugen op|praat (?:me|mij) bij|vat … samen
        geef (?:me|mij) … samenvatting|ververs mijn geheugen
        ik ben terug(?: van)?|net terug van|hoe stond het|waar staan we
    """,
    "shared": r"""
        (?:hebben|hadden|zijn|waren|zouden|wilden|moesten) (?:we|wij) … {participle}
        (?:heb|had|ben) ik … (?:gezegd|verteld|genoemd|gegeven|gekozen|besloten|doorgegeven|uitgelegd
        afgesproken|gevraagd|gemeld|beloofd|opgegeven)
        (?:we|wij) … {participle} (?:hebben|hadden|zijn|waren)
        ik … (?:gezegd|verteld|genoemd|gegeven|gekozen|besloten|doorgegeven|uitgelegd|afgesproken|gevraagd
        gemeld|beloofd|opgegeven) (?:heb|had)|ik (?:heb|had) … (?:gezegd|verteld|genoemd|gegeven|gekozen
        besloten|doorgegeven|uitgelegd|afgesproken|gevraagd|gemeld|beloofd|opgegeven)
        (?:we|wij) (?:hebben|hadden) … {agreed}
        (?:besloten|kozen|koos|spraken|bespraken|zeiden|zei|wilden|zouden|gingen|hadden|bepaalden|noemden
        stapten|gebruikten|vonden|bleven|namen) (?:we|wij)|(?:koos|zei|besloot|wilde|noemde) ik
        (?:we|wij|ik) (?:besloten|kozen|koos|bespraken|zeiden|zei|wilden|zouden|bepaalden|noemden)
        sinds wanneer … (?:we|wij)
        waar waren (?:we|wij)|ik (?:je|jou) (?:vertelde|zei|gaf)
        (?:was|waren|is) (?:er )?(?:bij ons |tussen ons )?(?:ons|onze|de|het|een) (?:\w+ ){0,2}(?:besluit
        afspraak|afspraken|conclusie|beslissing|argument|reden|keuze)
        {agreed}
        wat (?:stond|lag|stonden|lagen) er (?:nog )?(?:open|bij ons)?
        nog (?:open|te doen) (?:stond|stonden|staat)
        (?:zijn|waren) (?:we|wij) (?:ook ?al ?weer )?(?:gebleven|geëindigd|gestopt)
        welke (?:regels|instructies|afspraken|voorkeuren) heb ik|wilde(?:n)? (?:\w+ ){0,3}(?:houden|hebben)
        (?:hoe|wat) heette(?:n)?
        was (?:de |het |onze |ons )(?:\w+ )?(?:reden|gedachte|idee|motivatie|argument|overweging|afweging
        logica)(?:en)? (?:achter|voor|om|waarom|dat|tegen|van)|hadden we … niet al
        (?:kwamen|gingen|deden|zaten|stonden|hielden|lieten|schreven|werden|zetten|losten|bouwden|maakten
        legden|\w{3,}(?:den|ten)) (?:we|wij)
    """,
    "participle": r"""
        (?:\w+)?ge\w{2,}(?:d|t|n)|(?:be|ver|ont|her|over)\w{2,}(?:d|t|en)|staan|zitten|laten|doen
    """,
    "ago": r"""
        gisteren|eergisteren|laatst|destijds|toen(?:tertijd)?
        vorige (?:week|keer|maand|jaar|sessie|sprint|kwartaal|\w+dag)
        (?:de |het |in )?(?:vorige?|afgelopen|laatste|eerdere) (?:\w+ )?{session}
        afgelopen (?:week|maand|jaar|zomer|winter|\w+dag|tijd)
        (?:een|\w+) (?:dagen?|weken|week|maanden?|jaar|tijd(?:je)?|sprints?) (?:geleden|terug)|eerder
        onlangs|tot nu toe|vanochtend|indertijd|vroeger
        in (?:januari|februari|maart|april|mei|juni|juli|augustus|september|oktober|november|december)
        uit eerdere|voor de vakantie
    """,
    "again": r"(?:ook )?al ?weer|ook weer|nou weer|weer eens|nog maar weer|eigenlijk ook",
    "ours": r"we|wij|ik|onze?|mijn|ons|m'n",
    "definite": r"de|het|die|dat|deze|dit",
    "unknown": r"""
        (?:ik|we|wij) (?:weet|weten|herinner|herinneren) … (?:niet|niks)(?: meer)?
        (?:ik )?(?:ben|was) (?:\w+ ){0,2}(?:vergeten (?:wat|welke?|wie|of|hoe|waar|wanneer|waarom|waarvoor)
        kwijt)|(?:is|ben) me (?:\w+ )?ontschoten|kan (?:ik )?me … niet … herinneren|ik ben .{0,30} kwijt
        (?:weet|herinner) ik (?:\w+ )?niet(?: meer)?
    """,
    "preference": r"""
        (?:wat|welke|som|noem|toon|vertel) .{0,30}(?:mijn|onze) (?:\w+ )?(?:voorkeur|voorkeuren|afspraken
        afspraak|besluiten|beslissingen|conventies?|gewoonte)
        gebruik(?:en)? (?:ik|we) (?:meestal|normaal|gewoonlijk|altijd)|heb ik het liefst|heb ik liever
        (?:welke|wat voor) afspraken … (?:gemaakt|we|wij)
    """,
    "earlier": r"""
        (?:zoals|wat|die|dat|waar) (?:we|wij|ik) … {participle} (?:hebben|hadden|heb|had|zijn|waren)?
        zoals (?:afgesproken|besproken|besloten|gezegd|gisteren|vorige|eerder|altijd|de vorige)
        (?:waar|verder) … (?:gebleven|waren)
        (?:zelfde|net) … (?:als|zoals) (?:vorige keer|gisteren|laatst|eerder|toen|vorige)
        (?:we|wij|ik|je) … (?:gisteren|laatst|destijds|vorige (?:week|keer|maand|sessie))
        (?:gisteren|laatst|destijds|vorige (?:week|keer|maand|sessie)) … (?:we|wij|ik|je)
        (?:mijn|onze) (?:\w+ )?(?:voorkeuren?|to-?do'?s?|takenlijst|afspraken|deadline)
        (?:wie|wanneer) (?:is|was) (?:onze|mijn|de) (?:\w+ )?(?:contactpersoon|deadline|release|demo
        vergadering|oplevering)
        (?:gisteren|laatst|destijds|vorige (?:week|keer|maand|sessie)|{ago}) (?:\w+ ){1,2}?(?:jij|u|we|wij
        ik|je)
    """,
    "pointing": r"""
        (?:wat|welke|wie|waar|wanneer|hoe|waarom) (?:was|waren|is|ging|deed|deden|heette|zat|het|die|dat)
        samenvat(?:ten)?|vat … samen|herhaal|herhalen|ook ?al ?weer|alweer|weer|nog eens
    """,
    "agreed": r"""
        besloten|afgesproken|gekozen|besproken|overeengekomen|bepaald|afgestapt|overgestapt|vastgesteld
    """,
}

_AROUND = {
    "opening": r"""
        alsjeblieft|aub|a\.u\.b\.|alstublieft|svp|graag|even|nu|dan|oke?|okay|hoi|hey|hallo|dag|hé|zo|en
        maar|oh|ah|nou|goed|mooi|top|prima
        bedankt|dank je(?: wel)?|dankjewel|thanks|ja|nee|eigenlijk|sorry|claude|opencode|assistent|trouwens
        overigens|tussen haakjes
        btw|belangrijk|nog (?:één|een|iets|wat|even)(?: ding)?|vraagje|eerst|tot slot|tenslotte|ten slotte
        wacht|hm+|fyi|ook|dus|let op
        voor(?:dat)? ik het vergeet|voor(?:dat)? we (?:beginnen|verder\w*)|vergeet dat ik
        zou je (?:misschien )?
        wil je|wilt u|kun je|kan je|kunt u|kunnen we
        zou(?:den)? (?:je|u|we)|je (?:mag|kunt|kan|moet|hoeft|zou)|u (?:mag|kunt|moet)
        jij (?:mag|kunt|kan|moet)
        ik (?:wil|zou willen|wou|heb liever) (?:graag )?(?:dat je)?
        zeg|vertel (?:me|mij|eens)|zeg (?:me|eens)|geef (?:me|mij)? ?aan|ik vraag me af
        weet je(?: toevallig)?
        enig idee|heb je enig idee|zorg dat je|zorg ervoor dat je
        wees zo (?:goed|vriendelijk) (?:om )?|doe me een lol en|gelieve|laat (?:me|maar) weten|echt|daarom
        gewoon|zeker|help me even|dag claude
        hou er|jij|mooi zo|gelukt|dat werkte|fijn|ff|pls|ik zou het fijn vinden (?:als|dat) je
        het zou (?:fijn|goed|handig|mooi) zijn (?:als|dat) je|liefst|ben je zo vriendelijk|mag ik je vragen
    """,
    "asked": r"""
        (?:kun|kan|kunt|wil|wilt|zou|zoudt|zouden|moet|mag|kunnen) (?:je|jij|u|we)
        (?:je|jij|u) (?:moet|mag|kunt|kan|zou|dient|zult)
        graag|alsjeblieft|aub|a\.u\.b\.|alstublieft|svp|gelieve|dat je|dat u|als je|als u|zodat je
        (?:het |dit |dat )?(?:kan|kun) je|zorg|ik wil
    """,
    "joining": r"en|maar|dus|of|want|omdat|dan",
    "reporting": r"""
        zei|zegt|schreef|schrijft|vroeg|vraagt|antwoordde|opmerking|commentaar|bericht|tekst|label|titel
        string|print|fout|foutmelding
        documentatie|heet|genaamd|commit|vertaal|citaat|mail|log|toont|staat er|melding|knop|als de
        wanneer de|zodra de|als een|test
    """,
    "trimmed": r"""
        dat|over|van|op|voor|om|te|aub|a\.u\.b\.|alsjeblieft|graag|dit|het|is|was|alweer|ook|wat|welke?
        wanneer|waar|waarom|wie|hoe|nog
        heb|hebben|had|hadden|we|wij|ik|je|en|in|met|uit|er|even|maar|goed|deze|die|zijn|waren
        gezegd|verteld|genoemd|gesproken|besproken|besloten|afgesproken|vastgelegd|genoteerd|opgeslagen
        {later}
        {onwards}
    """,
    "file": r"""
        (?:in|naar|op|aan|uit|onder|van
        bij) (?:de |het |een |onze |mijn |je |dit |die |elke )?(?:[\w./-]+ ){0,2}{artefact}
        (?!memory|claude|agents)[\w-]+\.(?:md|py|js|ts|tsx|jsx|json|ya?ml|txt|toml|css|html|go|rs|java|rst
        sql|sh)
        (?:tabel|kolom|klasse|component|migratie|endpoint|route|module|pakket|map|scherm|knop|pagina|cache
        functie|methode|variabele|branch)
    """,
    "artefact": r"""
        readme|docs?|documentatie|changelog|code|commentaar|docstrings?|bestand|spec|pr|pull request
        commit(?:bericht)?|issue|ticket|pagina
        ui|database|db|redis|tabel|cookies?|local ?storage|cache|jira|wiki|config|json|yaml|csv|schijf
        scherm|lijst|dict|variabele|array
        buffer|struct|response|formulier|component|functie|klasse|methode|schema|migratie|endpoint|model|map
    """,
    "feature": r"""
        (?:de|een|elke|iedere|ingelogde) (?:\w+ )?(?:gebruikers?|bezoekers?|browser|formulier|widget
        component|pagina|login)
        (?:tussen|na|bij) (?:\w+ )?(?:herladen|herstarten?|renders?|aanroepen|requests|verversen|uitloggen
        inloggen)
        scroll\w*|vinkje|knop|dialoog|onthoud mij|onthoud me|wachtwoord vergeten
    """,
    "able": r"""
        (?:dingen|alles|zaken|gesprekken|informatie|iets|van alles) … (?:onthouden|herinneren|vergeten
        onthoudt)
        (?:onthoud|onthouden|herinner) (?:je|jij|u)? ?(?:dingen|alles|zaken|gesprekken|iets) … (?:tussen
        over|van|na)
        hoe werkt (?:je|jouw|het) geheugen|kun je (?:überhaupt )?onthouden (?:wat|of)
        onthoud je (?:eigenlijk|iets|wat)
        (?:is het mogelijk|ben je in staat|ben jij in staat|kun je überhaupt
        bestaat er een manier).{0,40}(?:onthouden|vergeten|onthoudt|herinneren)|onthouden .{0,20}of (?:werkt
        kan|niet|gaat)
    """,
    "explained": r"""
        hoe (?:werkt|werken|werkte|werkten|gebruik je|maak je|doe je|schrijf je)
        wat (?:is|zijn|doet|doen|betekent) (?:een|\w+ (?:ook )?al ?weer)
        het verschil (?:tussen)?|de syntax(?:is)? van|wat doet
    """,
    "mistaken": r"""
        fout gedaan|verkeerd|stuk gemaakt|kapot|gemist|over het hoofd|mis gegaan|net (?:gewijzigd|gedaan)
    """,
    "idiom": r"""
        {~vergeet} (?:het|dat|dit)(?: maar| even| toch)*{end}
        {~vergeet}(?: (?!dat |wat |alles )\S+){0,12} niet
        {~vergeet} (?:nooit|vooral niet)|laat maar
        (?:wat|dat) ik (?:net|zojuist|zonet) (?:zei|schreef|vroeg)|laat maar
        {~vergeet}(?: {fill})* (?:nooit|vooral niet|niet)
    """,
    "instead": r"""
        voor nu|voorlopig|even|gewoon|in plaats daarvan|laten we|we gaan|focus|opnieuw beginnen|laat maar
        instructies|tests?|aanpak|eerst
    """,
    "postponed": r"""
        (?:dat|dit|het) (?:kan|komt|doen we|kunnen we)|misschien|(?:gaan|zullen|kunnen) we
        we (?:gaan|zullen|kunnen)
        geef|gooi|toon|retourneer|return
        (?:altijd|nooit) (?:als|wanneer|is|krijg|die|hetzelfde|dezelfde|weer|gezien|een|de|het)
    """,
    "stated": r"^(?:de|het|dit|er|deze|die|dat|waarom|hoe|wat|als|wanneer) (?!nooit|altijd)",
    "negated": r"niet|nooit|geen|nergens|hoeft|niks|niets",
    "unkept": r"""
        (?:niet|nergens|nooit|niks|niets|geen) … (?:onthouden|opslaan|bewaren|op te slaan|te onthouden
        noteren|vastleggen|onthoudt|opslaat)
    """,
    "content": r"\w+ ?:|dat|wat|welke|waar|hoe|alles|of|over|omtrent",
    "surely": r"""
        zoals (?:je|u|jij)|(?:je|jij|u) (?:weet|herinnert|zult|zal) (?:\w+ )?(?:nog )?(?:wel|vast
        ongetwijfeld|natuurlijk)|vast nog|ongetwijfeld|zeker nog wel
    """,
    "that": r"dat",
    "connecting": r"dat|dit|het|aub|alsjeblieft|graag|even|ook|voor|{later}|{onwards}",
    "clause": r"""
        {connecting}
        {fill}
        {opening}
        {asked}
        je|jij|u|te|willen|kunnen|onthouden|onthoudt|inprenten|noteren|noteert|opschrijven|opschrijft
        vastleggen|vastlegt|bewaren|bewaart|opslaan|opslaat|bijhouden|bijhoudt
    """,
    "about": r"over|omtrent|rond",
}

TALK = _PAST | _AROUND
