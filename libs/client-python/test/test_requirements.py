"""The lists of packages say the same as the package itself."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict

PACKAGE = Path(__file__).resolve().parent.parent
#: What the tests need, and the package does not.
TOOLS = {"pytest", "standardwebhooks"}


def test_the_oldest_packages_are_those_that_the_package_allows() -> None:
    text = (PACKAGE / "pyproject.toml").read_text("utf-8")
    dependencies = re.search(r"^dependencies = \[(.*?)^\]", text, re.MULTILINE | re.DOTALL)
    assert dependencies is not None
    allowed = dict(re.findall(r'"([\w.-]+)>=([\d.]+)', dependencies[1]))
    assert {name for name in listed() if name not in TOOLS} == set(allowed)
    for name, floor in allowed.items():
        assert numbers(listed()[name]) == numbers(floor), name


def listed() -> Dict[str, str]:
    lines = (PACKAGE / "requirements/lowest.txt").read_text("utf-8")
    return dict(re.findall(r"^([\w.-]+)==([\d.]+)$", lines, re.MULTILINE))


def numbers(version: str) -> "list[int]":
    """Without zeros at its end: 2.10 is 2.10.0."""
    return [int(part) for part in re.sub(r"(\.0)+$", "", version).split(".")]
