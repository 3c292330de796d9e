"""The components that are texts.

Generated from the API document by scripts/generate.py; do not edit.
"""

from typing import Union

from typing_extensions import Literal, TypeAlias

RunId: TypeAlias = str
"""UUIDv7 of a run."""

RunModeParam: TypeAlias = Literal["normal", "plan", "orchestrate"]
"""What is sent as a RunMode."""

RunMode: TypeAlias = Union[RunModeParam, str]
"""How the agent is asked to work. plan: in its own mode for planning where it has one, else it is asked for a plan and to change nothing. A command finds it in the variable MILLWRIGHT_RUN_MODE."""

RunSourceTypeParam: TypeAlias = Literal["API", "CLI", "WEB_APP", "CUSTOM_WEBHOOK", "SCHEDULED_AGENT", "LINEAR", "MCP", "SLACK", "TEAMS", "LOCAL", "GITHUB_ACTION", "CLOUD_MODE", "JIRA", "SELF_IMPROVEMENT", "GITHUB_WEBHOOK", "GITLAB_WEBHOOK", "AZURE_DEVOPS_WEBHOOK", "AUTOFIX", "RUN_SCORER", "ORCHESTRATION", "BENCHMARK_TRIAL", "CREATE_BENCHMARK_TASK"]
"""What is sent as a RunSourceType."""

RunSourceType: TypeAlias = Union[RunSourceTypeParam, str]
"""What created a run. This service produces API, CLI, WEB_APP, CUSTOM_WEBHOOK and SCHEDULED_AGENT; the other names are known from the hosted service and match no run here."""

RunStateParam: TypeAlias = Literal["QUEUED", "CLAIMED", "PENDING", "INPROGRESS", "BLOCKED", "SUCCEEDED", "FAILED", "ERROR", "CANCELLED"]
"""What is sent as a RunState."""

RunState: TypeAlias = Union[RunStateParam, str]
"""State of a run: QUEUED waits, CLAIMED is taken by an execution, PENDING is being set up, INPROGRESS works, BLOCKED waits for an answer; SUCCEEDED, FAILED (the user's side), ERROR (the platform's) and CANCELLED are ends, until a follow-up queues the run again."""
