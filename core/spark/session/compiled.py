"""Java of our own in Spark's JVM, compiled by Janino, which Spark ships for its generated code.

For what would take Py4J thousands of calls: each costs 0.1 to 0.5 ms, and so does each dot in the name of a class.
"""

from __future__ import annotations

import threading
from typing import Any

from pyspark.sql import SparkSession

_lock = threading.Lock()
_made: dict[str, tuple[Any, Any]] = {}  # class name -> the JVM and the instance in it


def instance(session: SparkSession, name: str, source: str) -> Any:
    """The instance of a public class without arguments in this session's JVM; compiled once (0.3 s)."""
    jvm: Any = session._jvm
    with _lock:
        if name not in _made or _made[name][0] is not jvm:
            compiler = jvm.org.codehaus.janino.SimpleCompiler()
            compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
            compiler.cook(source)
            gateway: Any = session.sparkContext._gateway
            made = compiler.getClassLoader().loadClass(name)
            constructor = made.getDeclaredConstructor(gateway.new_array(jvm.java.lang.Class, 0))
            _made[name] = (jvm, constructor.newInstance(gateway.new_array(jvm.java.lang.Object, 0)))
        return _made[name][1]
