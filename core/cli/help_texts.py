"""Longer texts of the help."""

from __future__ import annotations

PROTECTION = (
    "Who can open it: whoever has the address that is printed once, at the start. It holds a secret that the browser "
    "keeps in a cookie until it is closed or the server stops. The server listens on loopback: other machines cannot "
    "reach it. Other users and programs of this machine, websites open in your browser, and whoever a port or an SSH "
    "tunnel is forwarded to can reach it, and get nothing without the secret. It does not protect from programs that "
    "run as you, nor from another server on this machine that you open under the same host name: browsers send it the "
    "cookie, too. With a port forwarded to another number, name what the address bar shows: "
    "--allow-host localhost:9000."
)
EXAMPLES = """\
Examples:
  snapscope demo ./warehouse                             make a warehouse to try things on
  snapscope serve ./warehouse                            open the dashboard
  snapscope snapshots ./warehouse/shop.db/orders         list the snapshots of a table
  snapscope as-of ./warehouse/shop.db/orders 'yesterday 08:00'
  snapscope plan expire ./warehouse/shop.db/orders --retain-max 10
  snapscope query ./warehouse/shop.db/orders 'select count(*) from t' --at latest~1

`snapscope help COMMAND` tells more of a command, `snapscope completion bash` completes words in your shell.
"""
