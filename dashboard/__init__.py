"""The Snapscope dashboard: displays core's results. All analysis and all changes are done in core."""
