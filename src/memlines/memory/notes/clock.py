"""What time it is for the user."""

from __future__ import annotations

from datetime import UTC, datetime

from memlines.errors import SettingsError
from memlines.settings.tree import Settings


def local_now(settings: Settings, now: datetime | None = None) -> datetime:
    """Return a moment, by default the present one, in the user's time zone."""
    moment = datetime.now(UTC) if now is None else now
    if settings.timezone is None:
        return moment.astimezone()
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        zone = ZoneInfo(settings.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # OSError: the name of a folder of zones
        raise SettingsError(
            f"setting 'timezone' is {settings.timezone!r}, which this system does not know",
            todo="It takes a name such as Europe/Amsterdam, or nothing for the zone of this machine",
        ) from None
    return moment.astimezone(zone)
