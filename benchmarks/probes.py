"""Two measurements that are not a statement in a loop: import time and installed size."""

from __future__ import annotations

import compileall
import importlib.util
import subprocess
import sys
from pathlib import Path

IMPORT = (
    "import time; start = time.perf_counter(); import {library}; print(time.perf_counter() - start)"
)


def import_time(library: str, repeats: int = 2) -> float:
    """Seconds that `import library` takes in a fresh interpreter: the fastest of `repeats`.

    The package has its bytecode, as after `pip install`; an editable install may have none.
    """
    spec = importlib.util.find_spec(library)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        compileall.compile_dir(folder, quiet=2)
    command = [sys.executable, "-P", "-c", IMPORT.format(library=library)]
    runs = (
        subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(repeats)
    )
    return min(float(run.stdout) for run in runs)


def installed_size(library: str) -> float:
    """Megabytes (10^6 bytes) of the package's files, compiled modules included."""
    spec = importlib.util.find_spec(library)
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError(f"No module named {library!r}")
    files = set()
    for folder in spec.submodule_search_locations:
        files |= {p.resolve() for p in Path(folder).rglob("*") if p.is_file()}
    # An editable install keeps the compiled modules elsewhere: ask a fresh interpreter for them.
    script = (
        f"import sys, {library}; print('\\n'.join(m.__file__ for n, m in sys.modules.items() "
        f"if n.split('.')[0] == '{library}' and getattr(m, '__file__', None)))"
    )
    loaded = subprocess.run(
        [sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True
    )
    files |= {Path(line).resolve() for line in loaded.stdout.splitlines()}
    kept = (p for p in files if p.is_file() and "__pycache__" not in p.parts)
    return sum(p.stat().st_size for p in kept) / 1e6
