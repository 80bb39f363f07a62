"""Pieces that several pages share. They draw; what they draw is made in `view_models` and `charts`."""
