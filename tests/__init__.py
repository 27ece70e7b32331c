"""Tests of tensorplay: a package, so that they share the table of operators."""
