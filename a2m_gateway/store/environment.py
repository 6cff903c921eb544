"""What a child process sees of this one's environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

__all__ = ["child_environment"]

_PASSED_ON = re.compile(
    # Where programs, libraries, certificates of the system and temporary files are.
    r"PATH|HOME|USERPROFILE|TMPDIR|TMP|TEMP|SYSTEMROOT|VIRTUAL_ENV"
    r"|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|DYLD_FALLBACK_LIBRARY_PATH"
    # How text and time are written.
    r"|LANG|LANGUAGE|LC_\w+|TZ"
    # How the interpreter runs, and what watches it in tests.
    r"|PYTHON\w+|COVERAGE_\w+"
    # How many threads a library of numbers takes.
    r"|(?:OPENBLAS|OMP|MKL|NUMEXPR|VECLIB)_\w+"
)


def child_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that an engine needs to run.

    Those that are known to be harmless, and not all but a few: any other may hold a secret, and a
    child reads folders of which nobody knows who wrote them.

    Args:
        environment: None is this process's.

    >>> child_environment({"PATH": "/bin", "LC_ALL": "C", "OPENAI_API_KEY": "sk-1"})
    {'PATH': '/bin', 'LC_ALL': 'C'}
    """
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if _PASSED_ON.fullmatch(name.upper())}
