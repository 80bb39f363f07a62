"""core 关于执行的话：保留设置、回滚与清理。一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_RUNS: Mapping[str, str] = {
    "{why} Nothing was changed.": "{why}未作任何修改。",
    "{why} So the plan can be shown, and not be run here: use the table's own engine.": (
        "{why}因此计划可以查看，但不能在这里执行：请使用表自己的引擎。"
    ),
    "The journal is not the one that run {run} was written to: {why}. No further file was deleted.": (
        "日志已不是执行 {run} 所写的那一份：{why}。没有再删除任何文件。"
    ),
    "Put the journal back as it was, then: snapscope resume {run}. If it is lost, what went stays gone, and snapscope "
    "orphans finds what the run left.": (
        "请把日志恢复原样，然后运行 snapscope resume {run}。如果日志已丢失，删掉的不会回来；"
        "snapscope orphans 能找出这次执行留下的文件。"
    ),
    "it is gone": "它不见了",
    "another file stands in its place": "它的位置上是另一个文件",
    "it does not know the run": "它不知道这次执行",
    "entry {number} is no longer in it": "其中已没有条目 {number}",
    "Journal entry {number} is of run {run}, which no entry before it started.": (
        "日志条目 {number} 属于执行 {run}，而之前没有条目开始过它。"
    ),
    "The table says gc.enabled = false: its files may belong to another table too, so nothing may expire.": (
        "表设置了 gc.enabled = false：它的文件可能也属于另一张表，因此什么都不能过期。"
    ),
    "Set gc.enabled = true only if no other table names these files.": (
        "只有在没有其他表使用这些文件时，才可设 gc.enabled = true。"
    ),
    "Orphaned files of Iceberg tables are not looked for yet.": "尚不查找 Iceberg 表的孤儿文件。",
    "Use the engine's own remove_orphan_files.": "请用引擎自己的 remove_orphan_files。",
    "Nothing is written to Iceberg tables but references and expiries.": "对 Iceberg 表只写入引用和过期。",
    "Use the table's own engine.": "请用表自己的引擎。",
    "Iceberg keeps no streaming readers' places.": "Iceberg 不记录流式读取的位置。",
    "Snapshot {id} cannot be read in full, so no ref was let name it: {problem}": (
        "快照 {id} 无法完整读取，因此没有让任何引用指向它：{problem}"
    ),
    "Restore the file, or name another point.": "请恢复该文件，或指定另一个时间点。",
    "Branch main cannot be dropped.": "分支 main 不能删除。",
    "{point} ({said} said, {found} found)": "{point}（计数为 {said}，实有 {found}）",
    "Restore the file, or let this snapshot go in the same plan (--snapshot {name}).": (
        "请恢复该文件，或让这个快照在同一计划中删除（--snapshot {name}）。"
    ),
    "At least one snapshot stays, and {retain_last} were to be retained.": (
        "至少要留下一个快照，而要求保留的是 {retain_last} 个。"
    ),
    "There is no snapshot {missing}, so nothing was changed.": "没有快照 {missing}，因此未作任何修改。",
    "The table property {key} was expected to be a whole number, found {text!r:.60}.": (
        "表属性 {key} 应为整数，实际是 {text!r:.60}。"
    ),
    "Set the property right.": "请改正该属性。",
    "Snapshot {snapshot_id} cannot expire: it is still referenced by {named}.": (
        "快照 {snapshot_id} 不能过期：它仍被 {named} 引用。"
    ),
    "Drop the ref in the same plan, or leave the snapshot out.": "请在同一计划中删除该引用，或不要包含该快照。",
    "The argument {name} has no say here.": "参数 {name} 在这里不起作用。",
    "Leave it out, or give null.": "请去掉它，或给 null。",
    "The argument {name} was expected to be a text, found {value!r}.": "参数 {name} 应为字符串，实际是 {value!r}。",
    "The argument {name} was expected to be a whole number, found {value!r}.": (
        "参数 {name} 应为整数，实际是 {value!r}。"
    ),
    "The argument {name} was expected to be true or false, found {value!r}.": (
        "参数 {name} 应为 true 或 false，实际是 {value!r}。"
    ),
    "{source} was changed by another hand.": "{source} 已被他人修改。",
    "Others have committed since the rollback was planned, and it would undo that too; nothing was committed.": (
        "制定回滚计划之后又有其他提交，回滚会连它们一起撤掉；没有提交任何东西。"
    ),
    "There is no rule set {rules!r}.": "没有规则集 {rules!r}。",
    "retain-min must be at least 1, not {least}: the newest snapshot always stays.": (
        "retain-min 至少为 1，不能是 {least}：最新的快照总是留下。"
    ),
    "retain-max must be at least 1, not {greatest}: the newest snapshot always stays.": (
        "retain-max 至少为 1，不能是 {greatest}：最新的快照总是留下。"
    ),
    "retain-max ({greatest}) is below retain-min ({least}{least_is}).": (
        "retain-max（{greatest}）小于 retain-min（{least}{least_is}）。"
    ),
    "max-deletes must be at least 1, not {max_deletes}.": "max-deletes 至少为 1，不能是 {max_deletes}。",
    "All snapshots were named; the newest always stays.": "点名了所有快照；最新的总是留下。",
    "Only the oldest snapshots of a table may go; these would leave a hole, across which Paimon fails.": (
        "只能删除表中最早的快照；删除这些会留下缺口，Paimon 跨过它会失败。"
    ),
    "from the table's option {prefix}.num-retained.min": "来自表选项 {prefix}.num-retained.min",
    "the engine's default": "引擎的默认值",
    "{name} must not be negative.": "{name} 不能为负。",
    "The table option {key} was expected to be a number, found {text!r}.": "表选项 {key} 应为数字，实际是 {text!r}。",
    "Snapshot {each} is not retained, so it cannot go.": "快照 {each} 已不再保留，无法删除。",
    "Rule sets: {rules}.": "规则集：{rules}。",
    "Leave out {ids}.": "请去掉 {ids}。",
    "Name the older ones too ({shown}), or tag what must stay and expire up to {chosen}.": (
        "请把更早的也点名（{shown}），或给要留下的打标签，再过期到 {chosen}。"
    ),
    "{path} was changed by another hand since it was read.": "{path} 在读取之后被他人修改。",
    "{late} was committed meanwhile, on top of what was removed.": "其间提交了 {late}，它以已移除的内容为基础。",
    "Undo this run: that brings back what it stands on.": "请撤回这次执行：那会恢复它所依据的内容。",
    "Undo this run, or remove what is left with the table's own engine and resume it.": (
        "请撤回这次执行，或用表自己的引擎移除剩下的内容，再继续。"
    ),
    "{path} was made while its branch was being removed, and is left there.": (
        "{path} 是在移除其分支时创建的，被留在那里。"
    ),
    "{settle_s} seconds is no time to wait for writers; nothing was changed.": (
        "等待写入作业 {settle_s} 秒没有意义；未作任何修改。"
    ),
    "Wait between 0 and {most_settle_s:,.0f} seconds.": "请等待 0 到 {most_settle_s:,.0f} 秒。",
    "Others kept removing points while they were read.": "读取时他人不断删除时间点。",
    "it lies where no table keeps its files": "它不在任何表存放文件的地方",
    "it is metadata that the table needs, or is named like it": "它是表需要的元数据，或名称与之相同",
    "{said}": "{said}",
    "After the sweep: {problem}": "清理之后：{problem}",
    "Some files were {why}.": "有些文件{why}。",
    "No further file was deleted. {broken}": "没有再删除文件。{broken}",
    "Restore it, or remove what names it with the table's own engine; then resume this run.": (
        "请恢复它，或用表自己的引擎移除指向它的东西；然后继续这次执行。"
    ),
    "held by a reference made since": "被此后创建的引用占用",
    "{point} stays, and what is written of it contradicts itself, so nobody knows which files it needs: {problem} "
    "No file was deleted.": (
        "{point} 会留下，而有关它的记录互相矛盾，无从得知它需要哪些文件：{problem}没有删除任何文件。"
    ),
    "{path} was rewritten while the plan was applied; {deleted} had gone, no file was deleted.": (
        "执行计划时 {path} 被改写；已移除 {deleted}，没有删除任何文件。"
    ),
    "{points} cannot be read in full: {problem}": "{points} 无法完整读取：{problem}",
    "{point} lacks {files} that went, such as {first}.": "{point} 缺少已删除的 {files}，例如 {first}。",
    "{path} exists with other content; nothing was deleted.": "{path} 已存在，内容不同；没有删除任何东西。",
    "Take it back with `snapscope undo {run}`, or go on with `snapscope resume {run}`.": (
        "用 `snapscope undo {run}` 撤回，或用 `snapscope resume {run}` 继续。"
    ),
    "{count} reference": "{count} 个引用",
    "{count} references": "{count} 个引用",
    "{path} was not deleted: {error}": "{path} 没有删除：{error}",
    "was gone already": "原本就已不在",
    "not deleted: {error}": "没有删除：{error}",
    "If this store keeps versions of deleted objects, they are billed until those versions expire.": (
        "如果这个存储会保留已删除对象的旧版本，那么在旧版本过期之前仍会计费。"
    ),
    "{format} makes no tags by itself, and its refs end by the next expiry.": (
        "{format} 自己不打标签，它的引用在下一次过期时结束。"
    ),
    "Make tags by create-tag from your scheduler; `expire` drops refs whose time is over.": (
        "请用你的调度器执行 create-tag 来打标签；`expire` 会删除期限已过的引用。"
    ),
    "Paimon up to 2.0 writes a branch's automatic tags among main's; here they are the branch's own.": (
        "Paimon 2.0 及以前会把分支的自动标签写到 main 的标签里；这里它们属于该分支自己。"
    ),
    "{first}, {rest}": "{first}、{rest}",
    "No column may be named '{name}'.": "列不能命名为 '{name}'。",
}
