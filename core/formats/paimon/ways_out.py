"""What a reader can do where rows of a Paimon table cannot be shown: texts that several errors end with. Pure."""

from __future__ import annotations

from core.messages import message

OWN_ENGINE = message("Read it with Paimon 2.0 in Spark or Flink.")
LEAVE_OUT = message("Leave the column out, or read it with Paimon 2.0 in Spark or Flink.")
NEWER = message("The file is not damaged: a newer engine may have written it. Upgrade Snapscope.")
CHANGE = message("Make this change with the table's own engine.")
