"""计划的步骤，一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_EFFECTS: Mapping[str, str] = {
    "Steps, in order": "步骤，按顺序",
    "Step": "步骤",
    "{first} … {last}": "{first} … {last}",
    "Require that {count} references are unchanged: {these}": "要求 {count} 个引用没有变化：{these}",
    "Create {count} references, each if nothing is there: {these}": "创建 {count} 个引用，各自在尚不存在时：{these}",
    "Replace {count} references, each if unchanged: {these}": "替换 {count} 个引用，各自在没有变化时：{these}",
    "Delete {count} references, each if unchanged: {these}": "删除 {count} 个引用，各自在没有变化时：{these}",
    "Remove {count} directories, each if nothing else is in it: {these}": (
        "移除 {count} 个目录，各自在没有其他内容时：{these}"
    ),
    "Update {count} hints: {these}": "更新 {count} 个提示文件：{these}",
    "Require that {path} is unchanged": "要求 {path} 没有变化",
    "Create {path}, if nothing is there": "创建 {path}，在尚不存在时",
    "Replace {path}, if unchanged": "替换 {path}，在没有变化时",
    "Delete {path}, if unchanged": "删除 {path}，在没有变化时",
    "Update hint {path}": "更新提示文件 {path}",
    "Require that nobody has committed after {path}": "要求没有人在 {path} 之后提交",
    "Remove directory {path}, if nothing else is in it": "移除目录 {path}，在没有其他内容时",
    "If interrupted before: check that every file of {point} is there": "若曾中断：检查 {point} 的每个文件都在",
    "Check that every file of {point} is there": "检查 {point} 的每个文件都在",
    "Commit a snapshot on top of {path}, if that is still the newest": "在 {path} 之上提交一个快照，在它仍是最新时",
    "Commit new table metadata: {gone}, {made}, if these are unchanged": (
        "提交新的表元数据：{gone}，{made}，在它们没有变化时"
    ),
    "{count} reference removed": "移除 {count} 个引用",
    "{count} references removed": "移除 {count} 个引用",
    "{count} set": "设置 {count} 个",
    "Wait for running writers to finish": "等待正在运行的写入者完成",
    "Read all references again; delete of {files} ({size}) those that none of them holds": (
        "重新读取所有引用；删除 {files}（{size}）中不被任何引用占用的文件"
    ),
    "Check that everything that stays can be read": "检查留下的一切都可读取",
    "Run {run} has a step that this version does not know: {effect}.": (
        "运行 {run} 有一个本版本不认识的步骤：{effect}。"
    ),
    "Resume or undo it with the version that began it.": "请用开始它的版本来继续或撤回。",
    "{point} is gone; nothing was changed.": "{point} 已不在；没有改动任何东西。",
    "{missing} of {point} are not there or cannot be read, so a tag could not protect it, and it is no point to "
    "go back to; nothing was changed.": (
        "{point} 的 {missing} 不在或无法读取，因此标签无法保护它，也不能回到它；没有改动任何东西。"
    ),
}
