"""core 关于如何读懂时间的话，一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_TIMES: Mapping[str, str] = {
    'not a valid time: "{text}".': "不是有效的时间：“{text}”。",
    "Try {examples}.": "可以写：{examples}。",
    "Check month, day, hour and minute.": "请检查月、日、时、分。",
    "The time zone {name!r} is not known here, so the time could mean different moments.": (
        "这里不认识时区 {name!r}，因此这个时间可能指不同的时刻。"
    ),
    "Write an offset (+08:00) or a place (Asia/Shanghai); abbreviations such as CST mean several zones.": (
        "请写偏移量（+08:00）或地名（Asia/Shanghai）；CST 之类的缩写对应多个时区。"
    ),
    "{text} ({words})": "{text}（{words}）",
    "{first} or {second}": "{first} 或 {second}",
    "Write which one: {choices}.": "请写明是哪一个：{choices}。",
    '"{text}" can be today or a week ago.': "“{text}”可以是今天，也可以是一周前。",
    '"{text}" can be day/month or month/day.': "“{text}”可以是日/月，也可以是月/日。",
    '"{text}" can be a date or milliseconds since 1970.': "“{text}”可以是日期，也可以是 1970 年以来的毫秒数。",
    'Clocks in {zone} showed "{text}" twice, because they were set back.': (
        "{zone} 的时钟两次显示“{text}”，因为它们被拨慢了。"
    ),
    'Clocks in {zone} skipped "{text}", because they were set forward.': (
        "{zone} 的时钟跳过了“{text}”，因为它们被拨快了。"
    ),
    "{at} ({zone}), {utc}": "{at}（{zone}），即 {utc}",
    'Read "{text}" as {at}.': "“{text}”读作 {at}。",
    "No snapshot has the id {text}.": "没有编号为 {text} 的快照。",
    "Read {text} as {unit} since 1970: {at}.": "{text} 按 1970 年以来的{unit}读作：{at}。",
    "seconds": "秒数",
    "milliseconds": "毫秒数",
    "microseconds": "微秒数",
    "nanoseconds": "纳秒数",
}
