/**
 * Random documents of our format and of the hosted service's: the published schemas, with which editors and other
 * checkers work, and the validator come to the same verdict. contract §8.6 (Definitions of the hosted format).
 */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as fc from 'fast-check';
import { EDITOR_DOCUMENTS, HOSTED_KEYS, type DefinitionSchemaName } from '#contracts';
import { examples, IS_LONG_TIER, IS_SLOW_TIER, PROPERTY_SEED } from '../../../test/support/tier.ts';
import { readDefinitions } from '../read.ts';

const RUNS = IS_LONG_TIER ? 60_000 : examples(2_500);
/** Of the documents of a run, how many each verdict has at least: else half of the property is not tried. */
const SHARE_MIN = 0.01;

const ajv = new Ajv2020({ strict: false, validateFormats: false });
const CHECKS = Object.fromEntries(
  Object.entries(EDITOR_DOCUMENTS).map(([name, schema]) => [name, ajv.compile(schema)]),
);

const PATHS: Readonly<Record<DefinitionSchemaName, string>> = {
  factory: 'factory.yaml',
  webhook: 'webhooks/orders.yaml',
  environment: 'environments/base.yaml',
  automation: 'automations/triage/automation.md',
};

/** Errors that no schema can state: what two places say together, and what a text means. */
const BEYOND_SCHEMAS: ReadonlySet<string> = new Set([
  'duplicate-trigger',
  'filter-in-and-not-in',
  'filter-exists-false-with-in',
  'trigger-webhooks',
  'webhook-uid',
  'signature-scheme',
  'secret-value',
  'yaml-nesting',
]);

type Document = fc.Arbitrary<unknown>;

const WRONG = ['', 0, -1, 1.5, true, null, [], [null], {}, { x: 1 }, 'a b', 'Ä', ['']];
const wrong: Document = fc.constantFrom<unknown>(...WRONG);

/** Seldom anything else: a document has many places, and half of them shall be right as a whole. */
const mostly = (right: Document, other: Document = wrong): Document =>
  fc.integer({ min: 0, max: 60 }).chain((luck) => (luck === 0 ? other : right));
/** One of these, seldom one of those. */
const of = (right: readonly unknown[], other: readonly unknown[] = WRONG): Document =>
  mostly(fc.constantFrom(...right), fc.constantFrom(...other));
const text = of(['a', 'build', 'x'.repeat(50), 'Look twice.'], ['x'.repeat(201), 'x'.repeat(2_001), '']);
const listOf = (item: Document): Document => mostly(fc.array(mostly(item), { minLength: 1, maxLength: 3 }));

/** A mapping of these keys, each there or not, mostly right; seldom with one that nobody knows. */
function mapping(keys: Readonly<Record<string, Document>>, required: readonly string[] = []): Document {
  const known = Object.fromEntries(Object.entries(keys).map(([key, value]) => [key, mostly(value)]));
  const needed = Object.fromEntries(required.map((key) => [key, known[key] ?? text]));
  return fc
    .tuple(fc.record(known, { requiredKeys: [] }), fc.record(needed), fc.integer({ min: 0, max: 60 }))
    .map(([said, always, luck]) => ({
      ...(luck === 0 ? {} : always),
      ...said,
      ...(luck === 1 ? { bogus: 1 } : {}),
    }));
}

/** Keys of the hosted format that mean nothing here, at a place. */
const ignored = (name: DefinitionSchemaName, pointer = ''): Record<string, Document> =>
  Object.fromEntries(
    [...Object.keys(HOSTED_KEYS[name][pointer] ?? {}), ...(pointer === '' ? ['schemaVersion'] : [])].map((key) => [
      key,
      fc.constantFrom<unknown>('v1alpha1', 'a', ['a'], { a: 1 }, null),
    ]),
  );

/** Of the names that are right, each has one of its own: where two places have one, one of them counts. */
const secretsOf = (names: readonly string[]): Document => {
  const secretName = of(names, ['lower-case', 'A B']);
  return listOf(
    fc.oneof(
      secretName,
      mapping(
        {
          name: secretName,
          host: of(['api.example.com', '127.0.0.1:80'], ['API.example.com']),
          header: of(['Authorization: Basic', 'X-Token'], ['a b c']),
          methods: listOf(of(['GET', 'POST'], ['get'])),
          paths: listOf(of(['/a/**', '/'], ['a', '/a?b'])),
          expose: of(['env'], ['file']),
        },
        ['name'],
      ),
    ),
  );
};
const server = fc.oneof(
  mapping({ command: text, args: listOf(text), env: of([{ A: 'b' }], [{ A: 1 }]) }, ['command']),
  mapping({ url: of(['https://mcp.example.com/'], ['ftp://x']), headers: fc.constant({ A: 'b' }) }, ['url']),
  mapping({ warpId: of(['srv'], [7]) }, ['warpId']),
);
/** One of the hosted service may be called anything, as it is ignored. */
const serversOf = (names: readonly string[]): Document =>
  fc
    .tuple(fc.dictionary(fc.constantFrom(...names), mostly(server), { maxKeys: 2 }), fc.integer({ min: 0, max: 60 }))
    .map(([servers, luck]) => (luck === 0 ? { ...servers, 'not good': { url: 'https://mcp.example.com/' } } : servers));
const harness = mapping({
  type: fc.constantFrom('oz', 'codex', 'claude-code'),
  model: text,
  modelId: text,
  reasoningLevel: fc.constantFrom('low', ''),
  auth: mapping(
    {
      source: of(['managedSecret', 'workerEnvironment'], ['elsewhere']),
      secretName: fc.constantFrom('OPENAI_API_KEY', 'LEDGER'),
    },
    ['source'],
  ),
});
const agentKeys: Record<string, Document> = {
  model: fc.oneof(text, fc.constantFrom('auto', null)),
  harness: fc.oneof(harness, fc.constant(null)),
  environmentId: fc.oneof(text, fc.constant(null)),
  skill: text,
  basePrompt: text,
  mcpServers: serversOf(['tickets', 'b_2']),
  secrets: secretsOf(['A_TOKEN', 'LEDGER']),
  idleTimeoutMinutes: of([0, 10, 60], [61, -1, 1.5]),
};
const names = listOf(fc.constantFrom('builds', 'sales', 'orders-2'));
const operand = listOf(fc.constantFrom<unknown>('a', 1, true, null));
const payload: Document = fc.oneof(
  fc.constant(null),
  mapping({
    action: operand,
    sender: mapping({ in: operand, not_in: operand, exists: fc.boolean(), login: operand }),
    label: mapping({ name: operand }),
  }),
);
const ids = fc.oneof(names, fc.constant(null), mapping({ in: names }, ['in']));
const cron = of(['0 6 * * 1-5', '@daily', '@every 1h', '0 9 ? * *'], ['* * *', '0 25 * * *', '@often']);
const trigger = fc.oneof(
  mapping(
    {
      provider: of(['webhook'], ['linear', 7]),
      event: of(['received'], ['sent']),
      filter: fc.oneof(mapping({ webhooks: ids, payload }, ['webhooks']), mapping({ webhook_ids: ids, payload })),
    },
    ['provider', 'event', 'filter'],
  ),
  mapping(
    {
      provider: fc.constant('schedule'),
      event: fc.constant('cron_fired'),
      schedule: mapping({ name: fc.oneof(text, fc.constant(null)), cron }, ['cron']),
      filter: fc.oneof(fc.constant(null), mapping({ schedule_ids: ids })),
    },
    ['provider', 'event', 'schedule'],
  ),
);

const DOCUMENTS: Readonly<Record<DefinitionSchemaName, Document>> = {
  factory: mapping({
    ...ignored('factory'),
    name: text,
    description: fc.oneof(text, fc.constant(null)),
    agentDefaults: mapping({ ...ignored('factory', '/agentDefaults'), ...agentKeys }),
    secrets: secretsOf(['B2', 'C_TOKEN']),
    mcpServers: serversOf(['calendar']),
    applyMode: of(['atomic', 'perFile'], ['none']),
  }),
  webhook: mapping(
    {
      ...ignored('webhook'),
      authMode: of(['token', 'url_token'], ['basic']),
      secretName: of(['orders-token'], ['1st']),
      deliveryIdHeader: of(['X-Id'], ['a b']),
      secretOverlapMinutes: of([1, 60], [1_441, 0]),
      enabled: fc.boolean(),
      description: text,
    },
    ['secretName'],
  ),
  environment: mapping({
    ...ignored('environment'),
    dockerImage: text,
    repositories: listOf(of(['acme/birds', { owner: 'acme', name: 'birds' }], [{ owner: 'a' }, 'x'])),
    setupCommands: listOf(text),
    secrets: secretsOf(['A_TOKEN']),
    description: text,
  }),
  automation: mapping(
    {
      ...ignored('automation'),
      ...agentKeys,
      description: fc.oneof(text, fc.constant(null)),
      enabled: fc.boolean(),
      triggers: mostly(fc.array(mostly(trigger), { minLength: 1, maxLength: 2 })),
      limits: mapping({ tokens: of([1], [0]), cost: of([0.5], [0]), minutes: fc.constant(3) }),
      network: mapping({ allow: listOf(of(['api.example.com', '*.example.org:443'], ['https://x'])) }),
      concurrency: mapping({ group: fc.constantFrom('/a/b', 'deploys'), whenBusy: of(['skip'], ['stop']) }),
    },
    ['triggers'],
  ),
};

/** Rules of errors in a file of this content, as JSON, which is YAML. */
function errorsIn(name: DefinitionSchemaName, document: unknown): string[] {
  const yaml = JSON.stringify(document);
  const content = new TextEncoder().encode(name === 'automation' ? `---\n${yaml}\n---\nLook.\n` : `${yaml}\n`);
  return readDefinitions([{ path: PATHS[name], content }])
    .problems.filter(({ severity }) => severity === 'error')
    .map(({ rule, message }) => `${rule}: ${message}`);
}

describe.each(Object.keys(DOCUMENTS) as DefinitionSchemaName[])('a document of %s', (name) => {
  it('is refused by its published schema exactly where the validator refuses it', () => {
    const verdicts = { right: 0, wrong: 0 };
    fc.assert(
      fc.property(DOCUMENTS[name], (document) => {
        const errors = errorsIn(name, document);
        const beyond = errors.filter((error) => BEYOND_SCHEMAS.has(error.split(':')[0] ?? ''));
        if (beyond.length > 0) return;
        const isRight = CHECKS[name]?.(document) === true;
        verdicts[isRight ? 'right' : 'wrong'] += 1;
        if (isRight !== (errors.length === 0))
          throw new Error(`${isRight ? 'the schema takes what' : 'the schema alone refuses it:'} ${errors.join('; ')}`);
      }),
      { numRuns: RUNS, ...(IS_SLOW_TIER ? {} : { seed: PROPERTY_SEED }) },
    );
    for (const count of Object.values(verdicts)) expect(count).toBeGreaterThan(RUNS * SHARE_MIN);
  });
});
