"""Sends a signed delivery to a webhook. WEBHOOK_URL and WEBHOOK_SECRET are its address and secret.

Usage: send_delivery.py [JSON]
"""

import json
import os
import sys

from millwright import APIStatusError, MillwrightError, WebhookSender


def main(payload: str = '{"order": 7, "state": "paid"}') -> int:
    url, secret = variable("WEBHOOK_URL"), variable("WEBHOOK_SECRET")
    try:
        with WebhookSender(url, secret, authentication="standard_webhooks") as sender:
            print(f"accepted {sender.send(json.loads(payload)).delivery_id}")
    except APIStatusError as error:
        print(f"refused: {error}")
        return 1
    return 0


def variable(name: str) -> str:
    return os.environ.get(name) or sys.exit(f"set {name}: the address and the secret of the webhook are needed")


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:2]))
    except MillwrightError as error:
        sys.exit(str(error))
