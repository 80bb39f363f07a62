"""core 所说的话：每句都带着自己的模板和填入的值，在这里用中文说出来。"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.told import Told
from dashboard.present.words.zh.told_plans import OF_PLANS
from dashboard.present.words.zh.told_points import OF_POINTS


def spoken(text: str) -> str:
    """一段文字；如果是 core 说的句子，就用中文说。"""
    if not isinstance(text, Told) or text.template not in _TOLD:
        return text
    values = {name: spoken(value) if isinstance(value, str) else value for name, value in text.values.items()}
    return _TOLD[text.template].format(**values)


def listing(reasons: Sequence[str]) -> str:
    return "；".join(map(spoken, reasons))


_TOLD: Mapping[str, str] = {
    "{first} {second}": "{first}{second}",
    "{first}; {rest}": "{first}；{rest}",
    "": "",
    **OF_PLANS,
    **OF_POINTS,
}
