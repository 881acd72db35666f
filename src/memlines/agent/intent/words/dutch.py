"""What people want of a memory, in Dutch: the verbs, what is kept and for how long."""

from __future__ import annotations

_VERBS = {
    "keep": r"""
        {remind_yourself}(?: {fill})* ?:
        {remind_yourself}(?: {fill})* (?:dat|dit|deze|het|goed|voor|wat|mijn|onze?|ik|we|wij|de|hier
        er)(?! niet)
        (?:{remind_yourself}|onthouden)(?: {fill})*(?: a\.?u\.?b\.?| alsjeblieft| graag)?{end}
        {~onthouden}(?: {fill})* ?(?::|dat|dit|voor|wat)
        prent (?:je|jezelf|u)(?: {fill})* (?:goed )?in
        (?:knoop|hou|houd) (?:dit |dat |het |even )*in (?:je|uw) (?:oren|achterhoofd)
        (?:houd?|bewaar) … in (?:je|jouw|uw) geheugen
        (?:zorg dat|laat) (?:je )?dit (?:goed )?(?:blijft hangen|tot je doordringen)
        hou (?:dit|dat|het) vast
        (?:dit|dat) moet je (?:goed |later |nog |ook )*(?:onthouden|weten)
        (?:dit|dat) (?:heb|hebben|ga|gaan) (?:je|we|jij) … (?:later|nog|weer) … nodig
        (?:dit|dat) moet je (?:bijblijven|weten)|laat dit je bijblijven
    """,
    "keep_late": r"""
        {~onthouden}|(?:je|jij|u) (?:\w+ ){0,4}?(?:onthoudt|bijhoudt|inprent|bewaart) ?(?=dat|dit|:|$|[.,!])
        inprenten|in (?:je|uw) oren (?:te )?knopen|in (?:je|uw) achterhoofd (?:te )?houden
        (?:goed )?in (?:je|uw|jouw) (?:hoofd|geheugen) (?:te )?(?:prenten|houden|zetten)|bewaren dat
        bijhouden dat|bij te houden dat
    """,
    "fill": r"""
        even|ff|effe|eventjes|maar|goed|ook|alsjeblieft|aub|a\.u\.b\.|svp|pls|graag|nu|alvast|vooral|dit|dat
        het|eens|voor mij|wel|altijd|hier|nog|ergens
    """,
    "write": r"""
        noteer(?:t)?(?! (?:de )?fout)|noteren ?:|notitie ?:|aantekening ?:
        schrijf … op(?={end}|[ ,.:;!]) ?(?!een)
        leg … vast
        teken … aan
        (?:hou|houd) … bij dat
        (?:maak|zet|leg|voeg
        schrijf) (?:hier |er |daar |even |ergens |daarvan |hiervan )*een (?:korte |nieuwe )?(?:notitie
        aantekening|memo|herinnering|geheugensteuntje)
        (?:vastleggen|opschrijven|noteren|opslaan)(?: a\.?u\.?b\.?| alsjeblieft| graag)?{end}
        ter (?:onthouding|herinnering) voor later
        voor (?:je|jouw|uw|de) (?:archief|administratie|dossier|notities|aantekeningen|boeken)
        zet (?:dit|dat|het) (?:even |ergens )?op papier|leg (?:dit|dat|het) (?:even )?vast
        (?:dit|dat) is (?:er een )?voor (?:je|de) (?:geheugen|notities)
        (?:sla|noteer|bewaar|leg|schrijf) … als (?:\w+ )?(?:voorkeur|regel|afspraak|besluit|notitie
        herinnering|feit)|pen (?:{fill} )*neer|(?:krabbel|schrijf) (?:{fill} |ergens )*(?:neer|op)
    """,
    "write_late": r"""
        (?:noteren|opschrijven|vastleggen|vast te leggen|op te schrijven|aantekenen)
        een (?:korte |nieuwe )?(?:notitie|aantekening|memo) … (?:maken|maakt)
        noteert|opschrijft|vastlegt
    """,
    "store": r"""
        sla|bewaar|zet|voeg|stop|schrijf|neem|houd?|leg|noteer|registreer|plaats|berg|onthoud|pak|parkeer
    """,
    "store_late": r"""
        opslaan|op te slaan|bewaren|zetten|toevoegen|opnemen|opslaat|bewaart|zet|toevoegt|opneemt|te bewaren
        meenemen|weten|weet
    """,
    "mind": r"""
        (?:hou|houd) … (?:rekening mee|in gedachten|in de gaten|in het oog)
        (?:hou|houd) (?:er|hier|daar) … (?:mee|aan)
        denk (?:er|hier|daar)|let (?:er|hier|daar)? ?op|weet dat|besef dat|neem … mee|wees je bewust
        {~onthoud}
    """,
    "unforgotten": r"""
        vergeet … (?:nooit|niet)(?: meer| weer| nog eens)* (?:dat|wat|hoe|waar)
        vergeet(?: {fill})* niet(?: meer)? ?:
        vergeet (?:nooit|niet) (?:meer )?(?:dat|we|ik|onze?|mijn)
        laat (?:me|mij|ons|jezelf)(?: {fill})* (?:niet|nooit)(?: meer| weer| {fill})* vergeten(?! om| te)
        (?:dit|dat|het) mag (?:ik |je |jij |niemand )?(?:niet|nooit) (?:meer )?(?:vergeten|verloren|kwijt)
        vergeet (?:dit|dat) (?:nooit|niet) (?:meer )?(?=.*:)
    """,
    "ruled": r"""
        (?:nieuwe|vaste|algemene|gouden|permanente|blijvende) (?:regel|afspraak|instructie|voorkeur
        richtlijn) … ?:
        (?:huisregel|werkafspraak|afspraak|projectregel)(?: voor \w+(?: \w+)?)? ?:
        maak (?:hier|daar|er|dit|dat) … een (?:vaste )?(?:regel|gewoonte|afspraak)
        (?:dit|dat) is een (?:vaste|blijvende|permanente|algemene) (?:regel|afspraak|instructie|opdracht)
        (?:dit|dat) (?:geldt|is) (?:voor|in) (?:al|alle|de hele|het hele|elk|elke|iedere)
        als (?:vaste |algemene |permanente )*regel
    """,
    "informed": r"""
        ter (?:info|informatie|kennisgeving)|voor de duidelijkheid|even (?:voor je|ter)
        dan weet je (?:het|dat)
        zodat je (?:het|dat) weet
        (?:zo|dan) weet je|je moet weten|weet dat|fyi|moet je weten|goed om te weten|mocht (?:je|ik|het)
    """,
    "introduced": r"""
        (?:{later}|{onwards}) {colon}
        (?:{later}|{onwards}) (?:graag|onthoud|noteer|altijd|nooit|gebruik|je|jij|we|wij|ik|niet|geen|eerst
        wil|moet|mijn|onze?)
        (?:{later}) (?:dat|als|wanneer) (?:je|jij|we|ik|u)
    """,
    "forget": r"""
        {~vergeet}|vergeten|vergeet u|negeer
        verleer
    """,
    "owned": r"""
        vergeet … (?:dat|wat|alles|mijn|onze?|hoe|waar|welke|dat ik|mij|me)
        (?:alles|wat) (?:wat |dat )?(?:ik|je|we|wij|jij) … (?:vergeten|vergeet)
        alles (?:over|van) … (?:vergeten|vergeet)
        (?:mijn|onze?) … (?:vergeten|vergeet)
        {note}
        {told}
        {kept}
        {memory}
        vergeet … (?:inloggegevens|wachtwoord|die ik)
        (?:dat|het|iets|wat|alles) over … (?:vergeet|vergeten)
    """,
    "told": r"""
        ik … (?:verteld|gezegd|gegeven|genoemd|gestuurd|doorgegeven|vertelde|zei|gaf|noemde|gedeeld|geplakt)
        heb ik (?:je|jou|u)|(?:hebben|hadden) we … (?:gezegd|besproken|afgesproken)
    """,
    "forget_late": r"vergeten|vergeet|te vergeten",
    "erase": r"""
        {~verwijder}|verwijdert|wis|gooi|schrap|ruim|delete|kieper|poets
        verwijderen|wissen|schrappen|gum|kras
        {~vergeet}
        haal (?:\S+ ){1,12}weg|streep (?:\S+ ){1,12}door|doe (?:\S+ ){1,12}weg
    """,
    "delete": r"""
        {erase}
        haal|laat|doe|trek|streep|strepen|veeg
    """,
    "delete_late": r"""
        verwijderen|wissen|schrappen|weghalen|weggooien|verwijdert|wist|schrapt|weghaalt|weggooit|halen
        deleten|verwijderd|gewist|vergeten|doorstrepen|weg|wegdoen|opruimen
    """,
    "delete_it": r"""
        (?:{delete}) (?:{fill} )*(?:het|dat|die|deze|dit|ze|'m|hem)(?: {fill}| weer| dan| uit| door)*
        (?:kan|kunnen|mag|mogen|moet|moeten) (?:nu |wel |dus |er |gewoon |ook |maar |weer )*(?:weg|eruit
        verwijderd|gewist|geschrapt|vergeten)
        weg ermee|weg daarmee|eruit ermee|haal (?:het|die|dat|hem) (?:er)?uit
    """,
    "unkeep": r"""
        (?:niet meer|niet langer) … (?:te )?(?:onthouden|onthoudt|bewaren|bewaart|opslaan|opslaat|onthoud)
        (?:onthoud|bewaar) … niet (?:meer|langer)
        (?:hoef|hoeft|wil) … (?:niet meer|niet langer) … (?:onthouden|onthoudt|bewaren|bewaart|weten|opslaan
        opslaat)
        stop met (?:het )?(?:onthouden|bewaren|opslaan)
    """,
    "remind_yourself": r"{~onthoud}|{~onthou}|onthoudt|memoriseer|memoreer",
    "announced": r"(?:{later}|{onwards})(?: \w+){0,4} ?:",
}

_MEMORY = {
    "session": r"sessies?|keren|keer|gesprek(?:ken)?|chats?|opdrachten|taken|projecten|werk|klussen",
    "later": r"""
        voor (?:later|straks|de toekomst|altijd|de volgende keer|een volgende keer|volgende keer
        (?:de )?komende {session})
        voor (?:de |een |alle )?(?:volgende|komende|latere|toekomstige|andere|volgend) (?:\w+ )?{session}
        (?:in|de|bij|tijdens) (?:de |alle |een )?(?:volgende|komende|latere|toekomstige|andere
        volgend) {session}
        voor (?:het )?nageslacht|blijvend|permanent|definitief|voorgoed|(?:de )?volgende keer
        op (?:de )?lange(?:re)? termijn
        zodat we … niet (?:meer|opnieuw|nog eens|weer)|over (?:alle )?sessies heen|sessieoverstijgend
        als ik (?:er )?later|later nog (?:eens )?(?:nodig|weten)|als naslag
        voor (?:als|wanneer|het geval(?: dat)?) (?:het|dit|dat|we|ik|je|er) … (?:nog eens|weer|opnieuw|later
        ooit)|(?:mocht|als) (?:het|dit|dat|we) … (?:nog eens|weer|opnieuw|ooit)|(?:de|het) (?:komende
        eerstvolgende) (?:weken|dagen|maanden|tijd)|dat (?:hebben we|heb je) … (?:later|nog) nodig
        (?:ook )?(?:na|buiten|voorbij) deze sessie|niet alleen (?:voor )?(?:vandaag|nu|deze sessie)
        voor in de toekomst
        tussen (?:de )?sessies(?: door)?|over sessies heen
        voor het geval(?: dat)?|mocht (?:het|dit|dat)
    """,
    "onwards": r"""
        vanaf (?:nu|vandaag|heden|morgen|dit moment|hier)|voortaan|in het vervolg|in de toekomst
        van nu af(?: aan)?
        de komende tijd|tot nader order|in (?:al )?(?:het )?vervolg|te allen tijde
        als (?:\w+ )?(?:regel|afspraak|richtlijn|instructie|uitgangspunt)
        in al (?:mijn|onze) (?:\w+ )?(?:projecten|code|repos|scripts|werk)
    """,
    "always": r"altijd|nooit|steeds|nimmer|telkens|alleen maar|uitsluitend|elke keer|iedere keer|nooit meer",
    "scope": r"""
        (?:in|voor|bij|binnen|op) (?:dit|deze|onze?|mijn|al (?:mijn|onze)|elk|elke|ieder|iedere
        het hele) {place}
        (?:voor mij|bij mij|bij ons|hier)|voordat je|voor je|nadat je|wanneer je|als je
        zonder (?:te vragen|overleg|dat)|tenzij ik
    """,
    "place": r"""
        (?:\w+ )?(?:project|projecten|repo|repository|codebase|team|workspace|scripts?|services?|code|app
        commits?|monorepo|prs?)
    """,
    "memory": r"""
        (?:je|jouw|uw|mijn|ons|onze|het project|je eigen)(?: {own})* {stock}
        (?:uit|in|aan|naar) (?:het )?(?:langetermijngeheugen|projectgeheugen)
        (?:sla|zet|opslaan|zetten) … in het geheugen (?:dat|:)
        memory\.md
    """,
    "out": r"uit (?:je|jouw|uw|mijn|ons|onze)(?: {own})* {stock}|(?:het|dit|dat|die|ze|hem) uit het geheugen",
    "own": r"eigen|lange(?:re)?.?termijn|permanente?|persoonlijke?|opgeslagen|vaste?|interne?|project",
    "stock": r"""
        (?:langetermijn|project)?geheugen|notities|notitie|aantekeningen|herinneringen|notulen|logboek
        archief|kennis|hoofd
        kennisbank|kennisbasis|dossier|administratie|gesprekken|eerdere gesprekken|oude gesprekken|opslag
        geschiedenis
    """,
    "note": r"""
        (?:de|die|deze|dat|alle|elke|je|jouw|mijn|onze|een)(?: \w+){0,2} (?:notities?|aantekening(?:en)?
        herinnering(?:en)?|memo's?)
        herinnering(?:en)?|notities|(?:dat|het|die|de|alles) (?:stukje|deel|gedeelte|bit|regel|besluit
        beslissing|info|informatie|verhaal) (?:over|van) .{1,60}uit (?:je|jouw|uw)
    """,
    "kept": r"""
        (?:je|jij|u) … {saved}
        (?:heb|had|hebt|heeft|hebben|hadden) (?:je|jij|u|we|wij) … {saved}
        weet (?:je|jij|u) (?:\w+ )?(?:over|van|uit) (?:mij|me|mijn|ons|onze|het|eerdere|vorige|project|de)
        (?:iets|wat|alles|niets) (?:over|van) .{1,40} {saved}
        staat er (?:iets|wat|nog iets|al iets)|(?:iets|wat) … staan
        hebben (?:we|wij) (?:ergens )?(?:iets|wat)
        wat (?:je|jij|u) (?:nog |allemaal |ook )*(?:weet|onthoudt|bewaart|kent)
        (?:weet|onthoudt) (?:je|jij) (?:nog )?(?:over|van)
        ligt (?:er )?ergens vast|staat (?:er )?ergens|ergens (?:vastgelegd|genoteerd|opgeschreven|vast)
        wat (?:je|jij|u) … (?:weet|onthoudt|bewaart)|wat (?:je|jij|u) (?:over|van) … hebt
        staat (?:het |dat |er )?ergens (?:beschreven|opgeschreven|vast|genoteerd)?|wat je hebt over
        (?:je|jij) hebt (?:me|mij) … (?:verteld|uitgelegd|gezegd)
    """,
    "saved": r"""
        opgeslagen|bewaard|onthouden|genoteerd|opgeschreven|vastgelegd|geleerd|gememoriseerd|gemaakt
        opgeslagen hebt|bijgehouden|onthoudt|bewaart|opslaat|liggen|staan
    """,
    "personal": r"""
        (?:mijn|onze|ons|zijn|haar|\w+s) (?:\w+ )?(?:adres|mailadres|e-?mailadres|telefoonnummer|nummer
        e-?mail|naam|verjaardag|salaris|voorkeur(?:en)?|gegevens|wachtwoord|account|leeftijd|woonplaats)
    """,
}

WISHES = _VERBS | _MEMORY
