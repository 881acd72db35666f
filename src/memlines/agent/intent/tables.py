"""The languages that intents are told in."""

from __future__ import annotations

from collections.abc import Mapping

from memlines.agent.intent.words import (
    dutch,
    dutch_talk,
    english,
    english_talk,
    french,
    french_talk,
    german,
    german_talk,
    spanish,
    spanish_talk,
)

TABLES: Mapping[str, Mapping[str, str]] = {
    "en": english.WISHES | english_talk.TALK,
    "nl": dutch.WISHES | dutch_talk.TALK,
    "de": german.WISHES | german_talk.TALK,
    "fr": french.WISHES | french_talk.TALK,
    "es": spanish.WISHES | spanish_talk.TALK,
}
