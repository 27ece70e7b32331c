"""Print the files below a package directory that only the build reads, one a line."""

import sys
from pathlib import Path

INSTALLED = {".py", ".pyi", ".md"}


def is_installed(path: Path) -> bool:
    return path.suffix in INSTALLED or path.name == "py.typed"


root = Path(sys.argv[1])
for path in sorted(root.rglob("*")):
    if path.is_file() and not is_installed(path):
        print(path.relative_to(root).as_posix())
