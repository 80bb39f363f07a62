"""core 所说的话：每句都带着自己的模板和填入的值，在这里用中文说出来。"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.messages import Told
from dashboard.words.zh.told_changes import OF_CHANGES
from dashboard.words.zh.told_effects import OF_EFFECTS
from dashboard.words.zh.told_files import OF_FILES
from dashboard.words.zh.told_limits import OF_LIMITS
from dashboard.words.zh.told_places import OF_PLACES
from dashboard.words.zh.told_plans import OF_PLANS
from dashboard.words.zh.told_points import OF_POINTS
from dashboard.words.zh.told_queries import OF_QUERIES
from dashboard.words.zh.told_references import OF_REFERENCES
from dashboard.words.zh.told_reports import OF_REPORTS
from dashboard.words.zh.told_runs import OF_RUNS
from dashboard.words.zh.told_stories import OF_STORIES
from dashboard.words.zh.told_times import OF_TIMES


def spoken(text: str) -> str:
    """一段文字；如果是 core 说的句子，就用中文说。"""
    if not isinstance(text, Told) or text.template not in _TOLD:
        return text
    said = _TOLD[text.template].format(**{name: _value(value) for name, value in text.values.items()})
    return said.rstrip("。") if text.template == "{clause}" else said


def _value(value: object) -> object:
    """填入的值：句子和错误用中文说，其余照旧。"""
    if isinstance(value, Exception):
        said = str(value)
        value = value.args[0] if value.args == (said,) else said  # Python's own errors forget how theirs was made
    return spoken(value) if isinstance(value, str) else value


def listing(reasons: Sequence[str]) -> str:
    return "；".join(map(spoken, reasons))


_TOLD: Mapping[str, str] = {
    "{first} {second}": "{first}{second}",
    "{first}; {rest}": "{first}；{rest}",
    "": "",
    "{clause}": "{clause}",
    **OF_CHANGES,
    **OF_FILES,
    **OF_LIMITS,
    **OF_PLACES,
    **OF_PLANS,
    **OF_POINTS,
    **OF_QUERIES,
    **OF_REFERENCES,
    **OF_REPORTS,
    **OF_EFFECTS,
    **OF_RUNS,
    **OF_STORIES,
    **OF_TIMES,
}
