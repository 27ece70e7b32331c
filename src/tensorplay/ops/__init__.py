"""Operators, one file per family; `kinds.py` says how they are defined."""
