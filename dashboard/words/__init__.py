"""Every word the dashboard shows, a module for each page. Pages hold no sentences of their own.

Law: a sentence names the thing, the number with its unit, and where it helps the next step. Text that others wrote
(names of tables, tags, users) goes through `html.escape` before it enters a chart's hover text.

Pages say `words.NAME`, whichever module here holds it, so no name stands in two of them. The words here are English;
`words.NAME` is what they are in the reader's language (`formatting/language.py`). So it is said while a page is drawn,
never at import.
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
from dashboard.words.retention import *
from dashboard.words.retention_curve import *
from dashboard.words.tags import *
from dashboard.words.timeline import *
from dashboard.words.version_picker import *


class _InTheReadersLanguage(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        return language.said(super().__getattribute__(name))


sys.modules[__name__].__class__ = _InTheReadersLanguage
