"""The examples of the README. Usage: readme_examples.py FOLDER writes each into a file of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import List, NamedTuple

README = Path(__file__).resolve().parent.parent / "README.md"


class Example(NamedTuple):
    """A block of Python under a headline."""

    chapter: str
    code: str


def examples() -> List[Example]:
    """Those of the README, in order."""
    parts = re.split(r"^## (.+)$", README.read_text("utf-8"), flags=re.MULTILINE)
    blocks = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    return [Example(chapter, code) for chapter, text in zip(parts[1::2], parts[2::2]) for code in blocks.findall(text)]


def main(folder: str) -> None:
    for number, example in enumerate(examples(), 1):
        name = re.sub(r"\W+", "_", example.chapter.lower())
        Path(folder, f"example_{number:02}_{name}.py").write_text(example.code, "utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
