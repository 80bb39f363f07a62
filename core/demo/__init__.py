"""The demo warehouse: its data, its accidents and how it is built."""
