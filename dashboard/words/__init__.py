"""All texts of the dashboard, one module per page. Pages contain no sentences of their own.

Invariant: a sentence names the object, the number with its unit and, where useful, the next step. Text written by
others (names of tables, tags, users) is escaped with `html.escape` before it is used in a chart's hover text.

Pages use `words.NAME`, whichever module defines it, so names are unique across the modules. The texts here are in
English; `words.NAME` returns them in the reader's language (`formatting/language.py`). It must therefore be read while
a page is drawn, never at import time.
"""

import sys
from types import ModuleType
from typing import Any

from dashboard.formatting import language
from dashboard.formatting.language import capitalized as capitalized
from dashboard.formatting.language import listing as listing
from dashboard.formatting.language import speaker as speaker
from dashboard.formatting.language import spoken as spoken
from dashboard.words.asof import *
from dashboard.words.audit import *
from dashboard.words.automatic_tags import *
from dashboard.words.bisect import *
from dashboard.words.diff import *
from dashboard.words.doctor import *
from dashboard.words.errors import *
from dashboard.words.explanations import *
from dashboard.words.files import *
from dashboard.words.frame import *
from dashboard.words.notices import *
from dashboard.words.overview import *
from dashboard.words.query import *
from dashboard.words.recovery_goal import *
from dashboard.words.retention import *
from dashboard.words.retention_curve import *
from dashboard.words.runs import *
from dashboard.words.tags import *
from dashboard.words.timeline import *
from dashboard.words.version_picker import *


class _InTheReadersLanguage(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        return language.translated(super().__getattribute__(name))


sys.modules[__name__].__class__ = _InTheReadersLanguage
