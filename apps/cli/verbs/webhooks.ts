/**
 * `millwright webhooks` and `deliveries`: addresses that senders post to, and what became of what they sent. spec:
 * Webhook, Webhook delivery; contract §4.
 */
import type { Delivery, Webhook } from '#client';
import { apiVerb, type Api } from '../connection/api.ts';
import { CommandError, group, UsageError, type Verb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { findFactory, findWebhook } from '../connection/name-resolution.ts';
import { toSeconds, type Cell } from '../terminal/output.ts';
import { all, noteMore, PAGE_OPTIONS, PAGE_SIZE_MAX, pageQuery } from '../connection/pages.ts';
import { create, disable, enable, remove, rotate } from './webhook-changes.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
const changing = group('webhooks', changes, list);

/** The verb `webhooks`; a word that is none of its members is a factory whose webhooks are listed. */
export const webhooks: Verb = (argv, io) => {
  const [word = ''] = argv;
  return word === '' || word.startsWith('-') || Object.hasOwn(changes, word) ? changing(argv, io) : list(argv, io);
};

const log = apiVerb({
  name: 'deliveries',
  arguments: '[FACTORY] WEBHOOK',
  summary: "Shows a webhook's delivery log, newest first.",
  positionals: [1, 2],
  options: PAGE_OPTIONS,
  async run({ values, positionals }, { api, output }) {
    const query = pageQuery(values);
    const factory = await findFactory(api, positionals.length === 2 ? positionals[0] : undefined);
    const webhook = await findWebhook(api, factory, positionals.at(-1) ?? '');
    const { body: answer } = await api.factories.deliveries.list(factory.uid, webhook.uid, query);
    const names = output.format === 'json' ? NO_NAMES : await automationNames(api, factory.uid, answer.deliveries);
    output.result(answer, () => {
      if (answer.deliveries.length === 0) return output.note(`webhook ${webhook.slug} has no deliveries`);
      output.table(
        ['ENTRY', 'RECEIVED', 'OUTCOME', 'SIZE', 'FROM', 'DELIVERY ID', 'RESULT'],
        answer.deliveries.map((entry) => deliveryRow(entry, names)),
        5,
      );
      noteMore(output, answer.page_info);
    });
    return EXIT.ok;
  },
});

const resend = apiVerb({
  name: 'deliveries resend',
  arguments: '[FACTORY] WEBHOOK ENTRY',
  summary: 'Delivers the stored bytes of an accepted delivery again, to the webhook as it is defined now.',
  details: [
    'ENTRY is the entry of the log, as `millwright deliveries` prints it. It counts against the rate of the ' +
      'webhook and is never a duplicate.',
  ],
  positionals: [2, 3],
  options: {},
  async run({ positionals }, { api, output }) {
    const entryId = positionals.at(-1) ?? '';
    if (!UUID.test(entryId))
      throw new UsageError('ENTRY must be the entry_id of a delivery, as `millwright deliveries` prints it (ENTRY)');
    const factory = await findFactory(api, positionals.length === 3 ? positionals[0] : undefined);
    const webhook = await findWebhook(api, factory, positionals.at(-2) ?? '');
    const made = await api.factories.deliveries.resend(factory.uid, webhook.uid, entryId.toLowerCase());
    const names = output.format === 'json' ? NO_NAMES : await automationNames(api, factory.uid, [made]);
    output.result(made, () => output.line(`${made.entry_id}: ${made.delivery_id}, ${resultOf(made, names)}`));
    return EXIT.ok;
  },
});

const delivering = group('deliveries', { resend }, log);

/** The verb `deliveries`; every word but `resend` is a factory or a webhook whose log is shown. */
export const deliveries: Verb = (argv, io) => {
  const [word = ''] = argv;
  return word === '' || word.startsWith('-') || word === 'resend' ? delivering(argv, io) : log(argv, io);
};

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

type Names = ReadonlyMap<string, string>;
const NO_NAMES: Names = new Map();

/**
 * Names of the factory's automations by their UIDs, where something was skipped; one that is gone, or may not be seen,
 * has none.
 */
async function automationNames(api: Api, factoryUid: string, entries: readonly Delivery[]): Promise<Names> {
  if (entries.every(({ skipped = [] }) => skipped.length === 0)) return NO_NAMES;
  try {
    const found = await all(api.factories.automations.list(factoryUid, { limit: PAGE_SIZE_MAX }));
    return new Map(found.map(({ uid, slug }) => [uid, slug]));
  } catch (cause) {
    if (cause instanceof CommandError) return NO_NAMES; // the log is worth more than its names
    throw cause;
  }
}

function deliveryRow(entry: Delivery, names: Names): Cell[] {
  const {
    entry_id: entryId,
    received_at: at,
    outcome,
    size,
    size_exact: isExact,
    client_address: from,
    delivery_id: id,
    count: entries,
  } = entry;
  const label = entries > 1 ? `${outcome} ×${entries}` : outcome;
  return [
    entryId,
    toSeconds(at),
    { text: label, colour: outcome === 'Accepted' ? 'green' : outcome === 'Duplicate' ? 'dim' : 'red' },
    `${isExact ? '' : '>='}${size}`,
    from ?? '-',
    id,
    resultOf(entry, names),
  ];
}

/** What it started, or why it did not. */
function resultOf(
  { started = [], skipped = [], refused_because: reason, refusal, outcome }: Delivery,
  names: Names,
): string {
  if (reason !== undefined) return refusal?.hint === undefined ? reason : `${reason}, likely by ${refusal.hint}`;
  if (outcome !== 'Accepted') return '-';
  if (started.length > 0) return started.map(({ run_id: id }) => `run ${id}`).join(', ');
  const reasons = skipped.map((skip) => `${names.get(skip.automation_id) ?? skip.automation_id}: ${reasonOf(skip)}`);
  return reasons.length === 0 ? 'no automation selects it' : `no run: ${reasons.join('; ')}`;
}

function reasonOf({ reason, failed_pointer: pointer, operator }: NonNullable<Delivery['skipped']>[number]): string {
  if (reason !== 'filter') return reason;
  return `filter failed ${pointer === '' ? 'at the root' : `at ${pointer ?? '?'}`} (${operator})`;
}
