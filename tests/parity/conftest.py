"""Print the table of PyTorch's operator database after a run that checked its entries."""

import pytest


def pytest_terminal_summary(terminalreporter):
    """The table by aspect, and what fails or is missing."""
    report = pytest.importorskip("tests.parity.op_db_report")
    entries = pytest.importorskip("tests.parity.op_db_entries")
    found = [
        entries.Outcome(**value)
        for reports in terminalreporter.stats.values()
        for one in reports
        if getattr(one, "when", None) == "call"
        for name, value in one.user_properties
        if name == "op_db"
    ]
    if len(found) > 1:
        terminalreporter.section("PyTorch's operator database")
        terminalreporter.write_line(report.table(found))
