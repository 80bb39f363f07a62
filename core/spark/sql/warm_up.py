"""Start Spark before the first query needs it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

from core.spark.session import session
from core.spark.sql import guard


def warm_up() -> Future[float]:
    """Start Spark in the background and run a tiny query and a tiny Arrow function, to make the first real ones fast.

    The result is the time taken in seconds. An error is raised by `.result()` and by the next `get()`.
    """
    warm: Future[float] = Future()

    def work() -> None:
        began = time.monotonic()
        try:
            own = session.isolated()
            frame = guard.check(own, "SELECT id % 2 AS odd, count(*) AS n FROM range(4) GROUP BY 1", ()).frame
            frame.mapInArrow(lambda batches: batches, "odd long, n long").toArrow()
            session.release(own)
        except BaseException as error:  # noqa: BLE001 - kept in the future, for whoever reads the result
            warm.set_exception(error)
        else:
            warm.set_result(time.monotonic() - began)

    threading.Thread(target=work, name="snapscope-spark-warm-up", daemon=True).start()
    return warm
