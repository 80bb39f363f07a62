"""保留：什么可以删除、计划，以及执行计划。"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.formatting import units
from dashboard.words.zh.told import listing

RETENTION_TEACH = "说明什么可以删除。这里不会改动任何东西：先让你看清会释放哪些文件，以及其余的为什么留下。"
MODE_EXPIRE = "让快照过期"
MODE_TAGS = "删除标签"
MODE_CHANGELOGS = "让 changelog 过期"
KEEP_MAX = "最多保留"
KEEP_MAX_HELP = "最多保留多少个最新的快照（retain-max）。更早的即使还不久也会删除。"
KEEP_MIN = "至少保留"
KEEP_MIN_HELP = "无论如何都保留多少个最新的快照（retain-min）。"
KEEP_LAST_HELP = "每个分支无论如何都保留多少个最新的快照（retain-last）；分支自己的数量优先。"
REFS_TOO = "一并删除的引用"
REFS_HINT = "选择标签和分支"
CUTOFF_HELP = "时长（如 `7 d`、`36 h`）或时间。留空：用表自己的时限，未设置时为五天。分支自己的时限优先。"


def own_age(age: str) -> str:
    return f"表自己的：{age}"


OLDER_THAN = "只限早于"
OLDER_THAN_HELP = "时长（如 `7 d`、`36 h`）或时间。比它新的快照会保留，除非超过了最多保留的数量。"
OLDER_THAN_HINT = "7d、36 h、2026-11-01"
MAX_DELETES = "一次最多"
MAX_DELETES_HELP = "留空：全部做完。引擎自己每次到 snapshot.expire.limit（50）个就停止。"
DROP_TOO = "一并删除的标签"
TAGS_OLDER = "在此之前创建的标签"
TAGS_OLDER_HELP = (
    "时长（如 `90 d`）或时间：在此之前创建的标签也算进同一个计划。只有创建时带了保留期限的标签才记有创建时间；"
    "没有的会保留，并会说明。"
)
TAGS_ENDED = "期限已过的标签"
TAGS_ENDED_HELP = "也包括自己的保留期限已过的标签，按运行 Snapscope 的机器的时钟判断。"
CHANGELOG_AGE = "长期保留的 changelog 按时长过期，不能按某一时刻。"
CHANGELOG_AGE_NEXT = "请写整数加单位：7 d、36 h。"
UNSET = "未设置"
TAGS_TO_DELETE = "要删除的标签"
BRANCH = "分支"
PREVIEW_EMPTY_EXPIRE = "请在上方至少设置一条规则，看看会释放什么。"
PREVIEW_EMPTY_TAGS = "请在上方选择一个或多个标签，看看删除它们会释放什么。"
TAGS_KEEP_NOTHING = "表自己的规则本来就保留这些标签所指的内容，或者全部保留，因此删除标签不释放任何东西。"
NO_TAGS_TO_DELETE = "这张表没有标签，没有可删除的。"
MODE = "什么可以删除"
OLDER_THAN_NEXT = "请写整数加单位（7 d、36 h、90 min），或时间，如 2026-11-01、2026-11-01T08:00。"
TAGS_TO_DELETE_HINT = "选择标签"
KEEPS_BELOW = "由留下的时间点占用"
TAGS_KEEP = "仅由标签保留"
TAGS_KEEP_BELOW = "将删除的时间点曾占用"
GO = "将删除的时间点"
HOW = "如何计算"
STEPS = "步骤"
STEP_HEADS = ("#", "步骤")
PLANNED_AT = "计算时刻"
PART_FREED = "将释放"
PART_TAGS = "从历史中消失，仅由标签保留"
PART_STAYS = "保留"
KIND_HEADS = ("类型", "文件", "字节")
KEPT_BACK_HEADS = ("文件", "为什么留下")
ENDS = "失效"
FREES = "释放"
KEEPS = "保留"
VERDICTS = "逐个时间点的判定"
FREED_FILES = "将删除的文件"
COMMAND = "同样的操作，用命令行"
NOTHING_FREED = "这不会释放任何东西。下方逐个时间点说明是哪条规则保留了它们。"
GOES = "✕ 删除"
STAYS = "✓ 保留"
CARRY_OUT = "执行"
WHY_NOT_HERE = (
    "这个服务以只读方式启动，因此只显示计划而不执行。请执行下方的命令，"
    "或用 `snapscope serve WAREHOUSE --write` 启动面板。"
)
SWITCHED_OFF = "修改处于关闭状态：打开页面首行的“允许修改”即可执行这个计划。"
FINGERPRINT = "计划"
FINGERPRINT_HELP = (
    "计划与它所依据的每个快照、标签、分支和消费者文件的内容绑定。执行时如果将删除的时间点有变，就会停止。"
)
RULES = "规则"


def of_points(total: int) -> str:
    return f"共 {units.plural(total, 'point')}"


def ended_files(number: int) -> str:
    return f"将失效的文件（{units.count(number)}）"


def freed_files(number: int) -> str:
    return f"{FREED_FILES}（{units.count(number)}）"


def kept_back(number: int) -> str:
    return f"留下 {units.plural(number, 'file')}"


def applying(done: int, total: int, stage: str) -> str:
    return f"已删除 {units.count(done)} / {units.plural(total, 'file')}" if total else stage


def settling(seconds: float) -> str:
    return f"引用已删除；在删除任何文件之前，给写入作业 {seconds:g} 秒完成提交"


UNDER_WAY = "正在执行：进度显示在页面顶部。"
IS_OVER = "已结束：结果显示在页面顶部。"
CANCELLING = "正在取消：进行中的一步结束后停止"


LAB_UNREAD = "并非每个快照或标签都能读取，而它们可能也需要同样的文件：这里所说的可释放量可能偏大，占用量可能偏小。"


def grave(why: Sequence[str]) -> str:
    return f"{listing(why)}。"


def type_to_confirm(word: str) -> str:
    return f"输入 **{word}** 以确认"


def delete_outside(what: str) -> str:
    return f"删除{what}：没有别的表或这张表的副本需要它们"


def older_than_unread(text: str) -> str:
    return f"“{text}”既不是时长（如 7d），也不是时间（如 2026-11-01）。"


PROCEDURE: Mapping[str, str] = {
    "sys": "同一请求在 Paimon 中的存储过程；它的文件会有何不同，见“保留”页的“与 Paimon 对照”",
    "system": "同一请求在 Iceberg 中的 Spark SQL，会话时区为 UTC",
}
PROTECT = "保护 7 天"
PROTECT_POINT = "留住一个将删除的时间点"
PROTECT_HELP = "给这个快照打一个标签，逐一检查它的文件，7 天后标签自动到期。它保留的内容在那之后才会释放。"
RULE_SET = "按谁的规则"
RULE_SETS: Mapping[str, str] = {"newest": "Paimon 2.x 规则", "1.x": "1.x", "0.9": "0.9"}
