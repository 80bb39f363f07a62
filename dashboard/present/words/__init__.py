"""Every word the dashboard shows, a module for each page. Pages hold no sentences of their own.

Law: a sentence names the thing, the number with its unit, and where it helps the next step. Text that others wrote
(names of tables, tags, users) goes through `html.escape` before it enters a chart's hover text.

Pages say `words.NAME`, whichever module here holds it, so no name stands in two of them. Each name stands a second
time, of the same kind, in the module of the same name under `zh`; `words.NAME` is the one of the reader's language.
So it is said while a page is drawn, never at import.
"""

import sys
from types import ModuleType
from typing import Any

from dashboard.present import language
from dashboard.present.words import zh
from dashboard.present.words.asof import *
from dashboard.present.words.audit import *
from dashboard.present.words.bisect import *
from dashboard.present.words.diff import *
from dashboard.present.words.doctor import *
from dashboard.present.words.entering import *
from dashboard.present.words.files import *
from dashboard.present.words.frame import *
from dashboard.present.words.how import *
from dashboard.present.words.lab import *
from dashboard.present.words.notices import *
from dashboard.present.words.overview import *
from dashboard.present.words.pointing import *
from dashboard.present.words.query import *
from dashboard.present.words.report import *
from dashboard.present.words.retention import *
from dashboard.present.words.schedule import *
from dashboard.present.words.tags import *
from dashboard.present.words.timeline import *
from dashboard.present.words.told import *
from dashboard.present.words.top import *
from dashboard.present.words.trouble import *

_IN_CHINESE = {
    name: said for name, said in vars(zh).items() if not name.startswith("_") and not isinstance(said, ModuleType)
}


class _InTheReadersLanguage(ModuleType):
    def __getattribute__(self, name: str) -> Any:
        if name in _IN_CHINESE and language.chosen() == language.CHINESE:
            return _IN_CHINESE[name]
        return super().__getattribute__(name)


sys.modules[__name__].__class__ = _InTheReadersLanguage
