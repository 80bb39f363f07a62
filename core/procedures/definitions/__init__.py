"""The table of each action: flags, help, CALLs. A group of actions has one file."""
