"""时间线、它的图，以及一个时间点的详情。"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from core.model.time_travel import AsOf
from dashboard.charts.pointer import Reset
from dashboard.charts.time_axis import Dot, Flag
from dashboard.formatting import units
from dashboard.words.zh.notices import listed
from dashboard.words.zh.told import spoken

_KINDS = {
    "APPEND": "追加",
    "OVERWRITE": "覆盖",
    "COMPACT": "合并",
    "ANALYZE": "仅统计信息",
    "append": "追加",
    "overwrite": "覆盖",
    "delete": "删除",
    "replace": "重写",
}


def commit_kind(kind: str) -> str:
    return _KINDS.get(kind, kind.capitalize())


def lane(branch: str, held: bool, empty: bool) -> str:
    name = escape(branch if len(branch) <= 14 else branch[:13] + "…")
    return "由标签保留" if held else f"{name}<br>（空）" if empty else name


LEGEND_HELD = "已过期，由标签保留"
LEGEND_TAG = "标签"
LEGEND_BRANCH = "分支"
LEGEND_CONSUMER = "消费者从这里继续读取"
LEGEND_SCHEMA = "表结构变更"
LEGEND_DUE = {"commit": "写入作业下一次提交时过期", "expiry": "下一次过期时删除"}
SCHEMA_LETTER = "S"
LEGEND_PATH = "main 的指向"
LEGEND_RESET = "main 被手动移动"
PATH_HOVER = "main 的指向，按 snapshot-log"
STATES: Mapping[str, tuple[str, str]] = {
    "rolled-back": ("R", "已被回滚"),
    "staged": ("W", "已暂存，未发布"),
    "published": ("P", "先暂存，后发布"),
    "picked": ("C", "被 cherry-pick"),
    "orphaned": ("O", "不在任何引用上"),
}


TREND_ROWS = "行数"
TREND_FILES = "文件"
TREND_BYTES = "字节"


def axis_time(zone: str) -> str:
    return f"提交时间，{zone}"


def plain(text: str) -> str:
    """图表里他人写的文字。"""
    return escape(text)


def capitalized(text: str) -> str:
    return spoken(text)


def pointed(spans_ms: Sequence[tuple[int, int | None]], zone: str) -> str:
    """main 何时指向某个快照。"""
    if not spans_ms:
        return "按 snapshot-log 从未指向"
    found = [f"{units.moment(start, zone)} 至 {'现在' if end is None else units.moment(end, zone)}"
             for start, end in spans_ms[-3:]]  # fmt: skip
    return "；".join(([f"{len(spans_ms)} 次，最近"] if len(spans_ms) > 3 else []) + found)


def dot_hover(dot: Dot, under: int = 0) -> str:
    """只属于这个点的内容；其余由 `dot_template` 给出。"""
    lines = [f"<b>{dot.id}</b>"]
    if dot.delta_rows is not None and dot.total_rows is not None:
        lines[0] += f" {units.signed(dot.delta_rows)} 行 → {units.count(dot.total_rows)}"
    if dot.note:
        lines.append(escape(spoken(dot.note)).replace("；", "<br>"))
    if dot.tags:
        lines.append("标签：" + escape(listed(dot.tags, 4)))
    if under:
        lines.append(f"其下还有 {units.count(under)} 次提交：点击后放大可展开查看")
    return "<br>".join(lines)


def dot_template(kind: str, zone: str, held: bool) -> str:
    """图表本身的模板，它知道每个标记的时间：不必另传文字。"""
    expired = "，已过期" if held else ""
    return f"%{{customdata[1]}}<br>{escape(commit_kind(kind))}{expired}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


def state_hover(dot: Dot, zone: str) -> str:
    return f"{dot_hover(dot)}<br>{escape(commit_kind(dot.kind))}<br>{units.moment(dot.time_ms, zone)}"


def window_text(window_ms: tuple[int, int]) -> str:
    """一段时间在地址中的写法。"""
    return f"{window_ms[0]}..{window_ms[1]}"


def bin_hover(kind: str, number: int, total: int, window_ms: tuple[int, int], zone: str) -> str:
    return (
        f"<b>{units.plural(total, 'commit')}</b>，其中{commit_kind(kind)} {units.count(number)} 次"
        f"<br>{units.moment(window_ms[0], zone)}<br>至 {units.moment(window_ms[1], zone)}<br>点击展开查看"
    )


def cut_hover(branch: str) -> str:
    return f"分支 {escape(branch)} 从这里开始"


def mark_hover(before: int, after: int) -> str:
    return f"表结构 {before} → {after}"


def flag_label(flags: Sequence[Flag]) -> str:
    return flags[0].name + (f" +{len(flags) - 1}" if len(flags) > 1 else "")


def flag_hover(flags: Sequence[Flag], zone: str) -> str:
    names = escape(listed([flag.name for flag in flags]))
    return f"<b>标签 {names}</b><br>快照提交于 {units.moment(flags[0].time_ms, zone)}"


def reset_hover(found: Reset, zone: str) -> str:
    made = units.moment(found.made_ms, zone)
    return f"<b>main 被移到 {found.id}</b><br>{units.moment(found.time_ms, zone)}<br>提交于 {made}"


def pin_hover(name: str, next_snapshot: int, ahead: bool) -> str:
    rest = "，它尚未到来" if ahead else "，并需要其后的所有快照"
    return f"<b>消费者 {escape(name)}</b><br>下一个读取快照 {next_snapshot}{rest}"


TREND_ROWS_EXACT = "<b>%{y:,d}</b> 行"
TREND_FILES_EXACT = "<b>%{y:,d}</b> 个文件"
TREND_BYTES_EXACT = "<b>%{y:,d}</b> 字节"


def trend_template(exact: str, zone: str, named: bool) -> str:
    """图表本身的模板，它知道每个标记的数值、时间点和时间：不必另传文字。"""
    return f"{exact}{'，%{customdata}' if named else ''}<br>%{{x|%Y-%m-%d %H:%M:%S}} {zone}"


TIMELINE_ALT = "时间轴上的快照，以及标签、分支、消费者和表结构变更"
CLICK_A_POINT = "点击一个点，查看那次提交的全部内容。拖动可缩放，双击可还原。"
SHOW_ALL = "全部显示"
DENSE = "每根柱子是一段时间内的提交次数。点击一根可展开查看。"


def window(first_ms: int, last_ms: int, shown: int, zone: str) -> str:
    return f"{units.plural(shown, 'snapshot')}，从 {units.moment(first_ms, zone)} 到 {units.moment(last_ms, zone)}"


def point_title(found: AsOf) -> str:
    own = found.point.rsplit("/", 1)[-1]
    branch = "" if found.branch == "main" else f"（分支 {found.branch}）"
    return f"快照 {own}{branch}" if own.isdigit() else f"标签 {own.removeprefix('tag:')}{branch}"


# 时间点的详情 --------------------------------------------------------------------------------------------------------

DETAIL_NONE = "未选择时间点"
DIFF_PREVIOUS = "与前一个比较"
DIFF_LATEST = "与最新的比较"
QUERY_HERE = "查询"
TAG_HERE = "打标签"
SHOW_ON_TIMELINE = "在时间线上显示"
ALL_FIELDS = "JSON 的全部字段"
FIELD_NAMES: Mapping[str, str] = {
    "snapshot": "快照",
    "kind": "提交类型",
    "committed": "提交时间",
    "goes": "过期",
    "branch": "分支",
    "standing": "状态",
    "main": "main 曾指向这里",
    "schema": "表结构",
    "rows": "行数",
    "files": "有效文件",
    "bytes": "有效字节",
    "watermark": "Watermark 水位线",
    "user": "提交用户",
    "tags": "标签",
    "operation": "操作",
}


def cannot_be_told(why: str) -> str:
    return f"无法得知：{spoken(why)}"


RETAINED = "保留着的快照"
EXPIRED_HELD = "已过期，可用标签读取"
UNREADABLE = "无法读取"
ROWS_HELP = "有效文件中的行数，未按主键合并（快照文件的 totalRecordCount）。"
PREVIOUS, NEXT = "前一个", "后一个"
ASOF_HERE = "时间旅行"
PROTECT_THIS = "保护：打一个限时标签"
FIELDS_COPY = "文档原文，可复制："


def step_to(label: str, id: int) -> str:
    return f"{label}：{id}"


EARLIER, LATER = "更早", "更晚"
CLOSER, WIDER = "放大", "缩小"
RANGE = "所显示的时间段"
NOTHING_IN_WINDOW = "这段时间内没有提交。请缩小查看，或全部显示。"
POINTS_TABLE = "以表格列出各时间点，可用键盘选择，也可下载"
POINTS_TEACH = "选中一行与点击对应的点效果相同。文件和字节是当时有效的数据。"
POINT_COLUMNS: Mapping[str, str] = {
    "point": "时间点",
    "committed": "提交时间",
    "kind": "提交类型",
    "rows": "行数",
    "delta": "行数变化",
    "files": "有效文件",
    "bytes": "有效字节",
    "schema": "表结构",
    "tags": "标签",
    "note": "说明",
}
