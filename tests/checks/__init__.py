"""What the generic tests check of a row of the operator table, as functions that raise.

`tests/test_operators*.py` run them over the whole table; `tests/test_checker.py` runs them on rules
made wrong on purpose, to show that they would notice.
"""
