"""Snapscope's dashboard: shows what the core answers; every question and every change is the core's own."""
