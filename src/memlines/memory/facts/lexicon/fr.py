"""The words of French that statements are told apart by; the package says what the tags mean."""

TABLE = """
i = je, j, moi, utilisateur, l utilisateur, l utilisatrice
u = nous, on
m = mon, ma, mes
o = notre, nos
p = il, elle, ils, elles, son, sa, ses, leur, leurs, lui, ce, cet, cette, ça, c
the = ou plus récent, ou supérieur, souviens-toi que, retiens que, n oublie pas que, le, la, les, l, très,
    prévu, prévue, fixé, fixée, vraiment, actuellement, heures, heure, s
always = toujours
x = un, une
b = est, suis, sont, sommes, s élève à, a lieu, ont lieu, se déroule, s effectue, se fait
h = a, ai, ont, avons
q = était, étaient, été, a été, ont été, fut
f = pour
g = de, d, du, des
l = dans, en
n = chez
t = à, au, aux, vers
r = depuis chez
a = comme, en tant que
@ = sur, chaque, tous les, toutes les, tous, toutes, après, au bout de
L = habite, habitons, habitent, vis, vit, réside
L:host l = tourne à, tournent à, est hébergé à, est hébergée à, sont hébergés à, se trouve à, se trouvent à
W = travaille, travaillons, travaillent, bosse
U = utilise, utilisons, utilisent, emploie
P = préfère, préférons, préfèrent
K = aime, aimons, aiment, adore
H = déteste, détestons, détestent
M:move = me suis installé, me suis installée, s est installé, s est installée, ai déménagé, a déménagé,
    déménagé, ai emménagé, a emménagé, emménagé
M = migré, migrée, migrés, ai migré, basculé, avons basculé, transféré, avons déplacé, passés, passé,
    passée, passées, sommes passés, est passés, est passé, a migré, avons migré, reporté, reportée,
    déplacé, déplacée, décalé, décalée, changé
J = rejoint, commencé chez, ai rejoint, a rejoint, ai commencé chez, a commencé chez
Q = ai quitté, a quitté, quitté
C = appelle, appelles, appellent, appelé, appelée
E = renommé, renommée, renommé en, renommée en
X = annulé, annulée, annulés, annulées
O = plutôt que, que
I = au lieu de, au lieu du, à la place de
F = préféré, préférée, préférés, favori, favorite
B = hébergeons chez, hébergeons sur, passent par, passe par, est construit avec, est construite avec, est
    écrit en, est écrite en, repose sur, est basé sur, est basée sur, fonctionne avec, fonctionne sur,
    tourne avec, tourne sur, tournent sur, écoute sur
V:lead = dirige
V:own = gère
V:charge = s occupe de, s occupe du
Y* = déploie, déployons, déploient, livrons
d:due = à rendre
d:start = commence, démarre
d:open = ouvre
d:close = ferme
d:end = finit, se termine, expire
d:cost* = coûte, dure
&:or = ou
& = et, mais, car, parce que
k* = fils, fille, enfant, frère, sœur, soeur, ami, amie, collègue, chat, chien, cousin, cousine, client,
    cliente, voisin, oncle, tante
T = remplacé, remplacée, avons remplacé, ai remplacé, a remplacé
y = par
G = requis, requise, nécessaire, exige, requiert, avons besoin de, ai besoin de, a besoin de, il faut
A = permis, permise, autorisé, autorisée, possible, ok, accepté, tu peux, on peut
not A = interdit, interdite, interdits, interdites
S:password = mot de passe, code pin
not = ne, n, pas, jamais, aucun, aucune
ever = plus
gone = arrêté, ai arrêté, a arrêté, avons arrêté
now = maintenant, désormais, nouveau, nouvelle, nouvel, dorénavant, récemment, aujourd hui, à présent, le
    mois dernier, la semaine dernière, l année dernière, déjà, finalement, enfin
since = depuis, à partir de, dès
also = aussi, également, deuxième, second, autre, encore, parfois
doubt = peut-être, pourrait, pourrais, voudrais, devrait, si, veux, veut, voulons, habitais, habitait,
    travaillais, travaillait, travaillé, utilisais, utilisait, utilisions, vivais, vivait, vécu, habité,
    avais, avait, ancien, ancienne, autrefois, avant, seulement, sauf, envisage, probablement, jusqu,
    quand, pas toujours
S:phone = numéro de téléphone, téléphone, numéro de portable, portable, numéro
S:mail = adresse e-mail, adresse email, adresse mail, e-mail, email, courriel, mail
S:address = adresse
S:birthday = anniversaire, date de naissance
S:name = nom, prénom
S:title = intitulé de poste
S:employer = employeur
S:branch = branche par défaut, branche principale
S:port = port
S:version = version
S:zone = fuseau horaire
S:language = langue préférée, langue
S:database = base de données
S:editor = éditeur
S:budget = budget
S:price* = prix, salaire, tarif
S:limit* = limite, délai d expiration
S:url* = url, site, domaine
S:age = âge
S:size* = pointure
S:event* = déploiements, sauvegardes, réunion, échéance, date limite, livraison, rendez-vous, examen,
    mariage, vol, voyage, fête, lancement, démo, mise en production, entretien, conférence, déploiement,
    sauvegarde, rétro, revue, déjeuner d équipe, maintenance
R:lead = chef, cheffe, chef d équipe, cheffe d équipe, chef de projet, cheffe de projet, directeur,
    directrice
R:responsible = responsable
R:owner = propriétaire
R:boss = patron, patronne, manager, supérieur
R:contact = contact
R:doctor = médecin
R:dentist = dentiste
R:accountant = comptable
R:spouse = femme, mari, épouse, époux
0:2 = deux
0:3 = trois
0:4 = quatre
0:5 = cinq
0:6 = six
0:7 = sept
0:8 = huit
0:9 = neuf
0:10 = dix
D:1 = lundi, lundis
D:2 = mardi, mardis
D:3 = mercredi, mercredis
D:4 = jeudi, jeudis
D:5 = vendredi, vendredis
D:6 = samedi, samedis
D:7 = dimanche, dimanches
D:jan = janvier
D:feb = février
D:mar = mars
D:apr = avril
D:may = mai
D:jun = juin
D:jul = juillet
D:aug = août
D:sep = septembre
D:oct = octobre
D:nov = novembre
D:dec = décembre
"""
