"""Calls every method of the hosted service's published Python clients, strictly and as people use them.

    python hosted_methods.py warp_platform_sdk|oz_agent_sdk|warp_agent_sdk FACTS

FACTS: JSON with `url`, `key` and the identifiers that methods ask for. Writes a JSON object, method → verdict: `strict`
(what is answered is exactly what the client expects), `works` (an answer that only a client takes that does not look
closely), or `refused STATUS`.
"""

import importlib
import json
import sys


def main(package, facts):
    module = importlib.import_module(package)
    client_class = module.Client
    strict, lax = (
        client_class(
            base_url=facts["url"] + "/api/v1",
            api_key=facts["key"],
            max_retries=0,
            timeout=60,
            _strict_response_validation=is_strict,
        )
        for is_strict in (True, False)
    )
    calls = calls_of(facts)
    found = {}
    for method in sorted(methods_of(strict)):
        found[method] = verdict(module, strict, lax, method, calls)
    return found


def methods_of(resource, place=""):
    """Dotted names of every method below a client."""
    for name in dir(type(resource)):
        if name.startswith(("_", "with_")):
            continue
        member = getattr(resource, name) if place or name in ("agent", "factories", "networking") else None
        if member is None:
            continue
        if type(member).__name__.endswith("Resource"):
            yield from methods_of(member, place + name + ".")
        elif callable(member) and place:
            yield place + name


def verdict(module, strict, lax, method, calls):
    if method not in calls:
        return "not tried"
    outcome = attempt(module, strict, method, calls[method])
    if outcome != "mismatch":
        return outcome
    return {"strict": "works"}.get(attempt(module, lax, method, calls[method]), "mismatch")


def attempt(module, client, method, call):
    bound = client
    for name in method.split("."):
        bound = getattr(bound, name)
    try:
        answer = bound(**call())
        if hasattr(answer, "read"):
            answer.read()
        return "strict"
    except module.APIResponseValidationError as error:
        print(method, str(error.__cause__ or error)[:2000], file=sys.stderr)
        return "mismatch"
    except module.APIStatusError as error:
        print(method, error.status_code, str(error.body)[:300], file=sys.stderr)
        return "refused {}".format(error.status_code)


def calls_of(facts):
    """What each method is called with; made anew for every call."""
    ended, live, plan = ({"run_id": facts[name]} for name in ("run_id", "live_run_id", "plan_run_id"))
    conversation = {"conversation_id": facts["run_id"]}
    uid = {"uid": facts["factory_uid"]}
    task = {**uid, "task_uid": facts["run_id"]}
    schedule = {"schedule_id": facts["schedule_id"]}
    config = {"model_id": "demo", "harness": {"type": "oz"}, "environment_id": facts["environment_uid"]}
    of_factory = {"extra_body": {"factory_uid": facts["factory_uid"]}}
    written = {"cron_schedule": "0 9 * * *", "name": "nightly", "prompt": "Look.", "agent_config": {"model_id": "demo"}}
    files = [{"path": "factory.yaml", "content": "name: birds\n"}]
    constant = {
        "agent.agent.create": {"name": "reviewer"},
        "agent.agent.delete": {"uid": facts["doomed_agent_uid"]},
        "agent.agent.get": {"uid": facts["agent_uid"]},
        "agent.agent.list": {},
        "agent.agent.update": {"uid": facts["agent_uid"], "description": "Reads."},
        "agent.conversations.check_redirect": conversation,
        "agent.conversations.download_screenshot": {**conversation, "screenshot_uid": facts["screenshot_uid"]},
        "agent.conversations.get_transcript": conversation,
        "agent.conversations.interrupt": {"conversation_id": facts["interrupted_run_id"]},
        "agent.conversations.retrieve": conversation,
        "agent.conversations.submit_followup": {**conversation, "message": "And the swans?"},
        "agent.download_artifact": {"artifact_uid": facts["artifact_uid"]},
        "agent.get_artifact": {"artifact_uid": facts["artifact_uid"]},
        "agent.get_run_by_external_reference": {"url": facts["ticket_url"]},
        "agent.list": {"include_malformed_skills": True, "sort_by": "last_run"},
        "agent.list_environments": {"sort_by": "last_updated"},
        "agent.list_models": {},
        "agent.run": {"prompt": "Count.", "title": "Herons", "config": {"harness": {"type": "oz"}, "model_id": "auto"}},
        "agent.runs.cancel": live,
        "agent.runs.get_conversation": ended,
        "agent.runs.get_harness_usage": ended,
        "agent.runs.get_timeline": ended,
        "agent.runs.get_transcript": ended,
        "agent.runs.interrupt": {"run_id": facts["interrupted_run_id"]},
        "agent.runs.list": {"limit": 500, "sort_by": "created_at", "source": ["API", "CUSTOM_WEBHOOK"]},
        "agent.runs.list_handoff_attachments": ended,
        "agent.runs.retrieve": plan,
        "agent.runs.submit_followup": {**ended, "message": "And the geese?"},
        "agent.schedules.create": {
            **written,
            **of_factory,
            "agent_config": config,
            "enabled": True,
            "metadata": {"team": "birds"},
            "mode": "normal",
            "team": True,
        },
        "agent.schedules.delete": {"schedule_id": facts["doomed_schedule_id"]},
        "agent.schedules.list": {},
        "agent.schedules.pause": schedule,
        "agent.schedules.resume": schedule,
        "agent.schedules.retrieve": schedule,
        "agent.schedules.update": {**schedule, **written, "enabled": True, "metadata": {}, "mode": "plan"},
        "agent.tasks.list": {"config_name": "birds", "limit": 10, "state": ["SUCCEEDED", "QUEUED"], "source": "API"},
        "agent.tasks.retrieve": {"task_id": facts["run_id"]},
        "agent.sessions.check_redirect": {"session_uuid": facts["session_id"]},
        "factories.files.schemas.get_document": {"schema_version": "v1alpha1", "document": "automation.schema.json"},
        "factories.files.schemas.list": {},
        "factories.files.schemas.retrieve": {"schema_version": "v1alpha1"},
        "factories.files.validate": {"files": files},
        "factories.get": uid,
        "factories.list": {"limit": 100, "search": "birds"},
        "factories.runs.create": {**uid, "prompt": "Count."},
        "factories.tasks.cancel": task,
        "factories.tasks.create": {**uid, **conversation, "title": "Count"},
        "factories.tasks.delete": task,
        "factories.tasks.get": task,
        "factories.tasks.get_by_conversation": {**uid, **conversation},
        "factories.tasks.get_by_run": {**uid, **ended},
        "factories.tasks.list": uid,
        "factories.tasks.update": {**task, "title": "Count again"},
        "networking.get_egress_ranges": {},
    }
    return {method: (lambda given=given: dict(given)) for method, given in constant.items()}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], json.loads(sys.argv[2])), indent=1))
