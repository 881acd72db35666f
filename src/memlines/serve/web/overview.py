"""See all of it at once: what happened on which day, and the map of what is alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date, timedelta
from itertools import accumulate
from math import hypot
from typing import TYPE_CHECKING

from memlines.errors import UsageError
from memlines.memory.notes.entries import local_now
from memlines.serve.http.listener import Reply

if TYPE_CHECKING:
    from memlines.memory.calendar import Calendar
    from memlines.memory.map import MapPoint
    from memlines.serve.web.site import Request

_MOST_ITEMS = 300
"""What one page lists of a day, or of the last days."""

_LATEST_DAYS = 14
_WIDE, _HIGH = 1000, 560
"""The size of the map, in whole numbers."""

_FEW = 800
"""Points that are drawn larger: so many do not hide each other."""

_NEAR = 8
_COLOURS = 8
_AGES = ((7, "this week"), (31, "this month"), (92, "this quarter"), (366, "this year"), (10**6, "older"))
_MARKS = {
    "duplicate": "nearly the same",
    "contradiction": "contradicts another",
    "orphan": "like nothing else",
}


# The timeline


def show_timeline(request: Request) -> Reply:
    """Show a year as a calendar, and the entries of a day or of the last days."""
    calendar = request.memory.calendar()
    today = local_now(request.memory.settings).date()
    try:
        day = date.fromisoformat(request.get("day")) if request.get("day") else None
        year = request.number("year") or (day or next(iter(calendar.days), today)).year
        begin = date(year, 1, 1)
    except ValueError:
        raise UsageError("this is not a day or a year", todo="Choose one in the calendar") from None
    days = [day] if day else [one for one in calendar.days if one.year == year][:_LATEST_DAYS]
    later = [one for one in calendar.days if day and one > day]
    earlier = [one for one in calendar.days if day and one < day]
    known = sorted(calendar.days)
    return request.render(
        "timeline.html",
        calendar=calendar,
        day=day,
        year=year,
        years=sorted(Counter(one.year for one in known).items()),
        cells=[
            _cell(begin + timedelta(at), begin, calendar) for at in range((date(year + 1, 1, 1) - begin).days)
        ]
        if year < date.max.year
        else [],
        shown=[
            (one, calendar.days.get(one, ())[:_MOST_ITEMS], len(calendar.days.get(one, ()))) for one in days
        ],
        later=later[-1] if later else None,
        earlier=earlier[0] if earlier else None,
        known=[one.isoformat() for one in known if one <= today],
    )


def _cell(day: date, begin: date, calendar: Calendar) -> tuple[date, int, int, int, int]:
    """Return a day of the calendar: its week and weekday, how full it is from 0 to 4, and its count."""
    week, weekday = divmod((day - begin).days + begin.weekday(), 7)
    count = len(calendar.days.get(day, ()))
    return day, week, weekday, min(4, count.bit_length()), count


def draw_growth(calendar: Calendar) -> tuple[str, list[tuple[str, int]]]:
    """Return the outline of how much there was by the end of each month, and the figures.

    A single month is as wide as the picture.
    """
    months = Counter({f"{day:%Y-%m}": 0 for day in calendar.days})
    for day, items in calendar.days.items():
        months[f"{day:%Y-%m}"] += len(items)
    named = sorted(months)
    sums = [*accumulate(months[month] for month in named)]
    if not sums or not sums[-1]:
        return "", []
    step = 600 / max(1, len(sums) - 1)
    points = [f"L{at * step:.0f} {90 - 84 * count / sums[-1]:.0f}" for at, count in enumerate(sums)]
    return f"M0 90{''.join(points)}H600V90Z", [*zip(named, sums, strict=True)]


# The map


def show_map(request: Request) -> Reply:
    """Show passages as points, those that mean alike near each other; with a place, what is near it."""
    made = request.memory.map()
    x, y = request.number("x"), request.number("y")
    near: Sequence[MapPoint] = ()
    if x is not None and y is not None:
        near = sorted(made.points, key=lambda one: hypot(one.x * _WIDE - x, one.y * _HIGH - y))[:_NEAR]
    if request.get("part"):
        return request.render("near.html", near=near)
    colour = request.get("colour") if request.get("colour") in ("topic", "age") else "source"
    today = local_now(request.memory.settings).date()
    groups: dict[str, Callable[[MapPoint], str]] = {
        "source": lambda one: "conversations" if one.source == "sessions" else "notes",
        "topic": lambda one: one.topic or "no topic",
        "age": lambda one: _age_of(one.day, today),
    }
    named = Counter(map(groups[colour], made.points)).most_common(_COLOURS - 1)
    order = {name: at for at, (name, _) in enumerate(named)}
    paths = [""] * _COLOURS
    for one in made.points:
        paths[order.get(groups[colour](one), _COLOURS - 1)] += _move_to(one) + "h0"
    marked = {name: [one for one in made.points if name in one.marks] for name in _MARKS}
    rings = {
        name: "".join(f"{_move_to(one)}m-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0" for one in found[:_MOST_ITEMS])
        for name, found in marked.items()
    }
    others = len(made.points) - sum(count for _, count in named)
    return request.render(
        "map.html",
        made=made,
        colour=colour,
        colours=list(groups),
        paths=paths,
        rings=rings,
        legend=[*named, *([("others", others)] if others else [])],
        marks=[(_MARKS[name], found[:_MOST_ITEMS], len(found)) for name, found in marked.items() if found],
        near=near,
        few=len(made.points) <= _FEW,
    )


def _move_to(point: MapPoint) -> str:
    return f"M{point.x * _WIDE:.0f} {point.y * _HIGH:.0f}"


def _age_of(day: str, today: date) -> str:
    if not day:
        return "no date"
    age = (today - date.fromisoformat(day)).days
    return next(name for most, name in _AGES if age <= most)
