"""How people ask and talk about the past in German, and what stands around a wish."""

from __future__ import annotations

_PAST = {
    "asking": r"""
        was|welche[rsmn]?|wann|wo|warum|wieso|weshalb|wer|wem|wen|wessen|wie|wieviel|wofür|womit|worauf
        worüber|wozu|woran|woher|wohin|wogegen|ob|weswegen
        (?:habe?|haben|hatten?|ist|war|waren|sind|weißt|weisst|kannst|könntest|gab|gibt|steht|erinnerst|hast
        hattest|wurde)
        (?:sag|sage|erzähl|zeig|gib|fass|fasse|such|suche|schau|lies|liste|nenn|nenne|bring|fasst|sagst
        erklär)(?: \w+)?
        (?:seit|bis|ab|für|auf|in|mit|bei|an|zu|aus|gegen|über|von|unter|nach|vor|durch|laut|um) (?:wann|was
        welche[rsmn]?|wem|wen)
    """,
    "recall": r"""
        (?:weißt|weisst|wissen) (?:du|sie|ihr) (?:\w+ )?noch
        (?:erinnerst|erinnern|erinnert) (?:du|sie|ihr) (?:dich|sich|euch)
        (?:kannst|könntest|können|könnten|magst) (?:du|sie) (?:dich|sich) … erinnern
        (?:kannst|könntest|können|könnten|magst|würdest) (?:du|sie) (?:mich
        uns)(?: \w+){0,2} (?:daran )?erinnern (?!zu)(?:was|welche\w*|wann|wo|warum|wer|wie|woran|ob)
        erinnere?(?:n sie)? (?:mich|uns) (?:{fill} |nochmal |kurz )*(?:daran )?(?:an (?:die|das|den
        unsere?\w*|meine?\w*)|was|welche\w*|wann|wo|warum|wieso|wer|wie|ob|wofür|worauf)
        was (?:weißt|weisst) du (?:noch|alles|aus|über|von|zu)
        soweit du (?:noch )?weißt|hilf meinem gedächtnis|woran erinnerst du dich
        hilf (?:mir|uns)(?: {fill})* (?:auf die sprünge|beim erinnern)|helfen sie mir auf die sprünge
        frisch(?:e)? (?:mal )?mein gedächtnis auf
    """,
    "lookup": r"""
        (?:suche?|schaue?|schau|sieh|guck|prüfe?|blättere?|durchsuche?|wühl|lies|sehen sie
        schauen sie)(?: {fill}| nach| in| durch)* (?:in |auf |durch )?(?:deine[mnr]?|meine[mnr]?
        unsere[mnr]?|ihre[mnr]?|dem|den|das) (?:\w+ )?{stock}
        (?:laut|nach|gemäß) (?:deine[mnr]?|meine[mnr]?|unsere[mnr]?|ihre[mnr]?) (?:\w+ )?{stock}
        (?:suche?|such|finde) (?:{fill} |mir )*(?:heraus |raus )?(?:was|welche\w*|warum|wann|wie
        wer) … (?:wir|ich)
        (?:suche?|schaue?|guck|blättere?|lies|durchsuche?) … (?:alten|früheren|vergangenen|letzten
        vorherigen) (?:gesprächen?|sitzungen|notizen|chats|unterhaltungen)
        (?:ruf|rufe|hol|such|suche|kram|zeig)(?: {fill}| mir)* (?:unsere?[nrs]?
        meine?[nrs]?) (?:\w+ )?(?:frühere[nrs]?|alte[nrs]?|letzte[nrs]?)? ?(?:entscheidung(?:en)?
        absprachen?|notizen|vereinbarung(?:en)?|beschlüsse|gespräche)
    """,
    "remind": r"""
        erinnere? (?:mich|uns)|hilf (?:mir|meinem gedächtnis)
        bring (?:mich|uns) auf (?:den )?(?:neuesten )?stand|fass(?:e|t)? … zusammen
        gib … (?:überblick|zusammenfassung)
        hilf mir auf die sprünge|bin (?:wieder|zurück)|zurück aus|wo stehen wir|wie war der stand|bring mich
    """,
    "shared": r"""
        (?:haben|hatten|sind|waren|wollten|sollten|hätten) wir … {participle}
        (?:habe|hatte|hab) ich … (?:gesagt|erzählt|erwähnt|gegeben|gewählt|entschieden|mitgeteilt|erklärt
        ausgesucht|genannt|versprochen|verlangt|gebeten|vorgegeben)
        wir (?:haben|hatten|sind|waren) … {agreed}
        ich (?:habe|hatte|hab) … (?:gesagt|erzählt|erwähnt|gegeben|gewählt|entschieden|mitgeteilt|erklärt
        ausgesucht|genannt|versprochen|verlangt|gebeten|vorgegeben)
        (?:wir|uns|man) … {participle} (?:haben|hatten|hatte|sind|waren|wollten)
        ich … (?:gesagt|erzählt|erwähnt|gegeben|gewählt|entschieden|mitgeteilt|erklärt|ausgesucht|genannt
        versprochen|verlangt|gebeten|vorgegeben) (?:habe|hatte)
        (?:entschieden|beschlossen|vereinbarten|wählten|besprachen|sagten|wollten|sollten|planten|nannten
        einigten|nahmen|verwarfen|legten) wir|(?:sagte|wählte|wollte|nannte) ich
        seit wann … wir|wo (?:waren|sind) wir|wo war ich|was war (?:mit|der|die|das) … (?:wir|uns)
        gab es (?:\w+ )?(?:bei uns|von uns|zwischen uns|(?:eine?n? )?(?:\w+ )?(?:entscheidung|absprache
        beschluss|vereinbarung|regelung|festlegung))
        (?:war|waren|ist|lautete|lauten|sind) (?:noch )?(?:die|der|das|unsere?|unser
        meine?) (?:\w+ ){0,2}(?:entscheidung(?:en)?|beschluss|absprachen?|vereinbarung|ergebnis|begründung
        fazit)
        (?:du|sie) … (?:vorgeschlagen|gefunden|empfohlen|herausgefunden)
        was (?:stand|steht|stehen|lag|liegt) (?:\w+ ){0,4}(?:noch |bei uns )*(?:an|offen|aus|herum)
        noch (?:offen|ausstehend|zu tun) (?:war|waren)
        welche (?:regeln|anweisungen|vorgaben|vorlieben) habe? ich
        (?:wir|ich) (?:hatten|hatte|wollten|wollte|sollten) … (?:besprochen|gesagt|vereinbart|haben|nehmen
        hoch|machen)|wollten wir|(?:uns|mich) … (?:gebeten|bat|baten|wollte)
        wie (?:hieß|hiess|hießen|lautete) (?:\w+ ){0,3}(?:noch|gleich|der|die|das|unser|unsere)
        was war (?:der|die|das|unser|unsere) (?:\w+ )?(?:grund|gedanke|idee|motivation|argument|überlegung
        begründung|logik|hintergedanke)(?:n)? (?:dahinter|hinter|für|gegen|warum
        zu)?|hatten wir … (?:nicht )?schon|laut (?:mir|uns)|(?:meiner|unserer) (?:ansicht|aussage) nach
        (?:kamen|gingen|taten|hielten|ließen|schrieben|legten|bauten|lösten|\w{3,}ten) wir
    """,
    "participle": r"""
        (?:\w+)?ge\w{2,}(?:t|en)|(?:be|ver|ent|er|zer|über|unter|wider)\w{2,}(?:t|en)|nehmen|machen|lassen
        einigen|stehen|gehen|verwenden|offen|sagt
    """,
    "ago": r"""
        gestern|vorgestern|damals|letzte[nsr]? (?:woche|mal|monat|jahr|sitzung|session|sprint|quartal|\w+tag
        zeit|besprechung)|letztens|neulich|seinerzeit|vorhin
        (?:in |bei )?(?:der |den |unserer |unseren |einer )?(?:letzten|vorigen|früheren|vergangenen
        vorherigen) (?:\w+ )?(?:{session}|woche|besprechung|tagen|wochen)
        vor (?:\w+ )?(?:tagen?|wochen?|monaten?|jahren?|kurzem|einiger zeit|einer weile|sprints?)|früher
        bisher
        bislang|heute (?:morgen|früh)|zuletzt|kürzlich|einst
        im (?:januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember)
        vor dem urlaub|jüngst|ursprünglich
    """,
    "again": r"""
        noch ?(?:mal|einmal)|noch gleich|doch gleich|gleich wieder|gleich noch|nochmals|noch(?= ?[?]$)
        doch noch
    """,
    "ours": r"wir|ich|unsere?[mnrs]?|meine?[mnrs]?|uns|mir|mich",
    "definite": r"der|die|das|den|dem|diese[rsmn]?|dieser",
    "unknown": r"""
        (?:ich|wir) (?:weiß|weiss|wissen|erinnere|erinnern|komme|kann|finde) … (?:nicht
        nimmer)(?: mehr| drauf)?
        (?:ich )?(?:habe?|hatte) (?:\w+ ){0,2}(?:vergessen|verdrängt) (?:was|welche[rsmn]?|wer|ob|wie|wo
        wann|warum|wofür)|(?:ist|sind) mir (?:\w+ )?entfallen|(?:weiß
        weiss) (?:ich )?(?:gerade |leider )?nicht mehr|mir fällt … nicht (?:mehr )?ein
        keine ahnung mehr
    """,
    "preference": r"""
        (?:was|welche[rsn]?|wie|nenn|zeig|liste) .{0,30}(?:meine?|unsere?)[mnr]? (?:\w+ )?(?:vorlieben?
        präferenz(?:en)?|absprachen?|vereinbarung(?:en)?|entscheidung(?:en)?|konvention(?:en)?|beschlüsse
        regeln)
        (?:verwende|benutze|nutze|mag|bevorzuge|nehme)n? (?:ich|wir) (?:normalerweise|meistens|üblicherweise
        am liebsten|immer|sonst|lieber)
    """,
    "earlier": r"""
        wie (?:wir|ich|gestern|besprochen|vereinbart|beschlossen|abgemacht|letztes|immer besprochen|neulich
        damals|ausgemacht|gehabt) ?(?:es )?(?:\w+ )?
        (?:was|die|das|den|worüber) (?:wir|ich) … (?:besprochen|beschlossen|vereinbart|entschieden
        ausgemacht|gesagt|geplant|gewählt|festgelegt) (?:haben|hatten|habe|hatte)
        (?:wo|weiter|dort|da) … (?:aufgehört|stehen ?geblieben|stehengeblieben)
        (?:selben?|gleichen?|dieselben?|denselben) … wie (?:letztes mal|gestern|beim letzten|neulich|damals
        vorher|zuletzt)
        (?:wir|ich|du) … (?:gestern|neulich|damals|letztes mal|letzte woche|letzten monat)
        (?:gestern|neulich|damals|letztes mal|letzte woche|letzten monat) … (?:wir|ich|du)
        (?:meine|unsere)[mnr]? (?:\w+ )?(?:vorlieben|präferenzen|to-?dos?|aufgabenliste|absprachen?|deadline
        frist)
        (?:wer|wann) (?:ist|war) (?:unsere?|meine?|der|die|das) (?:\w+ )?(?:ansprechpartner\w*|deadline
        release|demo|termin|abgabe|frist)
        {ago} (?:\w+ ){1,2}?(?:wir|ich|du|sie)
        du (?:hast|hattest) (?:mir|uns) (?:\w+ )?(?:mal|schon|neulich|damals|einmal|kürzlich)
        (?:du|wir) (?:hast|hattest|haben|hatten) … (?:mal|schon mal|einmal) (?:\w+ ){0,4}(?:erklärt|gesagt
        gezeigt|besprochen)
    """,
    "pointing": r"""
        (?:was|welche[rsmn]?|wer|wo|wann|wie|warum) (?:war|waren|ist|ging|hieß|hiess|lautete|es|der|die|das
        machten|du)|zusammen|wiederhol\w*|noch ?mal|noch gleich|nochmals|was es war
    """,
    "agreed": r"""
        besprochen|beschlossen|entschieden|vereinbart|ausgemacht|abgemacht|festgelegt|geeinigt|gewählt
        verabredet|abgesprochen|umgestiegen|gewechselt
    """,
}

_AROUND = {
    "opening": r"""
        bitte|mal|jetzt|nun|dann|ok|okay|hallo|hi|hey|na|so|und|aber|oh|ach|also|gut|super|toll|prima
        danke(?: schön| dir)?|vielen dank|ja|nein|doch|eigentlich
        sorry|claude|opencode|assistent|übrigens|apropos|nebenbei|btw|wichtig
        noch (?:etwas|was|eins|eine sache|eine frage|kurz)|kurze frage|frage|zuerst|zuletzt|warte|hm+|auch
        deshalb
        bevor ich(?:'s| es)? vergesse|bevor wir \w+(?: \w+)?|nur|einfach|am besten|könntest du|kannst du
        könnten sie|können sie|würdest du|würden sie|magst du|willst du|können wir|kann man
        du (?:kannst|sollst|solltest|musst|darfst|könntest)|sie (?:können|sollten|müssen|dürfen)
        ich (?:möchte|will|hätte gern|bitte dich|brauche|wünsche mir)(?: dass du)?|dass du
        es wäre (?:gut|schön|toll|nett|super|prima)(?: wenn du)?
        mir wäre (?:lieb|recht|wichtig)(?: wenn du)?
        sei so (?:gut|nett|lieb)(?: und)?|seien sie so (?:gut|nett)(?: und)?
        tu mir (?:einen|den) gefallen und
        sag(?:e|t)?(?: mir| mal| uns)*|erzähl(?:e)?(?: mir| mal)*|sagen sie mir|kannst du mir sagen
        ich frage mich|weißt du(?: zufällig)?|weisst du|irgendeine idee|hast du eine ahnung|verrat mir
        mir sagen|mir
        auf jeden fall|unbedingt|ich (?:muss|müsste) wissen|wir (?:sollten|wollen|müssen)|daher|darum
        lass uns|achtung|achte darauf dass du|denk daran|folgendes|das war's|läuft|klappt|geht doch
        es (?:wäre|ist) (?:\w+ )?(?:wichtig|hilfreich)(?: dass du| wenn du)?
        ich (?:wäre|bin) dir dankbar(?: wenn du)?|wärst du so (?:nett|lieb|gut)(?: und)?
        darf ich (?:dich|sie) bitten|seid so gut und|also bitte|bloß|gern|gerne
    """,
    "asked": r"""
        (?:kannst|könntest|würdest|willst|magst|sollst|solltest|musst|darfst) du
        (?:können|könnten|würden|sollten|müssen) sie|du (?:kannst|könntest|sollst|solltest|musst|darfst)
        bitte|dass du|wenn du|dass sie|wenn sie|ich (?:möchte|will)|(?:kannst|darfst|musst|sollst) du
    """,
    "joining": r"und|aber|also|oder|denn|weil|dann|sondern|dass",
    "reporting": r"""
        sagte?|sagt|schrieb|schreibt|fragte?|fragt|meinte?|antwortete?|kommentar|nachricht|text|label|titel
        überschrift|string|fehler|fehlermeldung|doku
        dokumentation|heißt|heisst|namens|commit|übersetze?|zitat|mail|log|zeigt|meldung|knopf|button
        wenn der|wenn ein|sobald der|sobald ein|test|betreff
    """,
    "trimmed": r"""
        dass|über|von|vom|zu|zum|zur|auf|für|um|bitte|das|dies|es|ist|war|noch|mal|nochmal|was|welche[rsmn]?
        wann|wo|warum|wer|wie|ob|habe|haben|hatten|hatte
        wir|ich|du|dir|und|in|mit|aus|im|auch|der|wieder|mehr|sind|uns|an
        gesagt|erzählt|genannt|erwähnt|gesprochen|besprochen|beschlossen|entschieden|vereinbart|abgemacht
        festgelegt|ausgemacht|notiert|gemerkt|gespeichert
        {later}
        {onwards}
    """,
    "file": r"""
        (?:in|ins|im|auf|am|an|aus|unter|von|bei|zu|zur|zum|vom) (?:[\w./-]+ ){0,3}{artefact}
        (?!memory|claude|agents)[\w-]+\.(?:md|py|js|ts|tsx|jsx|json|ya?ml|txt|toml|css|html|go|rs|java|rst
        sql|sh)
        (?:tabelle|spalte|klasse|komponente|migration|endpunkt|route|modul|paket|ordner|bildschirm|knopf
        seite|cache|funktion|methode|variable|branch)n?
    """,
    "artefact": r"""
        readme|docs?|doku|dokumentation|changelog|code|kommentare?n?|docstrings?|datei|dateien|spec|pr
        pull request|commit(?:nachricht|-nachricht)?|issue|ticket|seite|oberfläche|ui
        datenbank|db|redis|tabelle|cookies?|local ?storage|cache|jira|wiki|config|konfiguration|json|yaml
        csv|platte|bildschirm|liste|dict|variablen?|array|puffer|struct
        response|formular|komponente|funktion|klasse|methode|schema|migration|endpoint|modell|ordner|log
        logs
    """,
    "feature": r"""
        (?:der|die|dem|den|des|ein|eine[mnr]?|jede[rmn]?|angemeldete[rn]?) (?:\w+ )?(?:nutzern?|benutzern?
        users?|besuchern?|browser|formular|widget|komponente|seite|login)
        (?:zwischen|nach|beim|bei) (?:\w+ )?(?:neuladen|neu laden|neustart(?:s)?|renders?|aufrufen|requests
        anmelden|abmelden)
        scroll\w*|häkchen|checkbox|knopf|button|dialog|passwort vergessen|zugangsdaten merken
        angemeldet bleiben
    """,
    "able": r"""
        (?:dinge|sachen|alles|gespräche|informationen|etwas|irgendwas|vieles) … (?:merken|erinnern|vergessen
        behalten)
        (?:merkst|erinnerst|vergisst) du (?:dir|dich)? ?(?:eigentlich|überhaupt|dinge|sachen|alles|etwas
        zwischen|an frühere gespräche)
        wie funktioniert (?:dein|das|ihr) gedächtnis
        (?:dir|dich) (?:zwischen|über) (?:\w+ )?(?:sitzungen|sessions|gespräche)(?: hinweg)? … (?:merken
        erinnern)
        (?:ist es möglich|bist du in der lage|bist du fähig|kannst du überhaupt
        gibt es eine möglichkeit).{0,40}(?:merken|erinnern|vergessen|speichern
        behalten)|merken .{0,20}oder (?:geht|nicht|kannst)
    """,
    "explained": r"""
        wie (?:funktionier(?:t|en|te|ten)|benutzt man|verwendet man|macht man|schreibt man|geht|gehen)
        was (?:ist|sind|macht|bedeutet|heißt|war) (?:ein|eine|\w+ (?:noch ?mal|noch gleich))
        (?:der|den) unterschied zwischen|die syntax|wie man
    """,
    "mistaken": r"""
        falsch|kaputt|übersehen|verpasst|schiefgelaufen|verbockt|gerade (?:geändert|gemacht)
        eben (?:geändert|gemacht)
    """,
    "idiom": r"""
        {~vergiss} (?:es|das|dies)(?: {fill}| einfach| wieder| lieber)*{end}
        (?:{~vergiss}|vergesst|vergessen sie)(?: {fill})* (?:nicht|nie|niemals)
        (?:{~vergiss})(?: (?!dass |was |alles )\S+){0,6} nicht
        schon gut|egal
        ich (?:gerade|eben|grad|soeben) (?:gesagt|geschrieben|gefragt)|egal
    """,
    "instead": r"""
        erst ?mal|fürs erste|vorerst|im moment|einfach|stattdessen|lass uns|wir machen|konzentrier|von vorne
        egal|anweisungen|tests?|ansatz|zuerst|heute
    """,
    "postponed": r"""
        (?:das|dies|es) (?:kann|können wir|machen wir|wird)|vielleicht|(?:könnten|werden|können) wir
        wir (?:könnten|werden|können)
        gib|wirf|rufe|zeige?
        (?:immer|nie|niemals) (?:wenn|noch|wieder|ist|bekomme|das|der|die|ein|eine|gesehen|gleich|dieselbe
        derselbe)
    """,
    "stated": r"^(?:der|die|das|es|dies|diese|dieser|warum|wie|was|wenn|falls|sobald) (?!nie|immer|niemals)",
    "negated": r"nicht|nie|niemals|keine?n?|nirgends|nichts|brauchst",
    "unkept": r"""
        (?:nicht|nirgends|nichts|keine?|nie) … (?:merken|speichern|notieren|aufschreiben|festhalten
        abspeichern|zu merken|aufzuschreiben)
        (?:merke?|speichere?|notiere?) … (?:nicht|nichts)
    """,
    "content": r"\w+ ?:|dass|was|welche[rsmn]?|wo|wie|alles|ob|über|zu|zum|zur|bezüglich",
    "surely": r"""
        wie (?:du|sie) (?:\w+ )*(?:weißt|weisst|wissen|erinnerst|erinnern)
        (?:bestimmt|sicher(?:lich)?|gewiss|wohl|vermutlich|sicherlich noch)
    """,
    "that": r"dass",
    "connecting": r"dass|das|bitte|dies|es|auch|mal|folgendes|{later}|{onwards}",
    "clause": r"""
        {connecting}
        {fill}
        {opening}
        {asked}
        dir|euch|sich|du|sie|zu|merken|merkst|einprägen|einprägst|aufheben|aufhebst|behalten|behältst
        notieren|notierst|aufschreiben|aufschreibst|festhalten|festhältst|vermerken|vermerkst
        speichern|speicherst|abspeichern|ablegen|eintragen|würdest|könntest|kannst
    """,
    "about": r"über|zu|zum|zur|bezüglich|wegen",
}

TALK = _PAST | _AROUND
