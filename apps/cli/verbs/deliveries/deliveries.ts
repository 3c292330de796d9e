/** `millwright deliveries`: what became of what senders sent to a webhook. spec: Webhook delivery; contract §4. */
import type { Delivery, DeliveryListParams, Factory, Webhook } from '#client';
import { apiVerb, type Api, type Calling } from '../../connection/api.ts';
import { group, UsageError } from '../../command.ts';
import { followNewest } from '../../connection/newest.ts';
import { factoryOf, findWebhook } from '../../connection/name-resolution.ts';
import { noteMore, PAGE_OPTIONS, pageQuery } from '../../connection/pages.ts';
import { EXIT } from '../../exit-codes.ts';
import {
  automationNames,
  DELIVERY_COLUMN_SHRUNK,
  DELIVERY_COLUMNS,
  deliveryRow,
  NO_NAMES,
  resultOf,
  type Names,
} from './delivery-rows.ts';
import { payload } from './payload.ts';

type Outcome = Delivery['outcome'];

/** What `--outcome` takes, in words that need no quoting. */
const OUTCOMES: Readonly<Record<string, readonly Outcome[]>> = {
  accepted: ['Accepted'],
  duplicate: ['Duplicate'],
  auth: ['Rejected (auth)'],
  'invalid-json': ['Rejected (invalid JSON)'],
  'too-large': ['Rejected (too large)'],
  rejected: ['Rejected (auth)', 'Rejected (invalid JSON)', 'Rejected (too large)'],
};

const log = apiVerb({
  name: 'deliveries',
  arguments: '[FACTORY] WEBHOOK',
  summary: "Shows a webhook's delivery log, newest first.",
  details: [
    'With --follow the newest entries are shown oldest first, then each new one as it comes, until it is ' +
      'interrupted; JSON is a line',
    'for each of them. An entry that stands for several refusals is shown again when it stands for more.',
  ],
  positionals: [1, 2],
  options: {
    outcome: {
      type: 'string',
      value: Object.keys(OUTCOMES).join('|'),
      multiple: true,
      commas: true,
      help: 'only these outcomes; rejected is all three refusals; may be repeated',
    },
    follow: { type: 'boolean', help: 'go on with what comes' },
    ...PAGE_OPTIONS,
  },
  async run({ values, positionals }, calling) {
    const { outcome, follow: isFollowed = false, ...page } = values;
    const query: DeliveryListParams = { ...pageQuery(page), outcome: outcome && outcomesOf(outcome) };
    if (isFollowed && query.cursor !== undefined) throw new UsageError('--follow begins with the newest: no --cursor');
    const place = await placeOf(calling.api, positionals);
    return isFollowed ? follow(calling, place, query) : list(calling, place, query);
  },
});

async function list({ api, output }: Calling, { factory, webhook }: Place, query: DeliveryListParams): Promise<number> {
  const { body: answer } = await api.factories.deliveries.list(factory.uid, webhook.uid, query);
  const names = output.isStructured ? NO_NAMES : await automationNames(api, factory.uid, answer.deliveries);
  output.result(answer, () => {
    if (answer.deliveries.length === 0) return output.note(`webhook ${webhook.slug} has no ${wordsOf(query)}`);
    const rows = answer.deliveries.map((entry) => deliveryRow(entry, names));
    output.table(DELIVERY_COLUMNS, rows, DELIVERY_COLUMN_SHRUNK);
    noteMore(output, answer.page_info);
  });
  return EXIT.ok;
}

function wordsOf({ outcome }: DeliveryListParams): string {
  return outcome === undefined ? 'deliveries' : 'such deliveries';
}

function follow({ api, output }: Calling, { factory, webhook }: Place, query: DeliveryListParams): Promise<number> {
  output.note(`deliveries of webhook ${webhook.slug} of factory ${factory.slug}:`);
  return followNewest<Delivery>(
    {
      list: (page) => api.factories.deliveries.list(factory.uid, webhook.uid, { ...query, ...page }),
      keyOf: ({ entry_id: id, count }) => `${id} ${count}`,
      async print(entries) {
        const names: Names = output.isStructured ? NO_NAMES : await automationNames(api, factory.uid, entries);
        for (const entry of entries) output.entry(entry, () => output.cells(deliveryRow(entry, names)));
      },
    },
    { output, first: query.limit },
  );
}

function outcomesOf(words: readonly string[]): Outcome[] {
  return [
    ...new Set(
      words.flatMap((word) => {
        const known = Object.hasOwn(OUTCOMES, word.toLowerCase()) ? OUTCOMES[word.toLowerCase()] : undefined;
        if (known === undefined) throw new UsageError(`--outcome takes ${Object.keys(OUTCOMES).join(', ')}`);
        return known;
      }),
    ),
  ];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

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
    const entryId = readEntry(positionals.at(-1));
    const { factory, webhook } = await placeOf(api, positionals.slice(0, -1));
    const made = await api.factories.deliveries.resend(factory.uid, webhook.uid, entryId);
    const names = output.isStructured ? NO_NAMES : await automationNames(api, factory.uid, [made]);
    output.result(made, () => output.line(`${made.entry_id}: ${made.delivery_id}, ${resultOf(made, names)}`));
    return EXIT.ok;
  },
});

const download = apiVerb({
  ...payload.spec,
  async run({ values, positionals }, calling) {
    const entryId = readEntry(positionals.at(-1));
    payload.check(values);
    const { factory, webhook } = await placeOf(calling.api, positionals.slice(0, -1));
    const bytes = await calling.api.factories.deliveries.payload(factory.uid, webhook.uid, entryId);
    return payload.print({ entryId, bytes }, values, calling);
  },
});

interface Place {
  factory: Factory;
  webhook: Webhook;
}

/** `[FACTORY] WEBHOOK`. */
async function placeOf(api: Api, positionals: readonly string[]): Promise<Place> {
  const factory = await factoryOf(api, positionals, 'WEBHOOK');
  return { factory, webhook: await findWebhook(api, factory, positionals.at(-1) ?? '') };
}

function readEntry(text = ''): string {
  if (UUID.test(text)) return text.toLowerCase();
  throw new UsageError('ENTRY must be the entry_id of a delivery, as `millwright deliveries` prints it (ENTRY)');
}

const members = { resend, payload: download };

/** The verb `deliveries`; every word but its members is a factory or a webhook whose log is shown. */
export const deliveries = group('deliveries', members, log, { isOpen: true });
