"""Every word of the dashboard in Chinese: the names of `words`, module by module, of the same kinds.

快照 snapshot, 标签 tag, 分支 branch, 消费者 consumer, 清单 manifest, 分区 partition, 桶 bucket, 合并 compaction,
过期 expire, 回滚 rollback, 保留 retain, 时间旅行 time travel. Ids, commands, options and fields stay as they are.
"""

# ruff: noqa: F403

from dashboard.words.zh.access import *
from dashboard.words.zh.asof import *
from dashboard.words.zh.audit import *
from dashboard.words.zh.automatic_tags import *
from dashboard.words.zh.bisect import *
from dashboard.words.zh.breadcrumb import *
from dashboard.words.zh.diff import *
from dashboard.words.zh.doctor import *
from dashboard.words.zh.errors import *
from dashboard.words.zh.explanations import *
from dashboard.words.zh.files import *
from dashboard.words.zh.frame import *
from dashboard.words.zh.notices import *
from dashboard.words.zh.overview import *
from dashboard.words.zh.query import *
from dashboard.words.zh.report import *
from dashboard.words.zh.retention import *
from dashboard.words.zh.retention_curve import *
from dashboard.words.zh.tags import *
from dashboard.words.zh.timeline import *
from dashboard.words.zh.told import *
from dashboard.words.zh.version_picker import *
