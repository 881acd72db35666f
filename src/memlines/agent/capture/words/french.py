"""What makes a French sentence worth keeping, and what speaks against it."""

from __future__ import annotations

_ASKED = {
    "start": r"""
        s'il te plaît|s'il vous plaît|stp|svp|aussi|ok|okay|d'accord|bonjour|salut|coucou|hé|alors|donc|et
        mais|oh|ah|bon|bien|super|parfait|merci(?: beaucoup)?|oui|non(?=,)|en fait|désolée?|puis(?=,)
        au fait|à propos|d'ailleurs|par ailleurs|sinon|btw|soit dit en passant|encore une chose
        une dernière chose
        autre chose|en général|personnellement|honnêtement|franchement|avant (?:de|que) \w+|pour info
        petite précision|écoute|tu sais|ps|ah oui|oh et|et puis|moi|perso|voilà|genre|bref
    """,
    "lead": r"""
        (?:mets|garde|gardez|mettez)[ -](?:ça|cela|le|ceci) (?:de côté|en mémoire
        quelque part)(?: pour \w+(?: \w+)?)? ?:
        il (?:faut|faudrait) que tu te (?:rappelles|souviennes) (?:que(?= )|qu')
        il (?:faut|faudrait) que tu (?:retiennes|notes|saches) (?:que(?= )|qu')
        (?:{asking_to} )?{kept}(?: {aside})* ?(?:que(?= )|qu'|:|[,\u2013\u2014-](?= ))
        (?:{asking_to} )?{kept}(?: {aside})* (?=(?:je|j'\w+|mon|ma|mes|nous|on|notre|nos|toujours|jamais) )
        (?:avant que j'oublie|pour mémoire|à (?:retenir|noter)(?: pour (?:la suite|plus tard))?
        pour (?:la suite|plus tard|la prochaine fois|rappel)|nouvelle règle|note(?: pour (?:plus tard|moi
        la suite))?|règle (?:de la maison|générale))(?: ?[:,\u2013\u2014-]| (?=\w))
        (?:peux-tu|tu peux|pourrais-tu|tu pourrais)(?: \w+){0,3} (?:retenir|noter|te souvenir|mémoriser
        te rappeler)(?: {aside})* ?(?:que(?= )|qu'|:)
        tu (?:dois|devrais) (?:savoir|retenir|noter|te souvenir)(?: {aside})* ?(?:que(?= )|qu'|:)
    """,
    "asking_to": r"""
        (?:peux-tu|tu peux|pourrais-tu|tu pourrais|veux-tu)(?: \w+){0,2}|tu (?:dois|devrais)
        j'aimerais que tu|je veux que tu
    """,
    "kept": r"""
        souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|note[zs]?|mémorise[zr]?
        n'oublie[zs]? (?:pas|jamais)|oublie pas|garde[zr]?(?: {aside})* (?:en (?:tête|mémoire)|à l'esprit)
        enregistre[zr]?|sache[zs]?|prends(?: {aside})* (?:note|en compte)
        tiens(?: {aside})* compte(?: du fait)?|ne pas oublier|pas oublier
        mets(?: {aside})* (?:en|dans ta) mémoire|inscris|conserve
    """,
    "aside": r"""
        bien|s'il te plaît|stp|svp|ça|cela|ceci|ce qui suit|cette info|aussi|pour (?:la suite|plus tard|moi
        la prochaine fois|toujours)|de|en mémoire|dans ta mémoire|dorénavant|désormais|quelque part
        une fois pour toutes
    """,
    "soft": r"""
        (?:pour info|pour information|fyi|important|à savoir|sache(?:z)?|attention|petite info|contexte
        à propos de moi|pour ton information|je précise|je te précise|il faut savoir|bon à savoir
        info)(?: que(?= )| qu'| ?[:,\u2013\u2014-])
    """,
    "tail": r"""
        (?:retiens|note|mémorise|garde|souviens|rappelle|enregistre|n'oublie pas)(?:-toi)?(?:-le|-la
        -les| ça| cela| bien| le| en tête| en mémoire|-t'en| de ça| s'il te plaît| stp| pour (?:la suite
        plus tard|la prochaine fois))+[.! ]*$|pour mémoire[.! ]*$|à retenir[.! ]*$
    """,
    "unkept": r"""
        laisse tomber|pas besoin de|inutile de|juste un (?:test|exemple)|c'est pour tester
        (?:pas|plus|inutile|jamais)(?: la peine| besoin)?(?: de| d')?(?: te| me| le| se| m'en)* ?(?:souvenir
        retenir|noter|mémoriser|enregistrer|rappeler|garder)|(?:ne|n') ?(?:\w+ )?(?:me |m'
        nous )?(?:souviens|rappelle|souvenons|retiens|note|mémorise)s? (?:pas|plus|jamais|rien)
        tu te (?:souviens|rappelles)|je me (?:souviens|rappelle)|(?:j'ai|on a) (?:\w+ )?oublié
        ^oublie(?! pas)|(?:tu peux|et) oublier|(?:ne|n')(?: \w+)? (?:retiens|souvient|oublie) (?:jamais
        pas) (?!que|qu')|n'oublierai|n'oublierons|à voix haute|je plaisante|je rigole|blague|m'en souviens
    """,
}

_KEPT = {
    "adverb": r"""
        toujours|tjs|tjrs|jamais|souvent|vraiment|beaucoup|aussi|encore|plutôt|généralement|d'habitude
        en général|bien|mieux|surtout|finalement|définitivement|uniquement|tous|tout|désormais|maintenant
        de loin|systématiquement|par principe|exclusivement|donc|quand même|déjà|depuis \w+(?: \w+)?|pas
        plus|trop|vraiment pas
    """,
    "prefer": r"""
        (?:je|j'|on|nous) ?(?:{adverb} )*(?:préfère|préférons|déteste|détestons|adore|adorons|aime|aimons
        n'aime|apprécie|n'apprécie|hais|supporte|ne supporte|kiffe|privilégie|évite|exige|ne jure)|j'aime
        j'adore|j'ai horreur|j'ai en horreur|m'horripile|m'énerve|me gonfle
        (?:mon|ma|mes|notre|nos) (?:\w+ ){0,2}(?:préférée?s?|favorite?s?|préférence)|(?:est|sont
        reste) (?:mon|ma|mes) (?:\w+ )?(?:préférée?s?|favorite?s?)|une préférence pour
        je suis (?:\w+ )?(?:fan|plutôt|accro|friand|adepte) (?!fatigu)
        je (?:veux|souhaite|voudrais|exige) (?:{adverb} )*(?!que (?:tu|ce|cette|le|la)|une? |savoir|ce|cette
        ça)(?:les |des |mes |tes |tout |toutes |tous |toujours |jamais |uniquement )
        j'utilise (?:{adverb} )*(?!une? |la |ce|cette|ça)|je (?:ne|n') ?(?:\w+ )?(?:mange|bois|fume|veux
        utilise|porte|regarde|lis|prends|conduis|bosse|travaille) (?:pas|plus|jamais|que)
        j'utilise (?:toujours|tjs|jamais)|je (?:travaille|bosse|code|bois|mange|lis|écris|prends|voyage
        commande|réponds|développe|programme) (?:toujours|jamais|uniquement|exclusivement|systématiquement
        surtout|sous|tjs)|tutoie|vouvoie|appelle-moi|(?:toujours|tjs|jamais
        pas) (?:\w+ ){0,3}(?:les |tes |des )?(?:réponses|messages|commentaires|explications|exemples
        emojis?)
        (?:m'agace|m'agacent|me hérisse|me dérange|m'énervent|me fatigue)|supporte mal|va droit au but
        me convient (?:le )?mieux|(?:tes|les) réponses .{0,30}(?:toujours|jamais|courtes|brèves)
    """,
    "moment": r"""
        (?:aime|adore|déteste|préfère|veux|apprécie|supporte|hais|utilise|horreur de
        fan de) (?:{adverb} )*(?:ça|cela|ceci|cette?|cet|ces|ton|ta|tes (?!réponses)|celui|celle|l'idée
        le (?:résultat|bug|style|ton|deuxième|second|premier|nouveau)|la (?:deuxième|seconde|première
        version|réponse|nouvelle|façon|suite)|quand (?:ça|le|il)|les lundis|comment|ce (?:bug|que|code))
        (?:ça|cela|c'est|cette \w+) (?:me )?(?:plaît|plait)|je veux que|version|variante|option
    """,
    "decide": r"""
        (?:avons|a|ont|ai|ayant|est|été|c'est) (?:finalement |donc |enfin |déjà |tous )*(?:décidé|choisi
        convenu|opté|tranché|retenu|validé|acté|voté|abandonné|arrêté (?:de|le|la|les)|renoncé|adopté
        parti sur|partie? sur|partis sur|mis d'accord|d'accord sur)|décision (?:est|a été|prise|:)
        (?:on|nous|l'équipe) (?:\w+ )?(?:part|parti|partira|garde|gardera|prend|prendra|passe|passera|reste
        restera|abandonne|abandonnera|arrête|arrêtera|choisit|adopte|laisse tomber|utilisera|proposera
        ne proposera|supportera|n'utilisera|va utiliser|ne va plus|migrera|hébergera|livrera
        lancera) (?!ce |ça|cette )
        (?:gardons|prenons|passons|restons|abandonnons|choisissons|adoptons|partons|utiliserons|garderons
        passerons|arrêtons|resterons|ne proposerons)|(?:ne|n')(?: \w+)? \w+(?:era|erons|ra|rons) plus
        est (?:abandonnée?|écartée?|exclue?|hors de question|retenue?)
    """,
    "changed": r"""
        (?:avons|a|ai|on a|ont|est|sommes|suis|été) (?:\w+ )?(?:migrée?s?|déménagée?s?|passée?s? (?:à|de|en
        sur|sous|chez)|remplacée?s?|basculée?s?|réécrite?s?|réécrit|changée? de|mise?s? à jour (?:vers|en)
        quitté|rejoint|coupée?s?|arrêtée?s?|fermée?s?|éteinte?s?|vendue?s?|transférée?s?)
        depuis (?:janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|l'an
        la semaine|le mois|peu|cette (?:semaine|année)|cet (?:été|automne|hiver)|un (?:an|mois)
        une (?:semaine|année)|deux|trois)|n'est plus|ne sont plus|ne tourne plus|n'utilise plus
    """,
    "onwards": r"""
        désormais|dorénavant|à partir de (?:maintenant|demain|lundi|la semaine|ce)|à l'avenir
        dès (?:maintenant|aujourd'hui|à présent)|jusqu'à nouvel ordre|à compter de|en règle générale
        par défaut(?=,)|chaque fois que tu|quand tu (?:m'écris|écris|réponds|me réponds|codes)
    """,
    "self": r"""
        j'écris en|je (?:code|programme|développe) (?:en|sous|sur|avec)|(?:j'habite|je vis|je viens (?:de|du
        d')(?! \w+er| \w+ir)|j'étudie|j'enseigne|je suis née?|je télétravaille|je parle (?:français|anglais
        \w+ et)|je réside|je loge)|(?:je|j') ?(?:travaille|bosse) (?:{adverb} )*(?:comme|chez|à|en|dans|pour
        de nuit|au|aux|la nuit|à mi-temps|le \w+di|quatre|trois|depuis)
        (?:je suis|jsuis|j'suis|chuis) (?:{adverb} )*(?:allergique|intolérante?|végétarien\w*|végane?|vegan
        diabétique|daltonien\w*|gauch(?:er|ère)|droiti(?:er|ère)|sourde?|malentendante?|aveugle|enceinte
        mariée?|divorcée?|célibataire|dyslexique|épileptique|asthmatique|retraitée?|à la retraite|en congé
        en télétravail|indépendante?|à mon compte|freelance|autoentrepreneu\w+|musulmane?|juive?
        née?|originaire|prof|papa|maman|père|mère|(?:une? )?(?!peu|perdu|bloqu|content)[\w-]+(?:eur|euse
        trice|iste|ienne|ien|cien|ologue|ier|ière|graphe|tecte|avocat|avocate|étudiante?|médecin|infirmi\w+
        dev|comptable|chef)(?= |$|[.,]))
        j'ai (?:{adverb} )*(?:une? |deux |trois |quatre |des |\d+ )?(?:\w+ )?(?:enfants?|gosses|mômes|gamins?
        fils|filles?
        chiens?|chats?|frères?|soeurs?|sœurs?|allergies?|maladie coeliaque|intolérance|diabète|asthme|tdah
        dyslexie|migraines|jumeaux|jumelles|cheval|\d+ ans)
        allergique (?:à|au|aux)|intolérante? (?:à|au)|(?:je|il|elle|ma \w+|mon \w+) (?:ne )?(?:peut|peux
        supporte|digère) pas (?:manger|boire|le|la|les)|(?:mon|ma|notre) (?:\w+ )?(?:anniversaire|pointure
        taille|fuseau horaire|langue maternelle|métier|poste|âge|groupe sanguin|signe)
    """,
    "relation": r"""
        (?:femme|mari|épouse|époux|compagne|compagnon|copine|copain|fiancée?|fils|filles?|enfants?|bébé
        frère|soeur|sœur|mère|père|maman|papa|parents|grand-mère|grand-père|mamie|papi|tante|oncle|cousine?
        neveu|nièce|chienn?e?|chatt?e?|cheval|lapin|chef|cheffe|patronn?e?|manager|manageuse|collègue|équipe
        cliente?|responsable|directeur|directrice
        propriétaire|médecin|docteur|dentiste|thérapeute|psy|comptable|compta|avocate?
        colocataire|coloc|entreprise|boîte|employeur|mentor|stagiaire|assistante?|entraîneur|prof|maîtresse
        vétérinaire|véto|nounou|fournisseur|interlocut(?:eur|rice)|contact|graphiste|notaire|plombier
        coiffeu(?:r|se)|belle-mère|beau-père|jumeaux|cto|hébergeur|banque|école|kiné|prestataire|tuteur
        tutrice|gestionnaire)
    """,
    "asset": r"""
        (?:design system|système|serveurs?|base de données|bdd|api|dépôt|repo|site|domaine|bureau|stack
        backend|back|frontend
        front|cluster|budget|sprints?|produit|projet|convention|politique|entrepôt|boutique|vpn|réseau
        imprimante|voiture|vélo|maison|appartement|ordinateur|wifi|ci|pipeline|sauvegardes?|documentation
        doc|codebase|code|appli|application|plateforme|prod|production|préprod\w*|recette
        services?|facturation|factures|compta|tests?(?: d'intégration)?|machine|réunions?|releases?
        livraisons?|export|certificat|branche|clients|tickets|module|environnement|fichiers|scripts?|logs?
        loyer|assurance|bail|contrat|support|école|soutenance)
    """,
    "steady": r"""
        (?:est|sont|c'est|tourne|tournent|utilise|utilisent|commence|commencent|finit|se termine|a|ont|ferme
        ouvre|se trouve|se trouvent|compte|comprend|coûte|coûtent|appartient|reste|restent|était|sera|seront
        s'appelle|s'appellent|travaille|travaillent|doit|doivent|supporte|exige|vient|parle|parlent|habite
        habitent|vit|vivent|écrit|peut|écoute
        dépend|passe|passent|dure|durent|contient|expire|ne tournent|ne tourne|n'est|ne sont|part|garde
        mange|boit)
    """,
    "named": r"""
        (?:s'appelle|s'appellent|se nomme|nommée?s?|surnommée?)|(?:responsable|chargée?|contact) (?:de|du
        des|pour) [\w ]{1,40}(?:est|c'est)|(?:mon|ma|mes|notre|nos) (?:[\w'-]+ ){0,3}{relation}(?: (?:chez
        de|pour|à|du|au) [\w ]{1,30}?)? ?(?:est|sont|c'est|:|cest) (?!une?\b|le\b|la\b|les\b|pas|très|trop
        si\b|toujours|jamais|en\b|à\b|dans|au\b|malade|allergique|végé\w+|né)
        je m'appelle|mon nom est|appelle-moi|[\w-]+(?: \w+)? est (?:mon|ma
        notre) (?:[\w'-]+ ){0,2}{relation}|(?:le|la|l') ?(?:\w+ )?{relation} (?:chez|de|du|pour|à
        au) [\w ]{1,40}(?:est|c'est|:)|[\w-]+ (?:s'occupe de|gère|est responsable|dirige|pilote)
        (?:mon|ma|notre|le|l'|son|sa) ?(?:[\w'-]+ ){0,2}(?:e-?mail|mail|adresse|numéro|téléphone|tel
        portable|identifiant|iban|pseudo|immatriculation)(?: \w+){0,5} ?(?:est|c'est|cest|:)|pour joindre
    """,
    "owned": r"""
        (?:mon|ma|mes|notre|nos) (?:[\w'-]+ ){0,2}{relation} (?:[\w'-]+ ){0,2}(?:étudie|fait|va|conduit|porte
        joue|ne)|accessible (?:que|uniquement|seulement)
        se font (?:le|la|les|en|uniquement|toujours)|(?:uniquement|seulement) (?:via|par|avec|sur|le|les|en)
        (?:mon|ma|mes|notre|nos) (?:[\w'-]+ ){0,4}{steady}|(?:le|la|les|l'|tous les|toutes les|chaque|ce
        cette) ?(?:[\w'-]+ ){0,3}{asset}(?: [\w'@.-]+){0,4} {steady}
        (?:dans|sur|pour) (?:ce|cette|notre|mon|tout le|toute la) (?:dépôt|projet|repo|base|équipe|boîte
        entreprise|code|codebase|maison|bureau)|chez nous|chez moi|au (?:bureau|boulot|travail)|dans (?:ma
        notre) (?:boîte|équipe|entreprise|école)
        (?:on|nous) (?:{adverb} )*(?:utilise|utilisons|déploie|déployons|héberge|hébergeons|livre|livrons
        tourne|tournons|stocke|stockons|écrit|écrivons|facture|facturons|suit|suivons|a|avons|travaille
        travaillons|paie|vend|vendons|teste|testons|développe|développons|est (?:sur|sous|en|à)
        sommes (?:sur|sous|en|à|\w+ dans)|nomme|reste|bosse) (?!ça|le\b|la\b|une?\b|bien\b|besoin|eu\b|l')
        on est \w+ (?:dans|en)|nous sommes \w+ (?:dans|en)
    """,
    "rule": r"""
        (?:on|nous|je|tu|il faut|personne|chacun)(?: \w+){0,3} (?:toujours|jamais|systématiquement)
        ^(?:toujours|jamais|tjs)(?! (?:là|aussi|vu|problème|idée|souci|de problème|mieux))
        (?:ne|n')(?: ?\w+){1,2} jamais|^(?:utilise|écris|réponds|mets|fais|emploie|appelle|donne|évite
        pousse|commit)(?: \w+){0,6} (?:toujours|jamais|systématiquement)|^stp (?:tjs|toujours|jamais)
    """,
    "habit": r"""
        ^(?:tous|toutes) (?:les|nos|mes) [\w-]+ (?:sont|passent|doivent|ont|tournent|vont)|je (?:bois|mange
        fume|conduis) (?:pas|jamais)
        ^pas d(?:e |')[\w-]+ (?:dans|en|sur|avant|sans|le) (?!ce)
        (?:doit|doivent|devez|dois|sont|est|faut|peut|peuvent)(?: \w+){0,5} (?:toujours|jamais
        obligatoire\w*|interdite?s?)
    """,
    "recurring": r"""
        tous les (?:lundis|mardis|mercredis|jeudis|vendredis|samedis|dimanches|mois|soirs|matins)
        toutes les (?:semaines|nuits)|chaque (?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|semaine
        mois|nuit)
    """,
    "due": r"""
        deadline|échéance|expire|date limite|anniversaire|se marie|mariage|se termine|prend fin|a lieu
        (?:le|du|au|avant le|jusqu'au|dès le) (?:\w+di )?\d{1,2}(?:er)? (?:jan|fév|mar|avr|mai|jui|aoû|sep
        oct|nov|déc)\w*
    """,
}

_AGAINST = {
    "byway": r"au fait|d'ailleurs|soit dit en passant|pour info|par ailleurs",
    "every": r"tout le monde|tout|personne|rien",
    "final": r"(?:pour de bon|définitivement|pour toujours)",
    "thus": r"alors|donc",
    "definite": r"le|la|les|l'|une?|tous|toutes|chaque|nos|notre|mon|ma|mes|dans|chez|en|pour|au|aux",
    "plain": r"""
        (?:je|j'|nous|on) ?(?:ne |n')?\w+ \w+|(?:moitié|plupart|partie) de (?:nos|mes)
    """,
    "passing": r"""
        veux|veut|voulons|voudrais|dois|doit|devons|peux|peut|pouvons|vais|va|allons|pense|sais|savons|trouve
        vois|voit
        essaie|essaye|ai|j'ai|a|avons|avait|avais|suis|sommes|étais|était|est|viens|vient|comprends|espère
        demande|crois
        cherche|merci|nuit|faim|déjeuner|tout de suite|bientôt|maintenant|ça|ce|cette|cet|ces|ceci|cela|ici
        tu|ton|ta|tes
        toi|ris|pleure|sens|fais|fait|faisons|laisse|dis|dit|entends|besoin|aimerais|coucher|dodo|lancer
        lance|reçois
    """,
    "asks": r"""
        qui|quoi|qu'est-ce|que (?:faut|faire|veut|penses|dois|fait)|où (?:est|sont|se|en|je|on|puis|trouver
        vais)|pourquoi|comment|combien|quel|quelle|quels|quelles|quand (?:est|faut|dois|peut|aura)|est-ce
        c'est quoi|c'est qui|c'est quand|(?:peux|pourrais|veux|as|es|sais|connais|penses|crois|trouves|vois
        dois|devrais)-tu|tu (?:peux|pourrais|veux|sais|connais|penses|crois|trouves|te souviens|as une
        as des|vois|m'aides)
        (?:peut|doit|faut|a|est|y a)-(?:on|il|t-il|elle|t-on)|faut-il|ai-je|dois-je|puis-je|depuis quand
        rappelle-moi|rappelez-moi|retrouve|une idée|je me demande|curieu\w+|question|explique|dis-moi
        raconte|ça va|t'as|t'es|tu es|tu as
    """,
    "unreal": r"""
        à supposer|quand bien même|au cas où|même si (?:j'étais|on avait)|si jamais
        imaginons|imagine|supposons|suppose|admettons|mettons|si (?:j'|je|on|nous|tu|il|elle
        c')(?: ?\w+){0,3} ?(?:étais|était|étions|avais|avait|avions|devais|pouvais|voulais|vivais|habitais
        préférais)|et si|comme si|en théorie|théoriquement|hypothétiquement|(?:je|on|nous) (?:serais|serait
        aurais|aurait|serions|aurions|ferais|ferait)|fais comme|disons que
    """,
    "condition": r"""
        (?<!meme\s)si(?= (?:je|j'|on|nous|tu|il|elle|ça|c'|le|la|les|jamais|vous|mon|ma|notre))
        s'il(?! te| vous)|dès que
    """,
    "doubt": r"""
        {unreal}|jamais (?:dit|vu|compris|su|pensé)|peut-être|pourrait|pourrais|pourrions|probablement
        sans doute|éventuellement
        (?:je )?(?:ne )?sais pas|aucune idée|je (?:crois|pense)|hésite|hésitons|on verra|apparemment
        il paraît|semble|j'espère|un jour|presque(?! tous| toutes| toujours| jamais)|avant(?= j'| je)|à moins
        au cas où|\w{3,}(?:erait|erions
        eraient|irait|drait)|devrait|devrais|devrions|voudrait|aurait|serait|pas encore décidé|parfois
    """,
    "told": r"""
        (?:il|elle|on m'|ils|elles|quelqu'un|gens|{relation}|article|livre|auteur|ministre|doc|documentation
        journal|\w+) (?:m'a |a |ont |lui a |nous a )?(?:dit|disent|disait|prétend|affirme|écrit que|répète
        raconte|raconté|pense que|estime|recommande|conseille|répond|répondu|demande|demandé|tweeté|jure
        soutient|déclare)(?= |:)
        selon|d'après|paraît-il|j'ai lu|j'ai entendu|citation|je cite|dans (?:le film|le livre|l'article
        l'interview|le journal|la chanson|l'histoire)|proverbe|personnage|héros|de mon roman|dicton
    """,
    "task": r"""
        (?:annule|extrais|relance|sauvegarde|commit|pousse|déploie|valide|documente|limite|réduis|agrandis
        découpe|charge|configure|restaure|stocke|migre|divise|isole|factorise|désactive|active)(?=\s)
        (?:j'ai besoin|j'aurais besoin|il me faut|je (?:veux|voudrais|souhaite|souhaiterais) (?:que|une?|ce
        cette|le|la|juste|savoir)|j'aimerais|je cherche|j'essaie|peux-tu|tu peux|pourrais-tu|aide|fais
        écris(?!(?: \w+){0,6} (?:toujours|jamais))|donne|montre|trouve|cherche|ajoute|supprime|enlève
        renomme|remplace|change|modifie|corrige|répare|traduis|résume|explique|vérifie|regarde
        teste|lance|ouvre|lis|déplace|trie|compare|décris|analyse|conçois|essaie|commence|arrête|va
        mets(?!(?: \w+){0,6} (?:toujours|jamais))|envoie|installe|calcule|construis|implémente|génère
        refactorise|prends|crée|prépare|rédige|reformule|améliore|raccourcis|propose|liste|affiche|rends
        remets|reprends|adapte|convertis|passe|on va|allons|efface|assure|augmente|retrouve|optimise|exporte
        nettoie|choisis|range|simplifie|relis|complète|consigne)(?:-moi|-le|-la|-les|-nous)?
    """,
    "here": r"""
        dans (?:cette|ce|cet) (?:fonction|fichier|méthode|classe|test|script|cas|exemple|requête|composant
        mail|lettre|texte|paragraphe|message|document|histoire|poème)|cette fois|en ce moment|pour l'instant
        pour le moment|actuellement|aujourd'hui|ce (?:matin|soir|midi)|cet après-midi|ci-dessus|ci-dessous
        à l'instant|tout à l'heure
        (?:ce|cette|cet|ces) (?:bug|erreur|fonction|test|code|ligne|version\S*|bouton|page|film|approche
        solution|réponse|fichier|script|problème|paragraphe|texte)|toute la (?:journée|matinée|soirée)
        jusqu'ici|provisoirement|d'abord
    """,
    "vague": r"""
        il(?! faut)|elle|ça|cela|ceci|c'est(?! \w+ qui)|c'était|ce(?= (?:n'est|sont|sera|qui))|cette|ils
        elles|y a|il y a|tu|vous|pff+|beurk|argh|wow|zut|celui|celle
    """,
    "state": r"""
        embouteillages?|bouchons|épuisée?|mal de tête|coincée?|sommeil|trempée?
        ligne \d+|passe maintenant|à (?:demain|tout à l'heure|plus tard|bientôt)|rentre|en route|superbe
        en retard|ne marche|dans (?:cinq|dix|\d+) minutes|attends|attendons
        cassée?s?|échoue|échouent|échoué|plante|planté|crash\w*|lente?|rame|ne (?:marche|fonctionne|marchent
        fonctionnent|répond|s'affiche) (?:pas|plus)|marche pas|fonctionne pas|erreurs?|fausse?|vides?|rouge
        bloquée?s?|bizarre|fatiguée?|crevée?|faim|malade|débordée?|stressée?|prête?|finie?|contente?
        heureu\w+|fâchée?|triste|énervée?|peur|génial|horrible|magnifique|drôle|bravo
        plus aucune?|ne \w+ (?:plus|pas) (?:trouvée?|chargée?)|pleure|je reviens|viens de|vient de (?:manger
        déjeuner|finir)|veut ça|pour (?:midi|ce soir|demain)|bazar|catastrophe|fuite|null|undefined
        exception|time-?out|bug|bugs|renvoie|retourne|lève|problème|soudain|tout à coup|manque|manquent
        doublons?|deux fois|disparaît|fuite|rend fou|clignote|n'arrive|arrive plus|impossible|dupliqu\w+
        autant|mal (?:au|à la|aux)|tête|crâne|cerveau|passent jamais
    """,
}

WORDS = _ASKED | _KEPT | _AGAINST
