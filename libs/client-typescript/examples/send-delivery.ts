/**
 * Sends a signed delivery to a webhook. WEBHOOK_URL and WEBHOOK_SECRET are its address and secret. Usage: send-delivery
 * [JSON]
 */
import { APIStatusError, WebhookSender } from '@millwright/client';

const { WEBHOOK_URL: url, WEBHOOK_SECRET: secret } = process.env;
if (!url || !secret) {
  console.error(
    'set WEBHOOK_URL and WEBHOOK_SECRET to the address and the secret of a webhook that is signed by standard_webhooks',
  );
  process.exit(2);
}
const sender = new WebhookSender({ url, secret, authentication: 'standard_webhooks' });
try {
  const { delivery_id } = await sender.send(JSON.parse(process.argv[2] ?? '{"order": 7, "state": "paid"}'));
  console.log(`accepted ${delivery_id}`);
} catch (error) {
  if (!(error instanceof APIStatusError)) throw error;
  console.log(`refused: ${error.message}`);
  process.exitCode = 1;
}
