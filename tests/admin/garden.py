"""Notes that differ enough to be asked about."""

from __future__ import annotations

TOPICS = {
    "memory/tomatoes.md": "# Tomatoes\n\n"
    "- Sungold ripens first behind the kitchen window every summer\n"
    "- Roma carries heavy fruit and needs strong bamboo stakes\n",
    "memory/bees.md": "# Bee hives\n\n"
    "Margriet inspects both hives on Thursday and writes down the weight of every frame.\n\n"
    "## Winter feeding\n\nSugar syrup stops in October, then fondant lies above the cluster.\n",
    "memory/greenhouse.md": "# Greenhouse\n\n"
    "- The heater switches on below four degrees and needs paraffin weekly\n"
    "- Broken panes come from Hendrik, who cuts glass beside the mill\n",
    "memory/gereedschap.md": "# Gereedschap\n\n"
    "- De zeis hangt achter de schuurdeur en wordt elk voorjaar geslepen\n"
    "- Het snoeimes van opa ligt in de bovenste lade van de werkbank\n",
}
LOGS = {
    "memory/2026-03-02.md": "- 09:10 The greenhouse thermometer froze overnight and lost its glass tube\n",
    "memory/2026-04-11.md": "- 18:40 Tomatoes were sown in peat trays beside the boiler, forty seeds each\n",
    "memory/2026-05-20.md": "- 07:30 A swarm settled in the pear orchard and was caught before breakfast\n",
}
GARDEN = {**TOPICS, **LOGS}
