"""What makes a German sentence worth keeping, and what speaks against it."""

from __future__ import annotations

_ASKED = {
    "start": r"""
        bitte|auch|ok|okay|hallo|hi|hey|moin|servus|also|und|aber|oh|ach|na|gut|super|toll|prima
        danke(?: dir| schön)?|vielen dank|ja|nein(?=,)|eigentlich|sorry|jetzt(?=,)|dann(?=,)|übrigens
        nebenbei(?: bemerkt)?|btw|apropos|noch (?:was|etwas|eins|eine sache|ein hinweis)
        kurz noch|nur so|guten (?:morgen|tag|abend)|generell|grundsätzlich|persönlich|ehrlich gesagt|ah
        bevor (?:du|wir|ich) \w+|zur klarstellung|hör mal|weißt du|ps|ach ja|außerdem|stimmt|perfekt
        alles klar|verstanden
    """,
    "lead": r"""
        (?:{asking_to} )?{kept}(?: {aside})* ?(?:dass(?= )|das(?= ich| wir| mein| unser)|:
        [,\u2013\u2014-](?= ))
        (?:{asking_to} )?{kept}(?: {aside})* (?=(?:ich|mein|meine|wir|unser|unsere|immer|nie) )
        (?:bevor ich(?:'s| es) vergesse|zur erinnerung(?: für später)?|für (?:später|das nächste mal
        die zukunft|die akten)|fürs (?:nächste mal|protokoll)|neue (?:regel|abmachung)|notiz(?: an (?:mich
        dich)| für später)?|merksatz|feste regel|hausregel)(?: ?[:,\u2013\u2014-]| (?=\w))
        (?:kannst|könntest|würdest|willst) du(?: dir)?(?: {aside})* (?:merken|notieren|aufschreiben
        festhalten)(?: {aside})* ?(?:dass(?= )|:)
        du (?:sollst|solltest|musst|kannst) (?:dir )?(?:{aside} )*(?:merken|wissen
        notieren)(?: {aside})* ?(?:dass(?= )|:)
    """,
    "asking_to": r"""
        (?:kannst|könntest|würdest|willst|magst) du(?: \w+){0,3}|du (?:sollst|solltest|musst|kannst)
        ich möchte dass du|bitte
    """,
    "kept": r"""
        merke?(?:n sie sich)?(?: {aside})*(?: dir| euch)?|notiere?(?: {aside})*(?: dir)?
        schreibe?(?: {aside})* (?:dir )?(?:{aside} )*auf|halte?(?: {aside})* fest
        behalte?(?: {aside})* (?:im (?:hinterkopf|kopf|gedächtnis|auge)|in erinnerung)
        speichere?(?: {aside})*(?: (?:dir|ab))?
        vergiss(?: {aside})* (?:nicht|nie|niemals)|nicht vergessen|denke?(?: {aside})* (?:daran|dran)
        präge?(?: {aside})* dir(?: {aside})* ein|beachte|wisse|nimm(?: {aside})* zur kenntnis
        sei dir bewusst|berücksichtige
    """,
    "aside": r"""
        bitte|mal|doch|auch|gut|noch|das|dies|es|folgendes|für (?:später|immer|mich|das nächste mal
        die zukunft)|ab jetzt|unbedingt|dir|in zukunft|künftig|dauerhaft|eben|kurz|im gedächtnis|stets
    """,
    "soft": r"""
        (?:zur info|fyi|zur information|nur zur info|wichtig|hinweis|achtung|damit du(?:'s| es)? weißt
        nur damit du(?:'s| es)? weißt|zu mir|über mich|kontext|zum hintergrund|vorab|du musst wissen
        gut zu wissen)(?: dass(?= )| ?[:,\u2013\u2014-])
    """,
    "tail": r"""
        (?:bitte )?(?:merke?|notiere?|schreibe?) (?:dir )?(?:das|dies
        es)(?: dir| bitte| auf| mal| für später)*[.! ]*$|(?:das |dies )?(?:bitte )?(?:merken|notieren
        nicht vergessen|festhalten|abspeichern)[.! ]*$
        vergiss (?:das|es)(?: bitte)? nicht[.! ]*$|behalte? (?:das|es) im (?:kopf|hinterkopf)[.! ]*$|(?:das
        dies) (?:solltest|kannst|musst) du dir (?:bitte )?merken[.! ]*$
    """,
    "infinitive": r"zu \w+n[.! ]*$|\w+zu\w+en[.! ]*$",
    "unkept": r"""
        nichts (?:davon )?(?:zu )?(?:merken|speichern|notieren|aufschreiben|festhalten)
        lass gut sein|nicht nötig|nur ein (?:test|beispiel)|schon gut|nur zum testen
        nicht (?:\w+ ){0,2}(?:zu )?(?:merken|notieren|speichern|aufschreiben|festhalten)|(?:merke?|notiere?
        speichere?) (?:\w+ ){0,4}nicht|(?:ich|wir) (?:kann|können|erinnere?n?|weiß
        wissen) (?:\w+ ){0,4}(?:nicht|nicht mehr|kaum)(?: \w+){0,3}(?: erinnern| mehr)?
        weißt du noch|weisst du noch|erinnerst du|merkt sich|(?:ich|wir) (?:habe?n?|hab) .{0,30}vergessen
        vergiss (?:das|es|alles|was|mich)(?! nicht| bitte nicht)|nie vergessen|laut gedacht
        ich denke nur laut|nur so (?:dahin|ein gedanke)|spaß beiseite|scherz|kleiner witz
        brauchst du (?:dir )?nicht|musst du (?:dir )?nicht
    """,
}

_KEPT = {
    "adverb": r"""
        immer|imer|nie|niemals|meistens|gern|gerne|wirklich|auch|noch|nur|selbst|übrigens|eigentlich|einfach
        lieber|jetzt|schon|sowieso|stets|selten|oft|grundsätzlich|generell|prinzipiell|inzwischen
        mittlerweile|letztendlich|zusammen|endgültig|beide|also|doch|seit \w+(?: \w+)?|sehr|ganz|total
    """,
    "prefer": r"""
        (?:am liebsten|bevorzuge|bevorzugen|lieber als|ist mir lieber|sind mir lieber|mir (?:ist|sind|wäre
        wären) .{1,60}lieber|lieblings\w+|vorliebe für|favorit)|(?:ich|wir) (?:{adverb} )*(?:mag|mögen|hasse
        hassen|liebe|lieben|verabscheue|schätze|steh auf|stehe auf|stehe nicht auf)
        (?:mag|hasse|liebe) ich|(?:ich|wir) (?:arbeite|nehme|nehm|nutze|nutz|benutze|benutz|verwende|trinke
        esse|lese|schreibe|kaufe|reise|brauche|fahre|will|möchte|hätte)n? (?:\w+ ){0,3}(?:immer|imer|nie
        niemals|lieber|nur|keine?n?|grundsätzlich|ausschließlich|gern(?:e)?)(?! (?:eine?n?|wissen|hilfe) )
        (?:nehme|nehm|nutze|benutze|verwende|trinke|esse|lese|schreibe|kaufe|arbeite
        programmiere) ich (?:\w+ ){0,2}(?:immer|nie|lieber|nur|keine?n?|grundsätzlich|ausschließlich)|(?:ich
        wir) (?:esse|essen|trinke|trinken|rauche) (?:kein|nie|nur)\w*
        ich .{0,80} (?:haben|bekommen|sehen|hätte|lesen) (?:will|möchte)|(?:kann
        können) (?:\w+ ){0,6}nicht (?:ausstehen|leiden|ab)|ich (?:bin
        ist) (?:\w+ )?(?:kein |ein )?(?:großer )?(?:fan|freund|liebhaber) von|(?:geht
        gehen) mir auf (?:die nerven|den keks|den geist)|gefallen mir (?:\w+ )?(?:besser|nicht)
        duz(?:e|en)|siez(?:e|en)|(?:nenn|nenne) mich|antworte (?:mir )?(?:\w+ )?(?:immer|nie)
        deine antworten|kein\w* \w+ bitte|bitte (?:immer|nie|niemals|stets|kein)|schreib (?:lieber
        bitte immer|immer|nie)|(?:nervt|nerven|stört|stören) mich|(?:ich )?ertrage
        finde ich (?:\w+ )?(?:angenehmer|schrecklich|furchtbar|nervig|besser als)
    """,
    "moment": r"""
        (?:hasse|liebe|mag|mögen|leiden|bevorzuge|will|möchte|lieber|liebsten|fan von) (?:ich )?(?:es|das
        dies\w*|den|die (?:idee|antwort|version|lösung|art|zweite|erste|neue)|deine?n?|dich|wie|so was
        hier)(?! (?:kommentare|antworten|tests))
        (?:das|dies|die|diese\w*|so|es) (?:\w+ )?(?:gefällt|gefallen)|die (?:erste|zweite|dritte|letzte
        andere|vorige|neue) (?:version|option|lösung|variante|antwort|fassung)|ich (?:möchte|will),? dass du
        version|variante|fassung|option
    """,
    "decide": r"""
        (?:wir|ich|team|ist|sind|wurde|wurden|haben|hat|man) (?:\S+ ){0,10}(?:beschlossen|entschieden
        vereinbart|geeinigt|abgemacht|festgelegt|abgesegnet|verworfen|gestrichen|gefallen)|(?:beschlossen
        entschieden|vereinbart|abgemacht|ausgemacht)(?= ?[,:.]|$)|vom tisch
        wahl (?:ist |fiel )?(?:\w+ ){0,3}auf|(?:der|die|das|unser|unsere) (?:beschluss
        entschluss) |entscheidung (?:ist|war|lautet|fiel|:)
        (?:wir|ich|das team) (?:{adverb} )*(?:nehmen|bleiben (?:{adverb} )*bei
        setzen (?:{adverb} |\w+ ){0,5}auf|wechseln|steigen (?:\w+ ){0,5}um|gehen mit|verzichten|behalten
        streichen|stellen (?:\w+ ){0,5}(?:ein|um)|werden (?:\w+ ){0,8}(?:verwenden|nutzen|nehmen|einsetzen
        umsteigen|abschalten|einstellen|anbieten|unterstützen)|hören (?:\w+ ){0,4}auf
        machen (?:\w+ ){0,3}(?:nicht mehr|schluss)|haben uns (?:\w+ ){0,8}(?:für|gegen)|wählten
        bieten (?:\w+ ){0,5}(?:nicht mehr|keine))
        es (?:wird|bleibt bei|ist) (?:\w+ )?geworden|(?:bleibt|wird) es bei
    """,
    "changed": r"""
        (?:umgezogen|umgestiegen|gewechselt|migriert|umgestellt|abgelöst|ersetzt durch|abgeschaltet
        stillgelegt|verkauft worden|eingestellt worden|neu geschrieben|aktualisiert auf|überführt)
        seit (?:letzte\w*|januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember
        kurzem|diesem|dieser|anfang|ende|neuestem|gestern|(?:einem|einer|zwei|drei) (?:woche|wochen|monat
        monaten|jahr|jahren))
        nicht mehr (?:bei|auf|in|mit|über)|nicht länger
    """,
    "onwards": r"""
        ab (?:jetzt|sofort|heute|nächste\w* \w+)|von (?:jetzt|nun) an|künftig|zukünftig|in zukunft|fortan
        bis auf weiteres|von heute an|als (?:feste )?regel|jedes mal wenn du|immer wenn du (?:mir|code
        etwas)|wenn du (?:mir )?(?:code|shell|text) (?:zeigst|schreibst)
    """,
    "self": r"""
        ich (?:{adverb} )*(?:(?:schreibe|programmiere|entwickle) (?:in|mit|auf|unter)|stehe (?:\w+ )?um
        fahre (?:\w+ )?mit|wohne|lebe|komme aus|studiere|unterrichte|wurde .{0,30}geboren|pendle|spreche
        verdiene)|(?:wohne|lebe|arbeite|studiere) ich (?:{adverb} )*(?:in|bei|als|von|auf|im|nur|\w+ tage)
        ich arbeite (?:{adverb} )*(?:als|bei|in|für|im|von zu|nachts|teilzeit|halbtags|\w+ tage|remote|vier
        drei)
        ich bin (?:{adverb} )*(?:allergisch|vegetarier\w*|veganer\w*|vegan|diabetiker\w*|farbenblind
        rot-grün-blind|linkshänder\w*|rechtshänder\w*|taub|gehörlos|schwerhörig|blind|schwanger|verheiratet
        geschieden|ledig|legastheniker\w*|rentner\w*|im ruhestand|selbstständig|selbständig|freiberuf\w+
        (?:\w+ ){0,3}(?:in|im) (?:elternzeit|mutterschutz|homeoffice)|muslim\w*|jüdisch|\d+ jahre
        gelernte\w*|von beruf|aus|geboren
        eine? (?!bisschen|wenig|idiot|fan|großer)\w+|[\w-]+(?:in|er|arzt|ärztin|ist|istin|ent|eur|loge|login
        kraft|mann|frau|lehrer|anwalt)(?= |$
        [.,])(?<!immer)(?<!wieder)(?<!hier)(?<!leider)(?<!sicher)(?<!weiter)(?<!unter)(?<!über)(?<!fertig)(?<!hinter))
        (?:bin|ist) (?:\w+ )?(?:rot-grün-blind|allergisch|linkshänder\w*|zöliakie)|(?:ich
        wir) hab(?:en|e)? (?:{adverb} )*(?:eine?n? |zwei |drei |vier |kein\w* |\d+ )?(?:\w+ )?(?:zöliakie
        diabetes|adhs|asthma|epilepsie|legasthenie|migräne|\w*allergie|kind|kinder|söhne?|töchter|tochter
        hunde?|katzen?|pferd|brüder|bruder|schwestern?|führerschein|auto|zwillinge|enkel)
        allergisch (?:gegen|auf)|\w*intoleran\w+|(?:ich|mein\w* \w+) (?:vertrage?|vertragen|darf kein\w*
        kann kein\w*)|(?:mein|unser)e? (?:\w+ )?(?:geburtstag|hochzeitstag|schuhgröße|größe|zeitzone
        muttersprache|beruf|alter|hobby|blutgruppe|arbeitszeiten)
    """,
    "relation": r"""
        (?:frau|mann|partner(?:in)?|freund(?:in)?|verlobte[rn]?|sohn|tochter|kinder|kind|baby|bruder
        schwester|mutter|vater|mama|papa|eltern|oma|opa|tante|onkel|cousine?|neffe|nichte|hund|hündin|katze
        kater|pferd|kaninchen|chef(?:in)?|vorgesetzte[rn]?|kolleg(?:e|in|en)|team-?leiter(?:in)?|teamlead
        team|kund(?:e|in|en)
        vermieter(?:in)?|arzt|ärztin|hausarzt|hausärztin|zahnarzt|zahnärztin
        therapeut(?:in)?|steuerberater(?:in)?|buchhalter(?:in)?|anwalt|anwältin|mitbewohner(?:in)?|firma
        arbeitgeber|mentor(?:in)?|praktikant(?:in)?|assistent(?:in)?|trainer(?:in)?|lehrer(?:in)?|tierarzt
        tierärztin|babysitter|lieferant|ansprechpartner(?:in)?
        kontakt|designer(?:in)?|notar(?:in)?|klempner|friseur(?:in)?|schwiegermutter|schwiegervater
        schwiegereltern|zwillinge|cto|ceo|inhaber(?:in)?|hausmeister(?:in)?|schule|haustier|anbieter
        dienstleister|betreuer(?:in)?|product owner)
    """,
    "asset": r"""
        (?:[\w-]*server|[\w-]*datenbank|db|api|repo\w*|[\w-]*seite|domain|büro|stack|backend|frontend
        cluster|budget|deadline|sprints?|produkt|projekt|richtlinie|lager\w*|bank|laden|shop|vpn|netzwerk
        drucker|auto|fahrrad|haus|wohnung|laptop|wlan|ci|pipeline|backups?|sicherung\w*|dokumentation|doku
        codebasis|app|plattform|produktion|staging
        dienste?|buchhaltung|rechnungen|tests?|maschine|meetings?|besprechung\w*|stand-?up|releases?|export
        zertifikat|branch|kunden|tickets|modul|umgebung|dateien|skripte?|logs?|miete|versicherung|vertrag
        kundenportal|portal|rechner|steuererklärung|website|system)
    """,
    "steady": r"""
        (?:ist|sind|läuft|laufen|steht|stehen|nutzt|nutzen|benutzt|benutzen|beginnt|endet|hat|haben|schließt
        öffnet|liegt|liegen|besteht|bestehen|sitzt|sitzen|kostet|kosten|gehört|gehören|bleibt|bleiben|war
        wird|werden|heißt|heissen|heißen|heisst|arbeitet|arbeiten|muss|müssen|unterstützt|verlangt|kommt
        kommen|spricht|sprechen
        wohnt|wohnen|schreiben|darf|dürfen|hört|speichern|verwenden|verwendet|basiert|geht|gehen|hängt
        trinkt|isst)
    """,
    "named": r"""
        (?:heißt|heissen|heisst|heißen|hieß|namens|nennen wir|nennt sich)|(?:zuständig|verantwortlich
        ansprechpartner\w*) (?:für|bei) [\w ]{1,40} ist|(?:mein|meine|unser|unsere
        mei) (?:[\w'-]+ ){0,3}{relation}(?: (?:bei|von|für|in) [\w ]{1,30}?)? (?:ist|sind|:) (?!ein\b|eine\b
        der\b|die\b|das\b|nicht|sehr|so\b|immer|nie|in\b|im\b|krank|allergisch|zu\b|an\b|vegetarier\w*
        veganer\w*)
        mein name ist|ich (?:heiße|heisse)|[\w-]+(?: \w+)? ist (?:mein|meine|unser
        unsere) (?:[\w'-]+ ){0,2}{relation}|(?:der|die|das) (?:\w+ )?{relation} (?:bei|von|für|in|der
        des) [\w ]{1,40}(?:ist|:)|(?:die )?(?:tel(?:efon)?)?nummer (?:vom|von|der|des)
        [\w-]+ (?:kümmert sich um|ist (?:zuständig|verantwortlich) für|betreut|leitet|pflegt)|(?:mein|meine
        unser|unsere|seine|ihre|die) (?:[\w'-]+ ){0,2}(?:e-?mail(?:-?adresse)?|mail(?:adresse)?
        telefonnummer|nummer|adresse|benutzername|iban|handynummer|kennzeichen)(?: \w+){0,5} (?:ist|lautet
        :)
        erreichbar unter
    """,
    "owned": r"""
        (?:mein|meine|meinem|meiner|unser|unsere) (?:[\w'-]+ ){0,2}{relation} (?:[\w'-]+ ){0,2}(?:studiert
        fährt|isst|trinkt|trägt|kann|spielt|mag|darf)|nur (?:erreichbar|verfügbar
        zugänglich)|(?:geht|funktioniert|läuft|erlaubt) (?:\w+ )?nur (?:mit|über|auf|per|von)
        (?:mein|meine|meinem|meiner|unser|unsere|unserem|unseren|unserer|mei) (?:[\w'-]+ ){0,4}{steady}
        {steady} (?:mein|meine|unser|unsere) [\w-]+|(?:der|die|das|alle|jede[rs]?
        ganze) (?:[\w'-]+ ){0,3}{asset}(?: [\w'@.-]+){0,4} {steady}|{steady} (?:der|die
        das) (?:[\w'-]+ ){0,2}{asset}
        (?:in|für|im|bei) (?:diesem|dieser|unserem|unserer|meinem|meiner|der ganzen|dem ganzen) (?:repo\w*
        projekt|codebasis|team|firma|büro|haus|familie|code|repository|betrieb)|bei uns|im büro
        auf (?:der )?arbeit|in der (?:firma|arbeit)
        (?:wir|mia|mir) (?:{adverb} )*(?:nutzen|benutzen|verwenden|deployen|hosten|betreiben|treffen uns
        speichern|schreiben|rechnen|unterstützen|folgen|haben|arbeiten|sitzen|zahlen|verkaufen|testen|bauen
        loggen|sind zu|san|sind (?:noch )?(?:auf|bei)|nennen|liefern|entwickeln) (?!es\b|das\b|dies
        eine?n?\b)
        (?:nutzen|benutzen|verwenden|haben|arbeiten|schreiben|speichern|testen|deployen
        betreiben) wir (?!hier|das|es\b|eine?n?\b)
    """,
    "rule": r"""
        (?:wir|ich|man|jeder|niemand|du)(?: \w+){0,3} (?:immer|nie|niemals|grundsätzlich)|^(?:immer|nie
        niemals)(?! (?:ahnung|lust|zeit|problem|sorge|angst|gedanken|gehört|gesehen|wieder|noch|idee))
        ^(?:benutze?|verwende|nutze|schreibe?|antworte|nenne?|setze?|mache?|gib|pushe?|committe|frage?
        vermeide)(?: \w+){0,6} (?:immer|nie|niemals|stets|grundsätzlich)|(?:ist
        sind) (?:bei uns )?(?:verboten|tabu|pflicht|nicht erlaubt)
    """,
    "habit": r"""
        ^alle [\w-]+ (?:sind|werden|laufen|liegen|müssen|schreiben|haben|gehen)
        ^keine [\w-]+ (?:in|bei|vor|ohne|nach|im|am) (?!de|dies)
        (?:muss|müssen|darf|dürfen|wird|werden|soll|sollen)(?: \w+){0,6} (?:immer|nie|niemals|stets|nicht
        nur|grundsätzlich)
    """,
    "recurring": r"""
        jede[nrs]? (?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|woche|monat|nacht|morgen
        ersten|letzten)|(?:montags|dienstags|mittwochs|donnerstags|freitags|samstags|sonntags)
    """,
    "due": r"""
        deadline|läuft (?:\w+ ){0,4}(?:ab|aus)|geburtstag|hochzeitstag|heiraten|abgabe|frist
        (?:am|bis zum|ab dem|vom|bis|ab) (?:\w+ )?\d{1,2}\. ?(?:jan|feb|mär|apr|mai|jun|jul|aug|sep|okt|nov
        dez|\d)\w*
    """,
}

_AGAINST = {
    "byway": r"übrigens|nebenbei|zur info|btw|am rande",
    "every": r"alles|jeder|jede|niemand|nichts",
    "final": r"(?:endgültig|für immer|dauerhaft)",
    "thus": r"also|daher|deshalb",
    "definite": r"der|die|das|ein|eine|alle|jede[rs]?|unsere?|meine?|im|in|bei|am|für|auf|rechnungen",
    "plain": r"""
        (?:ich|wir) \w+ \w+|\w+ (?:ich|wir) \w+|(?:hälfte|großteil|teil) (?:unserer|meiner)
    """,
    "passing": r"""
        will|wollen|möchte|möchten|muss|müssen|kann|können|soll|sollen|sollte|sollten|werde|werden|denke
        denken|weiß
        wissen|finde|finden|sehe|sehen|bekomme|bekommen|kriege|kriegen|versuche|versuchen|habe|hab|haben
        hatte|hatten
        bin|sind|war|waren|gehe|geh|gehen|komme|kommen|verstehe|meine|hoffe|frage|glaube|suche|schlafen|nacht
        danke
        hunger|mittag|kurz|gleich|jetzt|dies|diese\w*|das|es|hier|du|dein\w*|dir|dich|lache|weine|fühle|mache
        machen|lass
        lassen|sage|sagte|hörte|höre|brauche|brauchen|bräuchte|hole|hol|musste|wollte|wäre|wären|bett
        wochenende
    """,
    "asks": r"""
        wer|was(?! (?:ich|mich|mir) )|wo(?! (?:ich|wir) )|warum|wieso|weshalb|wie(?! (?:ich|wir|immer
        gesagt) )|wieviel|welche[rsnm]?|wann|woher|wohin|(?:kannst|könntest|würdest|willst|magst|hast|bist
        weißt|weisst|kennst|findest|glaubst|denkst|meinst|siehst|verstehst|baust|machst|hilfst|sollte
        sollten|soll|darf|muss|kann|können|könnten|ist|sind|war|hat|gibt|geht|lohnt|stimmt|wird|werden|haben
        habe|bin|wäre) (?:du|ich|wir
        man|sie|es|er|ihr|das|der|die|dies\w*|ein|eine|jemand|unser|unsere|mein|meine|da|dort)|hast du
        irgendeine idee|ich frage mich|gespannt|seit wann|erinnere? mich|frage(?= ?:)|kurze frage|erkläre?
        sag mal|sag mir|erzähl
    """,
    "unreal": r"""
        sollten? (?:ich|wir) (?:je|jemals|mal|einmal)|im fall dass|selbst wenn
        angenommen|gesetzt den fall|stell dir vor|nehmen wir an|mal angenommen|was wäre|hätten? (?:ich|wir)
        wäre ich|wären wir|wenn .{0,80}(?:hätten?|wären?|würden?|könnten?|wär)|(?:hätten?|wären?
        würden?) .{0,60}(?:wenn|falls)|als ob|als wäre|hypothetisch|theoretisch|tu so
        (?:ich|wir) würden? (?:\w+ )?(?:lieber|gern|gerne|eher|sagen|vorschlagen)
    """,
    "condition": r"wenn(?! du)|falls|sofern|sobald",
    "doubt": r"""
        {unreal}|nie (?:gesagt|gesehen|gehört|verstanden|gedacht|gewusst)|vielleicht|eventuell|möglicherweise
        könnten?|könnte ich|bräuchten?|wahrscheinlich
        vermutlich|weiß (?:ich )?nicht|keine ahnung|ich glaube|ich denke|überlege|überlegen|ob (?:ich|wir)
        anscheinend|scheint|offenbar|hoffentlich|hoffe|irgendwann|fast(?! alle| immer| nie| jeder)|beinahe
        mal sehen|früher|es sei denn
        unsicher|noch nicht entschieden|manchmal|wohl
    """,
    "told": r"""
        (?:er|sie|man|leute|jemand|{relation}|artikel|buch|autor(?:in)?|minister(?:in)?|doku|dokumentation
        zeitung|\w+) (?:gestern |immer |mal |auch |neulich )?(?:sagte?|sagt|sagen|behauptet|behauptete
        schrieb|schreibt dass|meinte?|meint|erzählte?|erzählt|findet dass|denkt|dachte|empfiehlt|empfahl
        rief|antwortete|fragte|twitterte|schwört|stand)
        figur in|hauptfigur|in meinem roman|laut|angeblich|habe ich gelesen|ich habe gelesen|gelesen
        gehört dass|zitat|zitiere|in (?:dem|der
        einem|einer) (?:film|buch|artikel|zeitung|interview|lied)|im (?:film|buch|artikel|lied|interview)
        sprichwort
    """,
    "task": r"""
        (?:commit|committe|starte|speichere?|beheb|pushe?|deploye?|stelle|mache?|konfiguriere?|validiere?
        dokumentiere?|begrenze?|verkleinere?|vergrößere?|teile?|lade?|verschieb|fang|zieh|setz|leg|bau|nutze?
        verwende?|schmeiß|wirf|tausche?)(?=\s)
        (?:ich (?:brauche|bräuchte|benötige|suche|versuche|möchte (?:dass|eine?n?|gern|gerne|das|die|den)
        will (?:dass|eine?n?|das|die|den|jetzt)|hätte gern)|kannst du|könntest du|würdest du|hilf
        mach(?! (?:immer|nie))|schreib(?!e?(?: \w+){0,6} (?:immer|nie|lieber))|gib|zeige?|finde?|suche?
        füge?|entferne?|lösche?|lösch|benenne?|ersetze?|ändere?|passe?|behebe?|fixe?|repariere?|übersetze?
        fasse?|erkläre?|prüfe?|checke?|schaue?|schau|guck|teste?|führe?|öffne?|lies|verschiebe?|sortiere?
        vergleiche?|beschreibe?
        analysiere?|entwirf|versuche?|starte?|stoppe?|geh|setze?|sende?|schicke?|installiere?|berechne?
        baue?|implementiere?|generiere?|refaktoriere?|nimm|lass uns|aktualisiere?|plane?|verbessere?
        korrigiere?|kürze?|erstelle?|formuliere?|rechne|pack|stelle?|lass|erhöhe?|sorge?|liste?|wähle?
        optimiere?|migriere?|exportiere?|räume?|mache? .{0,40}rückgängig|zieh|hole?|entferne?|überprüfe?)
    """,
    "here": r"""
        in (?:dieser|diesem) (?:funktion|datei|methode|klasse|test|skript|fall|beispiel|abfrage|komponente
        mail|brief|text|absatz|nachricht|dokument|geschichte|gedicht)|diesmal|dieses mal|im moment|momentan
        gerade|grad|heute|heut|vorhin|eben noch|heute (?:morgen|abend)|oben|unten|erst mal|erstmal
        diese[nrs]? (?:fehler|bug|funktion|test|code|zeile|version|meldung|knopf|seite|film|ansatz|lösung
        absatz|antwort|datei|skript|problem)|den ganzen (?:tag|morgen|abend)|so müde|bis jetzt|bisher
        vorerst|fürs erste
    """,
    "vague": r"""
        es|das(?= (?:ist|war|geht|hat|wird|macht|kann|klappt|funktioniert|sieht|muss|musst|gefällt|hilft))
        dies\w*|dies|die(?= (?:ist|sind|war|hat|habe))|der(?= (?:ist|macht|war|hat))|sie|er|da|hier|so|du
        ihr|puh|boah|bah|argh|igitt|wow|tja|den|dem
    """,
    "state": r"""
        im stau|erschöpft|kopfschmerzen|fix und fertig|durchgefroren|nervös|todmüde
        zeile \d+|jetzt durch|bis (?:morgen|später|gleich)|heim|nach hause|unterwegs|herrlich|warten
        verspätung|tippfehler|in (?:fünf|zehn|\d+) minuten
        kaputt|schlägt fehl|fehlgeschlagen|scheitert|stürzt|absturz|abgestürzt|langsam|funktioniert nicht
        funktionieren nicht|geht nicht|gehen nicht|klappt nicht|fehler|fehlermeldung\w*|falsch|leer|rot
        hängt|komisch|seltsam|chaos|müde|hunger|krank|stress\w*|fertig|beschäftigt|froh|glücklich|sauer
        traurig|genervt|angst|super|schrecklich|schön|lustig|wahnsinnig
        startet .{0,60}nicht|nicht mehr (?:geht|läuft|startet|gefunden)|schreit|weint|gleich wieder
        bis (?:zwölf|mittag|heute|morgen)|speicherleck|null|undefined
        exception|timeout|bug|bugs|leckt|wirft|error|problem|plötzlich|auf einmal|fehlt|fehlen|doppelt
        zweimal|verschwindet|liefert|kopf|schädel|weh|nie durch|kein bock|keine lust|bett|flackert|springt
        reagiert nicht|ständig
    """,
}

WORDS = _ASKED | _KEPT | _AGAINST
