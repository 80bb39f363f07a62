"""演示仓库里发生过的事，一个模板对一个模板。"""

from __future__ import annotations

from collections.abc import Mapping

OF_STORIES: Mapping[str, str] = {
    "The report of Wednesday {wednesday} showed a hundred times the revenue of Tuesday {tuesday}. What did the table "
    "say then, and who changed it?": (
        "周三 {wednesday} 的报表把周二 {tuesday} 的收入放大了一百倍。当时表里是什么数据？后来是谁改的？"
    ),
    "Timeline: click snapshot {bad}, the load of Wednesday morning.": "时间线：点击快照 {bad}，即周三早上的导入。",
    "Query at snapshot {bad}: `select sum(amount) from t where dt = '{tuesday}'`.": (
        "在快照 {bad} 上查询：`select sum(amount) from t where dt = '{tuesday}'`。"
    ),
    "Timeline: click snapshot {fix}, the Overwrite by the user repair, two days later.": (
        "时间线：点击快照 {fix}，即两天后用户 repair 的覆盖写入。"
    ),
    "Diff with previous: all files of dt={tuesday} were replaced, nothing else.": (
        "与前一个比较：只有 dt={tuesday} 的文件被全部替换，其余未变。"
    ),
    "Snapshot {bad} loaded that day in cents; snapshot {fix} replaced it two days later.": (
        "快照 {bad} 导入当天数据时金额以分为单位；两天后快照 {fix} 替换了它。"
    ),
    "Why does {day} have about twice the clicks of the days around it?": "为什么 {day} 的点击数约是前后几天的两倍？",
    "Timeline: two commits follow each other within two hours, {first} and {again}.": (
        "时间线：{first} 和 {again} 两次提交相隔不到两小时。"
    ),
    "Diff {first} to {again}: the same number of rows again, into the same days.": (
        "比较 {first} 与 {again}：同样多的行又写进了同样的几天。"
    ),
    "Query at snapshot {first}: `select count(*), count(distinct event_id) from t where dt = '{day}'`.": (
        "在快照 {first} 上查询：`select count(*), count(distinct event_id) from t where dt = '{day}'`。"
    ),
    "Query at snapshot {again}: the count doubled, the distinct ids did not.": (
        "在快照 {again} 上查询：行数翻倍，去重后的 id 数没有变。"
    ),
    "Snapshot {again} is a retry of {first}, which had succeeded already.": (
        "快照 {again} 是对 {first} 的重试，而 {first} 其实已经成功。"
    ),
    "Where did the customers of the region {region} go?": "{region} 区域的客户去哪了？",
    "Timeline: the rows fall at snapshot {lost}; click it.": "时间线：行数在快照 {lost} 处下降；点击它。",
    "Diff with previous: every file of region={region} was removed, none was added.": (
        "与前一个比较：region={region} 的文件全部被移除，没有新增。"
    ),
    "As of: the point just before is {before}; the tag {tag} has them too.": (
        "时间旅行：紧挨在前的是 {before}；标签 {tag} 也有这些客户。"
    ),
    "Query at snapshot {before}: `select count(*) from t where region = '{region}'`.": (
        "在快照 {before} 上查询：`select count(*) from t where region = '{region}'`。"
    ),
    "Snapshot {lost}, by cleanup-job, dropped the partition; later loads brought only new customers.": (
        "cleanup-job 的快照 {lost} 删除了这个分区；之后的导入只带来新客户。"
    ),
    "On {during} from about 15:45 to 16:30 UTC reports missed most of the year. What did readers see, and where "
    "are those rows now?": (
        "{during} 约 15:45 至 16:30（UTC），报表缺了一年中的大部分。当时读到的是什么？那些行现在在哪？"
    ),
    "Timeline: main's way leads to a delete, and back within the hour; the delete is marked as rolled back.": (
        "时间线：main 的路径走到一次删除，一小时内又退回；那次删除标为已回滚。"
    ),
    "As of {during} 16:00 UTC: the snapshot of the delete, because main pointed there then.": (
        "时间旅行到 {during} 16:00 UTC：是那次删除的快照，因为 main 当时指向它。"
    ),
    "Diff with previous: every file of the days before {old} went, none came; the snapshot after the roll-back has "
    "them all.": "与前一个比较：{old} 之前各天的文件全部移除，没有新增；回滚之后的快照又都有了。",
    "Retention: the rolled-back snapshot goes {days} days after its commit, and frees only metadata.": (
        "保留：被回滚的快照在提交 {days} 天后删除，只释放元数据。"
    ),
    "cleanup-job deleted the days before {old}; main was rolled back 50 minutes later.": (
        "cleanup-job 删除了 {old} 之前的各天；50 分钟后 main 被回滚。"
    ),
    "The demo's stories cannot be read: this is not what a demo is marked with.": (
        "无法读取演示数据的故事：这不是演示数据的标记。"
    ),
}
