"""Dispatches a ticket to a factory, unless its run is there already. Usage: dispatch.py SLUG TICKET PROMPT"""

import sys

from millwright import Millwright, MillwrightError
from millwright.types import Factory


def main(slug: str = "orders", ticket: str = "ORD-7", prompt: str = "Count the open orders.") -> None:
    with Millwright() as client:
        factory = by_slug(client, slug)
        # The same key for the same ticket: whoever dispatches it twice within a day gets the first run.
        dispatched = client.factories.dispatch(
            factory.uid, prompt=prompt, ticket_ref=ticket, idempotency_key=f"dispatch-{ticket}"
        )
    print(dispatched.run_id, dispatched.state, dispatched.run_url)


def by_slug(client: Millwright, wanted: str) -> Factory:
    for found in client.factories.list(search=wanted):
        if found.slug == wanted:
            return found
    raise SystemExit(f"there is no factory {wanted} that this key may see")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:4])
    except MillwrightError as error:
        sys.exit(str(error))
