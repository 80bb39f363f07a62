"""Every word the dashboard shows, a module for each page. Pages hold no sentences of their own.

Law: a sentence names the thing, the number with its unit, and where it helps the next step. Text that others wrote
(names of tables, tags, users) goes through `html.escape` before it enters a chart's hover text.

Pages say `words.NAME`, whichever module here holds it, so no name stands in two of them.
"""

from dashboard.present.words.asof import *
from dashboard.present.words.audit import *
from dashboard.present.words.diff import *
from dashboard.present.words.frame import *
from dashboard.present.words.lab import *
from dashboard.present.words.notices import *
from dashboard.present.words.overview import *
from dashboard.present.words.query import *
from dashboard.present.words.retention import *
from dashboard.present.words.schedule import *
from dashboard.present.words.tags import *
from dashboard.present.words.timeline import *
from dashboard.present.words.trouble import *
