"""`snapscope completion SHELL`: the script that has a shell ask us for words."""

from __future__ import annotations

from typing import Any

from click.shell_completion import get_completion_class

from core.cli import commands
from core.cli.arguments import Args
from core.errors import Invalid


def script(args: Args) -> tuple[Any, str]:
    """The script, without asking the shell for its version: that would start it."""
    of = get_completion_class(args.shell)
    if of is None:
        raise Invalid(f"There is no completion for {args.shell}.", remedy="Name bash, zsh or fish.")
    made = of(commands.group(), {}, "snapscope", "_SNAPSCOPE_COMPLETE")
    text = str(made.source_template % made.source_vars())
    return {"shell": args.shell, "script": text}, text
