/** What charts are drawn of in tests: a factory that something happens in. */
import type { Page, Locator } from 'playwright-core';
import type { TestService } from '../support/services/service.ts';
import { factoryOf } from './steps.ts';

export interface Charted {
  uid: string;
  webhook: string;
  automation: string;
  url: string;
  secret: string;
}

/** A factory with a webhook and an automation that it starts. */
export async function chartedFactory(mill: TestService, slug: string): Promise<Charted> {
  const uid = await factoryOf(mill, slug);
  const { body } = await mill.api('POST', `/factory/${uid}/webhooks`, {
    name: '<b>Orders</b>',
    delivery_id_header: 'X-Id',
  });
  const webhook = String(body['uid']);
  const automation = await mill.api('POST', `/factory/${uid}/automations`, {
    name: 'Act',
    triggers: [{ provider: 'webhook', webhook_uids: [webhook] }],
    prompt: 'Act.',
  });
  return {
    uid,
    webhook,
    automation: String(automation.body['uid']),
    url: String(body['ingress_url']),
    secret: String(body['secret']),
  };
}

/** Delivers once; what is answered does not matter. */
export async function send({ url, secret }: Charted, id: string, { body = '{}', given = secret } = {}): Promise<void> {
  await fetch(url, { method: 'POST', headers: { authorization: `Bearer ${given}`, 'x-id': id }, body });
}

export function chart(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true });
}
