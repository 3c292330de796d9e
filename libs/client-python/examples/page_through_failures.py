"""Counts the failed runs of the last days by what was wrong. Usage: page_through_failures.py [DAYS]"""

import sys
from collections import Counter
from datetime import datetime, timedelta, timezone

from millwright import Millwright, MillwrightError


def main(days: int = 7) -> None:
    since = datetime.now(timezone.utc) - timedelta(days=days)
    counts: "Counter[str]" = Counter()
    with Millwright() as client:
        for run in client.agent.runs.list(state=["FAILED", "ERROR"], created_after=since, limit=100):
            said = run.status_message
            counts[(said and (said.error_code or said.message)) or "no reason given"] += 1
    for reason, count in counts.most_common():
        print(f"{count}\t{reason}")
    print(f"{sum(counts.values())} failed in {days} days")


if __name__ == "__main__":
    try:
        main(*(int(days) for days in sys.argv[1:2]))
    except MillwrightError as error:
        sys.exit(str(error))
