"""The types are what the API document says: made again here and compared. `python scripts/generate.py` writes them."""

from __future__ import annotations

import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pydantic
import pytest
from millwright import types

SCRIPT = Path(__file__).resolve().parent.parent / "scripts/generate.py"


@pytest.mark.skipif(sys.version_info < (3, 10), reason="datamodel-code-generator knows no Python 3.9")
def test_types_are_what_the_document_says() -> None:
    made = subprocess.run([sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stdout) == (0, ""), made.stderr


def test_every_component_has_its_name(document: Any) -> None:
    assert [name for name in document["components"]["schemas"] if not hasattr(types, name)] == []


@pytest.mark.parametrize(
    "name",
    [
        "RunAgentRequest",
        "RunAgentResponse",
        "ListRunsResponse",
        "RunItem",
        "PageInfo",
        "RunStatusMessage",
        "RunCreatorInfo",
        "RunState",
        "RunSourceType",
        "RunFollowupRequest",
        "AmbientAgentConfig",
        "MCPServerConfig",
        "Error",
    ],
)
def test_the_published_names_are_exported(name: str) -> None:
    assert name in types.__all__


def test_unknown_members_and_values_are_kept() -> None:
    answer = '{"run_id": "r", "task_id": "r", "state": "PAUSED", "weather": {"is": "fine"}}'
    run = types.RunAgentResponse.model_validate_json(answer, strict=True)
    assert (run.state, getattr(run, "weather"), run.model_dump()["weather"]) == ("PAUSED", {"is": "fine"}, {"is": "fine"})


def test_times_have_a_zone() -> None:
    event = '{"seq": 1, "run_id": "r", "event_type": "said", "occurred_at": "%s", "payload": {}}'
    known = types.RunEvent.model_validate_json(event % "2026-01-02T03:04:05.678Z", strict=True)
    assert known.occurred_at == datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=timezone.utc)
    with pytest.raises(pydantic.ValidationError):
        types.RunEvent.model_validate_json(event % "yesterday", strict=True)


def test_members_that_are_words_of_python_have_another_name() -> None:
    assert types.DeliveryStatisticsBucketsItem.model_fields["from_"].alias == "from"


def test_what_is_shown_once_stays_out_of_representations() -> None:
    made = types.ApiKeyCreated.model_construct(key="mw_secret", name="ci")
    assert "mw_secret" not in repr(made) + str(made)
    assert made.key == "mw_secret"


def test_null_is_refused_where_the_document_has_none() -> None:
    with pytest.raises(pydantic.ValidationError) as refused:
        types.RunAgentResponse.model_validate_json('{"run_id": "r", "task_id": "r", "state": "QUEUED", "at_capacity": null}', strict=True)
    assert refused.value.errors()[0]["loc"] == ("at_capacity",)
    patch = types.AutomationPatch.model_validate_json('{"description": null}', strict=True)
    assert (patch.description, patch.model_fields_set) == (None, {"description"})


@pytest.mark.filterwarnings("error")
def test_what_is_written_is_what_was_received() -> None:
    text = '{"run_id":"r","task_id":"r","state":"QUEUED","weather":null}'
    run = types.RunAgentResponse.model_validate_json(text, strict=True)
    assert (run.at_capacity, run.model_dump_json()) == (None, text)
    assert types.RunAgentResponse.model_validate(run.model_dump()) == run
    assert repr(run) == "RunAgentResponse(run_id='r', task_id='r', state='QUEUED', weather=None)"
