"""The days a query speaks of."""

from __future__ import annotations

import unicodedata
from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlines.text.date_words import asks_when, fold
from memlines.text.dates import Span, spans_of

NOW = datetime(2026, 10, 14, 15, 0)
"""A Wednesday."""


def days(query: str, now: datetime = NOW) -> list[str]:
    """Return the spans as `first..last`, or as one date where they are a single day."""
    return [
        str(span.first) if span.first == span.last else f"{span.first}..{span.last}"
        for span in spans_of(query, now)
    ]


def only(query: str) -> Span:
    (span,) = spans_of(query, NOW)
    return span


def listed(table: str) -> list[str]:
    return [entry.strip() for line in table.strip().splitlines() for entry in line.split("|")]


LAST_WEEK = "2026-10-05..2026-10-11"
THIS_WEEK = "2026-10-12..2026-10-18"
NEXT_WEEK = "2026-10-19..2026-10-25"
LAST_WEEKEND = "2026-10-10..2026-10-11"
LAST_MONTH = "2026-09-01..2026-09-30"
LAST_YEAR = "2025-01-01..2025-12-31"
THREE_DAYS_AGO = "2026-10-10..2026-10-12"
THREE_WEEKS_AGO = "2026-09-20..2026-09-26"
FEW_WEEKS_AGO = "2026-09-13..2026-10-03"
TWO_YEARS_AGO = "2024-04-14..2025-04-15"
PAST_THREE_MONTHS = "2026-07-14..2026-10-14"
MAY = "2026-05-01..2026-05-31"
MAY_2023 = "2023-05-01..2023-05-31"
MAY_LAST_YEAR = "2025-05-01..2025-05-31"
MARCH = "2026-03-01..2026-03-31"
EARLY_MAY = "2026-05-01..2026-05-10"
SUMMER = "2026-06-01..2026-08-31"
YEAR_2023 = "2023-01-01..2023-12-31"
DAY = "2023-05-07"

ENGLISH = [
    ("what is on today", "2026-10-14"),
    ("what did I write this morning", "2026-10-14"),
    ("what did we decide yesterday?", "2026-10-13"),
    ("who called last night", "2026-10-13"),
    ("the day before yesterday", "2026-10-12"),
    ("meetings tomorrow", "2026-10-15"),
    ("the day after tomorrow", "2026-10-16"),
    ("What happened last week?", LAST_WEEK),
    ("WHAT HAPPENED LAST WEEK", LAST_WEEK),
    ("decisions this week", THIS_WEEK),
    ("plans for next week", NEXT_WEEK),
    ("the week before last", "2026-09-28..2026-10-04"),
    ("bugs of the past week", "2026-10-07..2026-10-14"),
    ("bugs of the last week", "2026-10-07..2026-10-14"),
    ("last month", LAST_MONTH),
    ("this month", "2026-10-01..2026-10-31"),
    ("next month", "2026-11-01..2026-11-30"),
    ("in the past month", "2026-09-14..2026-10-14"),
    ("last year's budget", LAST_YEAR),
    ("this year", "2026-01-01..2026-12-31"),
    ("last quarter", "2026-07-01..2026-09-30"),
    ("this quarter", "2026-10-01..2026-12-31"),
    ("next quarter", "2027-01-01..2027-03-31"),
    ("Q3 2023 figures", "2023-07-01..2023-09-30"),
    ("last weekend", LAST_WEEKEND),
    ("this weekend", "2026-10-17..2026-10-18"),
    ("last 7 days", "2026-10-07..2026-10-14"),
    ("in the last three weeks", "2026-09-23..2026-10-14"),
    ("over the past 3 months", PAST_THREE_MONTHS),
    ("over the past few days", "2026-10-10..2026-10-14"),
    ("the next few days", "2026-10-14..2026-10-18"),
    ("a day ago", "2026-10-13"),
    ("two days ago", "2026-10-12"),
    ("3 days ago", THREE_DAYS_AGO),
    ("three weeks ago", THREE_WEEKS_AGO),
    ("a couple of weeks ago", "2026-09-20..2026-10-03"),
    ("a few weeks ago", FEW_WEEKS_AGO),
    ("twelve months ago", "2025-09-29..2025-10-29"),
    ("two years ago", TWO_YEARS_AGO),
    ("48 hours ago", "2026-10-12"),
    ("on Monday", "2026-10-12"),
    ("on Wednesday", "2026-10-07"),
    ("last Friday", "2026-10-09"),
    ("this Friday", "2026-10-16"),
    ("next Friday", "2026-10-16"),
    ("on Tuesday last week", "2026-10-06"),
    ("in May", MAY),
    ("in may", MAY),
    ("in october", "2026-10-01..2026-10-31"),
    ("in November", "2025-11-01..2025-11-30"),
    ("the July report", "2026-07-01..2026-07-31"),
    ("our May report", MAY),
    ("May 2023", MAY_2023),
    ("in May of 2023", MAY_2023),
    ("Dec 2022", "2022-12-01..2022-12-31"),
    ("last May", MAY),
    ("last October", "2025-10-01..2025-10-31"),
    ("next May", "2027-05-01..2027-05-31"),
    ("in May last year", MAY_LAST_YEAR),
    ("last year in May", MAY_LAST_YEAR),
    ("early May", EARLY_MAY),
    ("mid-May", "2026-05-11..2026-05-20"),
    ("late May", "2026-05-21..2026-05-31"),
    ("the end of May", "2026-05-21..2026-05-31"),
    ("last summer", SUMMER),
    ("last winter", "2025-12-01..2026-02-28"),
    ("last fall", "2025-09-01..2025-11-30"),
    ("summer of 2023", "2023-06-01..2023-08-31"),
    ("in 2023", YEAR_2023),
    ("during 2023", YEAR_2023),
    ("in the year 2023", YEAR_2023),
    ("since May", "2026-05-01..2026-10-14"),
    ("since last week", "2026-10-05..2026-10-14"),
    ("since 2023", "2023-01-01..2026-10-14"),
    ("between May and July", "2026-05-01..2026-07-31"),
    ("between May and July 2023", "2023-05-01..2023-07-31"),
    ("from March to May", "2026-03-01..2026-05-31"),
    ("from last Monday until today", "2026-10-12..2026-10-14"),
    ("7 May 2023", DAY),
    ("the 7th of May, 2023", DAY),
    ("May 7, 2023", DAY),
    ("May 7th 2023", DAY),
    ("may 7 2023", DAY),
    ("Sunday, May 7, 2023", DAY),
    ("on May 7th", "2026-05-07"),
    ("7 May", "2026-05-07"),
    ("on December 24", "2025-12-24"),
    ("on Sept. 5", "2026-09-05"),
    ("on February 29", "2024-02-29"),
]
DUTCH = [
    ("wat doen we vandaag", "2026-10-14"),
    ("wat besloten we gisteren", "2026-10-13"),
    ("eergisteren", "2026-10-12"),
    ("wie komt er morgen", "2026-10-15"),
    ("vorige week", LAST_WEEK),
    ("deze week", THIS_WEEK),
    ("volgende week", NEXT_WEEK),
    ("afgelopen week", "2026-10-07..2026-10-14"),
    ("afgelopen weekend", LAST_WEEKEND),
    ("vorige maand", LAST_MONTH),
    ("vorig jaar", LAST_YEAR),
    ("de afgelopen drie maanden", PAST_THREE_MONTHS),
    ("drie dagen geleden", THREE_DAYS_AGO),
    ("3 weken geleden", THREE_WEEKS_AGO),
    ("een paar weken geleden", FEW_WEEKS_AGO),
    ("twee jaar geleden", TWO_YEARS_AGO),
    ("op maandag", "2026-10-12"),
    ("afgelopen vrijdag", "2026-10-09"),
    ("in mei", MAY),
    ("in maart", MARCH),
    ("begin mei", EARLY_MAY),
    ("mei 2023", MAY_2023),
    ("op 7 mei 2023", DAY),
    ("in 2023", YEAR_2023),
    ("afgelopen zomer", SUMMER),
]
GERMAN = [
    ("was steht heute an", "2026-10-14"),
    ("was haben wir gestern beschlossen", "2026-10-13"),
    ("vorgestern", "2026-10-12"),
    ("wer kommt morgen", "2026-10-15"),
    ("übermorgen", "2026-10-16"),
    ("letzte Woche", LAST_WEEK),
    ("in der letzten Woche", LAST_WEEK),
    ("diese Woche", THIS_WEEK),
    ("nächste Woche", NEXT_WEEK),
    ("letztes Wochenende", LAST_WEEKEND),
    ("letzten Monat", LAST_MONTH),
    ("voriges Jahr", LAST_YEAR),
    ("in den letzten drei Monaten", PAST_THREE_MONTHS),
    ("vor 3 Tagen", THREE_DAYS_AGO),
    ("vor drei Wochen", THREE_WEEKS_AGO),
    ("vor ein paar Wochen", FEW_WEEKS_AGO),
    ("vor etwa zwei Jahren", TWO_YEARS_AGO),
    ("seit drei Monaten", PAST_THREE_MONTHS),
    ("am Montag", "2026-10-12"),
    ("letzten Freitag", "2026-10-09"),
    ("im Mai", MAY),
    ("im März", MARCH),
    ("Anfang Mai", EARLY_MAY),
    ("Mai 2023", MAY_2023),
    ("am 7. Mai 2023", DAY),
    ("Sonntag, den 7. Mai 2023", DAY),
    ("am 7.5.2023", DAY),
    ("im Jahr 2023", YEAR_2023),
    ("letzten Sommer", SUMMER),
    ("von Mai bis Juli", "2026-05-01..2026-07-31"),
]
FRENCH = [
    ("quoi de prévu aujourd'hui", "2026-10-14"),
    ("qu\u2019est-ce que nous avons décidé hier", "2026-10-13"),
    ("avant-hier", "2026-10-12"),
    ("demain", "2026-10-15"),
    ("la semaine dernière", LAST_WEEK),
    ("la semaine passee", LAST_WEEK),
    ("cette semaine", THIS_WEEK),
    ("la semaine prochaine", NEXT_WEEK),
    ("le week-end dernier", LAST_WEEKEND),
    ("le mois dernier", LAST_MONTH),
    ("l'année dernière", LAST_YEAR),
    ("l\u2019an dernier", LAST_YEAR),
    ("les trois derniers mois", PAST_THREE_MONTHS),
    ("il y a 3 jours", THREE_DAYS_AGO),
    ("il y a trois semaines", THREE_WEEKS_AGO),
    ("il y a quelques semaines", FEW_WEEKS_AGO),
    ("il y a deux ans", TWO_YEARS_AGO),
    ("depuis trois mois", PAST_THREE_MONTHS),
    ("vendredi dernier", "2026-10-09"),
    ("en mai", MAY),
    ("en mars", MARCH),
    ("début mai", EARLY_MAY),
    ("en février", "2026-02-01..2026-02-28"),
    ("en fevrier", "2026-02-01..2026-02-28"),
    ("mai 2023", MAY_2023),
    ("le 7 mai 2023", DAY),
    ("le 1er mai 2023", "2023-05-01"),
    ("en 2023", YEAR_2023),
    ("l'été dernier", SUMMER),
]
SPANISH = [
    ("qué hay hoy", "2026-10-14"),
    ("qué decidimos ayer", "2026-10-13"),
    ("anteayer", "2026-10-12"),
    ("quién viene mañana", "2026-10-15"),
    ("la semana pasada", LAST_WEEK),
    ("esta semana", THIS_WEEK),
    ("la próxima semana", NEXT_WEEK),
    ("la semana que viene", NEXT_WEEK),
    ("el fin de semana pasado", LAST_WEEKEND),
    ("el mes pasado", LAST_MONTH),
    ("el año pasado", LAST_YEAR),
    ("los últimos tres meses", PAST_THREE_MONTHS),
    ("hace 3 días", THREE_DAYS_AGO),
    ("hace tres semanas", THREE_WEEKS_AGO),
    ("hace unas semanas", FEW_WEEKS_AGO),
    ("hace dos años", TWO_YEARS_AGO),
    ("el lunes", "2026-10-12"),
    ("el viernes pasado", "2026-10-09"),
    ("en mayo", MAY),
    ("en marzo", MARCH),
    ("a principios de mayo", EARLY_MAY),
    ("mayo de 2023", MAY_2023),
    ("en mayo del año pasado", MAY_LAST_YEAR),
    ("el 7 de mayo de 2023", DAY),
    ("en 2023", YEAR_2023),
    ("el verano pasado", SUMMER),
]
PORTUGUESE_AND_ITALIAN = [
    ("ontem", "2026-10-13"),
    ("na semana passada", LAST_WEEK),
    ("no mês passado", LAST_MONTH),
    ("há 3 dias", THREE_DAYS_AGO),
    ("em março", MARCH),
    ("7 de maio de 2023", DAY),
    ("ieri", "2026-10-13"),
    ("la settimana scorsa", LAST_WEEK),
    ("il mese scorso", LAST_MONTH),
    ("tre giorni fa", THREE_DAYS_AGO),
    ("a maggio", MAY),
    ("7 maggio 2023", DAY),
]
IN_FIGURES = [
    ("2023-05-07", DAY),
    ("open memory/2023-05-07.md", DAY),
    ("log_2023-05-07T10:00:00Z", DAY),
    ("2023/05/07", DAY),
    ("25/05/2023", "2023-05-25"),
    ("05/25/2023", "2023-05-25"),
    ("05/05/2023", "2023-05-05"),
    ("2023-05", MAY_2023),
    ("2023年5月7日", DAY),
    ("我在2023年5月去了", MAY_2023),
    ("２０２３年の計画", YEAR_2023),
    ("在2023-05-07做了什么", DAY),
]


@pytest.mark.parametrize(
    ("query", "expected"),
    [*ENGLISH, *DUTCH, *GERMAN, *FRENCH, *SPANISH, *PORTUGUESE_AND_ITALIAN, *IN_FIGURES],
)
def test_a_time_is_understood(query: str, expected: str) -> None:
    assert days(query) == [expected]


NOT_A_TIME = """
    which database did billing pick?
    May I go | I may go | may we use Postgres? | This may break | this may break | what may fail here
    the top 3 may fail | march on Washington | they march again | What did June say? | the book by April
    Theresa May resigned | what does the fall of Rome mean | will this fall apart
    in this Spring application | a second opinion | the sun sat on the sea | wed in church | Mars rover
    une barre Mars | non ho mai visto | la casa de Julio | o carro de Marco | Rio de Janeiro | Plaza de Mayo
    mayo or ketchup | real estate 2023 | was steht hier drin | wat staat hier | Guten Morgen | goede morgen
    por la mañana | Black Friday deals | USB over Monday
    the next release | last name | this function | the last meeting | our last three meetings | the past
    half past two
    the next day | the last day of school | the last month of pregnancy | every week
    how long did the day last | did the trip last 3 days | a three weeks long trip | this tag
    version 2023.1 | 2023 | port 2023 | CVE-2023-05 | 0 days ago | 1.5 years ago | 07/05/2023 | 2023-13
    2023-02-30 | 2000年以前
    on monday.com | datetime.today | what does today() return | the last_week column
    git log --since=yesterday | notes -yesterday | pre-May
    who sings "Last week" | «La semaine dernière»
    before May 2023 | before 7 May 2023 | after 2023-05-07 | until July | bis zum Jahr 2000
    hasta el año 2000 | last weekend before April 10, 2023
"""


@pytest.mark.parametrize("query", listed(NOT_A_TIME))
def test_nothing_is_said_about_time(query: str) -> None:
    assert days(query) == []


@pytest.mark.parametrize("query", ["", "   ", "\0\n", "!?"])
def test_a_query_without_words_says_nothing(query: str) -> None:
    assert (days(query), asks_when(query)) == ([], False)


def test_several_times_come_in_their_order() -> None:
    assert days("compare last week with May 2023 and yesterday") == [LAST_WEEK, MAY_2023, "2026-10-13"]


def test_months_that_are_listed_are_not_a_range() -> None:
    assert days("in May and July") == [MAY, "2026-07-01..2026-07-31"]


@pytest.mark.parametrize(
    "query", ["last week", "3 days ago", "yesterday", "last Friday", "vorige week", "il y a trois jours"]
)
def test_some_words_say_nothing_but_when(query: str) -> None:
    assert only(query).said_only_time


@pytest.mark.parametrize(
    "query", ["in May", "12 May 2023", "2023-05-12", "in 2023", "on Monday", "last summer", "im Mai"]
)
def test_some_words_may_stand_in_the_note_itself(query: str) -> None:
    assert not only(query).said_only_time


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("What did we do last week?", "last week"),
        ("what happened in May, and why?", "in May"),
        ("notes from the 7th of May, 2023.", "from the 7th of May, 2023"),
        ("Qu\u2019a-t-on fait l\u2019année dernière ?", "l\u2019année dernière"),
    ],
)
def test_a_span_knows_the_words_that_said_it(query: str, text: str) -> None:
    assert only(query).text == text


def test_the_words_are_composed() -> None:
    assert only(unicodedata.normalize("NFD", "la semaine dernière")).text == "la semaine dernière"


def test_a_week_ends_on_sunday() -> None:
    assert days("this week", datetime(2026, 10, 18, 23, 59)) == [THIS_WEEK]


def test_a_week_begins_on_monday() -> None:
    assert days("last week", datetime(2026, 10, 12)) == [LAST_WEEK]


def test_a_month_ago_exists_in_short_months() -> None:
    assert days("the past month", datetime(2026, 3, 31)) == ["2026-02-28..2026-03-31"]


def test_the_time_zone_of_now_counts() -> None:
    assert days("today", datetime(2026, 10, 14, 23, 30, tzinfo=UTC)) == ["2026-10-14"]


def test_a_few_hours_may_reach_into_yesterday() -> None:
    assert days("3 hours ago", datetime(2026, 10, 14, 1, 0)) == ["2026-10-13"]


def test_only_the_beginning_of_a_long_text_is_read() -> None:
    assert days("x " * 1_000 + "yesterday") == []


@pytest.mark.parametrize(
    ("query", "now"),
    [
        ("yesterday", datetime(1, 1, 1)),
        ("last week", datetime(1, 1, 3)),
        ("last year", datetime(1, 6, 1)),
        ("last summer", datetime(2, 6, 1)),
        ("tomorrow", datetime(9999, 12, 31)),
        ("next month", datetime(9999, 12, 1)),
        ("9000 years ago", NOW),
        ("99999999999999999999 days ago", NOW),
        ("99999999999999999999 months ago", NOW),
        ("2023-99999999999999999999-01", NOW),
    ],
)
def test_days_the_calendar_does_not_have_are_left_out(query: str, now: datetime) -> None:
    assert days(query, now) == []


ASKS_WHEN = """
    When did we move? | when's the deadline | Since when do we use Postgres? | tell me when we moved
    What date did we ship? | On which day was it? | In what year did she move? | how long ago was that
    How many weeks ago did I call? | Wanneer zijn we verhuisd? | Op welke dag was dat?
    hoe lang geleden was dat | Wann war das? | Seit wann nutzen wir Postgres? | An welchem Tag war das?
    Wie lange ist das her? | Quand avons-nous déménagé ? | Quel jour était-ce ? | En quelle année ?
    Il y a combien de temps ? | ¿Cuándo nos mudamos? | cuando nos mudamos
    ¿Cuándo abrieron Ana, Luis y Eva? | ¿En qué año fue? | ¿Hace cuánto tiempo?
    Quando ci siamo trasferiti? | Em que ano foi? | 我们什么时候搬家 | いつ引っ越した
"""


@pytest.mark.parametrize("query", listed(ASKS_WHEN))
def test_a_query_asks_when(query: str) -> None:
    assert asks_when(query)


DOES_NOT_ASK_WHEN = """
    What did she say when he left? | When I was in Paris, what did I eat?
    when the build fails what do I do | which database did we pick? | what happened last week
    how long is the trip | Was tun wir, wenn es regnet? | Que fait-il quand il pleut ? | que mes amis
    いつもの店
"""


@pytest.mark.parametrize("query", listed(DOES_NOT_ASK_WHEN))
def test_a_query_does_not_ask_when(query: str) -> None:
    assert not asks_when(query)


TIMES = st.datetimes(min_value=datetime.min, max_value=datetime.max)
WORDS = """
    last this next the past in on of a may March 7 31 2023 2023-05-07 0 99999 week weeks day year ago between
    and to since until before early Monday summer vor il y a hace Tagen dernière mes pasado
    , . - / ( ' " 年 q3
"""
SAID = st.lists(st.sampled_from(WORDS.split()), max_size=12).map(" ".join)


@given(st.text() | SAID, TIMES)
def test_any_text_at_any_time_gives_spans_that_begin_before_they_end(query: str, now: datetime) -> None:
    assert all(span.first <= span.last for span in spans_of(query, now))


@given(st.text() | SAID, TIMES)
def test_the_words_of_a_span_stand_in_the_query(query: str, now: datetime) -> None:
    composed = unicodedata.normalize("NFC", query)
    assert all(span.text and span.text in composed for span in spans_of(query, now))


@given(st.text() | SAID)
def test_any_text_asks_when_or_does_not(query: str) -> None:
    assert asks_when(query) in (True, False)


@given(st.text())
def test_folding_keeps_the_number_of_letters(text: str) -> None:
    assert len(fold(text)) == len(text)


@given(
    st.dates(min_value=date(1900, 1, 1), max_value=date(2099, 12, 31)), st.text('我去了x/(_ "\n', max_size=20)
)
def test_an_iso_date_is_found_anywhere(day: date, words: str) -> None:
    assert days(f"{words}{day}{words}") == [str(day)]


@given(st.dates(min_value=date(1950, 1, 1), max_value=date(2099, 12, 31)))
def test_a_date_is_read_as_it_is_written(day: date) -> None:
    assert days(f"on {day.day} {day:%B} {day.year}") == [str(day)]


@given(TIMES.filter(lambda now: now.year > 1))
def test_last_week_ends_before_this_one_begins(now: datetime) -> None:
    (span,) = spans_of("last week", now)
    assert 1 <= (now.date() - span.last).days <= 7
