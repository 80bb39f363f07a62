"""A `Message` is a string that knows its template and values."""

from __future__ import annotations

import copy
import json
import pickle

from core.messages import both, joined, message


def test_a_message_is_its_text_and_keeps_its_template_and_values() -> None:
    why = message("consumer {name} reads on from snapshot {id}", name="{id}", id=7)
    assert why == "consumer {id} reads on from snapshot 7", "values are put in, not read"
    assert json.dumps(why) == '"consumer {id} reads on from snapshot 7"'
    for each in (why, copy.deepcopy(why), pickle.loads(pickle.dumps(why))):
        assert (each.template, each.values) == (
            "consumer {name} reads on from snapshot {id}",
            {"name": "{id}", "id": 7},
        )
    two = both(why, message("That is all."))
    assert two == f"{why} That is all."
    assert two.values == {"first": why, "second": "That is all."}
    assert joined([]) == ""
    assert joined(["a", "b", "c"]) == "a; b; c"
