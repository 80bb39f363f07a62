"""core 所说的话：每句都带着自己的模板和填入的值，在这里用中文说出来。"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.told import Told


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
    # 保留规则
    "retain-min was lowered from the default {least} to {greatest}, because retain-max asks for it.": (
        "retain-min 从默认的 {least} 降到了 {greatest}，因为 retain-max 如此要求。"
    ),
    "among the newest {least} (retain-min)": "属于最新的 {least} 个（retain-min）",
    "max-deletes {most} was reached": "已达到 max-deletes {most}",
    "consumer {name} reads on from snapshot {id}": "消费者 {name} 将从快照 {id} 继续读取",
    "not among the newest {most} (retain-max)": "不属于最新的 {most} 个（retain-max）",
    "the age of snapshot {id} cannot be read": "快照 {id} 的时间无法读取",
    "its successor {id} was": "其后继快照 {id} ",
    "it was": "它",
    "{whose} committed {at}, too young (age protects)": "{whose}提交于 {at}，还太新（受时限保护）",
    "{whose} committed before {at}": "{whose}提交于 {at} 之前",
    "only a prefix may go, and snapshot {id} stays: {why}": "只能从最早的开始连续删除，而快照 {id} 留下：{why}",
    "not named, and {id} is the newest that goes": "没有点名，而 {id} 是将删除的最新一个",
    "named to go": "被点名删除",
    "the newest long-lived changelog always stays": "最新的长期 changelog 总是保留",
    "among the newest {least} (changelog retain-min)": "属于最新的 {least} 个（changelog retain-min）",
    "consumer {name} reads on from {id}": "消费者 {name} 将从 {id} 继续读取",
    "too young (age protects)": "还太新（受时限保护）",
    "its age cannot be read": "它的时间无法读取",
    "committed before {at}": "提交于 {at} 之前",
    "not among the newest {most} (changelog retain-max)": "不属于最新的 {most} 个（changelog retain-max）",
    "its retention ended {ended}; this machine's wall clock says {now}": "保留期限止于 {ended}；本机时钟为 {now}",
    "it tells no creation time, so nobody knows its age": "没有记录创建时间，因此无从得知它的年龄",
    "created {at} by the writer's wall clock, older than asked": "按写入者的时钟创建于 {at}，早于所要求的时间",
    "Snapshot {id} is the newest of job {user}: restarted from an older state, that job cannot see that its "
    "last commit landed and may commit it twice.": (
        "快照 {id} 是作业 {user} 的最新快照：该作业若从更早的状态重启，就看不到自己最后一次提交已成功，可能重复提交。"
    ),
    "Paimon 2.x: a snapshot's age is that of its successor; 50 snapshots a run": (
        "Paimon 2.x：快照的年龄按其后继快照计算；每次最多 50 个快照"
    ),
    "Paimon 1.x: a snapshot's age is its own; 50 snapshots a run": (
        "Paimon 1.x：快照的年龄按它自己计算；每次最多 50 个快照"
    ),
    "Paimon 0.9: a snapshot's age is its own; 10 snapshots a run": (
        "Paimon 0.9：快照的年龄按它自己计算；每次最多 10 个快照"
    ),
    # 计划
    "it belongs to the main branch": "它属于 main 分支",
    "it belongs to branch {name}": "它属于分支 {name}",
    "nothing here asks for it to go": "这里没有要求删除它",
    "named to be deleted": "被点名删除",
    "replaced by {source}": "被{source}取代",
    "the newest snapshot": "最新的快照",
    "snapshot {id}": "快照 {id}",
    "Paimon itself would need {runs} runs for this (snapshot.expire.limit).": (
        "Paimon 自己需要执行 {runs} 次才能做完（snapshot.expire.limit）。"
    ),
    "{files} outside the table and its configured paths would be freed too; they are not ours to delete, stay, and are "
    "not counted.": "还有 {files} 在表及其配置的路径之外也会被释放；它们不归我们删除，会留下，也不计入。",
    "Snapshot ids have a gap; Paimon's own expiry would free other files than these here.": (
        "快照 id 有缺口；Paimon 自己的过期会释放与这里不同的文件。"
    ),
    "Paimon's own CALL expire_snapshots would delete the changelogs that this plan leaves behind: the procedure does "
    "not heed the table's changelog options.": (
        "Paimon 自己的 CALL expire_snapshots 会删除这个计划留下的 changelog：该存储过程不理会表的 changelog 选项。"
    ),
    "The changelogs of the snapshots that go are freed with them.": "将删除的快照的 changelog 会随之释放。",
    "Tag {name} would have ended by itself {at}; replaced without a retention (time-retained), it never does.": (
        "标签 {name} 本会在 {at} 自动到期；改指时不带保留期限（time-retained），就永不到期。"
    ),
    "Files less than a day old are taken, too: what a writer has written and not yet committed looks just like an "
    "orphan.": "不到一天的文件也会被删除：写入作业已写而尚未提交的文件看上去与孤儿文件一样。",
    "Lower bound: {point} goes but could not be read in full, so some of its files stay behind as orphans "
    "({problem})": ("下界：{point} 将删除但无法完整读取，因此它的一些文件会留作孤儿文件（{problem}）"),
    # Iceberg 的引用
    "branch {name} points to it": "分支 {name} 指向它",
    "tag {name} names it": "标签 {name} 指向它",
    "on no ref, and not older than {at}": "不在任何引用上，且不早于 {at}",
    "on no ref, and older than {at}": "不在任何引用上，且早于 {at}",
    "named to expire": "被点名过期",
    "main always stays": "main 总是保留",
    "its snapshot {id} is not there": "它的快照 {id} 不存在",
    "it has no end": "它没有期限",
    "its snapshot is {own} old, past the ref's {age}": "它的快照已有 {own}，超过该引用的 {age}",
    "its snapshot is not yet older than the ref's {age}": "它的快照还没有超过该引用的 {age}",
    "behind a snapshot of branch {name} that goes": "排在分支 {name} 上将删除的快照之后",
    "older than {at}, not among the newest {least} of branch {name}": (
        "早于 {at}，且不属于分支 {name} 最新的 {least} 个"
    ),
    "not older than {at} (branch {name})": "不早于 {at}（分支 {name}）",
    "among the newest {least} of branch {name}": "属于分支 {name} 最新的 {least} 个",
    "named to be dropped": "被点名删除",
    "it will name snapshot {id}": "它将指向快照 {id}",
    "it will point to snapshot {id}": "它将指向快照 {id}",
    "it will point to snapshot {id}, the head of {name}": "它将指向快照 {id}，即 {name} 的头",
    "it will keep otherwise": "它的保留方式将改变",
    "fails": "会失败",
    "goes to {id}": "会到 {id}",
    "Main pointed to {id} then; Iceberg's own rollback_to_timestamp {whither}: it takes the newest ancestor committed "
    "before the time.": (
        "那时 main 指向 {id}；Iceberg 自己的 rollback_to_timestamp {whither}：它取该时间之前提交的最新祖先。"
    ),
    "The table's schema stays {now}; the snapshot was written with schema {then}.": (
        "表结构仍为 {now}；该快照是用表结构 {then} 写入的。"
    ),
    "{count} snapshot ({ids}) is then on no ref": "届时有 {count} 个快照（{ids}）不在任何引用上",
    "{count} snapshots ({ids}) are then on no ref": "届时有 {count} 个快照（{ids}）不在任何引用上",
    "{left}: nothing else holds {files} ({size}) of theirs.": "{left}：其中 {files}（{size}）不被其他任何东西占用。",
    "at least {files}": "至少 {files}",
    "Moving the branch": "移动分支",
    "Moving the tag": "移动标签",
    "Removing the branch": "删除分支",
    "Removing the tag": "删除标签",
    "Removing these branches": "删除这些分支",
    "Removing these tags": "删除这些标签",
    "{what} frees nothing now, nor later: gc.enabled = false switches expiry off.": (
        "{what}现在和以后都不释放任何东西：gc.enabled = false 关闭了过期。"
    ),
    "more without it": "（没有它时多出的）",
    "more without them": "（没有它们时多出的）",
    "more than it would now": "（比现在多出的）",
    "{what} frees 0 files now; the next expiry by the table's own rules frees {files} ({size}) {more}.": (
        "{what}现在释放 0 个文件；下一次按表自己的规则过期会多释放 {files}（{size}）{more}。"
    ),
    "Iceberg expires by the policy beside the snapshots that were named; both are in this plan.": (
        "除了点名的快照，Iceberg 还会按策略过期；两者都在这个计划里。"
    ),
    "The snapshot-log is empty: Java's own expiry of this table fails.": (
        "snapshot-log 是空的：Java 自己对这张表的过期会失败。"
    ),
    "answers no time any more": "不再回答任何时间",
    "reaches back to {at}": "最早只到 {at}",
    "{entries} of {all} leave the snapshot-log: time travel then {reach}; older snapshots that stay are reached by id "
    "and tag only.": (
        "snapshot-log 共 {all} 条，将移除 {entries}：此后时间旅行{reach}；留下的更早快照只能用 id 或标签读取。"
    ),
    "{count} entry": "{count} 条",
    "{count} entries": "{count} 条",
    "Apache Iceberg 1.11: each ref's own retention, files by reachability": (
        "Apache Iceberg 1.11：按各引用自己的保留设置，文件按可达性"
    ),
    "This commit deletes {files} by the table's own rule ({rule}): {named}.": (
        "按表自己的规则（{rule}），这次提交会删除 {files}：{named}。"
    ),
    "{count} old metadata file": "{count} 个旧的元数据文件",
    "{count} old metadata files": "{count} 个旧的元数据文件",
    "Manifests name fewer data files than the snapshot's own summary counts (total-data-files): {what}.": (
        "清单所列的数据文件少于快照自己摘要中的计数（total-data-files）：{what}。"
    ),
    # 计划的一句话
    "{count} file": "{count} 个文件",
    "{count} files": "{count} 个文件",
    "{count} orphaned file": "{count} 个孤儿文件",
    "{count} orphaned files": "{count} 个孤儿文件",
    "{size} in {files}": "{files}，共 {size}",
    "{files} ({size})": "{files}（{size}）",
    "Replaces tag {name}; frees nothing.": "改指标签 {name}；不释放任何东西。",
    "Replaces tag {name}; frees {freed}.": "改指标签 {name}；释放 {freed}。",
    "Frees {size} in {files}.": "释放 {files}，共 {size}。",
    "Nothing is worth compacting.": "没有值得合并的。",
    "Nothing goes, so nothing is freed.": "没有要删除的，因此不释放任何东西。",
    "Frees {freed}; {goes}.": "释放 {freed}；{goes}。",
    "{count} point goes": "删除 {count} 个时间点",
    "{count} points go": "删除 {count} 个时间点",
    "Tags keep a further {size} of what they held.": "它们占用的另外 {size} 由标签保留。",
    "{moved}; frees nothing.": "{moved}；不释放任何东西。",
    "{moved}; {goes}; frees nothing.": "{moved}；{goes}；不释放任何东西。",
    "{moved}; {goes} with {files} ({size}) that nothing else holds; frees nothing.": (
        "{moved}；{goes}，其中 {files}（{size}）不再被任何东西占用；不释放任何东西。"
    ),
    "no snapshot": "没有快照",
    "Creates tag {name}": "创建标签 {name}",
    "Renames tag {name} to {to}": "把标签 {name} 重命名为 {to}",
    "Creates branch {name} at {to}": "在{to}处创建分支 {name}",
    "Creates branch {name} without any snapshot": "创建没有任何快照的分支 {name}",
    "Lets branch {name} point to {to}": "让分支 {name} 指向{to}",
    "Renames branch {name} to {to}": "把分支 {name} 重命名为 {to}",
    "Forwards {branch} to {to}, the head of {name}": "把 {branch} 快进到{to}，即 {name} 的头",
    "Sets {branch} back to {to}": "让 {branch} 回到{to}",
    "Forgets consumer {name}": "忘记消费者 {name}",
    "Sets consumer {name} to {id}": "把消费者 {name} 设到 {id}",
    "Forgets {count} consumer": "忘记 {count} 个消费者",
    "Forgets {count} consumers": "忘记 {count} 个消费者",
    "Takes {rows} rows in {ended} out of {branch} by a commit": "以一次提交从 {branch} 中移除 {ended}中的 {rows} 行",
    "Rewrites {ended} of {branch} by a commit": "以一次提交重写 {branch} 的 {ended}",
    "Counts the rows of {branch} and commits the statistics": "统计 {branch} 的行数并提交统计信息",
    "{first} Of its long-lived changelogs: {second}": "{first}它的长期 changelog：{second}",
    "At the least these go: {points}.": "至少会删除：{points}。",
    "{points} and {more} more": "{points} 等，另有 {more} 个",
    # 与 Paimon 对照
    "Paimon itself would fail: {why}.": "Paimon 自己会失败：{why}。",
    "Paimon itself would break {point}: it deletes {files} still held there.": (
        "Paimon 自己会破坏 {point}：它会删除仍被其占用的 {files}。"
    ),
    "Paimon itself would strand {files} that nothing holds afterwards.": (
        "Paimon 自己会遗留 {files}，此后不被任何东西占用。"
    ),
    # 有问题的文件
    "{path}: expected {expected}, found {found}.": "{path}：应为 {expected}，实际是 {found}。",
    "{path}: expected {expected}, found {found}. {remedy}": "{path}：应为 {expected}，实际是 {found}。{remedy}",
    # 为什么要小心
    "{count} tag goes: somebody named it": "删除 {count} 个标签：它是有人特意起名的",
    "{count} tags go: somebody named them": "删除 {count} 个标签：它们是有人特意起名的",
    "{count} branch goes: somebody named it": "删除 {count} 个分支：它是有人特意起名的",
    "{count} branches go: somebody named them": "删除 {count} 个分支：它们是有人特意起名的",
    "{count} file will be held by nothing": "{count} 个文件将不被任何东西占用",
    "{count} files will be held by nothing": "{count} 个文件将不被任何东西占用",
    "half of the table's bytes or more go": "表的一半或更多字节将删除",
    "{count} warning": "{count} 条警告",
    "{count} warnings": "{count} 条警告",
    # 何时自动过期
    "with the first expiry after {at}, by the age of its snapshot": "在 {at} 之后的第一次过期时，按其快照的年龄",
    "never by itself: it has no end": "不会自动到期：它没有期限",
    "never while {names} name{s} it": "只要 {names} 还指向它就不会",
    "after {commits:,} more commit{s} on {branch}, not before {at}, and only if an expiry is run": (
        "在 {branch} 上再提交 {commits:,} 次之后，不早于 {at}，且要执行过期"
    ),
    "with the first expiry after {at}": "在 {at} 之后的第一次过期时",
    "with the next expiry": "在下一次过期时",
    "{due}; Iceberg's writers expire nothing by themselves": "{due}；Iceberg 的写入作业自己不会过期任何东西",
    "never by a writer: the table is write-only": "写入作业不会让它过期：表是 write-only",
    "cannot be told: {why}": "无法得知：{why}",
    ", or after {commits:,} more commit{s} whatever its age": "，或再提交 {commits:,} 次之后（无论年龄）",
    "never by a writer: Paimon does not see it, because snapshot/EARLIEST names {id}": (
        "写入作业不会让它过期：snapshot/EARLIEST 指向 {id}，Paimon 看不到它"
    ),
    "never while consumer {name} stands before it": "只要消费者 {name} 还在它之前就不会",
    ", not before {at}{limit}": "，不早于 {at}{limit}",
    "after {commits:,} more commit{s}{age}": "再提交 {commits:,} 次之后{age}",
    "with the next commit of a writer": "在写入作业下一次提交时",
    "with the first commit after {at}{limit}": "在 {at} 之后的第一次提交时{limit}",
    "never by itself: it has no retention": "不会自动到期：它没有保留期限",
    "after {at} by the writers' wall clock (no zone)": "在 {at} 之后，按写入者的时钟（无时区）",
    "nothing holds it: it is an orphan": "没有谁占用它：它是孤儿文件",
    "an unreadable point": "一个无法读取的时间点",
    "no rule takes it away by itself": "没有规则会自动删除它",
    "with the expiry of its long-lived changelog": "随其长期 changelog 过期",
    "kept longest by {what}: {tells}": "保留它最久的是 {what}：{tells}",
    # 下一次提交
    "This cannot be told: {why}": "无法得知：{why}",
    "snapshot/EARLIEST names {id}, so Paimon does not see the snapshots before it and never expires them.": (
        "snapshot/EARLIEST 指向 {id}，因此 Paimon 看不到它之前的快照，也从不让它们过期。"
    ),
    "Tag snapshot {id} to keep it.": "给快照 {id} 打标签即可留住它。",
    "The table option {option} keeps all of them for one more commit; write-only = true keeps writers from expiring "
    "anything.": "表选项 {option} 可让它们全部再保留一次提交；write-only = true 则让写入作业不再使任何东西过期。",
    "The table option {option} keeps its changelogs for one more commit.": (
        "表选项 {option} 可让它的 changelog 再保留一次提交。"
    ),
    "The table option tag.time-expire-enabled = false keeps tags whose time has passed.": (
        "表选项 tag.time-expire-enabled = false 可留住期限已过的标签。"
    ),
    "a tag of snapshot {ids}": "快照 {ids} 的一个标签",
    "tags of snapshots {ids}": "快照 {ids} 的标签",
    "{points}: {tags} would keep {them} whole.": "{points}：{tags}可使其保持完整。",
    # 时间旅行的规则
    "The earliest of the {count} retained snapshots.": "{count} 个保留着的快照中最早的一个。",
    "Snapshot {id} was named by its id.": "按 id 指定了快照 {id}。",
    "Tag {name} keeps snapshot {id}.": "标签 {name} 保留着快照 {id}。",
    "Tag {name} keeps snapshot {id}, which has expired: only tags hold it.": (
        "标签 {name} 保留着快照 {id}，它已过期：只有标签还占用它。"
    ),
    "The greatest id among the {count} retained snapshots committed at or before {asked}: {id}, committed {at}.": (
        "在 {asked} 或之前提交的 {count} 个保留着的快照中 id 最大的：{id}，提交于 {at}。"
    ),
    "{ties} snapshots share that commit time; the last of them counts.": (
        "有 {ties} 个快照的提交时间相同；以最后一个为准。"
    ),
    "Commit times do not rise with ids here (clocks differed), so an earlier id may be younger.": (
        "这里的提交时间不随 id 递增（时钟有偏差），因此 id 较小的可能更新。"
    ),
    "nothing": "没有答案",
    "Paimon's own search answers {what}: it stops at a tie or skew.": (
        "Paimon 自己的查找结果是 {what}：遇到时间相同或偏差就会停下。"
    ),
    "Paimon's own search fails: it asks for snapshot {id}, which is missing.": (
        "Paimon 自己的查找会失败：它要找的快照 {id} 不存在。"
    ),
    "The first retained snapshot whose watermark is at or past {watermark}.": (
        "watermark 达到或超过 {watermark} 的第一个保留着的快照。"
    ),
    "{back} retained snapshots before the newest, {id}.": "最新快照 {id} 之前的第 {back} 个保留着的快照。",
    "The newest snapshot.": "最新的快照。",
    "It is {note}.": "它的状态：{note}。",
    "Tag {name} names snapshot {id}.": "标签 {name} 指向快照 {id}。",
    "Main pointed to {id} from {since} on (snapshot-log, entry {entry} of {entries}).": (
        "main 从 {since} 起指向 {id}（snapshot-log 共 {entries} 条中的第 {entry} 条）。"
    ),
    "Several entries share that time; the last listed counts, for it lasted.": (
        "有几条记录的时间相同；以列在最后的为准，因为它留了下来。"
    ),
    "The log is not in order of time (clocks differed).": "日志没有按时间排列（时钟有偏差）。",
    "The snapshot itself is of {at}: main was set to it later.": "快照本身提交于 {at}：main 是后来才移到它的。",
    "Java up to 1.11 answers {id}: it takes the last listed entry that fits.": (
        "Java 1.11 及以前的答案是 {id}：取最后列出的符合条件的记录。"
    ),
    "Java after 1.11 answers {id}: of entries that share a time it takes the first.": (
        "Java 1.11 之后的答案是 {id}：时间相同的记录取第一条。"
    ),
    "{back} ancestors before {id}, the head of {branch}.": "{branch}的头 {id} 往前第 {back} 个祖先。",
    "The head of {branch}, read with the table's current schema.": "{branch}的头，按表当前的表结构读取。",
    "the main branch": "main 分支",
    "branch {name}": "分支 {name} ",
    "A point is a snapshot id such as 12, tag:NAME, branch:NAME, branch:NAME/POINT, time:ISO-TIME-WITH-ZONE or "
    "time:EPOCH-MILLISECONDS, watermark:NUMBER, latest, earliest or latest~N.": (
        "时间点的写法：快照 id（如 12）、tag:NAME、branch:NAME、branch:NAME/POINT、time:带时区的 ISO 时间、"
        "time:毫秒数、watermark:NUMBER、latest、earliest 或 latest~N。"
    ),
    "File: {path}.": "文件：{path}。",
    "{text!r} is no time.": "{text!r} 不是时间。",
    "Write ISO with a zone, such as 2026-11-01T00:00:00Z, or epoch milliseconds.": (
        "请写带时区的 ISO 时间（如 2026-11-01T00:00:00Z），或 1970 年以来的毫秒数。"
    ),
    "The time {text!r} has no zone, so it could mean two different moments.": (
        "时间 {text!r} 没有时区，可能指两个不同的时刻。"
    ),
    "Add one, such as 2026-11-01T00:00:00Z or 2026-11-01T00:00:00+08:00.": (
        "请加上时区，如 2026-11-01T00:00:00Z 或 2026-11-01T00:00:00+08:00。"
    ),
    "Branches: {names}.": "现有分支：{names}。",
    "There is no branch {name!r}.": "没有分支 {name!r}。",
    "{text!r} is no point.": "{text!r} 不是时间点。",
    "No snapshot is retained.": "没有保留着的快照。",
    "The nearest retained snapshot is {id}.": "最近的保留着的快照是 {id}。",
    "It expired, but {tags} still keeps it.": "它已过期，但 {tags} 仍保留着它。",
    "Snapshot {id} is not retained{on}.": "快照 {id} 已不再保留{on}。",
    "Tags: {names}.": "现有标签：{names}。",
    "There is no tag {name!r}{on}.": "没有标签 {name!r}{on}。",
    "The nearest is snapshot {id}, committed {at}.": "最近的是快照 {id}，提交于 {at}。",
    "An older tag is there: tag:{name}, of {at}.": "有一个更早的标签：tag:{name}，其快照提交于 {at}。",
    "No retained snapshot{on} was committed at or before {at}.": "没有在 {at} 或之前提交的保留着的快照{on}。",
    "No retained snapshot has a watermark.": "保留着的快照都没有 watermark。",
    "The greatest watermark is {watermark}.": "最大的 watermark 是 {watermark}。",
    "No retained snapshot{on} has a watermark at or past {watermark}.": (
        "没有 watermark 达到或超过 {watermark} 的保留着的快照{on}。"
    ),
    "latest~{back} goes back further than the {count} retained snapshots{on}.": (
        "latest~{back} 超出了保留着的 {count} 个快照{on}。"
    ),
    "The earliest is snapshot {id} (latest~{back}).": "最早的是快照 {id}（latest~{back}）。",
    "There is no snapshot{on}.": "没有快照{on}。",
    "Nothing was committed yet, or all has expired.": "还没有提交过，或者全都过期了。",
    "Snapshot {id} was written with schema {schema}, which cannot be read.": (
        "快照 {id} 是用表结构 {schema} 写入的，而该表结构无法读取。"
    ),
    "Snapshot {id} may be the one asked for, and it cannot be read.": "所问的可能是快照 {id}，而它无法读取。",
    "Restore the file, or name a point by its id or tag.": "请恢复该文件，或按 id 或标签指定时间点。",
    " on branch {name}": "（分支 {name}）",
    # Iceberg 快照的状态
    "cherry-picked from {id}": "cherry-pick 自 {id}",
    "rolled back: main stood there and was set to another line": "已被回滚：main 曾在这里，后来移到了另一条线上",
    "on no ref": "不在任何引用上",
    "staged as {wap} (wap.id)": "以 {wap} 暂存（wap.id）",
    "{own}, published as {id}": "{own}，已发布为 {id}",
    "{own}, not published": "{own}，尚未发布",
    "orphaned or staged: on no ref, and main's log does not name it": (
        "孤立或暂存：不在任何引用上，main 的日志也没有提到它"
    ),
}
