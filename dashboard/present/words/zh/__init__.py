"""Every word of the dashboard in Chinese: the names of `words`, module by module, of the same kinds.

快照 snapshot, 标签 tag, 分支 branch, 消费者 consumer, 清单 manifest, 分区 partition, 桶 bucket, 合并 compaction,
过期 expire, 回滚 rollback, 保留 retain, 时间旅行 time travel. Ids, commands, options and fields stay as they are.
"""

# ruff: noqa: F403

from dashboard.present.words.zh.asof import *
from dashboard.present.words.zh.audit import *
from dashboard.present.words.zh.bisect import *
from dashboard.present.words.zh.diff import *
from dashboard.present.words.zh.doctor import *
from dashboard.present.words.zh.entering import *
from dashboard.present.words.zh.files import *
from dashboard.present.words.zh.frame import *
from dashboard.present.words.zh.how import *
from dashboard.present.words.zh.lab import *
from dashboard.present.words.zh.notices import *
from dashboard.present.words.zh.overview import *
from dashboard.present.words.zh.pointing import *
from dashboard.present.words.zh.query import *
from dashboard.present.words.zh.report import *
from dashboard.present.words.zh.retention import *
from dashboard.present.words.zh.schedule import *
from dashboard.present.words.zh.tags import *
from dashboard.present.words.zh.timeline import *
from dashboard.present.words.zh.told import *
from dashboard.present.words.zh.top import *
from dashboard.present.words.zh.trouble import *
