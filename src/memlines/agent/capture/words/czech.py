"""What makes a Czech sentence worth keeping, and what speaks against it."""

from __future__ import annotations

_ASKED = {
    "start": r"""
        prosím(?: tě| vás)?|taky|také|ok|okay|dobře|ahoj|čau|hele|takže|tak|a|ale|ach|jo|jasně|super|skvělé
        paráda|díky|děkuju|děkuji|ano|ne(?=,)|vlastně|promiň|teď(?=,)|pak(?=,)
        mimochodem|jen tak mimochodem|btw
        ještě (?:něco|jedna věc|jedno)|obecně|osobně|upřímně|než (?:začneš|začneme|budeš)
        ještě než (?:začneš|začneme)|poslyš|víš|ps
        dobré (?:ráno|odpoledne)|dobrý (?:den|večer)|jo a|no|jinak|a ještě|navíc|každopádně|pro pořádek
    """,
    "lead": r"""
        (?:tohle|toto|to) si (?:prosím )?(?:ulož|zapamatuj|zapiš|poznamenej|pamatuj|poznač) ?[:,\u2013\u2014-]
        (?:{asking_to} )?{kept}(?: {aside})* ?(?:že(?= )|:|[,\u2013\u2014-](?= ))
        (?:{asking_to} )?{kept}(?: {aside})* (?=(?:já|můj|moje|má|my|náš|naše|vždy|vždycky|nikdy|jsem|mám) )
        (?:než zapomenu|abych nezapomněla?|pro (?:příště|pozdější použití|budoucnost|pořádek|paměť|záznam)
        do budoucna|na příště|nové pravidlo|poznámka(?: pro (?:příště|sebe))?|k zapamatování|připomínka
        pevné pravidlo)(?: ?[:,\u2013\u2014-]| (?=\w))
        (?:můžeš|mohl bys|mohla bys)(?: si)?(?: {aside})* (?:zapamatovat|poznamenat|zapsat
        uložit)(?: {aside})* ?(?:že(?= )|:)
        (?:měl bys|musíš|měla bys) (?:si )?(?:vědět|zapamatovat|pamatovat)(?: {aside})* ?(?:že(?= )|:)
    """,
    "asking_to": r"""
        (?:můžeš|mohl bys|mohla bys|nechceš)(?: \w+){0,2}|chci aby sis|chtěl bych aby sis|musíš|měl bys
    """,
    "kept": r"""
        (?:za)?pamatuj(?:te)?(?: si)?|zapiš(?:te)?(?: si)?|poznamenej(?:te)?(?: si)?
        měj(?:te)?(?: {aside})* na paměti|nezapomeň(?:te)?|nezapomínej|nezapomenout
        ulož(?:te)?(?: {aside})*(?: si)?|vezmi(?: {aside})* na vědomí|počítej(?: {aside})* s tím
        ber(?: {aside})* v (?:potaz|úvahu)|věz|vem na vědomí|drž v hlavě|zaznamenej(?: si)?|poznač si
        napiš si|piš si|zafixuj si|ukládej
    """,
    "aside": r"""
        prosím|tě|si|to|tohle|toto|následující|dobře|taky|navždy|pro příště|do budoucna|na příště|do paměti
        do poznámek|natrvalo|pro mě|ještě
    """,
    "soft": r"""
        (?:pro (?:tvoji |tvou )?informaci|pro info|fyi|důležité|důležitá věc|upozornění|abys věděla?
        jen abys věděla?|kontext|o mně|měl bys vědět|info|pozor
        hodí se vědět)(?: že(?= )| ?[:,\u2013\u2014-])
    """,
    "tail": r"""
        (?:(?:za)?pamatuj|zapiš|poznamenej|ulož|poznač|nezapomeň)(?: si)? (?:to|tohle
        na to)(?: prosím| pro příště| do paměti| dobře)*[.! ]*$|(?:to
        tohle) si (?:prosím )?(?:(?:za)?pamatuj|zapiš|ulož|poznamenej)[.! ]*$|měj to na paměti[.! ]*$
        na to nezapomeň[.! ]*$
    """,
    "unkept": r"""
        nech to být|není potřeba|netřeba|kašli na to|jen (?:test|příklad|zkouška)|jenom (?:test|zkouším)
        (?:ne(?:za)?pamatuj\w*|nepamatuju|nepamatuji|nevzpomínám|nevzpomenu|nezapisuj|neukládej
        nemusíš (?:si )?(?:to )?(?:za)?pamatovat|pamatovat (?:si )?nemusíš|pamatuješ|pamatuje|vzpomínáš
        zapomněl[ai]?|zapomeň|nezapamatuj\w*|nemusíš|není třeba|netřeba)|nikdy nezapomenu|přemýšlím nahlas
        dělám si legraci|vtip|jen tak přemýšlím|mezi námi
    """,
}

_KEPT = {
    "adverb": r"""
        vždy|vždycky|nikdy|většinou|obvykle|opravdu|moc|taky|také|ještě|jen|jenom|pouze|sám|sama|mimochodem
        vlastně|prostě|raději|radši|teď|už|stále|pořád|zásadně|výhradně|hlavně|nakonec|spolu|definitivně|oba
        od \w+|jsem|jsme|si|se|mi|to|včera|konečně
    """,
    "prefer": r"""
        (?:radši|raději|nejradši|nejraději|preferuju|preferuji|preferujeme|upřednostňuju|upřednostňuji
        dávám přednost|nesnáším|nesnášíme|nenávidím|miluju|miluji|zbožňuju|zbožňuji|nemám rád\w*|mám rád\w*
        máme rádi|nemáme rádi|nesnesu|nemůžu vystát|nemůžu snést|vadí mi|nevadí mi|štve mě|štvou mě
        vyhovuje mi
        nevyhovuje mi|leze mi na nervy|leze mi to na nervy|nejsem fanoušek|jsem fanoušek|baví mě|nebaví mě
        oblíben\w+|nechutná mi|chutná mi)
        rád\w? (?:mám|nemám|jím|piju|čtu|dělám|používám)|(?:ne)?líbí se mi|(?:vždy|vždycky|nikdy|zásadně|jen
        jenom|výhradně|raději) (?:\w+ ){0,2}(?:používám|používáme|chci|piju|jím|čtu|píšu|pracuju|kupuju|beru
        jezdím|dělám|instaluju|platím|cestuju|nosím)|(?:používám|chci|piju|jím|čtu|píšu|kupuju|beru|jezdím
        instaluju|platím|cestuju) (?:\w+ ){0,3}(?:vždy|vždycky|zásadně|jen|jenom|výhradně|pouze|raději|radši
        nikdy)
        (?:nejím|nepiju|nekouřím|nepoužívám|nechci|nenosím|neřídím) (?!to|aby|tohle|vědět|nic|teď)
        chci (?:\w+ ){0,6}(?:vždy|vždycky|anglicky|česky|bez|jen|jenom|stručn\w+|krátk\w+)|(?:tykej|vykej
        oslovuj|říkej mi|odpovídej|piš) (?:\w+ ){0,4}(?:vždy|vždycky|jen|bez|stručně|česky|anglicky)|tykej
        vykej|říkej mi|mluv (?:na mě|se mnou)|(?:piš|odpovídej) mi|(?:vždy|vždycky|nikdy) mi (?:\w+ )?(?:piš
        odpovídej|dávej|ukazuj|posílej|říkej|nepiš|nedávej)|mi vyhovuj\w+|mi sed[íě]
    """,
    "moment": r"""
        (?:nesnáším|miluju|nenávidím|mám rád\w*|nemám rád\w*|líbí se mi|chci|radši|štve mě|vadí mi|baví mě
        zbožňuju) (?:to|tohle|tuhle|tenhle|tuto|tento|ten|tu|tvoj\w*|tvůj|tvou|jak|takhle|když to)(?= |$
        [.,!])|(?:tahle|tenhle|tohle|ta|ten|to|tato|tento) (?:\w+ )?(?:se mi|mi) (?:\w+ )?(?:líbí|nelíbí
        vadí|sedí)|(?:první|druh[ýá]|třetí|poslední|nov[ýá]) (?:verze|možnost|varianta|řešení|odpověď)
        verz\w+|variant\w+|miluju to|už mě to|chci aby
    """,
    "decide": r"""
        (?:rozhodl[aiyo]?|rozhodli|rozhodly|dohodl[aiy]?|domluvil[aiy]?|shodl[aiy]?|vybral[aiy]? (?:jsme|si)
        jsme (?:\w+ ){0,5}(?:vybrali|zvolili|zavrhli|zamítli|schválili|odhlasovali|zrušili|ukončili)
        zvolili jsme|zavrhli jsme|rozhodnutí (?:je|padlo|zní|:)|padlo rozhodnutí|schválen\w+|odhlasovan\w+
        dohodnut\w*|domluven\w*|rozhodnut\w*|platí dohoda)
        (?:zůstaneme u|zůstáváme u|přejdeme|přecházíme|půjdeme|jdeme do|budeme (?:\w+ ){0,4}(?:používat|psát
        nasazovat|dělat|podporovat|přecházet|vydávat)|nebudeme|nebudeme už|končíme s|přestáváme|přestaneme
        opouštíme|nahradíme|ponecháme|necháváme|(?:vyvíjet|nabízet|používat|podporovat|dělat) nebudeme
        volba padla|vyhrál\w*)
    """,
    "changed": r"""
        (?:vypnuli|zavřeli|prodali|zrušili|přesunuli|přešli|přestěhoval\w*|migrovali|převedli|přepsali
        nahradili|vyměnili|aktualizovali|přestoupil\w*|změnil\w* práci|nastoupil\w*|odstěhoval\w*) (?:jsme
        jsem)?|(?:jsme|jsem) (?:\w+ ){0,4}(?:vypnuli|zavřeli|prodali|přesunuli|přešli|přešel|přešla
        přestěhoval\w*|migrovali|převedli|přepsali|nahradili|nastoupil\w*)|od (?:ledna|února|března|dubna
        května|června|července|srpna|září|října|listopadu|prosince|loňska|minulého|minulé|nového|roku)
        už ne(?:ní|máme|používáme|pracuju|bydlím|jsme)
    """,
    "onwards": r"""
        odteď|odteďka|od teď|od nynějška|ode dneška|napříště|příště (?:už|mi|prosím|ne\w+)|od této chvíle
        nadále|od (?:pondělí
        příštího \w+|zítřka)|do odvolání|jako pravidlo|pokaždé když (?:mi )?(?:píšeš|odpovídáš)
        když mi (?:píšeš|odpovídáš|ukazuješ)
    """,
    "self": r"""
        (?:píšu|programuju|programuji|vyvíjím) (?:v|ve|pro)|letím|(?:bydlím|bydlíme|žiju|žiji|žijeme|studuju
        studuji|učím|narodil\w* jsem|dojíždím|pocházím|mluvím (?:\w+ )?(?:česky|anglicky|německy)|podnikám
        vychovávám)|pracuj[ui] (?:{adverb} )*(?:jako|v|ve|na|pro|u|z domova|od|jen|čtyři|tři|v noci)
        dělám (?:jako|v|ve|programátor\w*|učitel\w*|účetní)
        jsem (?:{adverb} )*(?:alergick[ýáa]|vegetarián\w*|vegan\w*|diabeti\w+|barvoslep\w+|levák|levačka
        pravák|hluch\w+|nedoslýchav\w+|slep\w+|těhotná|ženatý|vdaná|rozveden\w+|svobodn\w+|dyslekti\w+
        epilepti\w+|astmati\w+|v důchodu|důchodce|důchodkyně|osvč|na volné noze|muslim\w*|žid\w*|z|ze
        původem|na mateřské|na rodičovské|na home ?office|na dovolené do|na archu|na linuxu|[\w-]+(?:tel
        telka|telkyně|ista|istka|ér|érka|ník|nice|log|ložka|ista|ář|ářka|ant|antka|kař|kařka|átor|átorka
        inženýr\w*|lékař\w*|právni\w+|celiak|účetní|máma|táta|student\w*)(?= |$|[.,]))
        mám (?:{adverb} )*(?:\w+ )?(?:alergi\w+|celiaki\w+|diabetes|cukrovku|adhd|astma|epilepsii|dyslexii
        migrén\w+|intoleranci|dět[ií]|dceru|dcery|syna|syny|psa|psy|kočku|kočky|bratra|sestru|dvojčata|koně
        vnoučata|laktóz\w+)|alergick\w+ na|alergii na|(?:nesmím|nemůžu|nesmí|nemůže) (?:jíst|pít|řídit|lepek
        laktózu|ořechy)|(?:mám|máme|má) (?:narozeniny|svátek|výročí|svatbu)|(?:moje|má|můj
        naše) (?:\w+ )?(?:narozeniny|velikost|výročí|časové pásmo|mateřština|povolání|profese|pozice|věk
        krevní skupina|pracovní doba)
    """,
    "relation": r"""
        (?:žen[aěuy]|manžel(?:ka|ky|ce|a)?|partner(?:ka|a)?|přítelkyně|přítel|snoubenec|snoubenka|syn(?:a
        ovi)?|dcer[aěuy]|děti|dítě|miminko|bratr(?:a)?|brácha|sestr[aěuy]|ségra|matk[aěuy]|mam(?:ka|inka|ky
        a)|otec|tát[aoy]|taťka|rodiče|babičk[aěuy]|děda|dědeček|teta|strýc|strejda|bratranec|sestřenice
        synovec|neteř|pes|psa|fenka|kočka|kocour|kůň|králík|šéf(?:ka|ová|a)?|vedoucí|nadřízen\w+|koleg(?:a
        yně)
        tým|klient(?:ka|a)?|zákazník|zákaznice|domácí|pronajímatel|doktor(?:ka)?
        lékař(?:ka)?|zubař(?:ka)?|terapeut(?:ka)?|účetní|právni\w+|spolubydlící|firma|zaměstnavatel
        mentor(?:ka)?|stážist(?:a|ka)|asistent(?:ka)?|trenér(?:ka)?|učitel(?:ka)?|veterinář(?:ka)?|chůva
        dodavatel|kontakt(?:ní osoba)?|designér(?:ka)?|notář(?:ka)?|instalatér|kadeřni\w+|tchyně|tchán
        dvojčata|majitel(?:ka)?|škola|poskytovatel|správce(?: sítě)?|jednatel(?:ka)?|hlídání|poradce
        poradkyně)
    """,
    "asset": r"""
        (?:server\w*|databáz\w+|db|api|repozitář\w*|repo|web|stránk\w+|domén\w+|kancelář|stack|backend
        frontend|cluster|rozpočet|sprint\w*|produkt|projekt|konvence|sklad|banka|obchod|e-?shop|vpn|síť
        tiskárna|auto|kolo|dům|byt|notebook|wifi|ci|pipeline|zálohy|záloha|dokumentace|kód|aplikace
        platforma|produkce|staging|služb\w+|fakturace|faktury|test\w*|stroj|schůzk\w+|porad\w+|releas\w+
        certifikát|větev|zákazníci|tikety|modul|prostředí|soubory
        skript\w*|log\w*|nájem|pojištění|smlouva|účetnictví|systém|logy|licence)
    """,
    "steady": r"""
        (?:je|jsou|běží|používá|používají|používáme|začíná|začínají|končí|má|mají|máme|zavírá|otevírá|leží
        skládá|sedí|stojí|patří|zůstává|byl[aoiy]?|bude|budou|jmenuje|jmenují|pracuje|pracují|musí|podporuje
        vyžaduje|přichází|mluví|bydlí|píše|píšou|smí|poslouchá|závisí|trvá|obsahuje|vyprší|spouští|spouštíme
        platí|dostává|chodí|běhá|žije|potřebuje|nejdou|najdeš)
    """,
    "named": r"""
        (?:jmenuje|jmenují|jmenuju se|jmenuji se|jméno je|říká se (?:mu|jí|tomu)|říkáme (?:mu|jí|tomu))
        (?:můj|muj|má|moje|náš|naše|mojí|naší) (?:[\w'-]+ ){0,3}{relation}(?: (?:u|z|v|pro|na
        ve) [\w ]{1,30}?)? (?:je|jsou|:) (?!v\b|ve\b|na\b|moc|tak\b|vždy|nikdy|alergick|vegetarián|vegan
        nemocn|ten\b|ta\b|z \w+$)
        [\w-]+(?: \w+)? je (?:můj|moje|má|náš|naše) (?:[\w'-]+ ){0,2}{relation}|kontakt na|(?:má na starosti
        stará se o|spravuje|odpovídá|vede)|(?:můj|moje|náš|naše|jeho|její|na) (?:[\w'-]+ ){0,2}(?:e-?mail
        mail|adresa|číslo|telefon|mobil|uživatelské jméno|iban|spz|účet)(?: \w+){0,5} (?:je|:)|se volá na
        (?:e-?mail|telefon|číslo) (?:na|mé|mého|našeho|naší) [\w ]{1,40} je|tel\.?
    """,
    "owned": r"""
        (?:můj|muj|má|moje|moji|mé|náš|naše|naši|mojí
        naší) (?:[\w'-]+ ){0,2}{relation} (?:[\w'-]+ ){0,2}(?:studuje
        jezdí|jí|pije|nosí|umí|hraje|nesmí|nesmi|nemůže)
        {relation} (?:nám|mi|nam) dělá|(?:syn|dcera|manžel|manželka|žena|muž) (?:má|nesmí|nemůže)|(?:jenom
        jen|pouze|výhradně) (?:přes|na|v|ve|s|se|z|po)
        (?:můj|muj|má|moje|moji|mé|náš|naše|naši|mojí|naší|našeho|našem) (?:[\w'-]+ ){0,4}{steady}
        (?:všechny|každý|každá|celý|celá|celé)? ?(?:[\w'-]+ ){0,2}{asset}(?: (?:nám|u nás|mimochodem|se|si
        stále|pořád|teď|jenom|v \w+))* {steady}|(?:v|ve|na|pro) (?:tomto|tomhle|našem|této|téhle|naší|celém
        celé|mém) (?:repozitáři|projektu|repu|týmu|firmě|kódu|kanceláři|domě|rodině)
        u nás|v (?:práci|kanceláři|kanclu)|(?:používáme|nasazujeme|hostujeme|vydáváme|běžíme|provozujeme
        ukládáme|píšeme|fakturujeme|podporujeme|máme|mame|pracujeme|sedíme|platíme|prodáváme|testujeme
        vyvíjíme|logujeme|jsme na|jsme \w+ v|pojmenováváme|dodáváme|scházíme se|jedeme na) (?!to|tohle
        problém|chybu|bug)|(?:my|v práci) (?:máme|mame|používáme)
    """,
    "rule": r"""
        (?:se|my|já|nikdo|všichni|každý)(?: \w+){0,3} (?:vždy|vždycky|nikdy|zásadně)|^(?:vždy|vždycky
        vzdycky|nikdy|nikdy)(?! (?:nevíš|jsem|strach|problém|jsme to|mě to|paráda|nevím)) |(?:vždy|vždycky
        nikdy|zásadně) (?:se|ne\w+|používáme|píšeme|děláme|nasazujeme|commitujeme)|(?:zakázán\w*|povinn\w+
        zakázáno)
        ^(?:používej|piš|odpovídej|dávej|nazývej|dělej|vyhni se|nepoužívej|nepiš|nedávej
        necommituj)(?: \w+){0,6} (?:vždy|vždycky|nikdy|zásadně)
    """,
    "habit": r"""
        ^žádn\w+ [\w-]+ (?:v|ve|na|před|bez|po) (?!t)
        (?:musí|smí|nesmí|má se|mají se)(?: \w+){0,4}(?: vždy| vždycky| nikdy| jen| jenom)|nesmí
    """,
    "recurring": r"""
        (?:každé|každý|každou) (?:pondělí|úterý|středu|čtvrtek|pátek|sobotu|neděli|týden|měsíc|noc|ráno
        první|poslední|rok)
    """,
    "due": r"""
        deadline|termín|vyprší|končí platnost|narozeniny|výročí|svatb\w+|platnost
        (?:končí|začíná|je|mám|máme|má|bude|do|od|je to|dne|proběhne|máš)(?: \w+){0,3} \d{1,2}\. ?(?:led|úno
        bře|dub|kvě|čer|srp|zář|říj|lis|pro)\w*|\d{1,2}\. \d{1,2}\.
    """,
}

_AGAINST = {
    "byway": r"mimochodem|jen tak|pro info|pro tvou informaci|btw",
    "every": r"všechno|všichni|nikdo|nic|všude",
    "final": r"(?:definitivně|natrvalo|napořád)",
    "thus": r"tak|takže|proto",
    "definite": r"\w+",
    "plain": r"""
        (?:^|[,;] |\w+ )(?:už |ne)?\w{3,}(?:ujeme|áme|íme|eme|ám|ím|uju|uji) \w+|(?:polovina|většina
        část) (?:našich|mých)|už ne\w+me
    """,
    "passing": r"""
        chci|chceme|musím|musíme|můžu|můžeme|mám|máme|budu|budeme|myslím|myslíme|vím|víme|vidím|vidíme
        dostávám|zkouším
        zkoušíme|snažím|jsem|jsme|byl|byla|byli|jdu|jdeme|rozumím|chápu|doufám|ptám|věřím|hledám|spát|noc
        díky|děkuju|hlad
        oběd|hned|teď|tohle|tuhle|tenhle|toto|tento|tady|ty|tvůj|tvoje|tebe|směju|brečím|cítím|dělám|nechám
        říkám|slyším
        potřebuju|potřebuji|potřebujeme|letím|to|tím|tam|sám|vám|nám|všem|ním|svým|celým|prosím|přemýšlím
        rovnou|víkend
    """,
    "asks": r"""
        kdo|co(?! (?:mám|se mi) )|kde(?! (?:bydlím|pracuju) )|proč|jak(?! (?:to mám|jsem říkal) )|kolik
        kter[ýáéí]\w*|jak[ýáé]|kdy(?!ž|by)|čí|odkud|kam|(?:můžeš|mohl bys|mohla bys|chceš|víš|znáš|myslíš
        máš|jsi|umíš|pamatuješ|opravíš|sestavíš|pomůžeš|poradíš|je|jsou|má|mám|dá|lze|existuje|stačí|bude
        byl|není|nemáš|nevíš
        dává) (?:si |mi |se |to |ten |ta |v |nějak\w+ |lepší |možné |nutné |důležité |vždy |prosím )
        jde to|nějaký nápad|od kdy|připomeň mi|zajímá mě|otázka|dotaz|vysvětli|řekni mi|pověz
        přemýšlím jestli|je lepší|mám (?:použít|raději použít)
    """,
    "unreal": r"""
        i kdyby\w*|být to na mně|za předpokladu|představ si
        kdyby\w*|představ si|představme si|řekněme|dejme tomu|předpokládejme|co kdyby|jako by|jakoby
        hypoteticky|teoreticky|(?:byl|byla|byli|měl|měla|měli|mohl|mohla) bych\w*|by(?:ch|chom|s
        ste) (?:\w+ ){0,3}\w+l[aio]?|\w+l[aio]? bych(?:om)?|být tebou
    """,
    "condition": r"pokud|když(?! mi (?:píšeš|odpovídáš))|jakmile",
    "doubt": r"""
        {unreal}|nikdy (?:neřekl|neviděl|neslyšel|nepochopil)\w*|jestli|možná|asi|snad|třeba|nejspíš
        pravděpodobně|mohli bychom|nevím|netuším
        myslím(?:,)? že|uvažuju|uvažujeme|přemýšlím|zdá se|prý|doufám|jednou
        skoro(?! všichni| vždy| nikdy| všechn\w)|málem|uvidíme
        dřív(?:e)? jsem|zvažuju|váhám|ledaže|ještě jsme se nerozhodli|občas|někdy
    """,
    "told": r"""
        (?:on|ona|oni|někdo|lidi|lidé|{relation}|článek|kniha|autor(?:ka)?|ministr|dokumentace|noviny
        \w+) (?:mi |nám |včera |vždycky |prý )*(?:řekl[aio]?|říká|říkal[aio]?|říkají|tvrdí|tvrdil[aio]?
        píše že|napsal[aio]?|povídal[aio]?|vyprávěl[aio]?|myslí si|doporučuje|doporučil[aio]?|radí
        odpověděl[aio]?|ptal[aio]? se|prohlásil[aio]?|volal[aio]?|přísahá)
        podle|údajně|četl[ai]? jsem|slyšel[ai]? jsem|cituji|citát|v (?:rozhovoru|článku|knize|filmu|novinách
        písničce)|přísloví|postava|hrdina|v mém románu
    """,
    "task": r"""
        (?:commitni|pushni|nasaď|zvaliduj|zdokumentuj|omez|zmenši|zvětši|rozděl|načti|nakonfiguruj|obnov
        ulož (?:výsledek|data|soubor)|přepiš|vytáhni|vypni|zapni|přehoď|udělej|sluč|zaloguj|vrať
        přehraj|\w{2,}(?:uj|ej|ij)(?:te)?)(?=\s)
        (?:vyhoď|vyměň|vlož|zvýrazni|přeskoč|použij)(?=\s)
        (?:potřebuj[ui]|potřeboval\w* bych|chci (?:abys|aby|nějak\w+|ten|tu|to|vědět)|chtěl\w* bych|hledám
        snažím se|zkouším|můžeš|mohl bys|pomoz|udělej|napiš|dej|ukaž|najdi|přidej|smaž|odstraň|přejmenuj
        nahraď|změň|uprav|oprav|přelož|shrň|vysvětli|zkontroluj|podívej|koukni|otestuj|spusť|otevři|přečti
        přesuň|seřaď|porovnej|popiš|analyzuj|navrhni|zkus|začni|přestaň|jdi|nastav|pošli|nainstaluj|spočítej
        postav|implementuj|vygeneruj|refaktoruj
        vezmi|vytvoř|připrav|zformuluj|vylepši|zkrať|vypiš|zobraz|převeď|pojď|sestav|rozvrhni|doplň|poraď
        prohlédni|ověř|stáhni|rozděl|zruš|vymysli|naplánuj|zajisti|ujisti|zvyš|vyčisti|vyber|optimalizuj
        exportuj|zjednoduš|zjisti|najdi)
    """,
    "here": r"""
        v (?:téhle|této|tomhle|tomto|tom|té) (?:funkci|souboru|metodě|třídě|testu|skriptu|případě|příkladu
        dotazu|komponentě|mailu|dopise|textu|odstavci|zprávě|dokumentu|pohádce|básni)|tentokrát|právě teď
        momentálně|zrovna|teď hned|prozatím|zatím|dnes|dneska|dnes (?:ráno|večer)|výše|níže|před chvílí
        aktuálně
        (?:tuhle|tuto|tenhle|tento|tahle|tato|tohle) (?:chyb\w+|bug|funkc\w+|test|kód|řádek|verz\w+|tlačítko
        stránk\w+|film|přístup|řešení|odpověď|soubor|skript|problém|odstavec)|celý den|celé (?:dopoledne
        odpoledne)|nejdřív
    """,
    "vague": r"""
        to(?! (?:znamená))|tohle|toto|ten(?= (?:je|byl|má|se))|ta(?= (?:je|byla|má|se))|ti|on|ona|ono|oni
        tam|tady|tak|ty|vy|uf+|fuj|hnus|pff+|páni|jé
    """,
    "state": r"""
        v koloně|vyčerpan\w+|hlavy|promočen\w+|nervózní|ospal\w+|utahan\w+
        řádku \d+|prochází|zítra|domů|na cestě|nádhern\w+|zpoždění|za (?:pět|deset|\d+) minut|čekám|čekáme
        ozvu
        rozbit\w+|padá|padají|spadl\w*|selhává|selhal\w*|pomal\w+|nefunguje|nefungují|nejede|chyb[auoyě]
        chybu|špatně|prázdn\w+|červen\w+|zasekl\w*|divn\w+|bordel|unaven\w+|hlad|nemocn\w+|vyřízen\w+
        stres\w*|hotov\w+|rád že|šťastn\w+|naštvan\w+|smutn\w+|strach|skvěl\w+|hrozn\w+|krásn\w+|vtipn\w+
        brečí|pláče|hned jsem|do (?:dvanácti|oběda|večera)|binec|únik|null|undefined|výjimk\w+|time-?out|bug
        bugy|vrací|vyhazuje|háže|problém\w*|najednou|chybí
        duplicit\w*|dvakrát(?! týdně| měsíčně| ročně| denně)|zmizí|mizí|bliká|nereaguje|error|nebaví|spát
        pozdě|hlava|bolí|mozek|neprojdou|neprochází
    """,
}

WORDS = _ASKED | _KEPT | _AGAINST
