/**
 * All problems of all files at once: what is wrong in one place hides nothing in another, and nothing is told that only
 * follows from it. contract §8.1.
 */
import { assert, property, subarray } from 'fast-check';
import { checkReferences, readDefinitions, type KnownFacts, type Problem, type TreeFile } from './index.ts';
import { examples, PROPERTY_SEED } from '../../test/support/tier.ts';

const AUTOMATION = 'automations/a/automation.md';

const file = (path: string, text: string): TreeFile => ({ path, content: Buffer.from(text) });
const automation = (...lines: string[]): TreeFile => file(AUTOMATION, `---\n${lines.join('\n')}\n---\nLook.\n`);
const W = file('webhooks/w.yaml', 'secretName: w-token\n');

function problemsOf(files: readonly TreeFile[], known: KnownFacts = {}): Problem[] {
  const reading = readDefinitions(files);
  const { problems, definitions } = checkReferences(reading, known);
  const withErrors = new Set(problems.filter(({ severity }) => severity === 'error').map(({ path }) => path));
  for (const { path } of [...definitions.webhooks, ...definitions.automations, ...definitions.environments])
    expect(withErrors).not.toContain(path);
  return problems.filter(({ rule }) => !rule.startsWith('trust-'));
}

const placesOf = (files: readonly TreeFile[], known?: KnownFacts): string[] =>
  problemsOf(files, known).map(({ line, column, rule }) => `${line}:${column} ${rule}`);

describe('problems of one file', () => {
  const triggers = (event: string): string[] => [
    'triggers:',
    `  - {provider: webhook, event: ${event}, filter: {webhooks: [w]}}`,
    '  - {provider: webhook, event: received, filter: {webhooks: [nope], webhook_ids: [x], payload: {status: failed}}}',
    '  - {provider: schedule, event: cron_fired, schedule: {cron: "61 * * * *"}}',
    '  - {provider: cron, event: cron_fired, schedule: {cron: "@hourly"}}',
    'environmentId: nowhere',
    'skill: nothere',
    'secrets: [{name: FOO}]',
  ];
  const others = [
    '4:62 webhook-known',
    '4:83 webhook-uid',
    '4:105 filter-bare-scalar',
    '5:62 cron',
    '6:16 provider-near',
    '8:8 skill-known',
    '9:18 run-secret-exposed',
  ];

  it('are told beside a word that is misspelt in one of its triggers', () => {
    expect(placesOf([W, automation(...triggers('received'))])).toEqual(others);
    expect(placesOf([W, automation(...triggers('recieved'))])).toEqual(['3:32 wrong-value', ...others]);
  });

  it('are told once for each entry and each name that is there again', () => {
    const names = ['w', 'w', 'nope', 'nope'].join(', ');
    const filter = `filter: {webhooks: [${names}], webhook_ids: [x]}`;
    const known: KnownFacts = {
      webhookUidOf: () => `wh_${'0'.repeat(26)}`,
      liveWebhooks: new Map(),
      deletedWebhookUids: new Set(),
    };
    const trigger = `  - {provider: webhook, event: received, ${filter}}`;
    const told = problemsOf([W, automation('triggers:', trigger)], known).map(({ rule }) => rule);
    expect(told.toSorted()).toEqual(['webhook-known', 'webhook-uid', 'wrong-value', 'wrong-value']);
  });

  it('are told without a suggestion behind the hundredth name that nothing has', () => {
    const names = Array.from({ length: 45 }, (_, n) => `hook-${n}`).join(', ');
    const triggers = Array.from(
      { length: 4 },
      () => `  - {provider: webhook, event: received, filter: {webhooks: [${names}]}}`,
    );
    const told = problemsOf([file('webhooks/hook.yaml', 'secretName: w\n'), automation('triggers:', ...triggers)]);
    const unknown = told.filter(({ rule }) => rule === 'webhook-known');
    expect(unknown).toHaveLength(180);
    expect(unknown.filter(({ message }) => message.includes('did you mean')).length).toBeLessThanOrEqual(100);
  });

  it.each([
    {
      beside: 'a webhook that is listed twice',
      lines: [
        'triggers:',
        '  - {provider: webhook, event: received, filter: {webhooks: [w, w], payload: {status: failed}}}',
      ],
      places: ['3:65 wrong-value', '3:87 filter-bare-scalar'],
    },
    {
      beside: 'two webhooks that are listed twice',
      lines: ['triggers: [{provider: webhook, event: received, filter: {webhooks: [w, v, v, w, w]}}]'],
      places: ['2:72 webhook-known', '2:75 wrong-value', '2:78 wrong-value', '2:81 wrong-value'],
    },
    {
      beside: 'an entry that is no text, with the numbers of the entries behind it',
      lines: ['triggers: [{provider: webhook, event: received, filter: {webhooks: [5, nope, w, ""]}}]'],
      places: ['2:69 wrong-type', '2:72 webhook-known', '2:81 wrong-value'],
    },
    {
      beside: 'a misspelt whenBusy',
      lines: [
        'triggers: [{provider: webhook, event: received, filter: {webhooks: [w]}}]',
        'concurrency: {group: "/a~b", whenBusy: queu}',
      ],
      places: ['3:22 group-pointer', '3:40 wrong-value'],
    },
    {
      beside: 'a trigger that is no mapping, and one without a provider',
      lines: [
        'triggers: [5, {filter: {}}, {provider: cron}]',
        'secrets: [{name: FOO, host: x}, {name: foo, host: x}, {name: PATH, header: A}, {host: y}]',
      ],
      places: [
        '2:12 wrong-type',
        '2:15 missing-key',
        '2:40 provider-near',
        '3:29 run-secret-host',
        '3:40 wrong-value',
        '3:51 run-secret-host',
        '3:62 run-secret-name',
        '3:76 run-secret-host',
        '3:80 missing-key',
        '3:87 run-secret-host',
      ],
    },
    {
      beside: 'a list that is too long',
      lines: [
        'triggers: [{provider: webhook, event: received, filter: {webhooks: [w]}}]',
        `secrets: [{name: PATH, expose: env}${', {name: FOO, expose: env}'.repeat(100)}]`,
      ],
      places: ['3:10 wrong-value', '3:18 run-secret-name'],
    },
  ])('are told beside $beside', ({ lines, places }) => {
    expect(placesOf([W, automation(...lines)])).toEqual(places);
  });

  it('are told of factory.yaml beside a number that is too high', () => {
    const text = 'agentDefaults:\n  idleTimeoutMinutes: 99\n  secrets: [{name: PATH}]\n';
    expect(placesOf([file('factory.yaml', text), W])).toEqual(['2:23 wrong-value', '3:20 run-secret-name']);
  });

  it('are told of a webhook beside a scheme that is missing', () => {
    const text = 'authMode: signature\nsecretName: nope\ndeliveryIdHeader: Cookie\n';
    const known = { webhookSecrets: new Map() };
    expect(placesOf([file('webhooks/w.yaml', text)], known)).toEqual([
      '1:1 signature-scheme',
      '2:13 secret-known',
      '3:19 delivery-id-header',
    ]);
  });

  it('are told of an environment beside a repository that is none', () => {
    const text =
      'repositories: [5, "https://far.example/a/b"]\nsecrets: [{name: PATH}, 5, {name: NOPE, expose: env}]\n';
    const unreachedHostOf = (repository: unknown): string | undefined =>
      repository === 'https://far.example/a/b' ? 'far.example' : undefined;
    const known = { runSecrets: new Set<string>(), unreachedHostOf };
    expect(placesOf([file('environments/e.yaml', text), W], known)).toEqual([
      '1:16 wrong-type',
      '1:19 repository-reached',
      '2:18 run-secret-name',
      '2:25 wrong-type',
      '2:35 secret-known',
    ]);
  });
});

describe('what only follows from a problem', () => {
  const hook = ['triggers: [{provider: webhook, event: received, filter: {webhooks: [w]}}]'];
  const facts = { name: 'w-token', set: false };

  it.each<{ wrong: string; files: TreeFile[]; known?: KnownFacts; places: string[] }>([
    {
      wrong: 'a filter of another type selects no webhook',
      files: [automation('triggers: [{provider: webhook, event: received, filter: {webhooks: 5}}]')],
      places: ['2:68 wrong-type'],
    },
    {
      wrong: 'a trigger without its filter selects no webhook',
      files: [automation('triggers: [{provider: webhook, event: received}]')],
      places: ['2:12 missing-key'],
    },
    {
      wrong: 'triggers with misspelt filters are the same',
      files: [
        automation(
          'triggers:',
          '  - {provider: webhook, event: received, filter: {webhooks: [w], paylod: {a: [1]}}}',
          '  - {provider: webhook, event: received, filter: {webhooks: [w], paylod: {a: [2]}}}',
          '  - {provider: schedule, event: cron_fired, schedule: {cron: 5}}',
          '  - {provider: schedule, event: cron_fired, schedule: {cron: 6}}',
        ),
      ],
      places: ['3:66 unknown-key', '4:66 unknown-key', '5:62 wrong-type', '6:62 wrong-type'],
    },
    {
      wrong: 'a group has no payload where the triggers cannot be read',
      files: [automation('triggers: {}', 'concurrency: {group: /a}')],
      places: ['2:11 wrong-type'],
    },
    {
      wrong: 'a group has no payload where a provider is misspelt',
      files: [automation('triggers: [{provider: webhok, event: received}]', 'concurrency: {group: /a}')],
      places: ['2:23 provider-near'],
    },
    {
      wrong: 'a secret has a header and no host',
      files: [
        automation(...hook, 'secrets: [{name: FOO, host: "https://X", header: A}, {name: BAR, hosts: x, header: A}]'),
      ],
      places: ['3:29 wrong-value', '3:66 unknown-key'],
    },
    {
      wrong: 'a secret is inside without a word',
      files: [automation(...hook, 'secrets: [{name: FOO, expose: yes}, {name: foo}]')],
      places: ['3:31 wrong-value', '3:44 wrong-value'],
    },
    {
      wrong: 'a secret is not granted to another environment',
      files: [automation(...hook, 'environmentId: 5', 'secrets: [{name: FOO, expose: env}]')],
      known: { runSecrets: new Set(['FOO']), runGrants: new Map([['FOO', ['environment/base']]]) },
      places: ['3:16 wrong-type'],
    },
    {
      wrong: 'the scheme and the replay protection do not go with a mode that is misspelt',
      files: [
        file('webhooks/w.yaml', 'authMode: sgnature\nsignatureScheme: github\nsecretName: x\nreplayProtection: body\n'),
        file('webhooks/v.yaml', 'authMod: signature\nsignatureScheme: github\nsecretName: x\nreplayProtection: body\n'),
      ],
      places: ['1:1 unknown-key', '1:11 wrong-value'],
    },
    {
      wrong: 'a secret without a value, where enabled is no truth value',
      files: [file('webhooks/w.yaml', 'secretName: w-token\nenabled: "no"\n')],
      known: { webhookSecrets: new Map([['w-token', facts]]) },
      places: ['2:10 wrong-type'],
    },
    {
      wrong: 'a secret cannot be used for the default of a mode that is misspelt',
      files: [file('webhooks/w.yaml', 'secretName: w-token\nauthMode: sgnature\nsignatureScheme: github\n')],
      known: {
        webhookSecrets: new Map([
          [
            'w-token',
            {
              name: 'w-token',
              set: true,
              usableFor: { token: false, url_token: false, signature: true, standard_webhooks: false },
            },
          ],
        ]),
      },
      places: ['2:11 wrong-value'],
    },
    {
      wrong: 'a model is not to be had from a harness that is misspelt',
      files: [automation(...hook, 'model: x/y', 'harness: {type: 5}')],
      known: {
        agentsHere: {
          harness: 'agent',
          builtIn: new Set(['agent']),
          hasDemoModelOnly: true,
          missing: new Map(),
          installed: ['agent'],
        },
      },
      places: ['4:17 wrong-type'],
    },
  ])('is not told: $wrong', ({ files, known, places }) => {
    const [first] = files;
    const tree = first?.path === W.path ? files : [W, ...files];
    expect(placesOf(tree, known)).toEqual(places);
  });

  it('is not told of a file that names one with errors and has errors itself', () => {
    const lines = [...hook, 'limits: {tokens: x}'];
    const broken = file('webhooks/w.yaml', 'secretName: w-token\ncolor: red\n');
    expect(problemsOf([broken, automation(...lines)]).map(({ path, rule }) => `${path} ${rule}`)).toEqual([
      `${AUTOMATION} wrong-type`,
      'webhooks/w.yaml unknown-key',
    ]);
    expect(placesOf([broken, automation(...hook)])).toEqual(['2:1 unknown-key', '2:69 held-reference']);
  });
});

it('a key that is missing is told beside one that is ignored in its place', () => {
  const files = [file('webhooks/w.yaml', 'schemaVersion: v9\n')];
  expect(placesOf(files)).toEqual(['1:1 unsupported-here', '1:1 missing-key']);
  expect(readDefinitions(files)).toMatchObject({ definitions: { webhooks: [] }, brokenPaths: ['webhooks/w.yaml'] });
});

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
/** A fault: what is put where, in which file; nothing takes out what is there. */
type Fault = readonly [path: string, pointer: string, value: Json | undefined];

const HOOK = 'webhooks/orders.yaml';
const ENVIRONMENT = 'environments/other.yaml';

const SOUND: Readonly<Record<string, Json>> = {
  'webhooks/w.yaml': { secretName: 'w-token' },
  'webhooks/v.yaml': { secretName: 'w-token' },
  'environments/base.yaml': { setupCommands: ['true'] },
  'factory.yaml': {
    name: 'x',
    agentDefaults: { model: 'a/b', secrets: [{ name: 'ONE', expose: 'env' }], idleTimeoutMinutes: 5 },
    applyMode: 'atomic',
  },
  [HOOK]: {
    authMode: 'signature',
    signatureScheme: 'github',
    secretName: 'w-token',
    deliveryIdHeader: 'X-Number',
    enabled: true,
    secretOverlapMinutes: 5,
  },
  [ENVIRONMENT]: {
    repositories: ['a/b', { owner: 'a', name: 'c' }],
    setupCommands: ['true', 'false'],
    secrets: [
      { name: 'ONE', expose: 'env' },
      { name: 'TWO', host: 'x.example', header: 'A', methods: ['GET', 'POST'] },
    ],
  },
  [AUTOMATION]: {
    triggers: [
      {
        provider: 'webhook',
        event: 'received',
        filter: { webhooks: ['w', 'v', 'x'], webhook_ids: [`wh_${'0'.repeat(26)}`], payload: { a: ['b'], c: ['d'] } },
      },
      { provider: 'webhook', event: 'received', filter: { webhooks: ['w'], payload: { a: ['c'] } } },
      { provider: 'webhook', event: 'received', filter: { webhooks: ['v'] } },
      { provider: 'schedule', event: 'cron_fired', schedule: { name: 'x', cron: '5 * * * *' } },
      { provider: 'schedule', event: 'cron_fired', schedule: { name: 'y', cron: '6 * * * *' } },
      { provider: 'schedule', event: 'cron_fired', schedule: { cron: '7 * * * *' } },
    ],
    model: 'a/b',
    harness: { type: 'agent', modelId: 'a/b' },
    environmentId: 'base',
    mcpServers: { one: { url: 'https://one.example/', headers: { A: 'x' } }, two: { command: 'x', args: ['y', 'z'] } },
    secrets: [
      { name: 'ONE', expose: 'env' },
      { name: 'TWO', host: 'x.example', header: 'A' },
      { name: 'TEN', expose: 'env' },
    ],
    idleTimeoutMinutes: 5,
    concurrency: { group: '/a', whenBusy: 'queue' },
    limits: { tokens: 5, cost: 1, minutes: 5 },
    network: { allow: ['x.example', 'y.example'] },
    trust: [{ accept: 'trust-no-budget', reason: 'It is only a test.', until: '2027-01-31' }],
  },
  'webhooks/x.yaml': { secretName: 'w-token' },
};

const FAULTS: readonly Fault[] = [
  ['factory.yaml', '/name', ''],
  ['factory.yaml', '/agentDefaults/idleTimeoutMinutes', 99],
  ['factory.yaml', '/agentDefaults/secrets/0/name', 'PATH'],
  ['factory.yaml', '/agentDefaults/skill', 'nope'],
  ['factory.yaml', '/applyMode', 'atomc'],
  [HOOK, '/signatureScheme', undefined],
  [HOOK, '/secretName', 'nope'],
  [HOOK, '/deliveryIdHeader', 'Cookie'],
  [HOOK, '/enabled', 'no'],
  [HOOK, '/secretOverlapMinutes', 0],
  [HOOK, '/color', 'red'],
  [ENVIRONMENT, '/repositories/0', 5],
  [ENVIRONMENT, '/repositories/1/name', undefined],
  [ENVIRONMENT, '/setupCommands/0', ''],
  [ENVIRONMENT, '/secrets/0/name', 'NOPE'],
  [ENVIRONMENT, '/secrets/1/name', 'two'],
  [ENVIRONMENT, '/secrets/1/header', 'Host'],
  [ENVIRONMENT, '/secrets/1/methods/1', 'PSOT'],
  [AUTOMATION, '/triggers/0/event', 'recieved'],
  [AUTOMATION, '/triggers/0/filter/webhooks/0', 'nope'],
  [AUTOMATION, '/triggers/0/filter/webhooks/1', 5],
  [AUTOMATION, '/triggers/0/filter/webhooks/3', 'x'],
  [AUTOMATION, '/triggers/0/filter/webhook_ids/0', 'u'],
  [AUTOMATION, '/triggers/0/filter/payload/a', 'b'],
  [AUTOMATION, '/triggers/0/filter/payload/c', { in: 'd' }],
  [AUTOMATION, '/triggers/1/event', undefined],
  [AUTOMATION, '/triggers/1/filter/webhooks', []],
  [AUTOMATION, '/triggers/1/color', 'red'],
  [AUTOMATION, '/triggers/2', 'webhook'],
  [AUTOMATION, '/triggers/3/schedule/cron', '61 * * * *'],
  [AUTOMATION, '/triggers/3/schedule/name', ''],
  [AUTOMATION, '/triggers/4/schedule/cron', undefined],
  [AUTOMATION, '/triggers/5/provider', 'cron'],
  [AUTOMATION, '/model', 5],
  [AUTOMATION, '/harness/type', ''],
  [AUTOMATION, '/harness/modelId', 5],
  [AUTOMATION, '/environmentId', 'nope'],
  [AUTOMATION, '/skill', 'nope'],
  [AUTOMATION, '/mcpServers/one/url', 'one'],
  [AUTOMATION, '/mcpServers/two/args/0', 5],
  [AUTOMATION, '/secrets/0/name', 'PATH'],
  [AUTOMATION, '/secrets/1/name', 'NOPE'],
  [AUTOMATION, '/secrets/1/header', 'Host'],
  [AUTOMATION, '/secrets/2/name', undefined],
  [AUTOMATION, '/secrets/3', 'three'],
  [AUTOMATION, '/idleTimeoutMinutes', -1],
  [AUTOMATION, '/concurrency/group', '/a~b'],
  [AUTOMATION, '/concurrency/whenBusy', 'queu'],
  [AUTOMATION, '/limits/tokens', 0],
  [AUTOMATION, '/limits/color', 1],
  [AUTOMATION, '/network/allow/0', '/'],
  [AUTOMATION, '/trust/0/until', 'soon'],
  [AUTOMATION, '/trust/0/reason', undefined],
];

const KNOWN: KnownFacts = {
  webhookSecrets: new Map([['w-token', { name: 'w-token', set: true }]]),
  runSecrets: new Set(['ONE', 'TWO', 'TEN']),
  environmentUids: new Set(),
};

/** The tree with faults in it. JSON is YAML as well. */
function treeWith(faults: readonly Fault[]): TreeFile[] {
  const documents = structuredClone(SOUND) as Record<string, Json>;
  for (const [path, pointer, value] of faults) {
    const segments = pointer.slice(1).split('/');
    const last = segments.pop() ?? '';
    const parent = segments.reduce(
      (member, segment) => (member as Record<string, Json>)[segment] as Json,
      documents[path] as Json,
    ) as Record<string, Json>;
    if (value === undefined) delete parent[last];
    else if (Array.isArray(parent) && parent.length < Number(last)) parent.push(value);
    else parent[last] = value;
  }
  return Object.entries(documents).map(([path, document]) => {
    const text = JSON.stringify(document);
    return file(path, path.endsWith('.md') ? `---\n${text}\n---\nLook.\n` : text);
  });
}

/** Sorted, and without the name of a secret that another fault may have changed. */
const messagesOf = (faults: readonly Fault[]): string[] =>
  problemsOf(treeWith(faults), KNOWN)
    .map(({ path, rule, message }) => `${path} ${message.replace(/^.*(?= cannot be the value)/, 'it')} [${rule}]`)
    .sort();

describe('independent faults in sound files', () => {
  const each = new Map<Fault, string[]>();

  it('are one problem each', () => {
    expect(messagesOf([])).toEqual([]);
    for (const fault of FAULTS) {
      each.set(fault, messagesOf([fault]));
      expect([fault, each.get(fault)]).toEqual([fault, [expect.stringContaining(fault[0])]]);
    }
  });

  it('are all told at once, each as it is told alone', () => {
    const some = subarray([...FAULTS], { minLength: 2, maxLength: 18 });
    const all = property(some, (faults) => {
      expect(messagesOf(faults)).toEqual(faults.flatMap((fault) => each.get(fault) ?? []).sort());
    });
    assert(all, { numRuns: examples(1_000), seed: PROPERTY_SEED });
  });
});
