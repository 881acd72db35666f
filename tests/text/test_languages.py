"""Every language is one file, whose word classes are patterns; a language may lack sections."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memlines.paths import LANGUAGES_DIR, languages_with
from memlines.text.language import section
from memlines.text.patterns import WordClasses, join_lines, word_classes

FILES = sorted(LANGUAGES_DIR.glob("*.toml"))
USES = ("intent", "capture")
CLASSES = [(code, use) for use in USES for code in languages_with(use)]


def test_the_languages_are_those_whose_files_are_there() -> None:
    assert languages_with("intent")[:5] == ("en", "nl", "de", "fr", "es")
    assert languages_with("nothing of the kind") == ()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_section_by_itself_is_what_the_whole_file_says(file: Path) -> None:
    whole = tomllib.loads(file.read_text(encoding="utf-8"))
    assert {name: section(file.stem, name) for name in whole} == whole


@pytest.mark.parametrize(("code", "use"), CLASSES)
def test_every_word_class_is_a_pattern(code: str, use: str) -> None:
    classes = word_classes(code, use)
    patterns = [classes.words(name).pattern for name in section("any", use) | section(code, use)]
    assert [pattern for pattern in patterns if "…" in pattern] == []


@pytest.mark.parametrize(("code", "use"), CLASSES)
def test_no_word_class_is_empty(code: str, use: str) -> None:
    classes = word_classes(code, use)
    assert [
        name for name in section("any", use) | section(code, use) if classes.words(name).fullmatch("")
    ] == []


@pytest.mark.parametrize(("code", "use"), CLASSES)
def test_no_word_class_holds_an_empty_alternative(code: str, use: str) -> None:
    joined = {name: join_lines(words) for name, words in section(code, use).items()}
    assert [name for name, words in joined.items() if "||" in words or words.strip("|") != words] == []


def test_a_line_that_begins_with_a_bar_continues_the_line_before() -> None:
    assert join_lines("\n    (?:a\n        |b) c\n    d\n") == "(?:a|b) c|d"


def test_a_class_that_a_language_lacks_is_never_met() -> None:
    classes = WordClasses("xx", {"keep": "recorda"})
    assert classes.words("keep").search("recorda isto") is not None
    assert classes.words("write").search("recorda isto") is None


def test_a_language_is_added_by_one_file(tmp_path: Path) -> None:
    shutil.copytree(LANGUAGES_DIR, tmp_path / "languages")
    (tmp_path / "languages/eo.toml").write_text(ESPERANTO, encoding="utf-8")
    program = (
        "import sys, pathlib, memlines.paths; memlines.paths.LANGUAGES_DIR = pathlib.Path(sys.argv[1]);"
        "from memlines.agent.intent import detect; from memlines.settings import Settings;"
        "found = detect('memoru ke ni uzas la novan datumbazon por la testoj kaj por la retejo');"
        "print(found.intent, found.language, 'eo' in Settings().intent.languages)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "languages")]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")
    assert done.stdout.split() == ["remember", "eo", "True"]


ESPERANTO = """# Esperanto

[words]
stop_words = 'la ke ni kaj por'

[intent]
keep = 'memoru ke'
"""
