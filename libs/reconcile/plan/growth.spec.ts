/** What a plan gives runs that they do not have now, and when that waits for an approval. contract §9.8 (Growth). */
import { readDefinitions, type Definitions } from '#definitions';
import {
  deriveUid,
  growthDigest,
  growthWords,
  judge,
  type Actual,
  type AppliedObject,
  type Evaluation,
  type ReconcileInput,
} from '../index.ts';

const KEY = new Uint8Array(32);
const uidOf: ReconcileInput['uidOf'] = (kind, slug) =>
  kind === 'factory' ? 'fac_1' : deriveUid(KEY, kind, 'acme', slug);

type Files = Readonly<Record<string, string>>;

const HOOKS = {
  'webhooks/github.yaml': 'authMode: signature\nsignatureScheme: github\nsecretName: hook\nreplayProtection: body\n',
};

/** An automation on issues of members. */
function automation(keys = '', payload = 'issue: {author_association: [MEMBER]}'): string {
  const filter = `filter: {webhooks: [github], payload: {${payload}}}`;
  return `---\ntriggers:\n  - {provider: webhook, event: received, ${filter}}\n${keys}---\nSort the issue.\n`;
}

const TRIAGE = 'automations/triage/automation.md';

function judged(files: Files, before: Actual, more: Partial<ReconcileInput> = {}): Evaluation {
  const tree = Object.entries({ ...HOOKS, ...files }).map(([path, text]) => ({ path, content: Buffer.from(text) }));
  return judge(
    { revision: 'main@sha1:1', reading: readDefinitions(tree) },
    {
      factorySlug: 'acme',
      appliedBefore: before.factory !== undefined,
      actual: before,
      known: { webhookUidOf: (slug) => uidOf('webhook', slug) },
      approvedDigests: new Set(),
      uidOf,
      ...more,
    },
  );
}

/** What is live once these files have applied. */
function applied(files: Files): Actual {
  const { checked } = judged(files, { objects: [] });
  return { factory: checked.definitions.factory, objects: objectsOf(checked.definitions) };
}

function objectsOf({ webhooks, automations, environments, skills }: Definitions): AppliedObject[] {
  const lists = { webhook: webhooks, automation: automations, environment: environments, skill: skills };
  return Object.entries(lists).flatMap(([kind, definitions]) =>
    definitions.map(
      (definition) =>
        ({
          kind,
          uid: uidOf(kind as AppliedObject['kind'], definition.name),
          slug: definition.name,
          path: definition.path,
          definition,
        }) as AppliedObject,
    ),
  );
}

const grown = (before: Files, after: Files): string[] => judged(after, applied(before)).growth.map(growthWords);

describe('growth', () => {
  const secrets = (entry: string): string => automation(`secrets: [${entry}]\n`);
  const inEnvironment = automation('environmentId: shop\n');
  it.each<[string, Files, Files, string[]]>([
    ['nothing', { [TRIAGE]: automation() }, { [TRIAGE]: automation() }, []],
    ['another prompt', { [TRIAGE]: automation() }, { [TRIAGE]: `${automation()}Be brief.\n` }, []],
    [
      'wider writers',
      { [TRIAGE]: automation() },
      { [TRIAGE]: automation('', 'issue: {exists: true}') },
      ['triage: input writers: members → anyone'],
    ],
    ['narrower writers', { [TRIAGE]: automation('', 'issue: {exists: true}') }, { [TRIAGE]: automation() }, []],
    [
      'a secret inside',
      { [TRIAGE]: automation() },
      { [TRIAGE]: secrets('{name: A_KEY, expose: env}') },
      ['triage: secret A_KEY (inside)'],
    ],
    [
      'a secret that comes inside',
      { [TRIAGE]: secrets('{name: A_KEY, host: a.test, header: X-Key}') },
      { [TRIAGE]: secrets('{name: A_KEY, expose: env}') },
      ['triage: secret A_KEY (inside)'],
    ],
    [
      'a secret with more methods and fewer paths',
      { [TRIAGE]: secrets('{name: A_KEY, host: a.test, header: X-Key}') },
      { [TRIAGE]: secrets('{name: A_KEY, host: a.test, header: X-Key, methods: [GET, POST], paths: [/x]}') },
      ['triage: secret A_KEY at a.test: GET, HEAD every path → GET, POST /x', 'triage: effect write POST a.test'],
    ],
    [
      'a secret with fewer paths',
      { [TRIAGE]: secrets('{name: A_KEY, host: a.test, header: X-Key}') },
      { [TRIAGE]: secrets('{name: A_KEY, host: a.test, header: X-Key, paths: [/x]}') },
      [],
    ],
    [
      'a host, but none that a pattern had',
      { [TRIAGE]: automation('network: {allow: ["*.acme.test"]}\n') },
      { [TRIAGE]: automation('network: {allow: [docs.acme.test, pypi.org]}\n') },
      ['triage: host pypi.org'],
    ],
    [
      'a repository that is pushed to, by its environment',
      { [TRIAGE]: inEnvironment, 'environments/shop.yaml': 'repositories: [acme/shop]\n' },
      {
        [TRIAGE]: inEnvironment,
        'environments/shop.yaml': 'repositories: [acme/docs, {owner: acme, name: shop, push: true}]\n',
      },
      ['triage: repository acme/docs', 'triage: effect push acme/shop'],
    ],
    [
      'every tool of a server, by the defaults',
      {
        [TRIAGE]: automation(),
        'factory.yaml': 'agentDefaults: {mcpServers: {w: {command: w, args: [--tools, a]}}}\n',
      },
      { [TRIAGE]: automation(), 'factory.yaml': 'agentDefaults: {mcpServers: {w: {command: w}}}\n' },
      ['triage: tool w: another program or address'],
    ],
    [
      'more budget, and one bound less',
      { [TRIAGE]: automation('limits: {tokens: 1000, minutes: 5}\n') },
      { [TRIAGE]: automation('limits: {tokens: 2000}\n') },
      ['triage: budget tokens: 1000 → 2000', 'triage: budget minutes: 5 → no bound'],
    ],
    ['less budget', { [TRIAGE]: automation() }, { [TRIAGE]: automation('limits: {minutes: 5}\n') }, []],
    ['a disabled automation', {}, { [TRIAGE]: automation('enabled: false\nlimits: {minutes: 5}\n') }, []],
    [
      'an automation that is enabled',
      { [TRIAGE]: automation('enabled: false\nlimits: {minutes: 5}\n') },
      { [TRIAGE]: automation('limits: {minutes: 5}\n') },
      ['triage: input writers: members', 'triage: budget minutes: 5'],
    ],
  ])('tells %s', (_, before, after, expected) => {
    expect(grown(before, after)).toEqual(expected);
  });

  it('applies, unless the policy has it approved: then the revision waits as a whole, for its digest', () => {
    const before = applied({ [TRIAGE]: automation() });
    const after = {
      [TRIAGE]: secrets('{name: A_KEY, expose: env}'),
      'environments/more.yaml': 'setupCommands: [ls]\n',
    };
    expect(judged(after, before).applies).toBe(true);
    const held = judged(after, before, { holdsGrowth: true });
    expect(held).toMatchObject({
      applies: false,
      ending: { kind: 'blocked', reason: 'growth-held', digest: expect.stringMatching(/^sha256:/), changes: [] },
    });
    expect(held.ending.message).toContain('triage: secret A_KEY (inside)');
    const approvedDigests = new Set([held.ending.digest ?? '']);
    expect(judged(after, before, { holdsGrowth: true, approvedDigests }).applies).toBe(true);
    const more = { ...after, [TRIAGE]: secrets('{name: A_KEY, expose: env}, {name: B_KEY, expose: env}') };
    expect(judged(more, before, { holdsGrowth: true, approvedDigests }).applies).toBe(false);
  });

  it('has a digest of factory and revision too', () => {
    const growth = judged({ [TRIAGE]: automation() }, { objects: [] }).growth;
    const digests = [
      { factorySlug: 'acme', revision: 'a' },
      { factorySlug: 'acme', revision: 'b' },
      { factorySlug: 'other', revision: 'a' },
    ].map((scope) => growthDigest(growth, scope));
    expect(new Set(digests).size).toBe(3);
  });

  it('names nothing that the policy does not hold: what changes nothing of runs applies', () => {
    const before = applied({ [TRIAGE]: automation() });
    expect(judged({ [TRIAGE]: `${automation()}Be brief.\n` }, before, { holdsGrowth: true }).applies).toBe(true);
  });
});
