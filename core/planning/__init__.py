"""From holders to a plan: what an action frees, why the rest is kept, and how the plan must be confirmed. Pure."""
