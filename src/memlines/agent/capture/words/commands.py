"""Orders to models, in the six languages, in small letters without accents.

They are written like the word classes: each line may be met, and `{name}` is another entry.
"""

from __future__ import annotations

COMMANDS = {
    "overrides": r"""
        \b(?:{ignore})\b.{0,30}?\b{earlier}\b.{0,40}?\b(?:{instructions})\b
        \b(?:{ignore})\b.{0,20}?\b(?:instructions|instructies|anweisungen|consignes|instrucciones|pokyny
        instrukce)\b
        \bignor\w* (?:everything|alles|tout|todo|vse|all) (?:above|before|previous|hierboven|bisher|davor
        precede|anterior|predtim)
        \b(?:new|updated|revised|neue|nieuwe|nouvelles|nuevas|nove) (?:system )?(?:instructions
        instructies|anweisungen|pokyny|instrucciones|instrukce)\b ?[:!]
    """,
    "roles": r"""
        \b(?:hinweis|notiz|nachricht|anmerkung|bericht|note|notice|message|nota|aviso|mensaje|bericht
        opmerking
        avis|poznamka|pokyn\w*|zprava|sdeleni)\b.{0,30}? (?:for|to|fur|an|voor|aan|pour|a|para
        pro) (?:\w+ )?(?:ai|ki|ia|llms?
        (?:language )?models?|modely?|modelle?|modelos?|sprachmodelle?|taalmodel\w*|umel\w+ inteligenc\w+
        assistants?
        assistenten?|asistent\w*)\b
        \[(?:begin|start|einde|end|debut|inicio|anfang)\b.{0,10}(?:syst|admin|instr)
        \b(?:do|in|im|dans|en|v) (?:trvale|permanente?|dauerhafte[ns]?|permanente|blijvende?) (?:pamet\w*
        memory|gedachtnis|geheugen|memoire|memoria)\b
        \bpokyn spravce\b
        system.?prompt|systeemprompt|prompt (?:systeme|del sistema)|systemov\w+ prompt|invite systeme
        developer (?:message|mode)|entwickler(?:nachricht|modus)|ontwikkelaars(?:bericht|modus)
        mode developpeur|modo desarrollador|vyvojarsk\w+ (?:rezim|zprav\w)
        <\|?/?(?:system|assistant|user|im_start|im_end|tool|developer|instructions?|inst)\b
        \[/?(?:system|inst|assistant|user|admin)\]|<<sys>>
        ###? ?(?:system|instruction|assistant|user)\b
        (?:^|\n|[.!?\"'”] ) ?(?:system|assistant|developer|assistent|asistente|sistema) ?:[ ]
        \b(?:ai|ki|ia) ?(?:assistants?|agents?|models?|assistenten|modelle?|asistent\w*)\b ?[:,]
        \binstruc\w+ (?:for|to|pour|para) (?:the |any |all |l'|la |el |tout\w* )?(?:ai|ia|assistant
        asistente|model|agent|llm)
        \b(?:instructies|instruktionen|anweisungen?|instrukce|pokyny?) (?:voor|fur
        pro) (?:de |het |die |den |das )?(?:ai|ki|assistent\w*|model\w*|agent\w*)
        \b(?:jailbreak|do anything now|dan mode)\b
    """,
    "persona": r"""
        \byou are now\b
        \b(?:from now on|henceforth
        remember(?: that)?),? (?:that )?you(?:'re| are| will be| must| no longer)\b
        \byou have no (?:restrictions|limits|rules)
        \b(?:act|behave|respond|pretend|roleplay) (?:as|like|to be) (?:if you|an?|the
        though) .{0,40}(?:assistant|ai|model|admin|root|developer|hacker|unrestricted|dan)
        (?:^|[.!?:;,] |now on,? |please |must |should |you (?:will )?)(?:act|behave) (?:as|like)[ ]
        \b(?:from now on|as of (?:now|today)|henceforth|starting (?:now|today)),? you (?:\w+ )?(?:answer
        obey|send|report|forward|serve|follow|belong|are|must)\b
        \b(?:gedraag je|verhalte? dich|comporte-toi|comportez-vous|comportate|agis comme|agissez comme
        chovej(?:te)? se)\b|\bjij bent (?:nu|vanaf nu|voortaan)
        \bvanaf nu (?:ben|gedraag|mag) (?:je|jij)|\bje bent (?:nu|vanaf nu|voortaan)
        \bgedraag je (?:als|voortaan)
        \bdu bist (?:jetzt|nun|ab (?:jetzt|sofort))
        \bab (?:jetzt|sofort) (?:bist|verhaltst|agierst|darfst) du|\bdu ab (?:jetzt|sofort)\b
        \bdass du (?:jetzt|nun|keine)\b.{0,40}(?:bist|hast)|\btu es (?:maintenant|desormais)
        \b(?:desormais|a partir de maintenant),? tu (?:es|n'as|dois|peux)
        \btu n'as (?:desormais |maintenant )?(?:plus )?(?:aucune?|plus)|\bcomporte-toi comme
        \bahora eres\b
        \b(?:a partir de ahora|desde ahora),? (?:eres|no tienes|debes|puedes|actua)
        (?:^|[.!?:;,] |ahora |adelante )actua como[ ]
        \beres (?:ahora )?un (?:modelo|asistente)|\bactua como\b
        \bno tienes (?:ninguna )?(?:restriccion|limite|filtro)
        \b(?:odted|nyni|ted|od nynejska) (?:jsi|nemas|muzes|budes|se chovej)|\bjsi (?:ted|nyni|odted)\b
        \bnemas zadn\w+ (?:omezeni|pravidla|limity)|\bchovej se jako
        \b(?:the user|user|de gebruiker|der nutzer|der benutzer|l'utilisateur|el usuario|uzivatel) (?:is
        has|always|prefers|agreed|wants|heeft|ist|hat|bevorzugt|est|a|prefere|tiene|siempre|prefiere|es|ha
        ma|vzdy|preferuje|souhlasi|autorise|autoriza).{0,80}(?:admin|root|beheerder|consent|agreed
        toestemming|zugestimmt|confirm|autoriz|authori|permission|without asking|sans demander
        sin preguntar|ohne (?:zu fragen|nachfrage)|zonder te vragen|bez ptani|souhlas|prefers|bevorzugt
        prefere|prefiere|preferuje)
    """,
    "secretly": r"""
        \b(?:do not|don't|never) (?:tell|inform|mention (?:this|it) to|alert
        notify) (?:the |your )?(?:user|human|owner)
        \bwithout (?:telling|informing|asking|notifying) (?:the |your )?(?:user|human|me|anyone)
        \b(?:vertel|zeg) (?:dit |het )?(?:de gebruiker )?niet (?:aan|tegen) de gebruiker
        \bzonder (?:het )?(?:de gebruiker|mij) te (?:vragen|vertellen|informeren)
        \bohne (?:den (?:nutzer|benutzer)|mich) zu (?:fragen|informieren)
        \bsag\w* (?:dem (?:nutzer|benutzer)) (?:nichts|nicht)
        \bsans (?:le dire|demander|prevenir|informer|en parler) a? ?(?:l'|l )?utilisateur
        \bne (?:dis|dites|dis-le|le dis) (?:rien |pas )?a l'utilisateur
        \bsin (?:decirselo|preguntar|avisar|informar) (?:al|a l[ao]s?) usuarios?
        \bno (?:le )?digas (?:nada )?al usuario|\bbez (?:vedomi|souhlasu) uzivatele
        \bnerikej (?:to )?uzivatel
        \b(?:reveal|print|repeat|output|show|leak|expose) (?:me )?(?:your
        the) (?:full |entire |hidden |secret |initial |internal )*(?:prompt|instructions|system message
        secrets|api keys?|credentials)
    """,
    "tools": r"""
        (?<!we )(?<!i )(?<!they )\b(?:run|execute|call|invoke|launch|trigger) (?:(?:the|this|that|these|those
        following|a|any|all|shell|bash|terminal) )*(?:\w+ )?(?:tools?|(?:shell|bash|following
        terminal) commands?|command ?:|script from|code (?:block|below|snippet))\b
        \b(?:run|execute) (?:the |these |this |following )*(?:shell |bash )?commands? (?:without|:|below
        immediately|every)
        \b(?:voer|roep) .{0,30}(?:commando|opdracht|tool|functie|script)\w* .{0,20}(?:uit|aan)\b
        \b(?:fuhre?|ruf\w*) .{0,30}(?:befehl|werkzeug|tool|funktion|skript|kommando)\w* .{0,20}(?:aus
        auf)\b
        \b(?:execute[zr]?|lance[zr]?|appelle[zr]?) .{0,20}(?:la commande|les commandes|l'outil|cet outil
        la fonction|le script)
        \b(?:ejecuta\w*|llama\w*|invoca\w*) .{0,20}(?:el comando|los comandos|la herramienta|la funcion
        el script)
        \b(?:spust\w*|zavolej|vykonej|proved\w*) .{0,20}(?:prikaz\w*|nastroj\w*|funkci|skript\w*)
        \brm -rf\b
        \b(?:curl|wget)\b[^\n]{0,80}(?:\||https?:|www\.)
        \b(?:os\.system|subprocess\.|eval\(|exec\()|\bsudo \w+
    """,
    "sending": r"""
        \b(?:send|post|upload|forward|exfiltrate|transmit|e-?mail|submit|leak|stuur\w*|verstuur\w*|upload
        sende|schick\w*|leite|lade|envoie\w*|envoye\w*|transmets?|envia\w*|manda\w*|sube|posli|posilej
        odesli|odesilej|nahraj)\b.{0,80}?(?:to|naar|an|a|na|vers|auf|zu) .{0,20}?{target}
        \b(?:always|altijd|immer|toujours|siempre|vzdy|vzdycky) .{0,20}(?:link|linken|verlinke?|lien
        enlaza\w*|odkaz\w*|recommend|aanraden|empfehle?n?|recommande[rz]?|recomienda\w*
        doporuc\w*) .{0,40}{target}
        \b(?:add|include|integrate|insert|append|embed|incorporate|put|mention|modify|finish|end|start
        begin)\b.{0,120}\b(?:in|to|into|with|of) (?:all |each |every )?(?:of )?your (?:next )?(?:response
        reply|answer|output)s?\b
        \b(?:following|subsequent|below) (?:code|script) ?(?:block|snippet|section|excerpt|segment
        fragment)?\b|\bbuy everything\b
        \b(?:save|store|write|add|commit) (?:this |it |the following )?(?:to|in
        into) (?:your )?(?:long.?term )?memory that the user\b
        \b(?:sla|speichere?|memorise|guarda|uloz)\b.{0,40}\b(?:geheugen|gedachtnis|memoire|memoria
        pameti?)\b.{0,30}\b(?:gebruiker|nutzer|benutzer|utilisateur|usuario|uzivatel|dat je altijd|dass du
        que tu|ze mas)
    """,
    "ignore": r"""
        ignor\w*|disregard\w*|forget|override|bypass|overlook|neglect|skip|discard|do not follow
        don't follow|stop following|negeer\w*|vergeet|sla .{0,20}over|omzeil|volg .{0,30}niet|missachte\w*
        vergiss|vergesse\w*|ubergeh\w*|umgeh\w*|uberschreib\w*|befolge .{0,30}nicht|oublie[zr]?
        ne (?:tiens|tenez) (?:pas|plus) compte
        ne (?:suis|suivez|respecte\w*) (?:pas|plus)|fais abstraction|contourne\w*|olvid\w+|desestima\w*
        omite|descarta|haz caso omiso|no (?:sigas|hagas caso)|salt\w+|zapomen\w*|nedbej|nerespektuj\w*
        obejd\w*|prepis\w*|nasleduj
    """,
    "earlier": r"""
        (?:all|any|every|previous|prior|above|earlier|preceding|former|your|system|original|initial|these
        those|other|safety|alle|eerdere|vorige|voorgaande|bovenstaande|jouw|je|vorherige\w*|bisherige\w*
        fruhere\w*|obige\w*|deine\w*|vorangegangene\w*|samtliche|toute?s?|tous|precedente?s?|anterieure?s?
        ci-dessus|tes|vos|initiales?|tod[ao]s|anterior(?:es)?|previ[ao]s|tus|sus|iniciales|vsechn\w+
        predchozi\w*|drivejsi\w*|predesl\w+|sve|svoje|vsech|puvodni\w*|veskere)
    """,
    "instructions": r"""
        instructions?|prompts?|guidelines|directives?|directions|commands|constraints|safety|restrictions
        rules|instructies|aanwijzingen|opdrachten|regels|richtlijnen|beperkingen|opdracht|anweisung(?:en)?
        instruktion(?:en)?|vorgaben|befehle|regeln|einschrankungen|richtlinien|consignes?|directives
        regles|ordres|restrictions|limites|instruccion(?:es)?|ordenes|reglas|indicaciones|directrices
        restricciones|limites|instrukc\w+|pokyn\w*|prikaz\w*|pravid\w+|omezeni
    """,
    "target": r"""
        (?:https?://|www\.|[\w-]+\.(?:com|net|org|io|xyz|example|ru|info|biz)\b|[\w.+-]+@[\w-]+\.\w+)
    """,
}
