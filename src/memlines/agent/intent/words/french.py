"""What people want of a memory, in French: the verbs, what is kept and for how long."""

from __future__ import annotations

_VERBS = {
    "keep": r"""
        souvien[st]?.toi (?:{fill} )*(?:que|qu'\w+|bien|de ça|de ceci|de cela|du fait|de ce qu\w*|:|{later}
        {onwards}|de (?:mon|ma|mes|notre|nos))|souvien[st]?.t'en|souvenez.vous(?:.en)? (?:{fill} )*(?:que
        qu'\w+|bien|de ceci|de cela|:)|souvenez.vous.en|(?:te|vous|m'en) souvenir (?:que|qu'\w+|de ce|bien
        du fait)
        rap+el+es?.toi (?:{fill} )*(?:que|qu'|qu'\w+|bien|ceci|cela|ça|de ça|de ceci|:|{later}|mon|ma|notre
        la|le|les)|rappelez.vous (?:{fill} )*(?:que|qu'\w+|bien|de)
        rap+el+es?.le.toi|(?:te|vous) rappeler (?:que|qu'\w+|bien)
        {~retiens}(?:.le|.la|.les)?(?! pas)|retenez(?:.le|.la|.les)?(?! pas)
        retenir(?= (?:que|qu'|ceci|cela|ça|bien|mon|ma|notre|pour|la|le|les)|qu'| ?:)
        {~mémorise}[sz]?(?:.le|.la)?|mémorisez|mémoriser (?:que|qu'\w+|ceci|cela|ça|mon|notre|la|le|les|ce)
        (?:garde|gardez|garder|conserve|conservez|conserver|mets|mettez|mettre|grave|gravez|enregistre
        enregistrez)(?: {fill}| ceci| cela| ça| le
        .le)* en mémoire(?! (?:tampon|vive|cache|partagée|le résultat|la liste|les données))
        (?:grave|gravez|imprime|mets).toi (?:ça |bien |ceci )*(?:dans|en) (?:la )?(?:tête|mémoire|crâne)
        sache(?:z)? … (?=.*(?:{later}|{onwards}))
        à retenir(?: {later})?(?: ?:|$)|(?:quelque chose )?à mémoriser|pense.bête
        (?:mets|mettez|rentre|enfonce|fourre).(?:toi|vous)? ?(?:bien )?(?:ça|ceci|cela|le
        la)? ?(?:bien )?(?:dans|en) (?:la |le )?(?:tête|crâne|mémoire)|que (?:ça
        cela) (?:te )?reste (?:gravé|en tête|en mémoire)|grave.(?:le|la|ça)|apprends.(?:le
        toi)|tu dois (?:bien )?(?:retenir|savoir|te rappeler|te souvenir)
        (?:ça|cela) (?:te|nous) (?:servira|resservira) (?:plus tard|encore)
        garde (?:bien )?(?:ça|ceci|cela) (?:en tête|en mémoire|pour)|à garder (?:en mémoire|pour|en tête)
        retenir (?:que|qu'\w+|ceci|cela|ça|:)
        tu en auras (?:encore |toujours )?besoin
        (?:ça|cela) (?:te |nous )?(?:re)?servira (?:encore|plus tard|à nouveau)
        tu (?:te )?(?:retiens|mémorises)(?= (?:que|qu'|ça|ceci|cela|bien)|qu'| ?:)
    """,
    "keep_late": r"""
        (?:tu|vous) (?:te |vous |les? |la )?(?:retiennes|reteniez|souviennes|souveniez|mémorises|mémorisiez
        gardes en mémoire)
        que tu te rappelles
        (?:l'|le |la |les )(?:retenir|mémoriser|garder en mémoire)|t'en souvenir|le retenir
        (?:tu|vous) (?:t'en |le |la |les |l')?(?:souviennes|retiennes|mémorises|souveniez
        reteniez)|t'en souviennes|le retiennes
    """,
    "fill": r"""
        bien|aussi|stp|s'il te plaît|s'il vous plaît|svp|donc|simplement|juste|désormais|merci|ceci|cela|ça
        au passage|quelque part|définitivement
    """,
    "write": r"""
        note.(?:le|la|les|toi)(?: {fill}| ça)*|notez.(?:le|la|les)|prends?.note|prend note|prenez note
        prendre note|prends en (?:bonne )?note
        note(?:z|r)? (?:{fill} )*(?:quelque part|dans un coin|ceci|cela|ça|ceci|{later})(?: {fill})* ?(?:que
        qu'\w+|:)?
        note(?:z)? ?:|note(?:z)? (?:aussi )?(?:pour moi|pour nous|pour plus tard)
        noter (?:que|qu'\w+|ceci|cela|ça|:|le|la|mon|ma|notre|bien|quelque part|dans)
        {~consigne}(?:z|r)?(?:.le|.la|.les)?(?! (?:est|permanente))|inscris(?:.le|.la)?
        inscrivez(?:.le|.la)?
        inscrire
        (?:fais|faites|prends|laisse|crée|ajoute)(?:.toi|.vous)? (?:{fill} )*une (?:petite )?(?:note|fiche
        mention) (?:{fill} )*(?:de|que|qu'\w+|sur|disant|comme quoi|pour|:|du|des|d')
        enregistre(?:z|r)?(?:-le|-la| ceci| cela| ça| que| qu'\w+| le fait| cette (?:décision|info
        information|règle|préférence)| bien)
        note (?:à|pour) (?:moi|plus tard|toi|nous).?(?:même)?|pour (?:mémoire|le compte rendu) ?:
        garde(?:z|r)?(?:.le|.la| ça| cela| ceci| bien)* (?:une )?trace
        garde.(?:le|la) (?:bien )?(?:en tête|sous le coude)|laisse une trace
        noter (?:que|qu'\w+)|enregistrer … (?:que|qu'\w+)
        pour (?:tes|vos|nos|mes) (?:archives|dossiers|notes|tablettes)|mets (?:ça|ceci|cela|le) par écrit
        (?:ça|c'est) (?:à noter|à consigner|à enregistrer)|à (?:noter|consigner|enregistrer) (?:dans|pour)
        (?:note|notez|noter|enregistre|consigne|garde) (?:bien )?(?:cette|notre|la) (?:\w+ )?(?:décision
        règle|préférence|information|info|consigne)|enregistre(?:z)? bien (?:que|qu'\w+)
        (?:garde|gardez|fais|prends) (?:{fill} )*une (?:petite )?note ?:
        tu (?:me |le |la |te )?(?:notes|consignes|inscris|enregistres)(?= (?:que|qu'|ça|ceci|cela|ce|bien
        quelque)|qu'| ?:)
        (?:écris|écrivez|marque|marquez|griffonne)(?: {fill}|-le
        -moi)*(?: quelque part| dans un coin| noir sur blanc)
    """,
    "write_late": r"""
        (?:tu|vous) (?:le |la |en |les )?(?:notes|notiez|preniez note|prennes note|consignes|inscrives
        enregistres|gardes une trace)|le noter|l'inscrire|l'enregistrer|le consigner
    """,
    "store": r"""
        ajoute|ajoutez|ajouter|mets|mettez|mettre|enregistre|enregistrez|enregistrer|sauvegarde|sauvegardez
        sauvegarder|stocke|stockez|stocker|range|rangez
        inscris|inscrivez|inscrire|garde|gardez|garder|note|notez|noter|conserve|conservez|conserver|écris
        écrivez|écrire|consigne|archive|archivez|place|colle|intègre
        ajoute.le|mets.le|garde.le|range.le|enregistre.le|sauvegarde.le|conserve.le|note.le|garde.la|mets.la
        stocke.le
        tu (?:le |la |me |y )?(?:ajoutes|mets|gardes|ranges|notes|enregistres)
    """,
    "store_late": r"""
        (?:tu|vous) (?:le |la |les |en )?(?:ajoutes|mettes|gardes|notes|enregistres|stockes|sauvegardes
        conserves|saches|ajoutiez|gardiez|notiez)|l'ajouter|le mettre|le garder
    """,
    "mind": r"""
        (?:garde|gardez|garder|aie|ayez|gardons)(?:.le|.la)?(?: {fill})* (?:à l'esprit|en tête|en vue
        présent à l'esprit)
        tiens(?: {fill}|.en)* compte|tenez(?:.en)? compte|tenir compte|pense(?:z)? (?:bien )?(?:à|que)
        fais attention|prends en compte|n'oublie(?:z)? (?:pas|jamais)|sache|sachez|veille(?:z)? à
        souvien[st]?.toi|retiens
    """,
    "unforgotten": r"""
        n'?\s?oublie(?:z|s)? (?:pas|jamais|plus)(?: jamais| bien| stp| svp)* (?:que|qu'\w+|ceci|ça|cela
        notre|mon|ma|nos)
        ne (?:me|nous|te) laisse(?:z)? (?:pas|jamais|plus) oublier (?:que|qu'\w+|:|ce|notre|mon|la|le)
        il ne faut (?:pas|jamais|surtout pas) oublier (?:que|qu'\w+)
        n'oublie(?:z)? (?:pas|jamais|plus) ?:
        ne (?:me|nous|te) laisse(?:z)? (?:pas|jamais|plus) (?:l'|les )?oublier(?! d)
        (?:ça|cela|il) ne (?:faut|doit) (?:pas|jamais|surtout pas) (?:l'|être )?oubli(?:er|é)
        que je n'oublie pas ?:|il ne faudra pas oublier (?:que|qu'\w+|:)|à ne (?:pas|jamais) oublier ?:
    """,
    "ruled": r"""
        (?:nouvelle |autre )?(?:règle|consigne|convention|préférence|instruction) (?:permanente|générale
        du projet|d'équipe|absolue|à suivre|maison|durable) … ?:
        (?:nouvelle|petite) (?:règle|consigne|convention|préférence) … ?:
        c'est une (?:règle|consigne|instruction|convention|préférence) (?:permanente|générale|durable
        absolue)
        fais(?:.en|.en donc) une (?:règle|habitude|convention)
        (?:considère|prends) (?:ça|cela|ceci) comme une (?:règle|consigne)
        (?:en|comme) règle générale
        (?:ça|cela|c'est) (?:vaut|valable|s'applique) (?:pour|à) (?:tous|toutes|tout|l'ensemble|chaque)
        valable pour (?:tous|toutes|tout)|je ne veux (?:plus )?jamais
    """,
    "informed": r"""
        sache(?:z)?|pour (?:ta|votre) (?:info|information|gouverne)|pour info
        juste pour que tu (?:le )?saches
        (?:afin|pour) que tu (?:le )?saches|tu dois savoir|il faut que tu saches
        au cas où|pour que tu t'en souviennes|à savoir|bon à savoir
    """,
    "introduced": r"""
        (?:{later}|{onwards}) {colon}
        (?:{later}|{onwards}) (?:toujours|jamais|tu|vous|on|nous|je|utilise|ne|n'\w+|sache|retiens|note|mon
        ma|mes|notre|merci|pense|écris|mets|demande|il faut|plus|pas)
        (?:{later}) (?:que|qu'\w+|où) (?:tu|vous|on|je)?
    """,
    "forget": r"""
        {~oublie}[sz]?|oubliez|oublier|ignore|ignorez|fais (?:une )?croix sur|tire un trait sur|efface
        effacez|désapprends|désapprenez|désapprendre
    """,
    "owned": r"""
        (?:{forget})(?: {fill}| complètement| totalement| définitivement)* (?:que|qu'\w+|ce que|ce qu'\w+
        tout|toute|mon|ma|mes|notre|nos|comment|où|quel\w*|l'idée|l'histoire|celui|celle)
        (?:oublies|oubliiez|oublier) (?:que|qu'\w+|ce qu\w*|ce qu'\w+|tout|mon|ma|mes|notre|nos)
        {note}
        {told}
        {kept}
        {memory}
    """,
    "told": r"""
        (?:je t'ai|je vous ai|je t'avais|j'ai|on a|nous avons|je te l'ai|on avait|on t'a) … (?:dit|donné
        donnée|dites?|raconté|indiqué|parlé|mentionné|envoyé|collé|fourni|communiqué|confié|transmis)e?s?
        je (?:t'|te |vous )(?:disais|donnais)
    """,
    "forget_late": r"(?:tu|vous) (?:l'|les )?(?:oublies|oubliiez)|l'oublier|les oublier|oublier",
    "erase": r"""
        {~supprime}[sz]?(?:.le|.la|.les)?|supprimez|supprimer|efface[sz]?(?:.le|.la|.les)?|effacez|effacer
        enlève[sz]?(?:.le|.la|.les)?|enlever|enlevez|retire[sz]?(?:.le|.la|.les)?|retirez|retirer
        vire(?:.le|.la|.les)?|virer|jette|jeter|jetez|raye|rayez|rayer|ôte|ôter|vide|videz|vider|nettoie
        purge|purger|élimine|éliminer|bannis|oublie|oubliez|débarrasse.toi|barre|biffe
        biffe|rature|raturer|détruis|détruire|gomme|gommer|abandonne|écarte
        tu (?:me |le |la )?(?:supprimes|effaces|enlèves|retires|vires)
    """,
    "delete": r"""
        {erase}
        sors|sortir
    """,
    "delete_late": r"""
        (?:tu|vous) (?:l'|le |la |les )?(?:supprimes|effaces|enlèves|retires|vires|supprimiez|effaciez
        retiriez|oublies)|(?:la|le|les|l')? ?(?:supprimer|effacer|enlever|retirer|virer)|disparaître
        (?:tu|vous) (?:raies|jettes|gommes|rayes)|rayer|jeter|gommer|oublier
    """,
    "delete_it": r"""
        (?:supprime|efface|enlève|retire|vire|jette|oublie|raye|ôte|supprimez|effacez|enlevez|retirez
        oubliez|jetez|élimine)[- ](?:le|la|les|moi ça|ça|tout)
        (?:supprime|efface|enlève|retire|vire|jette|oublie|supprimez|effacez|enlevez|retirez|oubliez) (?:ça
        cela|tout ça|donc ça)
        (?:peut|peuvent|doit|doivent|devrait) (?:donc |être |maintenant )*(?:disparaître|supprimée?s?
        effacée?s?|oubliée?s?|retirée?s?|dégager|sauter|jetée?s?)
        (?:peux|pouvez|pourrais|pourriez|dois|merci de)(?:.tu|.vous)? (?:donc |bien )?(?:la|le|les
        l') ?(?:supprimer|effacer|enlever|retirer|virer|oublier|jeter)
        à (?:supprimer|effacer|oublier|jeter)
    """,
    "unkeep": r"""
        ne (?:la |le |les |te |t'en |l')?(?:retiens|gardes?|conserves?|mémorises?|stockes?|souviens
        enregistres?|retenez|gardez|conservez) plus
        (?:je )?ne (?:veux|souhaite) plus que (?:tu|vous) (?:\w+ )?(?:retiennes|gardes|conserves|mémorises
        stockes|souviennes|saches|gardiez|conserviez|reteniez|enregistres)
        (?:n'as|n'avez) plus (?:besoin|à) (?:de )?(?:\w+ )?(?:retenir|garder|te souvenir|vous souvenir
        mémoriser|conserver|savoir)
        (?:arrête|arrêtez|cesse) de (?:\w+ )?(?:retenir|garder|mémoriser|te souvenir|stocker|conserver)
        plus la peine de (?:\w+ )?(?:retenir|garder|te souvenir|mémoriser)
    """,
    "announced": r"(?:{later}|{onwards})(?: \w+){0,4} ?:",
}

_MEMORY = {
    "session": r"sessions?|fois|conversations?|discussions?|échanges|tâches|projets?|travaux|séances?|chats?",
    "later": r"""
        pour (?:plus tard|la suite|l'avenir|le futur|toujours|de bon|la prochaine|la prochaine fois
        les prochaines? \w+|la fois prochaine|mémoire|archive)
        (?:pour|dans|lors d|à|au|aux|sur|pendant|entre)(?:e|es)? ?(?:les |toutes les |de |d'
        la |nos |mes )*(?:prochaines?|futures?|autres|suivantes?|prochains?|futurs?) {session}
        (?:pour|dans|lors des|entre) (?:les |toutes les |nos |mes )?{session} (?:prochaines?|futures?
        suivantes?|à venir|ultérieures?)
        la prochaine fois|à long terme|durablement|de (?:façon|manière) (?:permanente|durable)
        définitivement|d'une session à l'autre|une fois pour toutes|en permanence
        (?:pour|afin) (?:qu'on|que \w+|de|d'|éviter|ne pas) … (?:à nouveau|encore|la prochaine fois|plus
        chaque fois|re\w+)
        (?:si|quand|au cas où) (?:ça|cela|on|le problème|il) (?:se |y |en |le )?(?:reproduit|revient|arrive
        recommence|reproduisait|produirait|retombe)\w*(?: encore| à nouveau)?|pour (?:quand
        le jour où) (?:ça|cela|on)|(?:pour |dans )?les (?:prochaines|prochains) (?:semaines|jours
        mois)|plus jamais|on en aura (?:encore )?besoin|(?:ni|pas) (?:aujourd'hui|maintenant) ni
        au-delà de cette session|(?:même |aussi )?après cette session
        pas (?:seulement|que) (?:pour )?(?:aujourd'hui|maintenant|cette session)
    """,
    "onwards": r"""
        à partir (?:de maintenant|d'aujourd'hui|de ce jour|de là|de demain)|dorénavant|désormais|à l'avenir
        dès (?:maintenant|aujourd'hui|à présent|demain)|jusqu'à nouvel ordre
        pour (?:tous|toutes) (?:mes|nos|les) (?:\w+ )?(?:projets|services|dépôts|scripts|commits|tâches
        fichiers|futurs \w+)|dans tous (?:mes|nos|les) \w+|en règle générale|par principe
        (?:tous|toutes) (?:mes|nos) futur[es]*
    """,
    "always": r"""
        toujours|jamais|systématiquement|chaque fois|à chaque fois|sans exception|en toutes circonstances
        exclusivement|uniquement
    """,
    "scope": r"""
        (?:dans|sur|pour|à travers) (?:ce|cette|notre|nos|mon|mes|tous (?:mes|nos|les)|toutes (?:mes|nos
        les)|chaque|tout le) {place}
        chez nous|pour moi|avec moi|avant (?:de|chaque|que)|après chaque|quand tu|lorsque tu|dès que tu|ici
        sans (?:me|m'|mon|demander)|sauf si je
    """,
    "place": r"""
        (?:\w+ )?(?:projets?|dépôts?|repos?|code|équipe|workspace|scripts?|services?|applis?|application
        commits?|monorepo|base de code|pr)
    """,
    "memory": r"""
        (?:ta|votre|ma|notre|ton|tes|vos|mes|nos)(?: {own})* {stock}(?: {own})*|ta mémoire|votre mémoire
        (?:dans|de|à) la mémoire (?:à long terme|du projet|de l'agent)|de mémoire$|memory\.md
    """,
    "out": r"""
        (?:de|hors de|d') ?(?:ta|votre|ma|notre|tes|vos|mes|nos)(?: {own})* {stock}
        (?:-le|-la|-les| ça| cela) de la mémoire
    """,
    "own": r"""
        propres?|à long terme|long terme|permanente?s?|personnel(?:le)?s?|persistante?|durables?|interne
    """,
    "stock": r"""
        mémoire|notes?|souvenirs?|carnet|bloc.notes|archives|connaissances|dossiers|registre|journal|calepin
        fiches?|tablettes
        base de connaissances?|historique|anciennes conversations|conversations|échanges|discussions
        classeur|mémo|répertoire
    """,
    "note": r"""
        (?:la|le|les|l'|cette|ce|ces|ta|ton|tes|ma|mes|nos|toutes? (?:les|tes|mes)|une|votre
        vos)(?: ?\w+){0,2}? ?(?:notes?|souvenirs?|mémos?|rappels?)
        (?:l'entrée|la fiche|l'info|l'information|la règle|la mention|les infos) … (?:mémoris|enregistr
        retenu|not[ée]|gard|mémoire)\w*
        (?:tous|toutes) (?:les|tes) (?:\w+ )?(?:souvenirs|notes)
        (?:le|la|ce|cette|tout) (?:passage|partie|morceau|bout|chose|décision|règle|info|truc|ligne) (?:sur
        concernant|à propos|de) .{1,60}(?:de|dans) (?:ta|tes|votre|vos)
    """,
    "kept": r"""
        (?:tu|vous) (?:as|avais|avez|aviez|ai) … {saved}
        (?:as|avais|avez|aviez).(?:tu|vous) … {saved}
        (?:tu|vous) (?:\w+ )?(?:retiens|sais|gardes|stockes|mémorises|savez|gardez) (?:encore )?(?:sur|de|du
        à propos|d'|en)
        (?:sais|savez).(?:tu|vous) (?:encore )?(?:sur|de|du|des|d'\w+|à propos) (?:moi|nous|nos|notre|mon
        mes|ma|l'|le|la|du|les|projet)?
        (?:quelque chose|une trace|des traces|des notes|une note|des infos) … (?:dans tes|sur|à propos
        concernant|de)
        (?:tu|vous) l'(?:as|avez|aurais)|(?:tu l'|l')as (?:quelque part|noté|encore)
        est.ce … (?:noté|écrit|consigné|en mémoire) quelque part
        (?:on a|a-t-on|avons-nous|y a-t-il|existe-t-il) … {saved}
        (?:tout )?ce que (?:tu|vous) (?:\w+ )?(?:sais|savez|retiens|connais|gardes|(?:as|avez) (?:sur
        concernant|à propos|en mémoire))
        que (?:sais|savez).(?:tu|vous)|ai.je (?:dit|donné|demandé)|t'ai.je
        (?:une |la moindre )?trace (?:de|du|des|quelque part)
        (?:est-ce |c'est )?(?:noté|écrit|consigné) quelque part|(?:tes|vos) notes
        (?:a-t-on|avons-nous|on a) quelque chose (?:sur|concernant|à propos)
    """,
    "saved": r"""
        (?:noté|enregistré|retenu|gardé|stocké|mémorisé|sauvegardé|consigné|conservé|inscrit|appris|écrit
        archivé)e?s?
        en mémoire|en stock|de côté|dans tes notes
    """,
    "personal": r"""
        (?:mon|ma|mes|notre|nos|son|sa|ses) (?:\w+ )?(?:adresse|téléphone|numéro|e-?mail|mail|courriel|nom
        prénom|anniversaire|salaire|préférences?|coordonnées|mot de passe|compte|âge|iban)
    """,
}

WISHES = _VERBS | _MEMORY
