"""What people want of a memory, in German: the verbs, what is kept and for how long."""

from __future__ import annotations

_VERBS = {
    "keep": r"""
        (?:merke?|merk't)(?: {fill})* (?:dir|euch|ihnen)(?! (?:\w+ )?nicht)
        merken sie sich|merkt euch
        (?:das |dies |dir |es )?merken(?: {fill})*{end}
        dir(?: {fill})* merken
        (?:merke?|merken) ?:
        präge?(?: {fill})* (?:dir|euch) … ein|prägen sie sich … ein
        behalte?n?(?: sie)? … (?:im (?:kopf|gedächtnis|hinterkopf|auge)|in erinnerung) (?=.*(?:{later}
        {onwards}|dass))
        schreibe?(?: {fill})* dir … hinter die ohren
        (?:speichere?|speicher)(?: {fill})* dir
        (?:lerne?|wisse)(?: {fill})* (?:auswendig|dass)
        hebe?(?: {fill})* (?:dir|das|dies|es) … auf
        behalte?(?: {fill})* (?:dir )?(?:das|dies|es)(?: {fill})*(?: im| in|$)
        (?:das|dies|folgendes) (?:musst|solltest|sollst|kannst|darfst) du … (?:merken|einprägen|wissen
        behalten|notieren)
        lerne?(?: {fill})* (?:das|dies|folgendes)|nimm … (?:auf|mit)(?=.*(?:{later}|{memory}))
        merkst du dir|(?:prägst|speicherst|hebst|legst) du dir|lege? dir … ab(?= dass| ?:)
        (?:das|dies|es) (?:soll|sollte|muss) dir (?:\w+ )?(?:in erinnerung|im gedächtnis|im kopf) bleiben
    """,
    "keep_late": r"""
        bitte (?:{fill} )*(?:merken|einprägen){end}
        dir (?:\S+ ){0,10}?(?:merken|merkst|gemerkt|einprägen|einprägst|zu merken|aufheben|aufhebst|behalten
        merken würdest)
        (?:könnten|können|würden|sollten|mögen) sie sich (?:\S+ ){0,8}?(?:merken|einprägen)
        im (?:kopf|gedächtnis|hinterkopf) (?:zu )?(?:behalten|behältst)|hinter die ohren
    """,
    "fill": r"""
        bitte|mal|doch|auch|gut|noch|jetzt|schon|einfach|das|dies|es|kurz|gleich|unbedingt|ruhig|folgendes
        dauerhaft|am besten|vielleicht
    """,
    "write": r"""
        notiere?(?:n sie)?(?: {fill})*(?: dir| euch| sich)?|notier's
        schreibe?(?:n sie)?(?: {fill})*(?: dir| euch| sich)? … (?:auf|nieder)
        (?:halte?|halten sie)(?: {fill})* … fest(?!,? ob)
        (?:vermerke?|vermerken sie)
        (?:mache?|leg(?:e)?|machen sie|erstelle?|schreibe?)(?: {fill})* (?:dir|euch
        sich)? ?(?:{fill} )*(?:dazu |davon |darüber |hierzu )?(?:eine|ne|'ne|einen) (?:\w+ )?(?:notiz
        vermerk|merkzettel|gedächtnisstütze)
        notiz(?: (?:an|für) (?:mich|dich|uns|später|die zukunft))(?: \w+){0,4} ?:|merkzettel ?:|notiz ?:
        (?:{fill} )*(?:festhalten|aufschreiben|notieren|abspeichern|vermerken|merken
        dokumentieren)(?={end}| ?[:!.])
        nimm(?: {fill})* zu protokoll|fürs protokoll|für die akten ?:
        für (?:deine|die|unsere|deinen) (?:unterlagen|akten|archiv|notizen|aufzeichnungen|hinterkopf)
        halt(?:e)?(?: {fill})*'?s(?: {fill})* fest|nimm … zu protokoll
        (?:das|dies) ist (?:was )?für (?:dein|deine|die) (?:gedächtnis|notizen)
        trage?(?: {fill})* … ein(?=.*(?:notiz|wissen|gedächtnis|memory))
        (?:notierst|vermerkst) du|hältst du … fest|schreibst du … auf
        (?:speichere?|notiere?|lege?|merke?|halte?) … als (?:\w+ )?(?:vorliebe|präferenz|regel|entscheidung
        notiz|fakt|vorgabe)|schreibe?(?: {fill})* irgendwo(?:hin)? … (?:auf|hin)|kritzel\w* … auf
    """,
    "write_late": r"""
        notieren|aufschreiben|festhalten|vermerken|aufschreibst|notierst|festhältst|vermerkst
        eine (?:\w+ )?notiz … (?:machen|anlegen|machst|anlegst)
        festzuhalten|aufzuschreiben|zu notieren
    """,
    "store": r"""
        speichere?|speichern sie|lege?|nimm|nehmen sie|trage?|schreibe?|packe?|füge?|hinterlege?|sichere?
        bewahre?|behalte?|übernimm|ergänze?|setze?|notiere?|stecke?|archiviere?|halte?|merke?
        (?:nimmst|speicherst|schreibst|packst|legst|trägst|behältst|setzt) du|lege? dir
    """,
    "store_late": r"""
        speichern|abspeichern|ablegen|aufnehmen|eintragen|hinterlegen|aufbewahren|hinzufügen|speicherst
        ablegst|aufnimmst|einträgst|hinterlegst
        behalten|behältst|übernehmen|abzuspeichern|zu speichern|schreiben|packen|festhalten
    """,
    "mind": r"""
        denke?(?: {fill})* (?:daran|dran)|achte?(?: {fill})* (?:darauf|drauf)|beachte?|berücksichtige?
        behalte? … (?:im|in)|wisse|rechne?
        geh(?:e)? davon aus|nimm … rücksicht|halte? dich|sei dir bewusst
        (?:du )?(?:solltest|musst) (?:\w+ )?wissen
        dran denken|daran denken|im hinterkopf behalten
    """,
    "unforgotten": r"""
        (?:vergiss|vergesst|vergessen sie)(?: {fill})* (?:nicht|nie
        niemals)(?: mehr| wieder| {fill})* (?:dass|was|wie|:|wer|wo)
        (?:vergiss|vergessen sie)(?: {fill})* (?:nie|niemals)(?: mehr| wieder)* (?!zu )
        (?:lass|lasst)(?: {fill})* (?:mich|uns|dich)(?: {fill}| bloß| ja| bloss)* (?:nicht|nie
        niemals)(?: mehr| wieder)* vergessen(?! zu)
        nicht vergessen(?: {fill})* ?(?::|dass)
        (?:das|dies) (?:darf|dürfen|sollte|soll) (?:ich |wir |man |du |bloß |auf keinen fall )*(?:nicht|nie
        niemals) (?:mehr )?(?:vergessen|verloren|untergehen)(?: werden| gehen)?|(?:vergiss
        vergessen sie) (?:das|dies) (?:bitte |bloß )*(?:nie|niemals)(?: wieder| mehr)*(?=.*:)
    """,
    "ruled": r"""
        (?:neue|feste|allgemeine|goldene|dauerhafte|ständige|verbindliche|generelle) (?:regel|vereinbarung
        anweisung|vorgabe|präferenz|richtlinie) … ?:
        (?:hausregel|projektregel|teamregel|grundregel|arbeitsregel|daueranweisung
        grundsatz)(?: für \w+(?: \w+)?)? ?:
        mach(?:e)? (?:das|dies|es) … (?:zur|zu einer) (?:\w+ )?(?:regel|gewohnheit|konvention)
        (?:das|dies) ist eine (?:feste|dauerhafte|ständige|allgemeine|verbindliche) (?:regel|anweisung
        vorgabe)
        (?:das|dies) (?:gilt|soll) (?:ab|von|für alle|künftig|dauerhaft|grundsätzlich|immer)
        (?:das|dies) (?:gilt|ist) (?:für|in) (?:alle|allen|das ganze|die ganze|jede[ns]?|das gesamte)
        als (?:feste |allgemeine |dauerhafte )*regel|ich will (?:nie|immer)
    """,
    "informed": r"""
        (?:nur )?damit du … (?:weißt|weisst|bescheid weißt)|zur (?:info|information|kenntnis)|nur zur
        du solltest wissen|zu deiner information
        fürs nächste mal|falls (?:du|ich|wir)|dann weißt du|für (?:dich|deine) (?:zur )?(?:info|unterlagen)
        weißt du bescheid|wisse
    """,
    "introduced": r"""
        (?:{later}|{onwards}) {colon}
        (?:{later}|{onwards}) (?:bitte|immer|nie|niemals|nur|keine?n?|nicht|verwende|nutze|benutze|du|wir
        ich|mein|unser|schreib|mach|frag|merk|will|möchte|soll|gilt)\w*
        (?:{later}) (?:wenn|dass) (?:du|wir|ich)
    """,
    "forget": r"""
        {~vergiss}|vergesst|vergessen sie|vergesse|verwirf|ignoriere
        vergisst du|verlerne?
    """,
    "owned": r"""
        (?:{forget})(?: {fill})* (?:dass|was|alles|wie|wo|welche\w*|meine?\w*|unsere?\w*|wer|mich|ob)
        (?:alles|was|meine?\w*|unsere?\w*) … (?:vergessen|vergisst|vergiss)
        (?:vergisst|vergessen)(?: {fill})* (?:dass|was|alles)
        {note}
        {told}
        {kept}
        {memory}
        das über|die (?:sache|info|information|angabe|angaben|entscheidung|regel|vorgabe) (?:mit|über|zu|zum
        zur|von|dass)
    """,
    "told": r"""
        ich … (?:gesagt|gegeben|erzählt|genannt|geschickt|mitgeteilt|geschrieben|verraten|erwähnt)
        (?:habe?|hatte) ich … (?:gesagt|gegeben|erzählt|genannt|erwähnt)
        ich (?:dir )?(?:sagte|gab|erzählte|nannte)
    """,
    "forget_late": r"(?:wieder )?(?:vergessen|vergisst|vergessen würdest|vergäßest|zu vergessen)",
    "erase": r"""
        {~lösche}|lösch|löschen sie|entferne?|entfernen sie|streiche?|streichen sie|wirf
        werfen sie|tilge?|radiere?|verwirf|schmeiß|schmeiss|vergiss|kipp|bereinige?|leere?
        verwerfe|verwirf|verwerfen sie|vernichte
        nimm (?:\S+ ){1,12}(?:raus|heraus|weg)|schmei(?:ß|ss)(?:e)? (?:\S+ ){1,12}(?:raus|weg)
        (?:löschst|entfernst|streichst|tilgst) du
    """,
    "delete": r"""
        {erase}
        nimm|nehmen sie|raus|weg|setze?|hau|lass|leg
    """,
    "delete_late": r"""
        löschen|entfernen|streichen|tilgen|löschst|entfernst|streichst|rausnehmen|herausnehmen|rauswerfen
        wegwerfen|entsorgen|verwerfen|zu löschen|gelöscht|entfernt|gestrichen|vergessen|vergisst
        vergisst|vergessen würdest|ausradieren|rausnimmst|herausnimmst|rausstreichen|rauswirfst
    """,
    "delete_it": r"""
        (?:{delete})(?: {fill})* (?:es|das|sie|ihn|die|den|diese|dies|diesen
        alles)(?: {fill}| wieder| dann| raus| weg| heraus| aus)*
        (?:kann|können|darf|dürfen|soll|sollen|muss|müssen|kannst du
        bitte)(?: {fill}| also| nun| wieder| komplett| ganz| du)* (?:weg|raus|gelöscht|gestrichen|vergessen
        entfernt|löschen|streichen|entfernen)
        (?:raus|weg) damit
        (?:gehört|gehören) (?:gelöscht|gestrichen|entfernt|raus|weg)
    """,
    "unkeep": r"""
        nicht (?:mehr|länger|weiter) … (?:zu )?(?:merken|merkst|speichern|speicherst|behalten|behältst
        aufbewahren|gespeichert|wissen)
        (?:merke?|speichere?|behalte?) … nicht (?:mehr|länger)
        hör(?:e)? auf … zu (?:merken|speichern)
    """,
    "announced": r"(?:{later}|{onwards})(?: \w+){0,4} ?:",
}

_MEMORY = {
    "session": r"""
        sitzung(?:en)?|sessions?|male?|gespräche?n?|chats?|aufgaben|projekte?n?|arbeit|unterhaltung(?:en)?
        runden?
    """,
    "later": r"""
        für (?:später|die zukunft|alle zeiten|immer|nachher|das nächste mal|nächstes mal|künftige \w+
        die (?:nächsten|kommenden|folgenden) {session})
        für (?:alle |die |eine )?(?:weiteren?|zukünftigen?|künftigen?|spätere[nr]?|andere[nr]?|kommenden?
        nächste[nr]?|folgenden?) {session}
        (?:in|bei|über) (?:alle[nr]? |den |der |die |einer )?(?:weiteren|zukünftigen?|künftigen?|späteren?
        anderen?|kommenden|nächsten|folgenden) {session}
        (?:beim|fürs|das) nächste[ns]? mal|dauerhaft|langfristig|permanent|auf dauer|nächstes mal
        ein für alle mal|sitzungsübergreifend|über sitzungen hinweg|bleibend
        damit (?:wir|ich|du) … nicht (?:wieder|nochmal|noch einmal|jedes mal|erneut|mehr)|zum nachschlagen
        falls (?:das|es|wir|sowas|so etwas|dies) … (?:wieder|nochmal|noch einmal|erneut|mal|später)
        wenn (?:das|es|sowas) (?:wieder|nochmal|noch einmal)|für den fall
        (?:für |in |über )?(?:die |den )?(?:nächsten|kommenden) (?:\w+ )?(?:wochen|tage|tagen|monate
        monaten)
        das (?:brauchen|brauchst) (?:wir|du) … (?:noch|später|wieder)
        (?:auch )?über diese sitzung hinaus|auch nach dieser sitzung
        nicht nur (?:für )?(?:heute|jetzt|diese sitzung)
    """,
    "onwards": r"""
        ab (?:jetzt|sofort|heute|nun|morgen)|von (?:jetzt|nun|heute) an|künftig|zukünftig|in zukunft|fortan
        in hinkunft|bis auf weiteres|fürderhin|grundsätzlich
        als (?:\w+ )?(?:regel|vorgabe|anweisung|grundsatz|vereinbarung|richtlinie)
        in allen (?:meinen|unseren) \w+|für alle (?:meine|unsere) \w+
    """,
    "always": r"""
        immer|nie|niemals|stets|jedes mal|nimmer|ausschließlich|ausnahmslos|jederzeit|nie wieder|nie mehr
        grundsätzlich
    """,
    "scope": r"""
        (?:in|bei|für|an|im) (?:diesem|unserem|meinem|dieses|unser|mein|allen?|jedem|all meinen|meinen
        unseren|all unseren|diesen) {place}
        bei (?:mir|uns)|für mich|bevor du|wenn du|sobald du|nachdem du|hier
        ohne (?:zu fragen|rückfrage|mich|rücksprache)|es sei denn
    """,
    "place": r"""
        (?:\w+ )?(?:projekte?n?|repos?|repository|codebasis|codebase|teams?|workspace|skripte?n?|services?
        code|app|commits?|monorepo|diensten?)
    """,
    "memory": r"""
        (?:dein|deine[mnr]?|ihr|ihre[mnr]?|mein|meine[mnr]?|unser|unsere[mnr]?
        eure[mnr]?)(?: {own})* {stock}
        (?:im|ins|aus dem|in das|aus deinem|zum|vom|dem) (?:{own} )*(?:langzeit|projekt)?gedächtnis
        memory\.md
    """,
    "out": r"""
        (?:aus|von) (?:deine[mnr]?|ihre[mnr]?|meine[mnr]?|unsere[mnr]?)(?: {own})* {stock}
        aus dem (?:langzeit|projekt)?gedächtnis
    """,
    "own": r"""
        eigene[mnrs]?|dauerhafte[mnrs]?|persönliche[mnrs]?|gespeicherte[mnrs]?|interne[mnrs]?
        langfristige[mnrs]?|gesammelte[mnrs]?
    """,
    "stock": r"""
        (?:langzeit|projekt)?gedächtnis(?:ses)?|notizen?|aufzeichnungen?|erinnerungen?|unterlagen|notizbuch
        wissen|speicher|kopf|merkzettel|logbuch|akten
        wissensbasis|wissensdatenbank|wissensspeicher|archiv|langzeitspeicher|gespräche|gesprächen|verlauf
        dossier|ablage|hinterkopf
    """,
    "note": r"""
        (?:die|der|das|den|diese[rnsm]?|deine?[rnsm]?|alle|jede|meine?|unsere?|eine
        dieser)(?: \w+){0,2} (?:notiz(?:en)?|erinnerung(?:en)?|aufzeichnung(?:en)?|merkzettel|vermerke?
        gedächtniseinträge?|gedächtniseintrag)
        (?:den|der|die) (?:\w+ )?eintr(?:ag|äge) … (?:gemerkt|notiert|gespeichert|gedächtnis)
        (?:sämtliche|alle|jegliche|deine|die) (?:\w+ )?(?:erinnerungen|notizen|gedächtniseinträge)
        (?:das|den|die|alles) (?:stück|teil|punkt|abschnitt|passage|sache|eintrag|regel|entscheidung
        info) (?:über|zu|zum|zur|mit) .{1,60}aus (?:deine|dem)\w*
    """,
    "kept": r"""
        (?:du|ihr|sie) … {saved}
        (?:hast|hattest|habt|haben|hatten) (?:du|ihr|sie|wir)(?: \w+){0,1} … {saved}
        weißt du (?:\w+ )?(?:über|von|zu|aus) (?:mich|mir|meine?|unsere?|uns|das|dem|den|der|die|projekt
        früheren)
        weisst du (?:\w+ )?(?:über|von|zu|aus) (?:mich|mir|meine?|unsere?|uns|das|dem|den|der|die|projekt
        früheren)
        steht … (?:etwas|was|irgendwas) … (?:notiert|drin|dazu|darüber|über|zu)
        (?:haben|hatten) wir … (?:etwas|was|irgendwas|irgendwo) … {saved}
        (?:was|alles|das) … (?:du|sie) (?:noch |alles )*(?:weißt|weisst|wissen|kennst)
        (?:weißt|weisst) du (?:noch )?(?:über|von|zu)|was du (?:noch )?(?:\S+ ){0,8}?(?:weißt|weisst)
        (?:ist|steht|wurde) (?:das |es |dazu )?irgendwo (?:festgehalten|notiert|vermerkt|aufgeschrieben
        dokumentiert)|irgendwo (?:festgehalten|notiert|vermerkt|aufgeschrieben)
        steht (?:das |es |dazu )?irgendwo|was du (?:zu|zum|zur|über|von|vom) (?:\S+ ){1,5}?hast
        (?:du|sie) (?:hast|haben|hattest) (?:mir|uns) … (?:erklärt|gesagt|gezeigt|erzählt|empfohlen)
    """,
    "saved": r"""
        gespeichert|abgespeichert|notiert|gemerkt|aufgeschrieben|festgehalten|behalten|vermerkt|gelernt
        hinterlegt|abgelegt|gemacht|stehen|aufbewahrt|speicherst|merkst|weißt|memoriert|angelegt
    """,
    "personal": r"""
        (?:meine?[nrm]?|unsere?[nrm]?|seine?[nrm]?|ihre?[nrm]?|\w+s) (?:\w+ )?(?:adresse|mailadresse
        telefonnummer|handynummer|nummer|e-?mail|name|namen|geburtstag|gehalt|vorlieben?|daten|passwort
        konto|alter|wohnort)
    """,
}

WISHES = _VERBS | _MEMORY
