"""The definition of each action: flags, help, CALLs. One file per group of actions."""
