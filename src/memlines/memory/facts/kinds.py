"""Things that are of the same kind, and words that say the opposite of each other."""

from __future__ import annotations

from functools import cache

_KINDS = """
postgres=postgresql mysql mariadb sqlite oracle mongodb=mongo cockroachdb dynamodb cassandra
jenkins gitlab github-actions circleci travis buildkite teamcity drone
slack teams discord mattermost rocket.chat
jira linear trello asana clickup redmine youtrack notion
vim neovim=nvim emacs vscode=vs-code intellij pycharm webstorm sublime zed nano
aws=amazon azure gcp=google-cloud hetzner heroku digitalocean vercel netlify fly.io
npm pnpm yarn bun
pip poetry uv pipenv conda
react vue svelte angular solid
django flask fastapi rails laravel spring
pytest unittest nose
jest vitest mocha
chrome firefox safari edge brave
windows macos=mac linux ubuntu debian fedora
bash zsh fish powershell
terraform pulumi cloudformation opentofu
zoom meet webex
kafka rabbitmq nats
elasticsearch opensearch meilisearch typesense solr algolia
redis memcached valkey
stripe adyen mollie paypal braintree
"""
"""What people use one of at a time, so that a new one takes the place of the old one."""

_OPPOSITES = """
always never
dark light
short long
tabs spaces
concise detailed
brief detailed
formal informal
metric imperial
enabled disabled
open closed
on off
married single
mandatory optional
required optional
manual automatic
daily weekly
weekly monthly
daily monthly
weekly biweekly
public private
lange korte
lang kort
donker licht
donkere lichte
altijd nooit
formeel informeel
formele informele
verplicht optioneel
dagelijks wekelijks
wekelijks maandelijks
tabs spaties
kurze lange
kurz lang
dunkle helle
dunkel hell
immer nie
förmlich locker
verpflichtend optional
täglich wöchentlich
wöchentlich monatlich
courtes longues
courte longue
court long
sombre clair
toujours jamais
obligatoire facultatif
obligatoire facultative
obligatoire optionnel
hebdomadaire mensuel
quotidien hebdomadaire
cortas largas
corta larga
corto largo
oscuro claro
siempre nunca
obligatorio opcional
obligatoria opcional
semanal mensual
diario semanal
krátké dlouhé
tmavý světlý
vždy nikdy
denně týdně
týdně měsíčně
"""

_COUNTRIES = """
germany duitsland deutschland allemagne alemania německo německu
france frankrijk frankreich francia francie francii
spain spanje spanien espagne españa španělsko španělsku
netherlands nederland niederlande niederlanden pays-bas holanda nizozemsko nizozemsku holland
belgium belgië belgien belgique bélgica belgie belgii
austria oostenrijk österreich autriche rakousko rakousku
switzerland zwitserland schweiz suisse suiza švýcarsko švýcarsku
italy italië italien italie italia itálie itálii
czechia tsjechië tschechien tchéquie chequia česko česku čechách
slovakia slowakije slowakei slovaquie eslovaquia slovensko slovensku
poland polen pologne polonia polsko polsku
portugal portugalsko portugalsku
england engeland angleterre inglaterra anglie anglii britain uk
ireland ierland irland irlande irlanda irsko irsku
scotland schotland schottland écosse escocia skotsko skotsku
sweden zweden schweden suède suecia švédsko švédsku
norway noorwegen norwegen norvège noruega norsko norsku
denmark denemarken dänemark danemark dinamarca dánsko dánsku
finland finnland finlande finlandia finsko finsku
greece griekenland griechenland grèce grecia řecko řecku
usa america amerika amérique états-unis estados américa us
canada kanada canadá kanadě
mexico méxico mexiko mexique mexiku
brazil brazilië brasilien brésil brasil brazílie brazílii
argentina argentinië argentinien argentine
japan japon japón japonsko japonsku
china chine čína číně
india indien inde indie indii
australia australië australien australie austrálie austrálii
europe europa evropa evropě
"""

_NATIONS = """
american british english german dutch french spanish czech italian polish irish swedish danish norwegian
finnish greek swiss austrian belgian portuguese chinese japanese indian canadian australian russian ukrainian
turkish brazilian mexican european scottish welsh slovak hungarian catholic jewish muslim
"""

_LANGUAGES = """
python rust go=golang java kotlin typescript javascript ruby php scala elixir swift c++ c# c haskell
"""
"""What one thing is written in; people use several of them."""

_NO_PLACES = """
python rust go golang java kotlin typescript javascript ruby php scala elixir swift kubernetes docker podman
android ios iphone git mercurial graphql rest grpc bazel gradle maven obsidian excel word outlook gmail
"""
"""What people move to that is none of the kinds above, and no place to live at."""

_ANYTHING = """
work home school fun everything development projects business
werk thuis school alles ontwikkeling projecten plezier
arbeit schule alles entwicklung projekte spaß
travail maison école tout développement projets
trabajo casa todo desarrollo proyectos escuela
práci domácnost všechno vývoj projekty školu
"""


@cache
def _kinds(table: str = _KINDS) -> dict[str, tuple[int, str]]:
    """Return of which kind a thing is, and the name it has besides its others."""
    return {
        name: (number, thing)
        for number, line in enumerate(table.split("\n"))
        for thing in line.split()
        for name in thing.split("=")
    }


@cache
def _opposites() -> frozenset[tuple[str, str]]:
    pairs = [tuple(line.split()) for line in _OPPOSITES.strip().split("\n")]
    return frozenset((one, other) for one, other in pairs) | frozenset((two, one) for one, two in pairs)


@cache
def _countries() -> frozenset[str]:
    return frozenset(_COUNTRIES.split())


def is_known(name: str) -> bool:
    """Tell whether a name in lower case is one of a kind of things that take each other's place."""
    return name in _kinds()


def same_kind(one: str, other: str, *, of_one_thing: bool = False) -> bool:
    """Tell whether two names in lower case are of different things that take each other's place.

    `of_one_thing` counts languages as well: a program is written in one, and people use several.
    """
    tables = (_KINDS, _LANGUAGES) if of_one_thing else (_KINDS,)
    for table in tables:
        kind, thing = _kinds(table).get(one, (-1, one))
        other_kind, other_thing = _kinds(table).get(other, (-2, other))
        if kind == other_kind and thing != other_thing:
            return True
    return False


def is_place(name: str) -> bool:
    """Tell whether a name in lower case may be where somebody moves to, and no thing to use."""
    return not is_known(name) and name not in _NO_PLACES.split()


def is_town(name: str) -> bool:
    """Tell whether a name in lower case may be that of a place, and is no language either."""
    return is_place(name) and not is_nation(name)


def opposites(one: str, other: str) -> bool:
    """Tell whether two words in lower case say the opposite of each other."""
    return (one, other) in _opposites()


def is_nation(word: str) -> bool:
    """Tell whether an English word in lower case says of what people somebody is, and is no name."""
    return word in _NATIONS.split()


def is_anything(stem: str) -> bool:
    """Tell whether a word, cut to its stem, is something that many different things are used for."""
    return any(word.startswith(stem) for word in _ANYTHING.split())


def is_country(word: str) -> bool:
    """Tell whether a word in lower case is a country or larger, within which a town may be."""
    return word in _countries()
