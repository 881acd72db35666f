"""How people ask and talk about the past in French, and what stands around a wish."""

from __future__ import annotations

_PAST = {
    "asking": r"""
        que|qu'\w+|quoi|quels?|quelles?|quand|où|pourquoi|comment|qui|combien|lequel|laquelle
        lesquel(?:le)?s
        est-ce|ce qu\w+|ce que|ce qu'\w+|si
        (?:as|a|ai|avons|avions|avait|avais|avez|était|sais|savez|peux|pourrais|pouvez|pourriez|y a).(?:tu
        t-on|je|nous|vous|on|t-il|ce|il)
        (?:dis|dites|rappelle|rappelez|donne|résume|cherche|regarde|retrouve|fais|liste|montre|explique
        trouve|remets|vérifie|consulte)(?:.moi|.nous)?
        (?:depuis|jusqu'à|pour|sur|avec|à|de|en|dans|par|vers|contre) (?:quand|quoi|quels?|quelles?|qui
        combien)
        (?:c'était|c'est|on avait|on a) (?:quoi|qui|quand|où|lequel|quel)
    """,
    "recall": r"""
        (?:est-ce que |dis )?(?:tu|vous) (?:te |t'en |vous |t')(?:souvien[st]?|rap+el+es?|souvenez
        rappelez)(?! sûrement| certainement| sans doute| peut-être| pas\b| plus\b)
        (?:te|vous|t'en) (?:souvien[st]?|rap+el+es?|souvenez|rappelez).(?:tu|vous)
        (?:tu |vous )?(?:sais|savez|sait).?(?:tu|vous)? encore
        (?:rap+el+es?|rappelez).(?:moi|nous) (?:{fill} |encore |vite |un peu |donc )*(?:ce qu\w*|ce qu'\w+
        notre|nos|mon|mes|la décision|les décisions
        (?:quels?|quelles?|pourquoi|quand|où|qui|comment|le|la|les|l'\w+|si|à qui|de quel\w*) … (?:on|nous
        je|j'\w+|nos|notre|mon|mes|déjà))
        (?:me|nous) rappeler (?:ce qu\w*|ce qu'\w+|quels?|quelles?|pourquoi|quand|où|qui|notre|nos
        la décision|le|la|les|l'\w+)
        (?:de quoi|qu'est-ce dont|que) (?:te |tu te )(?:souviens|rappelles)
        rafraîchi[st]?.moi la mémoire|si (?:tu t'en|ta mémoire|tes souvenirs)
        aide.moi à (?:me (?:souvenir|rappeler)|retrouver)|aide ma mémoire|rafraîchis.moi
        remets.moi ça en tête
    """,
    "lookup": r"""
        (?:cherche|cherchez|regarde|regardez|fouille|vérifie|consulte|recherche|vois|parcours
        jette un (?:œil|oeil)|va voir)(?: {fill}| un peu| voir)* (?:dans |à |en )?(?:ta|tes|votre|vos|nos
        mes|ton|notre) (?:\w+ )?{stock}
        (?:d'après|selon|dans) (?:ta|tes|votre|vos|nos|mes) (?:\w+ )?{stock}
        (?:retrouve|cherche|recherche)(?:.moi|.nous)? … (?:ce qu'on|ce que nous|ce que je|qu'on avait
        qu'on a)
        (?:cherche|regarde|fouille|consulte|recherche|parcours|relis|reprends)(?: {fill})* (?:dans )?(?:nos
        les|mes) (?:\w+ )?(?:anciennes?|précédentes?|dernières?|vieilles) (?:\w+ )?(?:conversations|sessions
        discussions|notes|échanges)|(?:retrouve|retrouvez) (?:dans )?(?:ta|tes|votre|vos|nos)
        (?:ressors|ressortez|retrouve|remonte|montre|redonne|sors)(?:.moi|.nous)? (?:notre|nos|mes
        mon) (?:\w+ )?(?:ancienne?s?|précédente?s?|dernières?)? ?(?:décisions?|accords?|notes?|conclusions?
        échanges?|discussions?|choix)
    """,
    "remind": r"""
        (?:rap+el+es?|rappelez).(?:moi|nous)|(?:me|nous) rappeler
        fais.moi (?:le|un) (?:point|résumé|récap\w*)
        résume.moi|résume|remets.moi dans|rafraîchis.moi|récapitule|faites.moi le point
        où en (?:étions|est|étais|était)
        aide.moi à me (?:souvenir|rappeler)|je (?:reviens|rentre) de|de retour|où en (?:est|sommes)
        remets.moi (?:au|dans)
    """,
    "shared": r"""
        (?:on|nous) (?:\w+ )?(?:avait|avions|avons|a|est|était|étions|sommes|s'était|s'est|nous étions|l'a
        l'avait|en était) (?:{adverb} )*{participle}|(?:avons|avions|sommes
        étions)-nous(?! besoin) (?:\w+ ){0,3}?{participle}|(?:a|avait
        était)-(?:t-)?on (?:\w+ ){0,3}?{participle}|(?:ai|avais)-je (?:\w+ ){0,3}?(?:dit|donné|donnée
        données|mentionné|choisi|décidé|parlé|raconté|indiqué|expliqué|demandé|promis|précisé|retenu|désigné
        nommé|fixé|défini|proposé|prévu|confié)e?s?|(?:j'ai|j'avais|je t'ai|je t'avais|je vous ai|je l'ai
        je t'en ai|je te l'ai|je te l'avais) (?:\w+ ){0,2}?(?:dit|donné|donnée|données|mentionné|choisi
        décidé|parlé|raconté|indiqué|expliqué|demandé|promis|précisé|retenu|désigné|nommé|fixé|défini
        proposé|prévu|confié)e?s?|(?:c'était|c'est|quelle était|quel était|quelles étaient
        quels étaient) (?:\w+ )?(?:la|le|notre|nos|mon|ma|les)? ?(?:décisions?|conclusion|raison|choix
        accord|argument)|depuis quand (?:est-ce qu')?.{0,4}(?:on|nous|sommes)|où (?:en )?(?:étions|était
        étais|en est|on en)|on en (?:est|était)|(?:décidions|voulions|devions|disions|parlions|faisions
        devait|voulait|disait|parlait|travaillait|travaillions)|(?:tu|vous) (?:m'as|m'avais|avais|nous avais
        m'avez) (?:\w+ )?(?:dit|proposé|conseillé|recommandé|trouvé|suggéré)|(?:laissé|resté|restait
        restaient) (?:en (?:suspens|attente|plan)|à faire|ouvert)|(?:t'ai|vous ai).je|(?:quelles
        quels) (?:consignes|règles|instructions|préférences)|comment (?:s'appelait|se nommait
        s'appelle déjà)|(?:nous|on) (?:a |avait )?(?:demandé|réclamé)|(?:qui
        c'est qui qui) (?:nous |avait )(?:avait )?demandé|quand (?:est-ce qu')?.{0,6}(?:on|nous) (?:est
        sommes|a|avons)|(?:quel(?:le)?s?|c'était quoi) (?:était|étaient|furent)? ?(?:la|le|l'|notre
        les) ?(?:\w+ )?(?:raison|raisonnement|idée|motivation|argument|logique|justification
        pensée)s? (?:derrière|de|du|pour|qui|pour laquelle|contre)
        (?:avait|avions|avons|a)-(?:on|nous|t-on) pas (?:déjà )?{participle}
        ce qu'(?:on|nous) (?:a|avait|avons|avions) {participle}
        (?:est|était)-on (?:\w+ ){0,2}?{participle}
    """,
    "participle": r"""
        (?!une |un |de |le |la |les |ce |cette |des |deux |que |quoi |besoin|ici
        trois |tous les |du |quelque |cela |autre )\w{2,}(?:é|ée|és|ées|i|ie|is|it|ise|u|us|ue|ues|ert|int
        inte)|mis|pris|dit|fait|été|eu
    """,
    "ago": r"""
        hier|avant-hier|la dernière fois|la fois (?:dernière|précédente|d'avant)
        (?:la |le |l')?(?:semaine|mois|année|an|sprint|session|trimestre|été|réunion|week-end|lundi|mardi
        mercredi|jeudi|vendredi) (?:dernière?|passée?|précédente?)
        l'autre jour|(?:lors de |dans |pendant )?(?:la|le|les|nos|notre|des) (?:dernière|précédente?s?
        dernières|derniers) (?:{session}|échanges|réunion)|{session} précédente?s?|échanges précédents
        il y a (?:\w+ ){1,3}(?:jours?|semaines?|mois|ans?|temps|sprints?)|à l'époque|auparavant|précédemment
        jusqu'ici|jusqu'à présent|ce matin|tout à l'heure|avant les (?:vacances|congés)|récemment|autrefois
        en son temps
        en (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre)
        au départ|initialement
    """,
    "again": r"déjà(?= ?[?,.!]*$| ?[,;(])|déjà\b(?=.*\?)",
    "ours": r"on|nous|je|j'\w+|notre|nos|mon|ma|mes|qu'on",
    "definite": r"le|la|les|l'\w+|ce|cette|ces|celui|celle|du|des|au",
    "unknown": r"""
        je (?:ne |n')?(?:me )?(?:souviens|rappelle|sais|retrouve|remets)(?: pas| plus)
        j'ai (?:\w+ )?(?:oublié|zappé)(?! (?:de|d'))
        (?:ne |n')?(?:me|m') ?(?:revient|en souviens|en rappelle)(?: pas| plus)
        ça m'échappe|m'échappe|trou de mémoire
    """,
    "preference": r"""
        (?:quels?|quelles?|que|liste|montre|dis|rappelle).{0,30}(?:mes|nos|ma|notre
        mon) (?:\w+ )?(?:préférences?|conventions?|décisions?|accords?|choix|habitudes?)
        (?:j'utilise|je préfère|on utilise|nous utilisons) (?:d'habitude|en général|normalement
        habituellement|toujours)
    """,
    "earlier": r"""
        comme (?:on|nous|je|convenu|prévu|discuté|décidé|d'habitude|hier|la dernière fois|la fois|dit|vu
        évoqué)(?: \w+)?
        (?:ce que|ce qu'\w+|dont|que) (?:on|nous|j'\w+|je)? ?(?:\w+ )?(?:avait|avions|avons|a|avais
        ai) (?:\w+ )?(?:décidé|convenu|dit|choisi|discuté|prévu|parlé|retenu|évoqué|arrêté)e?s?
        (?:où|là où|d'où) (?:on|nous|j'\w+|tu) … (?:arrêtée?s?|étions|était|étais|laissée?s?)
        (?:même|pareil) … (?:que|qu'\w+) (?:la dernière fois|hier|avant|l'autre|précédemment|la fois)
        (?:on|nous|je|tu|j'\w+) … (?:hier|l'autre jour|la dernière fois|la semaine dernière|le mois dernier)
        (?:hier|l'autre jour|la dernière fois|la semaine dernière|le mois dernier) (?:on|nous|je|tu|j'\w+)
        (?:mes|nos|ma|notre) (?:\w+ )?(?:préférences?|liste de tâches|conventions|décisions|échéance
        date limite)
        (?:qui|quand) (?:est|était) (?:notre|mon|la|le) (?:\w+ )?(?:contact|échéance|livraison|démo|réunion
        date limite|interlocut\w+)
        {ago} (?:on|nous|je|tu|vous|j'\w+)
    """,
    "pointing": r"""
        (?:c'était|ce que c'était|c'est) (?:quoi|lequel|laquelle|qui|où|quand)?
        (?:quels?|quelles?|qui|où|quand|comment|que|laquelle|lequel) (?:était|étaient|est|s'appelait|disait)
        résume\w*|rappelle\w*|répète\w*|déjà|redis|redonne\w*|redire|répéter|résumer|rappeler|ce que c'était
    """,
    "adverb": r"""
        déjà|finalement|donc|bien|tous|toutes|pas|jamais|vraiment|enfin|aussi|alors|encore|convenu de
        fini par|tout de suite|d'abord|rien|toujours|récemment|ensemble|plus|même
    """,
}

_AROUND = {
    "opening": r"""
        s'il te plaît|s'il vous plaît|stp|svp|merci(?: beaucoup| bien| de)?|alors|ok|okay|d'accord|bon
        bonjour
        salut|coucou|hey|dis|dis donc|dis-moi|dites(?:.moi)?|et|mais|oh|ah|oui|non|donc|parfait|super|génial
        en fait|désolé
        claude|opencode|assistant|au fait|à propos|au passage|important|attention|encore une chose|une chose
        petite question|question|d'abord|enfin|ensuite|puis|attends|hm+|aussi|maintenant|bien|juste|ou
        avant (?:que j'oublie|d'oublier|de \w+|qu'on \w+)(?: \w+)?
        (?:est-ce que )?tu (?:peux|pourrais|dois|devrais|veux
        voudrais)(?: bien| aussi| me| donc| maintenant| désormais)*|(?:est-ce que )?vous (?:pouvez|pourriez
        devez|devriez|voulez)(?: bien| me)*
        (?:peux|pourrais|veux|voudrais).tu(?: bien| me| m'| aussi)*
        (?:pouvez|pourriez|voulez|voudriez).vous(?: bien| me| nous)*
        je (?:veux|voudrais|souhaite|te demande|t'en prie
        aimerais)(?: que tu| que vous| de| bien que tu| savoir)?
        j'aimerais(?: bien)?(?: que tu| que vous| savoir)?
        il (?:faut|faudrait|serait bien)(?: que tu| que vous| de)?
        ce serait (?:bien|super|gentil)(?: que tu| si tu pouvais| de)?|aie la gentillesse de
        sois (?:gentil|sympa)(?:,? et)?|veuillez|veille à|pense à|fais en sorte de|essaie de|prière de
        merci de|dis.moi|je me demande|une idée|tu sais|sais-tu|tu saurais|explique.moi|remarque|rappel
        on (?:peut|pourrait|va)|inutile de discuter|sinon|du coup|surtout|par contre|je ne sais plus
        j'ai oublié
        ça marche|c'est bon|nickel|top|impeccable|je te prie de|puis-je te demander de|sois gentil
        auriez-vous l'amabilité de|ça te dérange(?:rait)? de|serait-il possible de
        il est important (?:que tu|de)
        tâche(?:z)? de|tâchez de|efforce-toi de|n'hésite pas à|je compte sur toi pour
    """,
    "asked": r"""
        tu|vous|s'il te plaît|s'il vous plaît|stp|svp|merci|veuillez|peux-tu|pourrais-tu|pouvez-vous
        pourriez-vous|il faut|faudrait
    """,
    "joining": r"et|mais|donc|ou|car|puis|parce que|alors|que",
    "reporting": r"""
        dit|disait|écrit|écrivait|demande|demandait|répond|répondu|commentaire|message|texte|libellé|titre
        chaîne|erreur|doc|documentation|appelée?|nommée?|commit
        traduis|traduire|citation|mail|courriel|log|affiche|bouton|si l'utilisateur|quand l'utilisateur
        lorsque l'utilisateur|dès que l'utilisateur|test|intitulée?
    """,
    "trimmed": r"""
        que|qu'|de|du|des|d'|sur|à|au|aux|pour|stp|svp|s'il te plaît|s'il vous plaît|ceci|cela|ça|est|était
        déjà|ce|ce que|ce qu'on|quels?|quelles?|quand|où|pourquoi|comment|qui
        on|nous|je|tu|et|en|dans|avec|bien|le fait|à propos|concernant|plus|avait|avons|avions|a
        {later}
        {onwards}
    """,
    "file": r"""
        (?:dans|sur|à|au|aux|en|de|du|des|sous|vers) (?:le |la |les |l'
        un |une |notre |mon |ma |ce |cette |chaque )?(?:[\w./-]+ ){0,2}?{artefact}
        (?!memory|claude|agents)[\w-]+\.(?:md|py|js|ts|tsx|jsx|json|ya?ml|txt|toml|css|html|go|rs|java|rst
        sql|sh)
        (?:table|colonne|classe|composant|migration|endpoint|route|module|paquet|dossier|écran|bouton|page
        cache|fonction|méthode|variable|branche)s?
    """,
    "artefact": r"""
        readme|docs?|documentation|changelog|code|commentaires?|docstrings?|fichiers?|spec|pr|pull request
        commit|message de commit|ticket|page|interface|ui|base(?: de données)?|bdd|db|redis
        table|cookies?|local ?storage|cache|jira|wiki|config|configuration|json|yaml|csv|disque|écran|liste
        dict
        dictionnaire|variable|tableau|tampon|struct|réponse|formulaire|composant|fonction|classe|méthode
        schéma|migration|endpoint|modèle|dossier|boucle|mémoire (?:tampon|vive|cache)
    """,
    "feature": r"""
        (?:l'|le |la |un |une |les |des |chaque )(?:\w+ )?(?:utilisateurs?|utilisatrice|visiteurs?
        navigateur|formulaire|widget|composant|page|client connecté)
        entre (?:deux |les |\w+ )?(?:rechargements?|redémarrages?|rendus|appels|requêtes|visites)
        au (?:rechargement|redémarrage)|à la (?:connexion|déconnexion)
        défilement|case à cocher|bouton|boîte de dialogue|se souvenir de moi|mot de passe oublié
        onglet actif
    """,
    "able": r"""
        (?:retenir|te souvenir|te rappeler|mémoriser|oublier
        vous souvenir) (?:de |d')?(?:des |les |tes |nos )?(?:choses|tout|conversations|informations|trucs
        quoi que ce soit)
        (?:te souvenir|retenir|mémoriser|te souviens|souviens-tu|retiens-tu
        te souviens-tu) … (?:d'une (?:session|conversation) à l'autre
        entre (?:les |deux )?(?:sessions|conversations))
        comment (?:fonctionne|marche) (?:ta|votre|la) mémoire
        (?:est-il possible|es-tu capable|es-tu en mesure|est-ce que tu es capable|tu es capable
        y a-t-il un moyen).{0,40}(?:souvenir|retenir|mémoriser|oublier
        rappeler)|retenir .{0,30}ou (?:ce n'est|non|c'est|pas)
    """,
    "explained": r"""
        comment (?:\w+ )?(?:fonctionne|marche|fonctionnent|marchent|utiliser|on fait|faire|ça marche|écrire)
        (?:que|ce que) (?:veut dire|signifie|fait)|la (?:syntaxe|différence)
        c'est quoi (?:un|une|le principe)
        qu'est-ce qu'(?:un|une)|à quoi sert
    """,
    "mistaken": r"mal fait|faux ici|cassé|raté|loupé|manqué|viens de (?:modifier|faire)|erreur ici",
    "idiom": r"""
        (?:{~oublie}|oubliez) (?:ça|cela|tout ça){end}
        (?:{~oublie}|oubliez){end}
        n'? ?oublie(?:z|s)? (?:pas|jamais|plus|surtout)|ne pas oublier|laisse tomber|(?:pas|jamais) oublier
        (?:je|on) (?:viens|vient) de (?:dire|écrire|demander)|peu importe
    """,
    "instead": r"""
        pour l'instant|pour le moment|plutôt|à la place|simplement|on va|concentre|repars|recommence
        instructions|tests?|approche|d'abord|laisse tomber|peu importe|aujourd'hui
    """,
    "postponed": r"""
        (?:on|nous) (?:verra|pourra|fera|pourrait|va|verrons)|peut-être|c'est pour plus tard
        renvoie|retourne|lève|affiche
        (?:toujours|jamais) (?:pas|la|le|les|rien|en|un|une|vu|eu|ça|aussi|autant)
    """,
    "stated": r"""
        ^(?:le|la|les|l'\w+|il|elle|ça|cela|ce|cette|pourquoi|comment|que|qu'\w+|quand|si) (?!ne jamais)
    """,
    "negated": r"pas|plus|jamais|rien|inutile",
    "unkept": r"""
        (?:n'|ne )(?:\w+ )?(?:enregistre|note|retiens|garde|mémorise|stocke|consigne|sauvegarde|enregistrez
        notez)[sz]? (?:rien|pas)|(?:pas|rien|inutile) (?:besoin )?(?:d'|de |à )?(?:le |la |l')?(?:retenir
        noter|mémoriser|enregistrer|garder|sauvegarder)
    """,
    "content": r"""
        \w+ ?:|que|qu'\w+|quoi|quels?|quelles?|où|comment|tout|ce qu\w*|ce qu'\w+|sur|concernant|à propos
    """,
    "surely": r"""
        comme tu|comme vous|sûrement|certainement|sans doute|sans aucun doute|bien sûr|probablement
        tu dois (?:te|t'en)
    """,
    "that": r"que|qu'",
    "connecting": r"que|qu'|ceci|cela|ça|stp|svp|s'il te plaît|bien|aussi|de|du fait|{later}|{onwards}",
    "about": r"sur|à propos d\w*|concernant|au sujet d\w*|pour",
}

TALK = _PAST | _AROUND
