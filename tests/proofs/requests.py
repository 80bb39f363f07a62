"""Arbitrary requests to the guard of the dashboard's server, compared with a second implementation of its rule."""

from __future__ import annotations

import random
from collections import Counter

from tests.support.hostile_requests import (
    COOKIE,
    COOKIES,
    FORWARDED,
    HOSTS,
    METHODS,
    ORIGINS,
    OWN,
    PATHS,
    QUERIES,
    SECRET,
    SITES,
    Headers,
    ask,
    may_pass,
)

CLAIM = "Only requests with the secret, the server's own host name and from its own pages pass the dashboard's guard"
CASES = 2_000
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyzLOCALHST.:@/[]-_%, \t\xff"


def prove(seed: int) -> dict[str, int]:
    chance = random.Random(seed)
    counts: Counter[str] = Counter(
        {"requests": 0, "passed": 0, "refused": 0, "secrets taken out of the address": 0, "streams refused": 0}
    )
    for _ in range(CASES):
        kind = chance.choice(("http", "http", "websocket"))
        method, path, query = chance.choice(METHODS), chance.choice(PATHS), chance.choice(QUERIES)
        allowed = chance.choice(((), (FORWARDED,)))
        headers: Headers = []
        for name, usual, values in (
            ("host", OWN[0], HOSTS),
            ("origin", f"http://{OWN[0]}", ORIGINS),
            ("sec-fetch-site", "same-origin", SITES),
            ("cookie", COOKIE, COOKIES),
        ):
            for _ in range(chance.choices((0, 1, 2), (2, 10, 1))[0]):
                value = usual if chance.random() < 0.6 else chance.choice(values)
                headers.append((name, _bent(chance, value) if chance.random() < 0.1 else value))
        chance.shuffle(headers)
        found = ask(headers, kind=kind, method=method, path=path, query=query, hosts=allowed)
        said = (seed, kind, method, path, query, headers, allowed)
        assert found.passed == may_pass(kind, method, query, headers, allowed), said
        assert SECRET.encode() not in found.body, said
        counts["requests"] += 1
        if found.passed:
            counts["passed"] += 1
        elif kind == "websocket":
            assert found.messages == [{"type": "websocket.close", "code": 1008}], said
            counts["streams refused"] += 1
        else:
            assert found.status in (200, 303, 403), said  # 200: a page that navigates on
            assert SECRET not in "".join(found.all("location")), said
            counts["refused" if found.status == 403 else "secrets taken out of the address"] += 1
    return dict(counts)


def _bent(chance: random.Random, value: str) -> str:
    """The same with one letter more, less or changed."""
    at = chance.randrange(len(value) + 1)
    return value[:at] + chance.choice(("", *LETTERS)) + value[at + chance.randint(0, 1) :]
