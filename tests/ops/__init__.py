"""Tests of the operator families beyond what the operator table says, one file per module."""
