"""Sentences of conversations, labelled whether they should last: what the rules of a flush are measured on.

A line is: language, who says it (u user, a assistant), whether it should be kept (+ or -), the sentence.
Every second line of a language is held out: rules are made by looking at the others only.
"""

from __future__ import annotations

from typing import NamedTuple

from memlines.types import Role

_ROLES: dict[str, Role] = {"u": "user", "a": "assistant"}


class Labelled(NamedTuple):
    """A sentence, who said it in which language, and whether it should be kept."""

    language: str
    role: Role
    keep: bool
    text: str


_LINES = """
en u + We decided to use Postgres 17 for the billing service.
en u + Let's go with Stripe, Adyen was too expensive.
en u - Can you run the tests again?
en u - hmm that still doesn't work
en u + I prefer tabs over spaces in Go code.
en u + Please always answer in British English.
en a - Let me look at the failing test first.
en a - I'll run the linter now.
en u + Remember that the staging database is wiped every Sunday night.
en u + The demo for Acme is on 12 December at 14:00.
en u - It prints a traceback when I click the button.
en u - ok great, thanks
en u + Maria Lopez is our new security lead.
en u + My manager is called Tom Becker.
en a + Decision: we keep the monolith and split out only the mailer.
en a + I created the migration script in scripts/migrate_users.py.
en u - Maybe we could use Redis for that, I don't know.
en u - What if we just dropped the table?
en u + TODO: rotate the signing keys before the audit.
en u + I still need to send the invoice to Hanna by Friday.
en a - The function returns a list of tuples.
en a - Python lists are mutable, whereas tuples are not.
en u + The API rate limit is 300 requests per minute.
en u + Our budget for the whole project is 45,000 euros.
en u - there are 3 errors in the output
en u - make the button a bit bigger
en a - Would you like me to continue with the second file?
en a - All 42 tests pass now.
en u + The production config lives in /etc/acme/prod.toml.
en u + From now on use pnpm instead of npm in this repo.
en u - fix the typo in line 12
en u - why is it so slow on my machine
en u + Never deploy on Fridays.
en u + I'm allergic to peanuts, so no recipes with those.
nl u + We hebben besloten om Vue te gebruiken in plaats van React.
nl u + We nemen de kleine serverkast bij Hetzner.
nl u - Kun je de tests nog een keer draaien?
nl u - nee dat werkt nog steeds niet
nl u + Ik werk het liefst met donkere thema's.
nl u + Schrijf commitberichten voortaan altijd in het Engels.
nl a - Ik ga eerst even naar de foutmelding kijken.
nl a - Laat me dat bestand openen.
nl u + Onthoud dat de back-up elke nacht om 03:00 loopt.
nl u + De oplevering is op 15 januari 2027.
nl u - de knop doet niks als ik klik
nl u - prima, ga door
nl u + Sanne de Vries is onze nieuwe product owner.
nl u + Mijn collega Joost beheert de mailserver.
nl u - Misschien kunnen we iets met Redis doen.
nl u - Stel dat we de tabel weggooien, wat dan?
nl u + Ik moet de offerte nog voor vrijdag naar Jansen sturen.
nl u + Vergeet niet om de certificaten te vernieuwen voor 1 maart.
nl a - Een tuple is onveranderlijk, een lijst niet.
nl a - De tests zijn allemaal geslaagd.
nl u + De limiet is 500 verzoeken per minuut.
nl u + De instellingen staan in /etc/app/config.yaml.
nl u - pas regel 12 even aan
nl u - waarom duurt dit zo lang
de u + Wir haben uns für Kubernetes entschieden.
de u + Wir nehmen den größeren Tarif bei Hetzner.
de u - Kannst du die Tests noch mal laufen lassen?
de u - das geht immer noch nicht
de u + Ich bevorzuge kurze Antworten ohne Einleitung.
de u + Bitte duze mich immer.
de a - Ich schaue mir zuerst die Fehlermeldung an.
de a - Lass mich die Datei öffnen.
de u + Merk dir, dass der Staging-Server jeden Sonntag neu aufgesetzt wird.
de u + Die Abgabe ist am 3. Februar 2027.
de u - beim Klicken kommt eine Fehlermeldung
de u - alles klar, mach weiter
de u + Katrin Vogel ist unsere neue Datenschutzbeauftragte.
de u + Mein Chef heißt Herr Lindner.
de u - Vielleicht könnten wir Redis verwenden.
de u - Was wäre, wenn wir die Tabelle löschen?
de u + Ich muss bis Freitag noch die Rechnung an Huber schicken.
de u + Nicht vergessen: die Zertifikate vor dem 1. März erneuern.
de a - Ein Tupel ist unveränderlich, eine Liste nicht.
de a - Alle Tests laufen jetzt durch.
de u + Das Limit liegt bei 500 Anfragen pro Minute.
de u + Die Konfiguration liegt unter /etc/app/config.yaml.
de u - ändere bitte Zeile 12
de u - warum ist das so langsam
fr u + Nous avons décidé de garder MariaDB pour les archives.
fr u + On part sur l'offre annuelle de Scaleway.
fr u - Tu peux relancer les tests ?
fr u - ça ne marche toujours pas
fr u + Je préfère les réponses courtes et sans emoji.
fr u + Utilise toujours le vouvoiement dans les mails aux clients.
fr a - Je regarde d'abord le message d'erreur.
fr a - Laisse-moi ouvrir ce fichier.
fr u + Retiens que la sauvegarde tourne chaque nuit à 3 h.
fr u + La livraison est prévue le 20 janvier 2027.
fr u - il y a une erreur quand je clique
fr u - parfait, continue
fr u + Claire Martin est notre nouvelle cheffe de projet.
fr u + Mon comptable s'appelle Henri Duval.
fr u - On pourrait peut-être utiliser Redis.
fr u - Et si on supprimait la table ?
fr u + Je dois envoyer le devis à Dupont avant vendredi.
fr u + Il ne faut pas oublier de renouveler les certificats avant le 1er mars.
fr a - Un tuple est immuable, une liste ne l'est pas.
fr a - Tous les tests passent maintenant.
fr u + La limite est de 500 requêtes par minute.
fr u + La configuration se trouve dans /etc/app/config.yaml.
fr u - corrige la ligne 12
fr u - pourquoi c'est si lent
es u + Hemos decidido usar Django para el panel interno.
es u + Nos quedamos con el plan anual de OVH.
es u - ¿Puedes volver a ejecutar las pruebas?
es u - sigue sin funcionar
es u + Prefiero respuestas cortas y en español.
es u + Usa siempre comillas dobles en el código Python.
es a - Primero miro el mensaje de error.
es a - Déjame abrir ese archivo.
es u + Recuerda que la copia de seguridad se hace cada noche a las 3.
es u + La entrega es el 20 de enero de 2027.
es u - sale un error cuando hago clic
es u - perfecto, sigue
es u + Lucía Fernández es nuestra nueva responsable de compras.
es u + Mi contable se llama Rafael Ortega.
es u - Quizás podríamos usar Redis.
es u - ¿Y si borramos la tabla?
es u + Tengo que mandar el presupuesto a García antes del viernes.
es u + No hay que olvidar renovar los certificados antes del 1 de marzo.
es a - Una tupla es inmutable, una lista no.
es a - Todas las pruebas pasan ahora.
es u + El límite es de 500 peticiones por minuto.
es u + La configuración está en /etc/app/config.yaml.
es u - corrige la línea 12
es u - por qué va tan lento
en u + We agreed that Ben owns the release notes.
en u + The customer wants the report as a PDF, not as a spreadsheet.
en u - I agree with you on that.
en u - The other day I read an article about Postgres.
en u + Don't use emojis in commit messages.
en u + We're dropping support for Python 3.10 in the next release.
en a - Here is a summary of the three options.
en a - You could use either approach, depending on your needs.
en a + The root cause was a missing index on orders.customer_id.
en a + We settled on a 30-day retention period for logs.
en u - remember when we had that outage?
en u - I have to go, see you later
en u + The contract with Nordwind ends on 31 March 2027.
en u + My daughter's birthday is on 4 June.
en a - First, we need to open the file and read its lines.
en a - This must be an issue with the cache.
nl u + Afgesproken: Bram schrijft de handleiding.
nl u + Ik wil geen puntkomma's in de JavaScript-code.
nl u - ik heb geen idee wat er mis is
nl u - we zien wel hoe het loopt
nl a + We stappen over op pnpm, de lockfile staat in de root.
nl a + De oorzaak was een verlopen certificaat op de proxy.
nl a - Hieronder staan de drie mogelijkheden.
nl a - Je kunt beide manieren gebruiken.
nl u + Het contract met Noordzee loopt af op 31 maart 2027.
nl u + De verjaardag van mijn dochter is op 4 juni.
de u + Abgemacht: Jens schreibt die Release Notes.
de u + Ich möchte keine Emojis in Commit-Nachrichten.
de u - keine Ahnung, was da schiefläuft
de u - mal sehen, wie es läuft
de a + Wir setzen künftig auf pnpm statt npm.
de a + Die Ursache war ein abgelaufenes Zertifikat auf dem Proxy.
de a - Hier sind die drei Möglichkeiten.
de a - Man kann beide Wege nehmen.
de u + Der Vertrag mit Nordwind läuft am 31. März 2027 aus.
de u + Der Geburtstag meiner Tochter ist am 4. Juni.
fr u + C'est entendu : Luc rédige les notes de version.
fr u + Je ne veux pas d'emojis dans les messages de commit.
fr u - aucune idée de ce qui cloche
fr u - on verra bien
fr a + On passe à pnpm à partir de maintenant.
fr a + La cause était un certificat expiré sur le proxy.
fr a - Voici les trois possibilités.
fr a - Les deux approches sont possibles.
fr u + Le contrat avec Vent du Nord expire le 31 mars 2027.
fr u + L'anniversaire de ma fille est le 4 juin.
es u + De acuerdo, Pablo escribe las notas de la versión.
es u + No quiero emojis en los mensajes de commit.
es u - ni idea de qué falla
es u - ya veremos
es a + Pasamos a pnpm a partir de ahora.
es a + La causa era un certificado caducado en el proxy.
es a - Aquí están las tres opciones.
es a - Se pueden usar los dos enfoques.
es u + El contrato con Viento Norte vence el 31 de marzo de 2027.
es u + El cumpleaños de mi hija es el 4 de junio.
"""


def _labelled(line: str) -> Labelled:
    language, role, mark, text = line.split(" ", 3)
    return Labelled(language, _ROLES[role], mark == "+", text)


EVERY = tuple(_labelled(line) for line in _LINES.strip().split("\n"))


def _halves() -> tuple[tuple[Labelled, ...], tuple[Labelled, ...]]:
    """Deal the sentences of each language out in turn."""
    halves: tuple[list[Labelled], list[Labelled]] = ([], [])
    seen: dict[str, int] = {}
    for one in EVERY:
        place = seen[one.language] = seen.get(one.language, -1) + 1
        halves[place % 2].append(one)
    return tuple(halves[0]), tuple(halves[1])


SEEN, HELD_OUT = _halves()
