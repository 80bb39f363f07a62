"""From holders to a plan: what a change frees, why the rest is kept, and how it must be confirmed. Pure."""
