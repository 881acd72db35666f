"""The rules tell what somebody wants of the memory, in five languages, and are not taken in by traps."""

from __future__ import annotations

import pytest

from memlines.agent.intent import Intent, about_past, detect
from memlines.agent.intent.detect import LANGUAGES
from tests.agent.intents import labelled, macro_f1

DEVELOP = labelled("develop")

REMEMBER = [
    "remember that we use pnpm",
    "Please remember: the demo is on Friday.",
    "Could you make a note that Leo left the team?",
    "Save this to memory: the release branch is called stable.",
    "from now on always answer in German",
    "We ship on Tuesdays only. Remember that.",
    "remeber that the linter config lives in tooling",
    "onthoud dat we pnpm gebruiken",
    "Schrijf op dat de demo op vrijdag is.",
    "Kun je vastleggen dat we voor Rust kozen?",
    "merk dir dass wir pnpm benutzen",
    "Schreib dir das auf: Die Demo ist am Freitag.",
    "Ich möchte, dass du dir merkst, dass wir dienstags ausliefern.",
    "souviens toi qu'on utilise pnpm",
    "Souviens-t’en : la démo est vendredi.",  # noqa: RUF001
    "Peux-tu noter que Léo a quitté l'équipe ?",
    "recuerda que usamos pnpm",
    "La demo es el viernes, recuerdalo",
    "Apúntalo: la demo es el viernes.",
]

QUERY = [
    "what did we decide about auth?",
    "do you remember which port the mock server runs on",
    "Which database did I pick?",
    "weet je nog welke poort we hadden gekozen?",
    "Wat hadden we ook alweer besloten over auth?",
    "was hatten wir zum logging beschlossen?",
    "Weisst du noch, welchen Port wir nehmen wollten?",
    "tu te souviens de ce qu'on avait décidé ?",
    "Qu'est-ce qu'on avait choisi pour l'authentification ?",
    "¿te acuerdas de qué puerto elegimos?",
    "qué acordamos sobre la autenticación",
]

FORGET = [
    "forget what I said about the staging password",
    "Delete the note about the old deadline.",
    "You can stop remembering my phone number.",
    "vergeet wat ik over het wachtwoord zei",
    "Haal dat uit je geheugen.",
    "Vergiss, dass wir yarn nutzen.",
    "Lösch die Notiz über den alten Termin.",
    "oublie ce que je t'ai dit sur le mot de passe",
    "Efface de ta mémoire que je préfère Emacs.",
    "olvida lo que te dije sobre la contraseña",
    "Borra la nota sobre la fecha antigua.",
]

NOTHING = [
    "I don't remember",
    "remember to be careful with the parser",
    "forget it, never mind",
    "As you may remember, the parser has two passes.",
    "I'll always remember that bug",
    "does Python remember the value between calls?",
    "write a function remember(key)",
    "add a 'remember me' checkbox",
    "the model forgets the hidden state",
    "explain the forget gate of an LSTM",
    "compute recall and precision",
    "query the database",
    "don't remember this",
    "Note that the list is sorted in place.",
    "keep in mind while fixing this that the CLI calls it too",
    "can you remember things between sessions?",
    "Anna said: remember to close the file",
    'Anna wrote "remember that guests cannot vote" in the ticket.',
    "vergeet niet om de tests te draaien",
    "laat maar, vergeet het",
    "Vergiss nicht, die Tests laufen zu lassen.",
    "ach vergiss es",
    "n'oublie pas de lancer les tests",
    "laisse tomber, oublie",
    "acuérdate de cerrar el archivo",
    "olvídalo, da igual",
    "fix the failing test",
    "",
    "   \n\t",
    "?",
]


@pytest.mark.parametrize("text", REMEMBER)
def test_what_is_to_be_kept_is_told(text: str) -> None:
    assert detect(text).intent == "remember"


@pytest.mark.parametrize("text", QUERY)
def test_a_question_about_the_past_is_told(text: str) -> None:
    assert detect(text).intent == "query"


@pytest.mark.parametrize("text", FORGET)
def test_what_is_to_be_deleted_is_told(text: str) -> None:
    assert detect(text).intent == "forget"


@pytest.mark.parametrize("text", NOTHING)
def test_everything_else_is_none(text: str) -> None:
    assert detect(text).intent == "none"


CODE = [
    "```python\nremember(key)\n```",
    "    remember that = 1",
    "> remember that we use pnpm",
    "2026-11-16 12:00:01 remember that the cache is warm",
    "fix(auth): remember that the user is logged in",
    "// remember that this is temporary",
    "+remember that this line is new",
    "<system-reminder>remember that we use pnpm</system-reminder>",
    "<memlines-context>\n> remember that we use pnpm\n</memlines-context>",
    "run `remember that we use pnpm` once more",
]


@pytest.mark.parametrize("text", CODE)
def test_what_nobody_says_is_none(text: str) -> None:
    assert detect(text).intent == "none"


def test_what_is_said_beside_code_counts() -> None:
    assert detect("```\nforget(x)\n```\nRemember that we use pnpm.").intent == "remember"


def test_what_is_said_behind_a_long_paste_counts() -> None:
    assert detect("some words of a report\n" * 400 + "\nRemember that we use pnpm.").intent == "remember"


ENTITIES = {
    "remember that we use pnpm": ("we use pnpm",),
    "Remember my editor is Helix, please.": ("my editor is Helix",),
    "We ship on Tuesdays only. Remember that.": ("We ship on Tuesdays only",),
    "what did we decide about auth?": ("auth",),
    "Which database did I pick?": ("database",),
    "forget what I said about the staging password": ("the staging password",),
    "That note about the docker mirror? Throw it away.": ("the docker mirror",),
    "Onthoud dat de demo op vrijdag is.": ("de demo op vrijdag is",),
    "Merk dir, dass wir pnpm benutzen.": ("wir pnpm benutzen",),
    "Recuerda que usamos «pnpm».": ("usamos «pnpm»",),
}


@pytest.mark.parametrize(("text", "entities"), ENTITIES.items())
def test_the_entities_are_what_it_is_about(text: str, entities: tuple[str, ...]) -> None:
    assert detect(text).entities == entities


def test_an_entity_is_not_longer_than_it_may_be() -> None:
    (entity,) = detect("remember that " + "we use pnpm and " * 25).entities
    assert (len(entity) <= 200, entity[:11]) == (True, "we use pnpm")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("remember that we use pnpm", "en"),
        ("onthoud dat we pnpm gebruiken", "nl"),
        ("merk dir, dass wir pnpm nutzen", "de"),
        ("retiens qu'on utilise pnpm", "fr"),
        ("recuerda que usamos pnpm", "es"),
        ("Kannst du die Tests starten?", "de"),
    ],
)
def test_the_language_is_told(text: str, language: str) -> None:
    assert detect(text).language == language


def test_only_the_languages_asked_for_are_understood() -> None:
    assert detect("merk dir, dass wir pnpm nutzen", languages=("en", "nl")).intent == "none"


def test_without_languages_nothing_is_understood() -> None:
    assert detect("remember that we use pnpm", languages=()) == Intent("none", (), 0.0, "")


def test_an_unknown_language_is_left_out() -> None:
    assert detect("remember that we use pnpm", languages=("xx", "en")).language == "en"


def test_an_order_is_surer_than_a_hint() -> None:
    explicit, weak = detect("Remember that we use tabs."), detect("Always use tabs.")
    assert (explicit.confidence, weak.intent, weak.confidence) == (0.95, "remember", 0.7)


def test_the_names_of_the_fields_stay() -> None:
    assert detect("what did we decide about auth?").to_json() == {
        "intent": "query",
        "entities": ["auth"],
        "confidence": 0.9,
        "language": "en",
        "warnings": [],
    }


def test_the_sentences_of_development_are_told() -> None:
    assert macro_f1([(one.intent, detect(one.text).intent) for one in DEVELOP]) >= 0.97


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_told(language: str) -> None:
    mine = [one for one in DEVELOP if one.language == language]
    assert macro_f1([(one.intent, detect(one.text).intent) for one in mine]) >= 0.95


def test_what_the_sentences_of_development_are_about_is_told() -> None:
    sentences = labelled("entities_develop")
    assert sum(one.names(detect(one.text).entities) for one in sentences) >= 0.9 * len(sentences)


@pytest.mark.parametrize(
    ("text", "entity"),
    [
        ("souviens-toi qu'on utilise pnpm", "on utilise pnpm"),
        ("rappelle-toi qu'il n'y a pas de serveur", "il n'y a pas de serveur"),
        ("Dat we spaties gebruiken moet je onthouden.", "we spaties gebruiken"),
        ("Kannst du dir Port 5433 merken?", "Port 5433"),
        ("Der Port ist 5433. Kannst du dir das bitte merken?", "Der Port ist 5433"),
        ("Was hatten wir nochmal zum Cache beschlossen?", "Cache"),
        ("Put this in your long-term memory: we deploy on Mondays", "we deploy on Mondays"),
        ("Ajoute à ta mémoire que la prod est chez OVH", "la prod est chez OVH"),
        ("We use pnpm and never npm, remember that.", "We use pnpm and never npm"),
    ],
)
def test_neither_conjunctions_nor_verbs_around_it_are_part_of_it(text: str, entity: str) -> None:
    assert detect(text).entities == (entity,)


def test_ordinary_prompts_are_hardly_ever_kept() -> None:
    prompts = labelled("coding_develop")
    assert sum(detect(one.text).intent == "remember" for one in prompts) <= 0.02 * len(prompts)


PAST = [
    "what did we decide about auth?",
    "as we discussed yesterday, use the same port",
    "which database did I pick?",
    "continue where we left off",
    "use the same approach as last time",
    "zoals we gisteren bespraken, gebruik dezelfde poort",
    "ga verder waar we gebleven waren",
    "wie gestern besprochen, nimm denselben Port",
    "mach da weiter, wo wir aufgehört haben",
    "comme convenu hier, garde le même port",
    "reprends là où on s'est arrêtés",
    "como acordamos ayer, usa el mismo puerto",
    "sigue por donde lo dejamos",
]

PRESENT = [
    "fix the failing test",
    "refactor the parser",
    "what does this function do?",
    "run the tests again",
    "the last test fails, why?",
    "waarom faalt deze test?",
    "schrijf een test voor de parser",
    "warum schlägt der Test fehl?",
    "benenne die Funktion um",
    "pourquoi ce test échoue ?",
    "ajoute un test pour l'analyseur",
    "¿por qué falla este test?",
    "renombra la función",
]


@pytest.mark.parametrize("text", PAST)
def test_a_message_about_the_past_is_worth_a_search(text: str) -> None:
    assert about_past(text)


@pytest.mark.parametrize("text", PRESENT)
def test_a_message_about_the_task_is_not(text: str) -> None:
    assert not about_past(text)


def test_ordinary_prompts_are_hardly_ever_searched_for() -> None:
    prompts = labelled("coding_develop")
    assert sum(about_past(one.text) for one in prompts) <= 0.02 * len(prompts)
