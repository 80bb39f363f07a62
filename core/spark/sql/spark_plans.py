"""Spark's plans as plain Python values, complete and in one call.

Invariant: every product in a plan is written with its class and all its elements, so nothing can hide in a field that
`children` omits: subqueries, WITH, hints, window definitions.

A node is `{"is": class name, "of": [elements]}`; sequences are lists, None stays None, numbers and strings stay
themselves, and any other value is a node with its text as the only element. Walking a plan object by object through
py4j takes half a millisecond per step, seconds for a long IN list. So a small class does it in the JVM.
"""

from __future__ import annotations

import json
from typing import Any

from pyspark.sql import SparkSession

from core.spark.session import compiled

MOST_NODES = 200_000
DEEPEST = 300  # levels; JSON and Python's stack support twice as many
TOO_LARGE = "snapscope: too large"
TOO_DEEP = "snapscope: too deep"

CATALYST = "org.apache.spark.sql.catalyst."

# After analysis, a view is written as its name and whether it is a temporary view of this session, without its content.
# An expression that Spark will replace is written as its replacement, which contains the arguments; otherwise they
# would be written twice at every level.
_SOURCE = """
import java.util.Iterator;
import org.apache.spark.sql.catalyst.expressions.RuntimeReplaceable;
import org.apache.spark.sql.catalyst.plans.logical.View;
import org.apache.spark.sql.types.DataType;
import scala.jdk.javaapi.CollectionConverters;

public final class SnapscopePlanReader implements java.util.function.BiFunction {
  private final StringBuilder out = new StringBuilder();
  private int left = MOST_NODES;
  private boolean analyzed;

  public Object apply(Object plan, Object analyzed) {
    SnapscopePlanReader reader = new SnapscopePlanReader();
    reader.analyzed = ((Boolean) analyzed).booleanValue();
    reader.write(plan, 0);
    return reader.out.toString();
  }

  private void text(String s) {
    out.append('"');
    for (int i = 0; i < s.length(); i++) {
      char c = s.charAt(i);
      if (c == 34 || c == 92 || c < 32 || c > 126) {
        String hex = Integer.toHexString(c);
        out.append((char) 92).append('u').append("0000".substring(hex.length())).append(hex);
      } else out.append(c);
    }
    out.append('"');
  }

  private void many(Iterator items, int depth) {
    out.append('[');
    for (int i = 0; items.hasNext(); i++) { if (i > 0) out.append(','); write(items.next(), depth + 1); }
    out.append(']');
  }

  private void write(Object o, int depth) {
    if (--left < 0) throw new IllegalStateException("TOO_LARGE");
    if (depth > DEEPEST) throw new IllegalStateException("TOO_DEEP");
    if (o instanceof scala.Option) o = ((scala.Option) o).isDefined() ? ((scala.Option) o).get() : null;
    if (o == null) { out.append("null"); return; }
    if (o instanceof String) { text((String) o); return; }
    if (o instanceof Boolean || o instanceof Integer || o instanceof Long || o instanceof Short || o instanceof Byte) {
      out.append(o);
      return;
    }
    boolean type = o instanceof DataType;
    if (o instanceof scala.collection.Iterable && !type) {
      many(CollectionConverters.asJava(((scala.collection.Iterable) o).iterator()), depth);
      return;
    }
    out.append('{'); text("is"); out.append(':'); text(o.getClass().getName()); out.append(',');
    text("of"); out.append(':');
    if (analyzed && o instanceof View) {
      View view = (View) o;
      out.append('['); text(view.desc().identifier().table());
      out.append(',').append(view.isTempView() && view.desc().identifier().database().isEmpty()).append(']');
    } else if (analyzed && o instanceof RuntimeReplaceable) {
      out.append('['); write(((RuntimeReplaceable) o).replacement(), depth + 1); out.append(']');
    } else if (o instanceof java.util.Map) {
      out.append('[').append(((java.util.Map) o).size()).append(']');
    } else if (o instanceof scala.Product && !type) {
      many(CollectionConverters.asJava(((scala.Product) o).productIterator()), depth);
    } else {
      out.append('['); text(type ? "" : String.valueOf(o)); out.append(']');
    }
    out.append('}');
  }
}
"""
_LIMITS = {"MOST_NODES": MOST_NODES, "DEEPEST": DEEPEST, "TOO_LARGE": TOO_LARGE, "TOO_DEEP": TOO_DEEP}
for _name, _value in _LIMITS.items():
    _SOURCE = _SOURCE.replace(_name, str(_value))


def read(session: SparkSession, plan: Any, *, analyzed: bool) -> Any:
    """The plan as nodes.

    Raises Py4JError containing TOO_LARGE or TOO_DEEP, RecursionError if the stack is too small.
    """
    return json.loads(compiled.instance(session, "SnapscopePlanReader", _SOURCE).apply(plan, analyzed))


def is_a(node: Any, short: str) -> bool:
    """Whether a value is a node of the class `short`, relative to Spark's catalyst package."""
    return isinstance(node, dict) and node["is"] == CATALYST + short
