"""The demo warehouse: its data, its incidents and how it is built."""
