"""The limits that describe declares and that are refused when exceeded (spec 4.1)."""

from __future__ import annotations

import msgspec

from a2m_gateway.errors import InvalidParams, QuotaExceeded

__all__ = ["Limits"]

RECALL_DEFAULT = 10
"""Records that a recall without a limit returns."""


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Declared under ``limits``, in this order.

    Attributes:
        max_recall_limit: Records of one recall.
        max_timeline_limit: Records of one timeline.
        max_request_bytes: Of one message, on every transport.
    """

    max_recall_limit: int = 1_000
    max_timeline_limit: int = 10_000
    max_request_bytes: int = 4 * 1024 * 1024

    def recall(self, limit: int | None) -> int:
        """The records that a recall may return.

        Raises:
            InvalidParams, QuotaExceeded: See ``_checked``.
        """
        checked = _checked(limit, self.max_recall_limit, "max_recall_limit")
        return min(RECALL_DEFAULT, self.max_recall_limit) if checked is None else checked

    def timeline(self, limit: int | None) -> int | None:
        """The records that a timeline may return; None is all of them."""
        return _checked(limit, self.max_timeline_limit, "max_timeline_limit")


def _checked(limit: int | None, largest: int, name: str) -> int | None:
    if limit is None:
        return None
    if limit < 0:
        raise InvalidParams("`limit`: must not be negative", field="limit")
    if limit == 0:
        # spec 4.3: 0 is "no limit" only where no cap is declared, and one is.
        raise InvalidParams(f"`limit`: 0 means no limit, and {name} is {largest}", field="limit")
    if limit > largest:
        raise QuotaExceeded(f"`limit`: {limit} is more than {name}, {largest}", **{name: largest})
    return limit
