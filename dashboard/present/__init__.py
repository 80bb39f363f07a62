"""Pure presentation: words, rows and charts made from the core's values. Nothing here reads, draws or knows a clock."""
