/** `millwright webhooks` and `deliveries`: addresses that senders post to, and what became of what they sent. spec: Webhook, Webhook delivery; contract 4. */
import { apiVerb, type Api } from './api.ts';
import { Failure, group, type Verb } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { findFactory, findWebhook } from './names.ts';
import { toSeconds, type Cell } from './output.ts';
import { everyPage, noteMore, PAGE_OPTIONS, pageQuery } from './pages.ts';
import { create, disable, enable, remove, rotate } from './webhook-changes.ts';
import type { Delivery, PageInfo, Webhook } from './wire.ts';

const list = apiVerb({
  name: 'webhooks',
  arguments: '[FACTORY]',
  summary: 'Lists the webhooks of a factory with their ingress URLs.',
  positionals: [0, 1],
  options: {},
  async run({ positionals: [name] }, { api, output }) {
    const factory = await findFactory(api, name);
    const answer = await api.call<{ webhooks: Webhook[] }>('GET', `/factory/${factory.uid}/webhooks`);
    output.result(answer, () => {
      if (answer.webhooks.length === 0) return output.note(`factory ${factory.slug} has no webhooks`);
      output.table(['NAME', 'ENABLED', 'AUTHENTICATION', 'SECRET', 'LAST DELIVERY', 'URL'], answer.webhooks.map(webhookRow));
    });
    return EXIT.ok;
  },
});

const changes = { create, enable, disable, rotate, delete: remove };
const changing = group('webhooks', changes, list);

/** The verb `webhooks`; a word that is none of its members is a factory whose webhooks are listed. */
export const webhooks: Verb = (argv, io) => {
  const [word = ''] = argv;
  return word === '' || word.startsWith('-') || Object.hasOwn(changes, word) ? changing(argv, io) : list(argv, io);
};

/** The verb `deliveries`. */
export const deliveries = apiVerb({
  name: 'deliveries',
  arguments: '[FACTORY] WEBHOOK',
  summary: "Shows a webhook's delivery log, newest first.",
  positionals: [1, 2],
  options: PAGE_OPTIONS,
  async run({ values, positionals }, { api, output }) {
    const query = pageQuery(values);
    const factory = await findFactory(api, positionals.length === 2 ? positionals[0] : undefined);
    const webhook = await findWebhook(api, factory, positionals.at(-1) ?? '');
    const answer = await api.call<{ deliveries: Delivery[]; page_info: PageInfo }>('GET', `/factory/${factory.uid}/webhooks/${webhook.uid}/deliveries`, { query });
    const names = output.format === 'json' ? NO_NAMES : await automationNames(api, factory.uid, answer.deliveries);
    output.result(answer, () => {
      if (answer.deliveries.length === 0) return output.note(`webhook ${webhook.slug} has no deliveries`);
      output.table(['ENTRY', 'RECEIVED', 'OUTCOME', 'SIZE', 'FROM', 'DELIVERY ID', 'RESULT'], answer.deliveries.map((entry) => deliveryRow(entry, names)), 5);
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

function webhookRow({ slug, enabled, auth_mode: mode, signature_scheme: scheme, secret_name: secret, last_delivery_at: last, ingress_url: url }: Webhook): Cell[] {
  return [slug, enabled ? 'yes' : { text: 'no', colour: 'yellow' }, scheme === null ? mode : `${mode} ${scheme}`, secret ?? '-', toSeconds(last), url];
}

type Names = ReadonlyMap<string, string>;
const NO_NAMES: Names = new Map();

/** Names of the factory's automations by their UIDs, where something was skipped; one that is gone, or may not be seen, has none. */
async function automationNames(api: Api, factoryUid: string, entries: readonly Delivery[]): Promise<Names> {
  if (entries.every(({ skipped = [] }) => skipped.length === 0)) return NO_NAMES;
  try {
    const found = await everyPage<'automations', { uid: string; slug: string }>(api, `/factory/${factoryUid}/automations`, 'automations');
    return new Map(found.map(({ uid, slug }) => [uid, slug]));
  } catch (cause) {
    if (cause instanceof Failure) return NO_NAMES; // the log is worth more than its names
    throw cause;
  }
}

function deliveryRow(entry: Delivery, names: Names): Cell[] {
  const { entry_id: entryId, received_at: at, outcome, size, size_exact: isExact, client_address: from, delivery_id: id, count: entries } = entry;
  const label = entries > 1 ? `${outcome} ×${entries}` : outcome;
  return [
    entryId, toSeconds(at), { text: label, colour: outcome === 'Accepted' ? 'green' : outcome === 'Duplicate' ? 'dim' : 'red' }, `${isExact ? '' : '>='}${size}`, from ?? '-', id,
    resultOf(entry, names),
  ];
}

/** What it started, or why it did not. */
function resultOf({ started = [], skipped = [], refused_because: reason, outcome }: Delivery, names: Names): string {
  if (reason !== undefined) return reason;
  if (outcome !== 'Accepted') return '-';
  if (started.length > 0) return started.map(({ run_id: id }) => `run ${id}`).join(', ');
  const reasons = skipped.map((skip) => `${names.get(skip.automation_id) ?? skip.automation_id}: ${reasonOf(skip)}`);
  return reasons.length === 0 ? 'no automation selects it' : `no run: ${reasons.join('; ')}`;
}

function reasonOf({ reason, failed_pointer: pointer, operator }: NonNullable<Delivery['skipped']>[number]): string {
  if (reason !== 'filter') return reason;
  return `filter failed ${pointer === '' ? 'at the root' : `at ${pointer ?? '?'}`} (${operator})`;
}
