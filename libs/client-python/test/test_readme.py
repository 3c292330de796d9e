"""Every example of the README runs, in order, on a real service."""

from __future__ import annotations

import re
from typing import Any, Dict

import pytest
from conftest import Service
from readme_examples import examples

#: What an example prints that shows that it did what it says.
PRINTED: Dict[str, str] = {
    "First run": r"Say hello\. SUCCEEDED\n",
    "Configuration": r"admin\n",
    "Runs": r"\w+ oz\nhandoff_execution\n",
    "Events": r"1 \w+ [\s\S]*\nSUCCEEDED \d+\n",
    "Waiting": r"SUCCEEDED .*\nwill not ask anything: SUCCEEDED\n",
    "Lists": r"2 True\n",
    "Errors": r"404 resource_not_found .+\n",
    "Retries": r"True\n",
    "Async": r"1 \w+\n",
    "Raw responses": r"200 \S+ application/json.* [\d.]+\nadmin admin\n",
    "Undocumented calls": r"\{'runs': \[\{",
    "Factories": r"\S+ QUEUED\n",
    "Deliveries": r"Accepted \S+\nmissing-header\n",
    "Types": r"\[\(.+, 'nightly'\)",
}


def test_every_chapter_with_an_example_is_looked_at() -> None:
    assert sorted({example.chapter for example in examples()} - {"Time limits and cancelling"}) == sorted(PRINTED)


def test_every_example_runs(service: Service, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MILLWRIGHT_BASE_URL", service.url)
    monkeypatch.setenv("MILLWRIGHT_API_KEY", service.api_key)
    printed: Dict[str, str] = {}
    for example in examples():
        program: Dict[str, Any] = {"__name__": f"README: {example.chapter}"}
        exec(compile(example.code, f"README.md, {example.chapter}", "exec"), program)
        printed[example.chapter] = printed.get(example.chapter, "") + capsys.readouterr().out
    for chapter, wanted in PRINTED.items():
        assert re.search(wanted, printed[chapter]), f"{chapter} printed {printed[chapter]!r}"
