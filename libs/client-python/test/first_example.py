"""Runs the README's first example with another interpreter on a service of its own. Usage: first_example.py PYTHON"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from conftest import started
from readme_examples import examples


def main(python: str) -> int:
    with tempfile.TemporaryDirectory() as folder:
        for service in started(Path(folder)):
            environment = {"PATH": os.environ.get("PATH", ""), "MILLWRIGHT_BASE_URL": service.url, "MILLWRIGHT_API_KEY": service.api_key}
            # Begun in an empty folder, so that nothing of the checkout is found.
            empty = Path(folder, "empty")
            empty.mkdir()
            program = examples()[0].code
            ran = subprocess.run([python, "-c", program], cwd=empty, env=environment, capture_output=True, text=True, check=False)
            print(ran.stdout, ran.stderr, sep="", end="")
            return 0 if ran.returncode == 0 and "SUCCEEDED" in ran.stdout else 1
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
