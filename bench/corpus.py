"""Makes workspaces of Markdown notes to measure with: the same bytes from the same seed.

The notes look like notes: headings, paragraphs, lists, code, tables and dates, in seven
languages, with lines of very different length. Words are as unevenly spread as in real text
(a few are everywhere, most are rare), because that is what a word index is sensitive to. File
sizes are log-normal: many short notes, a few long ones.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

MEAN_FILE_BYTES = 4_000
_SPREAD = 0.9
_FILES_PER_FOLDER = 120
_TAIL_WORDS = 9_000
_LONG_AGO = 1_700_000_000
"""When every note was last changed: files changed just now are read again by the next sync."""

_LANGUAGES = {
    "en": (
        "the of and to a in is we for that on it with as was are be this by have from at not or an will can"
        " but they which one all there when what use about how time more other if new data only some work"
        " team after first also because project meeting decision server customer budget release schedule",
        "ba ter con ing pro ment re ly sta tion er al ve ni co ma de ger li tra in um per ex ist ou ck sh",
    ),
    "de": (
        "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden"
        " aus er hat dass sie nach wird bei einer um am sind noch wie einem über so zum kann Termin Projekt",
        "ge ver sch ung en er ab lich keit be auf tz ei st mü len fra gen ord nü ber kel wei haus tor än rün",
    ),
    "fr": (
        "de la le et les des en un du une que est pour qui dans a par plus pas au sur ne se ce il sont avec"
        " ou son aux cette mais comme on tout nous été sa fait leur bien peut deux réunion projet équipe",
        "ment tion ré pa ou che eur é ais ble por ti que lon ve ma nou ci au té tre fi gn is ère on cou",
    ),
    "es": (
        "de la que el en y a los se del las un por con no una su para es al lo como más o pero sus le ha me"
        " si sin sobre este ya entre cuando todo esta ser son dos también fue reunión equipo proyecto",
        "ción do ra mi en to ar es ca lo per ña mos ti ble co ve ra da ón ju lle gue si tu ma bre cha",
    ),
    "nl": (
        "de het een van en in is dat op te zijn met voor niet aan er om ook als maar dan bij nog uit naar"
        " door over ze zich hij heeft meer wordt al worden kan wel geen deze vergadering planning besluit",
        "ge ver sch ing en ij oe aa lijk heid be uit ken der te ma lo wij ui den vra ke ste on bo mee",
    ),
    "ru": (
        "и в не на что по это как для он к но из за от так же все или мы при было быть если уже только"
        " после нет есть под время может работа проект решение встреча",
        "про ть ние ста ка рош во ла ми пер ов ость на реш ко ва де ли ся мо ный ту ша жи буд ще",
    ),
    "zh": (
        "的 一 是 在 不 了 有 和 人 这 中 大 为 上 个 国 我 以 要 他 时 来 用 们 生 到 作 地 于 出 就"
        " 分 对 成 会 可 主 发 年 动 同 工 也 能 下 过 子 说 产 种 面 而 方 后 多 定 行 学 法 项 目 议 决",
        "数 据 库 计 划 预 算 客 户 服 务 器 团 队 文 件 备 份 测 试 版 本 日 程 风 险 合 布"
        " 问 题 安 全 网 络",
    ),
}
"""Of each language: the words that are everywhere, and the syllables its rare ones are made of."""

_SHARES = {"en": 50, "de": 12, "fr": 10, "es": 10, "nl": 8, "ru": 5, "zh": 5}
_NAMES = ("config", "request", "handler", "index", "token", "cache", "batch", "client", "queue", "worker")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a language, the frequent ones first, and how frequent each is."""

    words: list[str]
    cumulative: list[float]
    joint: str

    def draw(self, randomly: random.Random, count: int) -> list[str]:
        """Draw words as often as a text would hold them."""
        return randomly.choices(self.words, cum_weights=self.cumulative, k=count)

    def sentence(self, randomly: random.Random) -> str:
        """Make one sentence of three to some thirty words."""
        words = self.draw(randomly, 3 + min(30, int(randomly.expovariate(1 / 9))))
        text = self.joint.join(words)
        return text[0].upper() + text[1:] + ("。" if not self.joint else ".")


def write_workspace(
    root: Path, files: int, mean_bytes: int = MEAN_FILE_BYTES, seed: int = 1, *, dated: bool = True
) -> int:
    """Fill a folder with notes and return how many bytes of text they hold.

    Names of some notes hold a day, unless `dated` is false: some programs rank those by their age.
    """
    total = 0
    for path, text in notes(files, mean_bytes, seed, dated=dated):
        content = text.encode()
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
        os.utime(target, (_LONG_AGO, _LONG_AGO))
        total += len(content)
    return total


def notes(files: int, mean_bytes: int, seed: int, *, dated: bool = True) -> Iterator[tuple[str, str]]:
    """Yield the path and the text of each note."""
    randomly = random.Random(seed)
    middle = math.log(mean_bytes) - _SPREAD**2 / 2
    for number in range(files):
        language = randomly.choices(list(_SHARES), list(_SHARES.values()))[0]
        size = int(randomly.lognormvariate(middle, _SPREAD))
        yield _path(number, dated), _note(randomly, vocabulary(language), number, size)


def queries(count: int, seed: int = 2) -> list[str]:
    """Make questions of one to ten words, common and rare ones; a fifth hold a word that no note holds."""
    randomly = random.Random(seed)
    made = []
    for number in range(count):
        words = vocabulary(randomly.choices(list(_SHARES), list(_SHARES.values()))[0])
        telling = randomly.choices(words.words[40:3_000], k=1 + number % 4)
        filling = words.draw(randomly, randomly.randrange(6))
        if randomly.random() < 0.2:
            telling.append(f"zq{randomly.randrange(10_000)}")
        asked = telling + filling
        randomly.shuffle(asked)
        made.append(words.joint.join(asked) + randomly.choice(["", "?"]))
    return made


@cache
def vocabulary(language: str) -> Vocabulary:
    """Return the words of a language; rare ones are put together from its syllables."""
    common, syllables = (text.split() for text in _LANGUAGES[language])
    randomly = random.Random(language)
    words = dict.fromkeys(common)
    while len(words) < len(common) + _TAIL_WORDS:
        words.setdefault("".join(randomly.choices(syllables, k=randomly.choice([2, 2, 3, 3, 4]))))
    weights = [1 / (rank + 3) ** 1.05 for rank in range(len(words))]
    return Vocabulary(list(words), list(accumulate(weights)), "" if language == "zh" else " ")


def _path(number: int, dated: bool) -> str:
    folder = number // _FILES_PER_FOLDER
    if dated and folder % 4 == 0:
        day = f"20{10 + folder // 4 % 16}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        return f"memory/log-{folder:03d}/{day}-{number:05d}.md"
    return f"memory/area-{folder:03d}/topic-{number:05d}.md"


def _note(randomly: random.Random, words: Vocabulary, number: int, size: int) -> str:
    parts = [f"# {_title(randomly, words)} {number}\n"]
    length = len(parts[0])
    while length < size:
        block = randomly.choices(_BLOCKS, _BLOCK_SHARES)[0](randomly, words)
        parts.append(block)
        length += len(block.encode())
    return "\n".join(parts)


def _title(randomly: random.Random, words: Vocabulary) -> str:
    return words.joint.join(words.draw(randomly, randomly.randint(1, 5))).title()


def _heading(randomly: random.Random, words: Vocabulary) -> str:
    return f"{'#' * randomly.choice([2, 2, 2, 3, 3, 4])} {_title(randomly, words)}\n"


def _paragraph(randomly: random.Random, words: Vocabulary) -> str:
    """Return a paragraph: one long line, or a line a sentence."""
    sentences = [words.sentence(randomly) for _ in range(randomly.randint(1, 7))]
    return randomly.choice([" ", "\n"]).join(sentences) + "\n"


def _list(randomly: random.Random, words: Vocabulary) -> str:
    mark = randomly.choice(["- ", "- [ ] ", "1. ", "  - "])
    return "".join(f"{mark}{words.sentence(randomly)}\n" for _ in range(randomly.randint(2, 8)))


def _log(randomly: random.Random, words: Vocabulary) -> str:
    time = f"{randomly.randrange(24):02d}:{randomly.randrange(60):02d}"
    return f"- {time} {words.sentence(randomly)} (#{randomly.randrange(9_999)})\n"


def _table(randomly: random.Random, words: Vocabulary) -> str:
    rows = [words.draw(randomly, 3) for _ in range(randomly.randint(2, 7))]
    lines = ["| " + " | ".join(row) + f" | {randomly.randrange(10_000)} |" for row in rows]
    return "\n".join(["| a | b | c | n |", "|---|---|---|---|", *lines]) + "\n"


def _code(randomly: random.Random, words: Vocabulary) -> str:
    lines = []
    for _ in range(randomly.randint(2, 9)):
        one, two = randomly.choices(_NAMES, k=2)
        lines.append(
            f"    {one}_{two} = {two}.{one}({randomly.randrange(500)})  # {words.draw(randomly, 1)[0]}"
        )
    return "```python\n" + "\n".join(lines) + "\n```\n"


_BLOCKS: list[Callable[[random.Random, Vocabulary], str]] = [_heading, _paragraph, _list, _log, _table, _code]
_BLOCK_SHARES = [18, 40, 16, 14, 5, 7]
