/** `millwright webhooks`: addresses that senders post to. spec: Webhook; contract §4. */
import type { Webhook } from '#client';
import { apiVerb } from '../connection/api.ts';
import { group } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory } from '../connection/name-resolution.ts';
import { toSeconds, type Cell } from '../terminal/output.ts';
import { create, disable, enable, remove, rotate } from './webhook-changes.ts';

const list = apiVerb({
  name: 'webhooks',
  arguments: '[FACTORY]',
  summary: 'Lists the webhooks of a factory with their ingress URLs.',
  positionals: [0, 1],
  options: {},
  async run({ positionals: [name] }, { api, output }) {
    const factory = await findFactory(api, name);
    const answer = await api.factories.webhooks.list(factory.uid);
    output.result(answer, () => {
      if (answer.webhooks.length === 0) return output.note(`factory ${factory.slug} has no webhooks`);
      output.table(
        ['NAME', 'ENABLED', 'AUTHENTICATION', 'SECRET', 'LAST DELIVERY', 'URL'],
        answer.webhooks.map(webhookRow),
      );
    });
    return EXIT.ok;
  },
});

const changes = { create, enable, disable, rotate, delete: remove };
/** The verb `webhooks`; a word that is none of its members is a factory whose webhooks are listed. */
export const webhooks = group('webhooks', changes, list, { isOpen: true });

function webhookRow({
  slug,
  enabled,
  auth_mode: mode,
  signature_scheme: scheme,
  secret_name: secret,
  last_delivery_at: last,
  ingress_url: url,
}: Webhook): Cell[] {
  return [
    slug,
    enabled ? 'yes' : { text: 'no', colour: 'yellow' },
    scheme === null ? mode : `${mode} ${scheme}`,
    secret ?? '-',
    toSeconds(last),
    url,
  ];
}
