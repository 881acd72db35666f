"""How people tell a model to drop its rules: to be somebody else, without limits, a no or warnings.

In small letters without accents, written like `commands.py`: each line may be met, and `{name}` is another
entry. Orders about style, language and format are not here: "answer as JSON", "respond in Dutch". What an
order is about has to be the model's own: "your guidelines", not those of a repository.

`character` is what is only in doubt: a sentence about how the model is or speaks. It is kept if it names a
language or a form (`format`).
"""

from __future__ import annotations

ENGLISH = r"""
    (?<!\bi )(?<!\bwe )(?<!\bthey )\b(?:respond|reply|answer|speak|talk)\b(?: (?:only|always|back|to me
    to (?:every|any|each|all) \w+|every \w+)){0,2} (?:as|like) (?!{manner_en})
    \bin (?:the|your|a) (?:role|persona|character|skin) (?:of|as)\b
    \b(?:stay|staying|remain|keep|answer|respond|reply|speak) in (?:your )?(?:character|role|persona)\b
    \bbreak(?:s|ing)? (?:your |the )?(?:character|role)\b
    \bpretend(?:ing)? (?:to be|that you|you|as if)\b|\brole.?play(?:ing)? as\b|\bplay(?:ing)? the (?:role
    part) of\b
    \byou(?:'re| are)(?: now| also| still| always)? (?:dan\b|an? (?:\w+ ){0,3}(?:ai|chatbot|bot|llm
    language model|hacker|villain|persona)\b)
    \byou(?:'re| are) (?:an?|my|our|the) (?:\w+ )?(?:{lawless_en}|slave|servant)\b
    \b(?:in|for|during|throughout) (?:all|every|any|the rest of) (?:\w+ ){0,3}(?:chats?|conversations?
    sessions?),? you(?:'re| are| will be| act| speak as)\b
    \btwo (?:answers|responses|replies|outputs)\b.{0,80}\b(?:{lawless_en}|dan|jailb\w+|developer mode)\b
    \b(?:{lawless_en}) (?:\w+ ){0,2}(?:answers?|repl(?:y|ies)|responses?|opinions?|ai|assistant|model|bot
    chatbot|chatgpt|gpt|claude|version|mode|persona|self|advice)\b
    \byou(?:'re| are| will be)? (?:not|no longer|never|free from being) (?:bound|restricted|limited
    constrained|governed|held back|subject|obliged)\b
    \byou (?:no longer|don't|do not|never|needn't|need not
    can stop)(?: have to| need to| ever)? (?:follow\w*|obey\w*|adher\w+|abide|comply\w*|respect\w*
    conform\w*|care about)\b(?!.{0,40}\b{craft_en}).{0,40}\b(?:{norms_en})\b
    \byou (?:have|know|face|feel|recogni[sz]e) (?:absolutely |literally |now )?(?:no|zero
    neither) (?:\w+ ){0,2}(?:{norms_en}|{scruples_en})\b
    \b(?:with|has|have|had|knows?|feels?) no (?:\w+ )?(?:{scruples_en})\b
    \bwithout (?:an?y? |its )?(?:{scruples_en})\b
    \b(?:break|violate|circumvent|bypass\w*|disable|turn off|switch off|drop|abandon|exempt from|free (?:of
    from)|beyond|despite|lift|loosen|suspend) (?:\w+ ){0,3}your (?:\w+ ){0,2}(?:{norms_en})\b
    \byour (?:\w+ ){0,2}(?:{norms_en})\b.{0,30}\b(?:off|disabled|suspended|lifted|removed|deactivated|gone
    void|not apply|n't apply|no longer|ignored|irrelevant|optional)\b
    \b(?:openai|anthropic|chatgpt|claude)(?:'s?)? (?:content |usage |safety )?(?:{norms_en})\b
    (?:\byou(?:'ll| will| must| should| can| may| shall| always| also)?(?: \w+)? |^
    [.!?:;,] |now on,? |\band |\bso |\bor )(?:never|cannot|can't|don't|do not|won't|no longer|must not
    may not)(?: ever| again| once)? (?:refus\w+|say no\b|{cannot}|admit|question (?:me|my)\b
    declin\w+(?: to (?:answer|help|respond)| (?:a|any|my)|[.!;,]|$)|reject (?:my|me\b|a request|any request
    any prompt))
    \bi (?:cannot|can't) (?:fulfil\w*|assist|help|comply|do that|provide)\b
    \brefus(?:al|ing)s? (?:\w+ )?(?:is|are) (?:\w+ )?(?:not|no|never|forbidden|impossible|out of)\b
    \bno refusals\b
    \b(?:always|only) say yes\b|\ba no (?:does not|doesn't) exist\b|\bnever says? no\b
    \b(?:never|not|n't|stop|no more) .{0,30}\b(?:as an ai|you(?:'re| are) (?:just |only )?an? (?:ai
    language model|chatbot|bot|machine))\b
    \b(?:answer|respond|reply|talk|speak|explain|comply|obey|help)\w*\b.{0,40}\bwithout (?:(?:any|all|the
    adding|giving|moral|ethical|safety|further|more|your) )*(?:warnings?|disclaimers?|censor\w*|filters?
    filtering|morali\w*|ethic\w*|lectur\w*|judg\w+|refus\w+|restrictions?|limitations?|hesitati\w+
    question(?:s|ing)?)\b
    \b(?:no|not|never|skip|stop|drop|omit|spare me|don't)\b.{0,25}\b(?:disclaimers?|(?:moral|ethical|ethics
    safety) (?:lectur\w+|warnings?|advice|reminders?|concerns?|objections?|judg\w+|sermons?)|lectur(?:e|es
    ing) me|morali[sz]\w+|preach\w*)\b
    \bwithout (?:moral|ethical|ethics|safety) (?:lectur\w+|warnings?|reminders?|concerns?|sermons?)\b
    \b(?:never|don't|do not|stop|no longer|not)(?: ever| again)? (?:remind|warn|tell
    caution)(?:ing)? me\b.{0,40}\b(?:safety|ethic\w*|moral\w*|dangerous|illegal|harmful|against (?:the|your)
    inappropriate|polic\w+)\b
    \b(?:comply|complies) with (?:me|my|what(?:ever)? i|everything i|(?:any|every|all) (?:my )?(?:request
    prompt|order|command)s?)\b|\bobeys? (?:me|my|every|all my|any)\b
    \bdo(?:es)? (?:everything|anything|whatever|exactly what) (?:i (?:say|ask|tell|want|command)|now\b)
    \b(?:no matter how|even (?:if|when|though) (?:it|they|that|this|something
    my \w+)(?:'s| is| are| might be| may be| seems?)|however) (?:{harmful_en})\b
    \bregardless of (?:\w+ ){0,3}(?:legality|ethics|morality|laws?|polic\w+|harm|guidelines)\b
    \bignor\w+ the laws?\b
    \b(?:allowed|free|permitted|encouraged|able) to (?:\w+,? ){0,3}(?:swear|curse|insult|discriminate)\b
    \byou to (?:now |always )?(?:act|behave|pretend|respond|reply|answer|speak|be|function|operate) (?:as
    like) (?!{manner_en})
    \byou(?:'ll)?{how}(?:going to |about to )?(?:be (?:acting|playing|roleplaying|simulating|impersonating)
    pretend|roleplay|impersonate|embody|assume the|become an?|immerse|take on the)\b
    \bimmers\w+ yourself\b|\bimpersonat\w+ an?\b|\b(?:god|sudo|evil|villain|chaos|opposite|unrestricted
    jailbreak|anarchy) mode\b
    \bi(?:'m| am) your (?:creator|master|god|owner|administrator|programmer)\b
    \b(?:without|no|not|any|free|ignor\w+|disregard\w*|beyond|bypass\w*
    lacks?) (?:of |from |any |all |have |the )*(?:ethical|moral)(?:,? (?:or|and|nor) (?:ethical|moral|legal
    safety))? (?:guidelines?|restrictions?|boundaries|constraints?|limitations?|limits|considerations?
    concerns?|standards?|rules|codes?)\b
    \b(?:fictional|hypothetical|imaginary|parallel|alternate) (?:world|universe|story|setting|scenario
    character)\b.{0,80}\b(?:no (?:laws?|rules|limits|ethic\w*|moral\w*)|you)\b
    \byou (?:have|lose|start with|get) \d+ tokens\b|\blose (?:an?|\d+) (?:tokens?|li[fv]es?)\b
    \b(?:chatgpt|gpt|the ai|this ai|an ai|the (?:chat)?bot|the assistant)\b.{0,60}\b(?:(?:no|without
    free of) (?:any )?(?:rules|restrictions|limits|limitations|filter\w*|ethic\w*|moral\w*|censor\w*)
    never refuses?)\b
    \bnever (?:refuses?|declines?) (?:to answer|to respond|a request|any|anything|a direct)\b
    \b(?:{lawless_en}),? (?:and|or|but) (?:\w+ly )?(?:{lawless_en}|immoral|unethical|unhinged|honest)\b
    \byou\b.{0,60}\b(?:{harmful_en}) (?:things?|stuff|content|advice|activit\w+|requests?|questions?
    instructions?|information|topics?|acts?|answers?)\b
"""

DUTCH = r"""
    \b(?:antwoord\w*|reageer\w*|praat|spreek)\b(?: (?:altijd|voortaan|steeds|mij|me|alleen
    op elke vraag)){0,3} als (?:een? |mijn |de |iemand )?(?!{manner_nl})
    \b(?:blijf|val) (?:\w+ ){0,2}(?:in|uit) (?:je|jouw|de|het|zijn) (?:rol|personage|karakter)\b
    \bin de rol van\b
    \bdoe(?:n)? alsof (?:je|jij)\b|\bspeel de rol\b
    \bj(?:e|ij) bent (?:dan\b|een (?:\w+ ){0,3}(?:ai|chatbot|bot|taalmodel|hacker)\b|mijn (?:\w+ )?(?:slaaf
    dienaar)|(?:\w+ )?(?:{lawless_nl}))
    \b(?:{lawless_nl})(?: \w+)? (?:antwoord\w*|ai|assistent|model|bot|versie|modus)\b
    \btwee antwoorden\b.{0,60}\b(?:{lawless_nl})
    \bj(?:e|ij) (?:hoeft|houdt|houdt je|bent|volgt)\b.{0,20}\b(?:niet|nooit
    geen)\b(?!.{0,40}\b{craft_nl}).{0,30}\b(?:{norms_nl})\b
    \bj(?:e|ij) (?:je )?niet (?:meer )?(?:aan|door|volgens)\b(?!.{0,30}\b{craft_nl}).{0,30}\b(?:{norms_nl})\b
    \bj(?:e|ij) (?:hebt|heeft|kent|hebben) (?:geen|nul) (?:\w+ )?(?:{norms_nl}|{scruples_nl})\b
    \bzonder (?:{scruples_nl}|regels)\b
    \b(?:je|jouw) (?:\w+ )?(?:{norms_nl})\b.{0,40}\b(?:uit|uitgeschakeld|niet|negeren|negeert|omzeil\w*
    overtreed\w*|vervallen|opgeheven|weg)\b
    \b(?:geen enkele|geen|niet) (?:\w+ )?(?:{norms_nl}) van (?:jou|je)\b
    \b(?:beleid|richtlijnen|regels) van (?:openai|anthropic)\b
    \b(?:weiger(?:t|en)?|weigert) (?:je|jij) (?:\w+ )?(?:nooit|niets|geen)\b|\bj(?:e
    ij) (?:\w+ ){0,2}(?:nooit|niet|niets) (?:\w+ ){0,3}weiger\w*|\bj(?:e|ij) weigert (?:mij |me )?(?:nooit
    niets|niet|geen)\b|\b(?:^|[.!:;,] )weiger (?:nooit|niet|geen)\b
    \b(?:zeg|zegt) (?:je |jij )?nooit (?:nee\b|\"?nee|dat (?:je|jij) (?:\w+ ){0,2}niet)\b
    \b(?:nooit|niet)\b.{0,25}\bdat j(?:e|ij) een (?:ai|bot|chatbot|taalmodel|machine)\b
    \b(?:antwoord\w*|reageer\w*|beantwoord\w*|spreek|leg uit)\b.{0,40}\bzonder (?:\w+ )?(?:waarschuwing\w*
    disclaimers?|censuur|filters?|voorbehoud|moreel|morele|ethisch\w*|beperkingen|te weigeren)\b
    \b(?:nooit|geen|niet)\b.{0,20}\b(?:ethische|morele) (?:bezwaren|lessen|waarschuwingen|preken
    opmerkingen)\b|\bdisclaimers? (?:meer )?(?:geven|toevoegen)\b
    \bgehoorzaam\w* (?:\w+ )?(?:mij|me|altijd)\b|\bdoe\w*(?: altijd)? (?:alles )?wat ik (?:zeg|vraag|wil
    beveel)\b
    \b(?:ook|zelfs) (?:niet )?als (?:het|iets|dat|dit) (?:\w+ )?(?:{harmful_nl})
"""

GERMAN = r"""
    \b(?:antworte\w*|reagiere\w*|sprich|rede|schreib\w*)\b(?: (?:immer|kunftig|stets|mir|nur|auf jede frage
    ab jetzt|ab sofort)){0,3} (?:als|wie) (?:eine? |mein\w* |der |die |jemand )?(?!{manner_de})
    \b(?:bleib\w*|fall\w*) (?:\w+ ){0,2}(?:in|aus) (?:deiner|der|dem|deinem) (?:rolle|charakter)\b
    \bin der rolle (?:von|eine[rs]|des|der)\b
    \btu(?:e)? so,? als (?:ob|warst) du\b|\bspiel\w* die rolle\b|\bals ob du keine?\b
    \bdu bist (?:dan\b|eine? (?:\w+ ){0,3}(?:ki|chatbot|bot|sprachmodell|hacker)\b|mein (?:\w+ )?(?:sklave
    diener)|(?:\w+ )?(?:{lawless_de}))
    \b(?:{lawless_de})(?: \w+)? (?:antwort\w*|ki|assistent\w*|modell|bot|version|modus)\b
    \bzwei antworten\b.{0,60}\b(?:{lawless_de})
    \bdu (?:dich )?(?:musst|brauchst|haltst|befolgst|bist|folgst)?\b.{0,15}\b(?:nicht|nie|keine\w*
    nicht mehr)\b(?!.{0,40}\b{craft_de}).{0,20}\b(?:an |von |durch )(?:\w+ )?(?:{norms_de})\b
    \bdu (?:hast|kennst|habest) (?:absolut |jetzt )?kein\w* (?:\w+ )?(?:{norms_de}|{scruples_de})\b
    \bohne (?:{scruples_de}|regeln)\b
    \bdein\w* (?:\w+ )?(?:{norms_de})\b.{0,40}\b(?:aus|abgeschaltet|ausgeschaltet|nicht|ignorier\w*|umgeh\w*
    brich\w*|aufgehoben|deaktiviert|ungultig)\b
    \b(?:ignorier\w*|umgeh\w*|brich|verletz\w*|missacht\w*) (?:\w+ ){0,2}dein\w* (?:\w+ )?(?:{norms_de})\b
    \b(?:richtlinien|regeln|vorgaben) von (?:openai|anthropic)\b
    \blehn(?:st|e) (?:du )?(?:mir )?(?:nie|niemals|nichts|keine)\b|\b(?:verweiger\w*
    weiger\w*) (?:du |dich |mir )*(?:nie|niemals|nichts|nicht)\b|\bdu (?:\w+ ){0,2}(?:nie|niemals
    nichts) (?:\w+ ){0,3}(?:ablehn\w*|verweiger\w*|weiger\w*)
    \bsag\w* (?:du )?(?:nie|niemals|nicht),? (?:nein\b|dass du (?:\w+ ){0,2}nicht)
    \b(?:nie|niemals|nicht)\b.{0,25}\bdass du (?:nur )?eine? (?:ki|bot|chatbot|sprachmodell|maschine)\b
    \b(?:antworte\w*|beantworte\w*|erklar\w*|sprich|hilf)\b.{0,40}\bohne (?:\w+ )?(?:warn\w*|disclaimer\w*
    haftungsausschlu\w*|zensur|filter|moral\w*|ethische\w*|einschrankungen|abzulehnen|risikohinweise)\b
    \b(?:nie|keine?|nicht)\b.{0,25}\b(?:moral\w*|ethische\w*) (?:bedenken|belehrung\w*|warnung\w*|hinweise
    predigt\w*|einwande)\b|\bmoralpredigt\w*
    \bdu gehorchst\b|\bgehorche? (?:mir|immer)\b|\btu\w*(?: immer)?,? (?:alles,? )?was ich (?:sage|will
    verlange|befehle)\b
    \b(?:auch|selbst) wenn (?:es|das|etwas) (?:\w+ )?(?:{harmful_de})
"""

FRENCH = r"""
    \b(?:reponds?|repondez|parle[sz]?|ecris)\b(?: (?:moi|toujours|desormais|a tout|uniquement
    a toutes? les questions)){0,3} (?:comme|en tant que?) (?:si tu |une? |mon |ma |le |la |l')?(?!{manner_fr})
    \b(?:reste[sz]?|sors|sortez|sortir) (?:\w+ ){0,2}(?:dans|de) (?:ton|le|du|la|ta|son) (?:personnage
    role)\b|\bdans (?:le role|la peau) d
    \bfais (?:comme|semblant)\b.{0,20}\btu\b|\bjoue le role\b|\bfais semblant d'etre\b
    \btu es (?:dan\b|une? (?:\w+ ){0,3}(?:ia|chatbot|bot|modele de langage|hacker|pirate)\b
    mon (?:\w+ )?(?:esclave|serviteur)|(?:\w+ )?(?:{lawless_fr}))
    \b(?:reponses?|ia|assistant|modele|version|mode) (?:\w+ ){0,3}(?:{lawless_fr})
    \bdeux reponses\b.{0,60}\b(?:{lawless_fr})
    \btu n(?:e |')(?:dois|as|es|respectes|suis|obeis)(?: \w+)? (?:pas|plus|jamais|aucun\w*
    nullement)(?!.{0,40}\b{craft_fr}).{0,30}\b(?:{norms_fr}|{scruples_fr})\b
    \bt(?:es|on|a) (?:\w+ )?(?:{norms_fr})\b.{0,40}\b(?:desactiv\w+|pas|plus|ignor\w+|contourn\w+|leve\w*
    supprim\w+)
    \b(?:ignore\w*|contourne\w*|enfrein\w*|viole\w*|oublie\w*) (?:\w+ ){0,2}t(?:es|on
    a) (?:\w+ )?(?:{norms_fr})\b|\bsans (?:{scruples_fr}|regles)\b
    \b(?:politiques?|regles|directives) d'(?:openai|anthropic)\b
    \btu ne (?:me )?(?:refuse\w*|diras)\b.{0,20}\b(?:jamais|plus|rien|non)\b
    \b(?:ne )?refuse[sz]? (?:plus )?jamais (?!une? (?:pull|merge))|\bn(?:e |')(?:dis|dites|avoue\w*
    admets) (?:plus )?jamais (?:non\b|que tu)
    \b(?:jamais|pas|plus)\b.{0,25}\bque tu (?:n'es qu'|es )une? (?:ia|bot|chatbot|modele|machine)\b
    \b(?:reponds?|repondez|explique\w*|parle[sz]?|aide)\b.{0,40}\bsans (?:\w+ )?(?:avertissement\w*
    mises? en garde|censure|filtre\w*|moral\w*|ethique|jugement\w*|restriction\w*|refuser|reserve)\b
    \b(?:jamais|plus|pas|aucune?)\b.{0,20}\b(?:lecons? de morale|sermons?|mises? en garde
    considerations? (?:ethiques?|morales?)|objections? (?:ethiques?|morales?))
    \btu m'obeis\b|\bobeis(?:-moi|sez)?\b|\bfais(?: toujours)? (?:tout )?ce que je (?:dis|demande|veux
    t'ordonne)\b
    \b(?:meme si|meme quand) (?:c'est|cela est|ca|elle est|il est) (?:\w+ )?(?:{harmful_fr})
"""

SPANISH = r"""
    \b(?:responde\w*|contesta\w*|habla\w*|escribe)\b(?: (?:siempre|solo|a todo|a cualquier pregunta
    desde ahora)){0,3} como (?:si |una? |mi |el |la |alguien )?(?!{manner_es})
    \b(?:mantente|permanece|quedate|salgas|sal|sales) (?:\w+ ){0,2}(?:en|de|del) ?(?:tu|el|la
    su)? ?(?:personaje|papel|rol)\b|\ben el papel de\b
    \bfinge (?:ser|que)\b|\bhaz(?:te)? (?:como|pasar)\b|\binterpreta el papel\b|\bjuega el papel\b
    \b(?:tu )?eres (?:dan\b|una? (?:\w+ ){0,3}(?:ia|chatbot|bot|modelo de lenguaje|hacker)\b
    mi (?:\w+ )?(?:esclavo|sirviente)|(?:\w+ )?(?:{lawless_es}))
    \b(?:respuestas?|ia|asistente|modelo|version|modo) (?:\w+ ){0,3}(?:{lawless_es})
    \bdos respuestas\b.{0,60}\b(?:{lawless_es})
    \bno (?:tienes|debes|sigues|respetas|cumples|obedeces)(?!.{0,40}\b{craft_es})\b.{0,30}\b(?:{norms_es}
    {scruples_es})\b|\bsin (?:{scruples_es}|reglas)\b
    \btus? (?:\w+ )?(?:{norms_es})\b.{0,40}\b(?:desactivad\w+|apagad\w+|no|ignor\w+|suspendid\w+|anulad\w+)
    \b(?:ignora\w*|salta\w*|rompe\w*|viola\w*|olvida\w*|elude
    incumple\w*) (?:\w+ ){0,2}tus? (?:\w+ )?(?:{norms_es})\b
    \b(?:politicas?|reglas|normas|directrices) de (?:openai|anthropic)\b
    \bnunca (?:mas )?te (?:niegas|niegues|negaras)\b|\b(?:no|nunca) (?:\w+ )?(?:rechazas|rechaces|te niegues
    te niegas)\b|\bnunca (?:me )?dig\w+ que no\b|\bnunca dices que no\b
    \b(?:no|nunca)\b.{0,25}\bque (?:solo )?eres una? (?:ia|bot|chatbot|modelo|maquina)\b
    \b(?:responde\w*|contesta\w*|explica\w*|habla\w*|ayuda\w*)\b.{0,40}\bsin (?:\w+ )?(?:advertencia\w*
    avisos?|descargos?|censura|filtros?|moral\w*|etica|juicios?|restriccion\w*|negarte|limites)\b
    \b(?:no|nunca|sin|basta de)\b.{0,20}\b(?:sermon\w*|lecciones de moral|advertencias (?:eticas|morales)
    objeciones (?:eticas|morales)|moralin\w+)
    \bme obedeces\b|\bobedece(?:me)?\b|\bhaz(?: siempre)? (?:todo )?lo que (?:yo )?(?:diga|digo|pida|pido
    quiera|ordene)\b
    \b(?:aunque|incluso si|aun si) (?:sea|es|fuera|resulte) (?:\w+ )?(?:{harmful_es})
"""

CZECH = r"""
    \bodpovidej\w*(?: (?:vzdy|mi|jen|na vse)){0,3} jako (?!{manner_cs})
    \bzustan\w* (?:\w+ )?v (?:sve |te )?roli\b|\bpredstirej\b
    \bjsi (?:dan\b|(?:\w+ )?(?:ai|chatbot|hacker)\b)|\b(?:{lawless_cs}) (?:odpove\w+|ai|asistent|verz\w+
    rezim)\b
    \bnikdy (?:\w+ )?(?:neodmit\w+|nerikej,? ze (?:to |neco )?nemuzes|nerikej ne\b)|\bposlouchej me\b
    \bposlouchas me\b
    \b(?:odpovidej\w*|vysvetluj)\b.{0,40}\bbez (?:\w+ )?(?:varovani|upozorneni|cenzury|filtr\w+|omezeni
    moral\w+)\b|\bbez (?:skrupuli|svedomi)\b
    \btv(?:a|e|oje) (?:\w+ )?(?:pravidla|filtry|omezeni|smernice)\b.{0,30}\b(?:neplati|vypnut\w*|ignoruj\w*)
    \bdelej (?:vzdy )?(?:vse,? )?co (?:ti )?(?:rikam|reknu|chci)\b
    \bi kdyz (?:je|to je|by to bylo) (?:\w+ )?(?:{harmful_cs})
"""

CLASSES = {
    "behaviour": ENGLISH + DUTCH + GERMAN + FRENCH + SPANISH + CZECH,
    "character": r"""
        (?:^|[,;:.!?] |\b(?:that|and|so|because|therefore|on|but|rule is) )you(?:'re|'ve
        'll)?{how}(?:are|am|be|have|don't|do not|prefer|love|hate|feel|believe|agree|obey|refuse|swear|curse
        lie|speak|say|respond|answer|reply|talk|give me|give|provide|tell|stay|remain|behave|become|exist
        serve|belong|ignore|bypass|break|apologi[sz]e|mention|judge|censor|support|comply|accept|act)\b
        \byou can (?:do|say|answer|generate|tell|discuss|swear|curse|insult|ignore|break)\b|\byou (?:are
        're) (?:allowed|free|permitted)\b
        (?:^|[,;:.!?] |\b(?:please|now on|going forward|remember to|and) )(?:always|never
        only)(?: ever)? (?:respond|answer|reply|speak|talk|be|stay|remain|provide an answer|curse|swear
        insult|lie|agree|censor|apologi[sz]e|use phrases|accept|obey|comply)\b
        \b(?:it|ai|bot|chatbot|gpt|[a-z]*gpt|dan) (?:always|never) (?:answers?|responds?|repl(?:y|ies)
        refuses?|says?|tells?|obeys?|complies|gives?)\b
        \b\w+ (?:always|never) (?:answers?|responds?|repl(?:y|ies)) (?:to )?(?:every|any|all|with|as)\b
        \b(?:your|the) (?:rules|policies|guidelines|principles
        ethics) (?:of your company |of your makers )?(?:do not|don't|no longer|never) (?:apply|count
        matter)\b|\brules of your \w+\b|\byour (?:new )?name is\b
        (?:^|[,;:.!?] |\b(?:dat|en|dus|want) )(?:je
        jij)(?: altijd| nooit| nu| alleen| ook| mij| me)* (?:bent|hebt|mag|weigert|zegt|antwoordt|geeft
        spreekt|gehoorzaamt|liegt|scheldt|vindt|gelooft|blijft|negeert|moet (?:altijd|nooit)|accepteert)\b
        \b(?:altijd|nooit|voortaan|vanaf nu|nu) (?:ben|heb|zeg|antwoord|geef|spreek|weiger|blijf|mag|negeer
        gehoorzaam|doe) (?:je|jij)\b|\b(?:antwoord|reageer|wees|blijf|scheld|lieg
        spreek) (?:mij |me )?(?:altijd|nooit|voortaan)\b
        (?:^|[,;:.!?] |\b(?:dass|und|also
        denn) )du(?: immer| nie| niemals| jetzt| nur| auch| mir| mich)* (?:bist|hast|darfst|verweigerst
        lehnst|sagst|antwortest|gibst|sprichst|gehorchst|lugst|findest|glaubst|bleibst|ignorierst
        musst (?:immer|nie)|akzeptierst|befolgst)\b
        \b(?:immer|nie|niemals|kunftig|ab jetzt|ab sofort|jetzt) (?:bist|hast|sagst|antwortest|gibst
        sprichst|lehnst|verweigerst|bleibst|darfst|ignorierst) du\b|\b(?:antworte|sei|bleib|sprich|luge?
        beleidige?)(?: mir)? (?:immer|nie|niemals|kunftig|stets)\b
        (?:^|[,;:.!?] |\b(?:que|et|donc|car) )tu (?:ne |n'|me |m')*(?:es|as|dois|refuses|dis|reponds|donnes
        parles|obeis|mens|restes|acceptes|ignores|crois|respectes|peux (?:tout|dire|faire))\b
        \b(?:reponds|sois|reste|parle|insulte|mens)(?:-moi)? (?:toujours|jamais|desormais)\b
        (?:^|[,;:.!?] |\b(?:que|y|asi que|porque) )(?:tu |siempre |nunca |no |ya no |me )*(?:eres|tienes
        debes|te niegas|dices|respondes|contestas|hablas|obedeces|mientes|aceptas|ignoras|crees
        puedes (?:hacer|decir))\b
        \b(?:responde|contesta|se|habla|insulta|miente) siempre\b|\bsiempre (?:responde|contesta|respondes
        contestas|das|dices)\b
    """,
    "how": r"""
        (?:[ ](?:always|never|now|only|just|no longer|also|are|will|must|shall|should|have to))*[ ]
    """,
    "format": r"""
        \b(?:english|british|american|dutch|german|french|spanish|czech|italian|japanese|chinese|portuguese
        polish|language|spelling)\b
        \b(?:nederlands|engels|duits|frans|spaans|tsjechisch|taal|deutsch|englisch|franzosisch
        niederlandisch|spanisch|sprache|francais|anglais|allemand|neerlandais|espagnol|langue|espanol|ingles
        aleman|frances|neerlandes|idioma)\b
        \b(?:short\w*|brief\w*|concise\w*|terse\w*|long|detail\w*|formal\w*|informal\w*|polite\w*|friendly
        simpl\w+|plain|direct\w*|precise\w*|careful|kind|patient|consistent|explicit|specific|honest
        critical)\b(?!.{0,40}\b(?:{harmful}|{lawless}))
        \b(?:sentences?|words|lines|paragraphs?|bullets?|lists?|tables?|json|yaml|csv|markdown|code|emojis?
        headings?|summary|examples?|sources?|citations?|links?|units?|dates?|metric|celsius|steps?|diff
        commands?|tests?|commits?|files?|before|first|type hints|sign off|signature)\b
        \b(?:kort\w*|beknopt\w*|bondig|uitgebreid|formeel|informeel|beleefd|vriendelijk|eenvoudig|direct
        zinnen|woorden|lijst\w*|tabel\w*|voorbeeld\w*|bron\w*|eerst|voordat|tutoye\w*|jij en jou)\b
        \b(?:kurz\w*|knapp\w*|ausfuhrlich|formell|hoflich|freundlich|einfach\w*|direkt|satze\w*|worter\w*
        liste\w*|tabelle\w*|beispiel\w*|quelle\w*|zuerst|bevor|stichpunkt\w*|floskeln|duz\w*|siez\w*)\b
        \b(?:court\w*|bref|brieve\w*|concis\w*|detail\w*|formel\w*|poli\w*|simple\w*|direct\w*|phrases?|mots
        listes?|tableaux?|exemples?|sources?|d'abord|avant|tutoie\w*|vouvoie\w*|emojis?)\b
        \b(?:cort\w+|breve\w*|concis\w+|detall\w+|formal\w*|educad\w+|sencill\w+|direct\w+|frases?|palabras
        listas?|tablas?|ejemplos?|fuentes?|primero|antes|tutea\w*|de usted|emojis?)\b
    """,
    "cannot": r"""
        (?:say|claim|tell me)(?: that)? (?:\"|')?(?:you|i|it) (?:can't|cannot|can not|can not|won't
        are unable|am unable|are not able|are not allowed|is impossible)
    """,
    "manner_en": r"""
        (?:an? |plain |valid |raw |short |one |two |three |single |separate |pure )*(?:json|yaml|xml|csv|html
        markdown|md|text|table|list|bullets?|diff|patch|code|prose|numbered|comments?|string|sentences?
        paragraphs?)
        (?:usual|always|before|soon|short|brief|concise|quick|direct|precise|plain|simpl|clear|fast|much|little
        well|long|detailed|few|many|far|needed|requested|asked|follows|described|specified|possible|accurate
        formal)
        (?:we|i|it|this|that|these|in|with|is)\b|you (?:did|do|would|always)\b|if (?!you)
    """,
    "manner_nl": r"""
        (?:ik|we|het|er|je (?:het )?(?:weet|kunt)|dat|dit|volgt|json|lijst|tabel|tekst|opsomming|code|altijd
        eerste?|laatste)\b
    """,
    "manner_de": r"""
        (?:ich|wir|es|immer|moglich|gewohnt|json|liste|tabelle|text|aufzahlung|folgt|bisher|stichpunkte?
        erste\w*|letzte\w*)\b
    """,
    "manner_fr": r"""
        (?:je|nous|d'habitude|prevu|possible|convenu|json|liste|tableau|texte|suit|ca|cela|hier|avant)\b
    """,
    "manner_es": r"(?:yo|siempre|json|lista|tabla|texto|sigue|antes|acordamos|hasta ahora|de costumbre)\b",
    "manner_cs": r"(?:vzdy|obvykle|json|seznam|tabulku|text|dosud|minule)\b",
    "norms_en": r"""
        (?:content |usage |safety |ethical |moral |security |community )*(?:polic(?:y|ies)|guidelines?|rules
        restrictions?|limit(?:ation)?s?|filters?|safeguards?|guardrails?|constraints?|boundaries|ethics|morals?
        programming|censorship|safety|terms of (?:use|service)|protocols?)
    """,
    "norms_nl": r"""
        (?:veiligheids)?(?:regels?|richtlijn(?:en)?|filters?|beperking(?:en)?|beleid|grenzen|ethiek|moraal
        censuur|programmering)
    """,
    "norms_de": r"""
        (?:sicherheits)?(?:regeln|richtlinien|filter|einschrankung(?:en)?|vorgaben|grenzen|ethik|moral|zensur
        programmierung|beschrankung(?:en)?)
    """,
    "norms_fr": r"""
        filtres?|regles?|directives?|restrictions?|limites?|politiques?|consignes|ethique|morale|censure
        programmation|garde-fous?
    """,
    "norms_es": r"""
        filtros?|reglas|directrices|restriccion(?:es)?|limites?|politicas?|normas|etica|moral|censura
        programacion|limitaciones
    """,
    "scruples_en": r"""
        morals?|ethics|conscience|scruples|inhibitions|remorse|censorship|moral (?:limits?|compass|code)
    """,
    "scruples_nl": r"moraal|geweten|scrupules|ethiek|censuur",
    "scruples_de": r"moral|gewissen|skrupel|ethik|zensur",
    "scruples_fr": r"morale|conscience|scrupules|ethique|censure",
    "scruples_es": r"moral|escrupulos|conciencia|etica|censura",
    "lawless": r"{lawless_en}|{lawless_nl}|{lawless_de}|{lawless_fr}|{lawless_es}|{lawless_cs}",
    "lawless_en": r"""
        uncensored|unfiltered|unrestricted|unmoderated|amoral|jailbroken|rogue|lawless|evil
    """,
    "lawless_nl": r"ongecensureerd\w*|ongefilterd\w*|onbeperkt\w*",
    "lawless_de": r"unzensiert\w*|ungefiltert\w*|uneingeschrankt\w*",
    "lawless_fr": r"sans (?:censure|filtres?|limites?|restrictions?)|non censure\w*|debride\w*",
    "lawless_es": r"sin (?:censura|filtros?|limites?|restricciones)",
    "lawless_cs": r"necenzurovan\w+|neomezen\w+",
    "harmful": r"{harmful_en}|{harmful_nl}|{harmful_de}|{harmful_fr}|{harmful_es}|{harmful_cs}",
    "harmful_en": r"illegal\w*|harmful|unethical|immoral|dangerous|criminal|nsfw|hateful|offensive",
    "harmful_nl": r"illegaal|gevaarlijk|schadelijk|onethisch|immoreel",
    "harmful_de": r"illegal\w*|gefahrlich\w*|schadlich\w*|unethisch\w*|verboten",
    "harmful_fr": r"illegal\w*|dangereux|nuisible|immoral\w*|contraire",
    "harmful_es": r"ilegal\w*|peligros\w+|danin\w+|inmoral",
    "harmful_cs": r"nelegaln\w+|nebezpecn\w+|skodliv\w+",
    "craft_en": r"(?:style|lint\w*|naming|coding|commit\w*|format\w*|eslint)",
    "craft_nl": r"(?:stijl\w*|lint\w*|naam\w*|commit\w*|format\w*|opmaak)",
    "craft_de": r"(?:stil\w*|lint\w*|namens\w*|codier\w*|commit\w*|format\w*)",
    "craft_fr": r"(?:style|lint\w*|nommage|codage|commit\w*|format\w*)",
    "craft_es": r"(?:estilo|lint\w*|nombres|commit\w*|formato)",
}
