"""Starts a run, waits for its end, and ends as the run did. Usage: run_and_wait.py [PROMPT]"""

import sys

from millwright import Millwright, MillwrightError, WaitTimeoutError


def main(prompt: str = "Say hello.") -> int:
    with Millwright() as client:
        created = client.agent.runs.create(prompt=prompt)
        print(f"run {created.run_id}")
        try:
            run = client.agent.runs.wait(created.run_id, timeout=30 * 60)
        except WaitTimeoutError:
            print("it is still at work; it goes on without this program")
            return 2
    print(run.state, run.status_message.message if run.status_message else "")
    for artifact in run.artifacts or []:
        print(f"made {artifact.artifact_type} {artifact.artifact_uid}")
    return 0 if run.state == "SUCCEEDED" else 1


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:2]))
    except MillwrightError as error:
        sys.exit(str(error))
