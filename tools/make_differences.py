"""Write the tables of docs/differences.md from the operator table and the known differences.

python -m tools.make_differences            # rewrite the page
python -m tools.make_differences --check    # exit with 1 if it is out of date
"""

import re
import sys
from pathlib import Path

from tests.optable import schema
from tests.parity.known_differences import KNOWN

PAGE = Path(__file__).parent.parent / "docs" / "differences.md"


def known_table() -> str:
    """Entries of PyTorch's operator database that differ, one a line."""
    lines = ["| entry | aspects | why |", "|---|---|---|"]
    for name, (aspects, reason) in sorted(KNOWN.items()):
        lines.append(f"| `{name}` | {', '.join(aspects)} | {reason} |")
    return "\n".join(lines)


def rows_table() -> str:
    """Rows of the operator table that part from PyTorch, one line per row and reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for name, row in schema.ROWS.items():
        for aspect, reason in row.skip.items():
            if aspect.startswith("parity"):
                found.setdefault((name, reason), []).append(aspect.removeprefix("parity_"))
    lines = ["| operator | aspects | why |", "|---|---|---|"]
    for (name, reason), aspects in sorted(found.items()):
        lines.append(f"| `{name}` | {', '.join(aspects)} | {reason} |")
    return "\n".join(lines)


def filled(text: str) -> str:
    """The page with its tables made anew."""
    for mark, table in (("known", known_table()), ("rows", rows_table())):
        text = re.sub(
            rf"<!-- {mark} -->\n.*?<!-- end -->",
            lambda _, m=mark, t=table: f"<!-- {m} -->\n{t}\n<!-- end -->",
            text,
            flags=re.DOTALL,
        )
    return text


def main() -> int:
    """Rewrite or check the page."""
    text = PAGE.read_text()
    new = filled(text)
    if "--check" in sys.argv:
        return int(text != new)
    PAGE.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
