"""Pieces several pages share. They draw; what they draw is made in `present`."""
