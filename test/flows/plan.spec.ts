/**
 * What a tree would change in a factory: over the API and with `millwright plan`, never written. contract §4.1 (plan),
 * §9, §11.
 */
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import Sqlite from 'better-sqlite3';
import type { Plan } from '#contracts';
import { makeKey } from '../support/services/api-keys.ts';
import { automationPath, deliver, statusOf, syncsOf, webhookPath } from '../support/factories/factory-files.ts';
import { factoryFolder, filesOf, type FactoryFolder, type FactoryTree } from '../support/factories/factory-folder.ts';
import { patternOf } from '../support/patterns.ts';
import { call, type Call } from '../support/services/recorded-io.ts';
import { bootService, type ApiAnswer, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const TREE: FactoryTree = {
  webhooks: { orders: { secretName: 'hook-token' }, sales: { secretName: 'hook-token' } },
  automations: { triage: { webhooks: ['orders'] }, report: { webhooks: ['sales'] } },
};
let service: TestService;
let folder: FactoryFolder;
let uid: string;
let viewer: string;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600', MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await service.secret('hook-token', TOKEN);
  await service.secret('not-url-safe', 'sixteen bytes + spaces');
  await service.api('PUT', '/secrets/unset-yet', {});
  await service.api('PUT', '/secrets/of-others', { value: TOKEN, grants: { factories: [] } });
  folder = await factoryFolder(TREE);
  uid = await service.factory('shop', folder.source);
  viewer = await makeKey(service, 'viewer', { factories: [uid] });
});

afterAll(async () => {
  await service.stop();
  await folder.remove();
});

type Files = { path: string; content: string }[];

const files = (tree: FactoryTree): Files => filesOf(tree).map(([path, content]) => ({ path, content }));

async function planned(posted: Files): Promise<Plan> {
  const answer = await service.api('POST', `/factory/${uid}/plan`, { files: posted }, viewer);
  expect(answer.status).toBe(200);
  return answer.body as unknown as Plan;
}

const shown = ({ changes }: Plan): string[] => changes.map(({ action, kind, slug }) => `${action} ${kind} ${slug}`);

describe('a plan', () => {
  it('of the very tree that is applied changes nothing, under the very revision', async () => {
    const plan = await planned(files(TREE));
    expect(plan).toMatchObject({
      factory_uid: uid,
      valid: true,
      ending: 'applied',
      reason: null,
      message: null,
      problems: [],
      changes: [],
      held: [],
      plan: null,
      summary: { create: 0, update: 0, delete: 0, held: 0 },
    });
    expect(plan.revision).toBe((await statusOf(service, uid)).revision_applied);
  });

  it('shows every change with its UID, file and members, and the URLs of webhooks before they exist', async () => {
    const plan = await planned([
      ...files({
        webhooks: {
          orders: { secretName: 'hook-token', enabled: false },
          fresh: { secretName: 'hook-token', authMode: 'url_token' },
        },
        automations: { triage: { webhooks: ['orders', 'fresh'] } },
      }),
      { path: 'environments/box.yaml', content: 'description: a box\n' },
    ]);
    expect(shown(plan)).toEqual([
      'create environment box',
      'create webhook fresh',
      'update webhook orders',
      'update automation triage',
      'delete automation report',
      'delete webhook sales',
    ]);
    expect(plan.summary).toEqual({ create: 2, update: 2, delete: 2, held: 0 });
    const [, fresh, orders, triage] = plan.changes;
    expect(fresh).toMatchObject({
      uid: service.webhookUid('shop', 'fresh'),
      path: webhookPath('fresh'),
      ingress_url: `${service.ingressUrl('shop', 'fresh')}/{token}`,
    });
    expect(orders).toMatchObject({ changes: ['enabled'], ingress_url: service.ingressUrl('shop', 'orders') });
    expect(triage).toMatchObject({ changes: ['triggers'] });
    expect(triage).not.toHaveProperty('ingress_url');
  });

  it('advises to protect the bodies of schemes that sign no time, as no problem', async () => {
    const signed = (more: string): string => `authMode: signature\nsecretName: hook-token\n${more}\n`;
    const tree = [
      ...files(TREE),
      { path: webhookPath('bare'), content: signed('signatureScheme: pagerduty') },
      { path: webhookPath('covered'), content: signed('signatureScheme: github\nreplayProtection: body') },
      { path: webhookPath('timed'), content: signed('signatureScheme: stripe') },
    ];
    const { advice, problems, valid } = await planned(tree);
    // That they share a secret is told by a rule of trust.
    const others = problems.filter(({ rule }) => rule !== 'trust-shared-credential');
    expect({ advice, problems: others, valid }).toEqual({
      advice: [
        {
          path: webhookPath('bare'),
          message: expect.stringMatching(/pagerduty signs no time.*replayProtection: body/),
        },
      ],
      problems: [],
      valid: true,
    });
  });

  it('is what the pass over the same files then does', async () => {
    const tree: FactoryTree = {
      webhooks: { ...TREE.webhooks, later: { secretName: 'hook-token' } },
      automations: { ...TREE.automations, night: { webhooks: ['later'] } },
    };
    const plan = await planned(files(tree));
    const other = await factoryFolder(tree);
    await service.api('PATCH', `/factory/${uid}`, { source: other.source });
    const { last_sync: last, revision_applied: revision } = await service.sync(uid).then(() => statusOf(service, uid));
    const plain = (changes: readonly object[] | undefined): unknown =>
      changes?.map((change) => ({
        ...change,
        values: undefined,
        ingress_url: undefined,
        secret: undefined,
        traffic: undefined,
        replay: undefined,
      }));
    expect(plain(last?.changes)).toEqual(plain(plan.changes));
    expect(revision).toBe(plan.revision);
    expect((await deliver(plan.changes.find(({ slug }) => slug === 'later')?.ingress_url ?? '', TOKEN)).status).toBe(
      202,
    );
    await service.api('PATCH', `/factory/${uid}`, { source: folder.source });
    await service.sync(uid);
    await other.remove();
  });

  it('tells a rename', async () => {
    const plan = await planned(
      files({
        webhooks: { orders: { secretName: 'hook-token' }, offers: { secretName: 'hook-token' } },
        automations: { triage: { webhooks: ['orders'] }, report: { webhooks: ['offers'] } },
      }),
    );
    expect(plan.changes.find(({ slug }) => slug === 'offers')).toMatchObject({
      action: 'create',
      renamed_from: webhookPath('sales'),
    });
  });

  it('names every problem of every file with its place, and changes nothing then', async () => {
    const plan = await planned([
      { path: webhookPath('orders'), content: 'secretname: x\n' },
      { path: webhookPath('a'), content: 'secretName: hook-tokne\n' },
      { path: webhookPath('b'), content: 'authMode: url_token\nsecretName: not-url-safe\n' },
      { path: webhookPath('c'), content: 'secretName: unset-yet\n' },
      { path: automationPath('triage'), content: 'no front matter' },
    ]);
    expect(plan).toMatchObject({
      valid: false,
      ending: 'blocked',
      reason: 'definitions-invalid',
      changes: [],
      held: [],
      plan: null,
    });
    expect(plan.problems.map(({ path, line, column, rule }) => `${path}:${line}:${column} ${rule}`)).toEqual([
      'automations/triage/automation.md:1:1 front-matter-missing',
      'webhooks/a.yaml:1:13 secret-known',
      'webhooks/b.yaml:2:13 secret-usable',
      'webhooks/c.yaml:1:13 secret-unset',
      'webhooks/orders.yaml:1:1 unknown-key',
      'webhooks/orders.yaml:1:1 missing-key',
    ]);
    expect(plan.problems[1]).toMatchObject({
      severity: 'error',
      code: expect.stringMatching(/^FF_/),
      end_line: 1,
      message: expect.stringContaining('did you mean "hook-token"?'),
      excerpt: { first_line: 1, lines: ['secretName: hook-tokne'] },
    });
    expect(plan.problems[2]).toMatchObject({
      excerpt: { first_line: 1, lines: ['authMode: url_token', 'secretName: not-url-safe'] },
    });
  });

  it('knows no secret that the factory may not see, not even to suggest it', async () => {
    const [hidden] = (await planned(files({ webhooks: { orders: { secretName: 'of-others' } } }))).problems;
    const [missing] = (await planned(files({ webhooks: { orders: { secretName: 'zf-others' } } }))).problems;
    expect(hidden?.message.replace('of-others', 'NAME')).toBe(missing?.message.replace('zf-others', 'NAME'));
    expect(missing?.message).not.toContain('of-others');
  });

  it('holds deletions that the guard would hold, under a digest that lets exactly this tree through', async () => {
    const tree: FactoryTree = { webhooks: {}, automations: {} };
    const rest = [...files(tree), { path: 'factory.yaml', content: 'name: Empty\n' }];
    const plan = await planned(rest);
    expect(plan).toMatchObject({
      valid: true,
      ending: 'blocked',
      reason: 'prune-held',
      plan: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      summary: { delete: 0, held: 4 },
    });
    expect(shown(plan)).toEqual(['update factory ']);
    expect(plan.held.map(({ slug }) => slug)).toEqual(['report', 'triage', 'orders', 'sales']);
    // A plan holds nothing: what it names is approved once a pass does.
    const ahead = await service.api('POST', `/factory/${uid}/approve`, { plan: plan.plan });
    expect(ahead).toMatchObject({
      status: 409,
      body: {
        error: 'conflict',
        retryable: false,
        detail: expect.stringContaining('nothing with this digest is held'),
      },
    });
    expect(await planned(rest)).toMatchObject({ ending: 'blocked', plan: plan.plan });
    expect((await statusOf(service, uid)).inventory).toHaveLength(4);
  });

  it('says what is no factory, and reads nothing of what is no definition', async () => {
    expect((await planned([])).problems).toMatchObject([{ rule: 'not-a-factory' }]);
    const plan = await planned([
      ...files(TREE),
      { path: 'README.md', content: '\0' },
      { path: 'src/webhooks/x.yaml', content: ':' },
      { path: 'webhooks\\x.yaml', content: ':' },
    ]);
    expect(plan).toMatchObject({ valid: true, changes: [], revision: (await statusOf(service, uid)).revision_applied });
  });

  it('says which repositories of an environment runs do not reach, by the list of the operator', async () => {
    const content = 'repositories:\n  - https://git.test/acme/tools\n  - https://evil.test:8443/acme/out\n';
    const { problems } = await planned([...files(TREE), { path: 'environments/build.yaml', content }]);
    expect(problems.map(({ path, line, rule, severity }) => [path, line, rule, severity])).toEqual([
      ['environments/build.yaml', 2, 'repository-reached', 'warning'],
      ['environments/build.yaml', 3, 'repository-reached', 'warning'],
    ]);
    expect(problems[1]?.message).toContain('runs do not reach evil.test:8443, for the operator');
  });

  it('writes nothing', async () => {
    await service.sync(uid); // what was asked for before is done
    const before = [
      await statusOf(service, uid),
      await syncsOf(service, uid),
      (await service.api('GET', `/factory/${uid}/webhooks`)).body,
    ];
    await planned(files({ webhooks: { fresh: { secretName: 'hook-token' } } }));
    expect([
      await statusOf(service, uid),
      await syncsOf(service, uid),
      (await service.api('GET', `/factory/${uid}/webhooks`)).body,
    ]).toEqual(before);
    expect((await deliver(service.ingressUrl('shop', 'fresh'), TOKEN)).status).toBe(404);
  });

  it('of perFile shows what applies beside the files in error', async () => {
    const path = await factoryFolder(TREE);
    writeFileSync(join(path.path, 'factory.yaml'), 'applyMode: perFile\n');
    const lenient = await service.factory('lenient', path.source);
    const answer = await service.api('POST', `/factory/${lenient}/plan`, {
      files: [
        { path: 'factory.yaml', content: 'applyMode: perFile\n' },
        { path: webhookPath('orders'), content: 'secretName: 5\n' },
        { path: webhookPath('fresh'), content: 'secretName: hook-token\n' },
      ],
    });
    expect(answer.body).toMatchObject({
      valid: false,
      ending: 'applied',
      changes: [{ action: 'create', slug: 'fresh' }],
      summary: { create: 1, held: 3 },
      plan: null,
    });
    await path.remove();
  });
});

describe('what a plan concerns', () => {
  const PAYLOAD = { action: ['opened'] };
  const BUSY: FactoryTree = {
    webhooks: { issues: { secretName: 'hook-token' }, quiet: { secretName: 'hook-token' } },
    automations: { triage: { webhooks: ['issues'] }, calm: { webhooks: ['quiet'], payload: PAYLOAD } },
  };
  const MARKED = 'a-word-of-a-payload';
  let busy: FactoryFolder;
  let busyUid: string;
  const plannedFor = async (tree: FactoryTree, more: Files = []): Promise<Plan> => {
    const answer = await service.api('POST', `/factory/${busyUid}/plan`, { files: [...files(tree), ...more] });
    expect(answer.status).toBe(200);
    return answer.body as unknown as Plan;
  };
  const changeOf = ({ changes, held }: Plan, slug: string) =>
    [...changes, ...held].find((change) => change.slug === slug);

  beforeAll(async () => {
    busy = await factoryFolder(BUSY);
    busyUid = await service.factory('busy', busy.source);
    for (const action of ['opened', 'closed', 'opened', 'closed', 'closed'])
      await deliver(service.ingressUrl('busy', 'issues'), TOKEN, { action, at: Math.random(), note: MARKED });
    // is refused, and is a delivery all the same
    await deliver(service.ingressUrl('busy', 'issues'), 'a-wrong-token-of-some-length');
  });
  afterAll(() => busy.remove());

  it('is told by traffic and replay: a narrower filter', async () => {
    const tree = { ...BUSY, automations: { ...BUSY.automations, triage: { webhooks: ['issues'], payload: PAYLOAD } } };
    const plan = await plannedFor(tree);
    const triage = changeOf(plan, 'triage');
    expect(triage).toMatchObject({
      traffic: {
        days: 7,
        deliveries: 6,
        accepted: 5,
        runs: 5,
        failed_runs: 0,
        last_delivery_at: expect.any(String),
        last_run_at: expect.any(String),
      },
      replay: { deliveries: 5, before: 5, after: 2, starts: [], unreadable: 0, filters_unreadable: 0, cut: false },
    });
    const entries = (
      await service.api('GET', `/factory/${busyUid}/webhooks/${service.webhookUid('busy', 'issues')}/deliveries`)
    ).body['deliveries'] as { entry_id: string; outcome: string }[];
    expect(entries.map(({ entry_id: id }) => id)).toEqual(expect.arrayContaining(triage?.replay?.stops ?? ['none']));
    expect(triage?.replay?.stops).toHaveLength(3);
    expect(await plannedFor(tree)).toEqual(plan);
    expect(JSON.stringify(plan)).not.toContain(MARKED);
  });

  it('is told of what a disabled or deleted webhook fed, of new ones that select it, and of the factory', async () => {
    const off = await plannedFor({
      ...BUSY,
      webhooks: { ...BUSY.webhooks, issues: { secretName: 'hook-token', enabled: false } },
    });
    expect(off.changes).toHaveLength(1);
    expect(changeOf(off, 'issues')).toMatchObject({
      changes: ['enabled'],
      replay: { before: 5, after: 0 },
      traffic: { deliveries: 6, accepted: 5, runs: 5 },
    });
    const more = await plannedFor(
      {
        webhooks: BUSY.webhooks ?? {},
        automations: { ...BUSY.automations, second: { webhooks: ['issues', 'quiet'], payload: PAYLOAD } },
      },
      [
        { path: 'factory.yaml', content: 'description: new\n' },
        { path: 'environments/box.yaml', content: '{}\n' },
      ],
    );
    expect(changeOf(more, 'second')).toMatchObject({
      action: 'create',
      traffic: { deliveries: 6, runs: 0 },
      replay: { before: 0, after: 2 },
    });
    expect(changeOf(more, 'box')).toMatchObject({
      traffic: { deliveries: null, accepted: null, runs: 0, last_run_at: null },
    });
    expect(changeOf(more, '')).toMatchObject({ kind: 'factory', traffic: { deliveries: 6, runs: 5 } });
    const gone = await plannedFor({}, [{ path: 'factory.yaml', content: '{}\n' }]);
    expect(changeOf(gone, 'issues')).toMatchObject({
      action: 'delete',
      traffic: { deliveries: 6 },
      replay: { before: 5, after: 0 },
    });
    expect(gone.held.map(({ slug, replay }) => [slug, replay?.before, replay?.after])).toEqual([
      ['calm', 0, 0],
      ['triage', 5, 0],
      ['issues', 5, 0],
      ['quiet', 0, 0],
    ]);
  });

  it('is told of schedules, agent identities and automations that name an environment that goes', async () => {
    const boxes = await factoryFolder({});
    await boxes.writeFile('environments/box.yaml', 'description: a box\n');
    await boxes.writeFile('environments/spare.yaml', 'description: another\n');
    const factory = await service.factory('boxes', boxes.source);
    const { environments } = (await service.api('GET', '/agent/environments')).body;
    const box = (environments as { uid: string; factory_uid: string; config: { name: string } }[]).find(
      ({ factory_uid: of, config }) => of === factory && config.name === 'box',
    );
    const common = { cron_schedule: '@daily', prompt: 'Look.', factory_uid: factory };
    const made = async (path: string, body: object): Promise<string> => {
      const { status, body: answer } = await service.api('POST', path, body);
      expect(status).toBeLessThan(300);
      return String(answer['id'] ?? answer['uid']);
    };
    const identity = await made('/agent/identities', { name: 'Ada', environment_id: 'box', factory_uid: factory });
    const ids = [
      await made('/agent/schedules', { ...common, name: 'by name', agent_config: { environment_id: 'box' } }),
      await made('/agent/schedules', { ...common, name: 'by UID', agent_config: { environment_id: box?.uid } }),
      await made('/agent/schedules', { ...common, name: 'as Ada', agent_uid: identity }),
    ];
    await made('/agent/schedules', {
      ...common,
      name: 'elsewhere',
      agent_uid: identity,
      agent_config: { environment_id: 'spare' },
    });
    const automation =
      `---\nenvironmentId: ${box?.uid}\ntriggers:\n` +
      '  - {provider: schedule, event: cron_fired, schedule: {cron: "0 5 * * *"}}\n---\nLook.\n';
    const posted = [
      { path: 'automations/triage/automation.md', content: automation },
      { path: 'environments/spare.yaml', content: 'description: changed\n' },
    ];
    const { body } = await service.api('POST', `/factory/${factory}/plan`, { files: posted });
    const { changes } = body as unknown as Plan;
    const usersOf = (slug: string) => changes.find((change) => change.slug === slug)?.used_by;
    expect(usersOf('box')).toEqual([
      { kind: 'automation', name: 'triage' },
      { kind: 'schedule', name: 'as Ada', uid: ids[2] },
      { kind: 'schedule', name: 'by UID', uid: ids[1] },
      { kind: 'schedule', name: 'by name', uid: ids[0] },
      { kind: 'agent_identity', name: 'Ada', uid: identity },
    ]);
    expect(usersOf('spare')).toBeUndefined();
    await boxes.remove();
  });

  it('is told of a new secret by its mark and of a new mode by both addresses, never by a value', async () => {
    const other = 'another-token-of-sixteen-or-more';
    await service.secret('hook-other', other);
    await service.secret('hook-same', TOKEN);
    await service.api('PUT', '/secrets/hook-empty', {});
    const mark = (name: string, version = 1) => ({
      name,
      version,
      fingerprint: version === 0 ? null : expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    const plan = await plannedFor({
      ...BUSY,
      webhooks: {
        issues: { secretName: 'hook-same', authMode: 'url_token' },
        quiet: { secretName: 'hook-other' },
        fresh: { secretName: 'hook-empty', enabled: false },
        late: { secretName: 'hook-token' },
      },
    });
    const [issues, quiet, fresh, late] = ['issues', 'quiet', 'fresh', 'late'].map((slug) => changeOf(plan, slug));
    expect(issues).toMatchObject({
      ingress_url: `${service.ingressUrl('busy', 'issues')}/{token}`,
      ingress_url_before: service.ingressUrl('busy', 'issues'),
      secret: { before: mark('hook-token'), after: mark('hook-same') },
    });
    // the same value under another name
    expect(issues?.secret?.before?.fingerprint).toBe(issues?.secret?.after?.fingerprint);
    expect(quiet).toMatchObject({ secret: { before: mark('hook-token'), after: mark('hook-other') } });
    expect(quiet).not.toHaveProperty('ingress_url_before');
    expect(quiet?.secret?.after?.fingerprint).not.toBe(quiet?.secret?.before?.fingerprint);
    expect(fresh).toMatchObject({
      ingress_url: service.ingressUrl('busy', 'fresh'),
      secret: { before: null, after: mark('hook-empty', 0) },
    });
    expect(late).toMatchObject({ secret: { before: null, after: quiet?.secret?.before } });
    const told = JSON.stringify(plan) + service.logged.join('\n');
    for (const value of [TOKEN, other]) expect(told).not.toContain(value);
  });

  it('and cannot be read any more is counted', async () => {
    const database = new Sqlite(join(service.dataDir, 'millwright.sqlite'));
    database
      .prepare(
        "UPDATE delivery SET payload = ?, payload_encoding = 'deflate-raw' " +
          "WHERE entry_id = (SELECT max(entry_id) FROM delivery WHERE outcome = 'accepted')",
      )
      .run(Buffer.from('no deflate stream'));
    database.close();
    expect(
      changeOf(
        await plannedFor({
          ...BUSY,
          automations: { ...BUSY.automations, triage: { webhooks: ['issues'], enabled: false } },
        }),
        'triage',
      ),
    ).toMatchObject({ replay: { deliveries: 5, before: 4, after: 0, unreadable: 1 } });
  });
});

describe('a request to plan', () => {
  const file = (path: unknown, content: unknown = ''): { path: unknown; content: unknown } => ({ path, content });
  it.each<[string, unknown, string[]]>([
    ['no files', {}, ['/files']],
    ['files that are no list', { files: 'x' }, ['/files']],
    [
      'files that are none',
      { files: [5, {}, file(5, 5)] },
      ['/files/0', '/files/1/path', '/files/1/content', '/files/2/path', '/files/2/content'],
    ],
    [
      'paths that lead out',
      { files: [file('../x'), file('a/../b'), file('/etc/passwd'), file('a//b'), file('./a')] },
      ['/files/0/path', '/files/1/path', '/files/2/path', '/files/3/path', '/files/4/path'],
    ],
    ['an empty path', { files: [file('')] }, ['/files/0/path']],
    ['NUL in a path', { files: [file('a\0b')] }, ['/files/0/path']],
    ['half a character', { files: [file('a\ud800'), file('b', '\udc00')] }, ['/files/0/path', '/files/1/content']],
    ['the same path twice', { files: [file('a'), file('b'), file('a')] }, ['/files/2/path']],
    ['an endless path', { files: [file('a'.repeat(4097))] }, ['/files/0/path']],
    [
      'everything at once',
      { files: [file('/a'), file(7), file('/a', '\ud800')] },
      ['/files/0/path', '/files/1/path', '/files/2/path', '/files/2/content', '/files/2/path'],
    ],
    ['too many files', { files: Array.from({ length: 2001 }, (_, n) => file(`x/${n}`)) }, ['/files']],
  ])('with %s is refused, every member named', async (_what, body, pointers) => {
    const answer = await service.api('POST', `/factory/${uid}/plan`, body, viewer);
    expect(answer.status).toBe(400);
    expect((answer.body['errors'] as { pointer: string }[]).map(({ pointer }) => pointer).sort()).toEqual(
      [...pointers].sort(),
    );
  });

  it.each([262_144, 2_000_000])('with a file of %i characters gets a problem', async (length) => {
    const plan = await planned([{ path: webhookPath('orders'), content: `# ${'x'.repeat(length)}` }]);
    expect(plan.problems).toMatchObject([{ path: webhookPath('orders'), rule: 'file-too-large' }]);
  });

  it('whose file has more members than a file has is refused before they take memory', async () => {
    const many = { ...file('a', 'x'.repeat(1_200_000)), more: Array.from({ length: 200 }, () => ({})) };
    const answer = await service.api('POST', `/factory/${uid}/plan`, { files: [many] }, viewer);
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'invalid_request', detail: 'a file of the body has more than 100 members' },
    });
  });

  it.each([
    'a: &x [*x]',
    '---\n---\na: 1',
    '!!js/function x',
    '{'.repeat(10_000),
    '\0',
    '\ufeffa: 1',
    '%YAML 9.9\n---\n',
    '- '.repeat(5_000),
    '__proto__: {polluted: true}',
  ])('with the content %j gets an answer', async (content) => {
    const plan = await planned([
      { path: webhookPath('orders'), content },
      { path: automationPath('triage'), content: `---js\n${content}\n---\nx` },
    ]);
    expect(plan.valid).toBe(false);
    expect(plan.problems.every(({ line, column }) => line > 0 && column > 0)).toBe(true);
  });

  it('for a factory that the key may not see is 404, like for none', async () => {
    const other = await service.api('POST', '/factory', { slug: 'elsewhere', source: { kind: 'dashboard' } });
    const answers = await Promise.all(
      [other.body['uid'], 'fac_00000000000000000000000000'].map((each) =>
        service.api('POST', `/factory/${String(each)}/plan`, { files: [] }, viewer),
      ),
    );
    const shape = ({ status, body: { detail, error } }: ApiAnswer): unknown => ({ status, detail, error });
    expect(answers.map(shape)).toEqual([
      { status: 404, detail: 'the factory was not found', error: 'resource_not_found' },
      { status: 404, detail: 'the factory was not found', error: 'resource_not_found' },
    ]);
  });

  it('for a dashboard factory shows what taking these files over would do', async () => {
    const made = await service.api('POST', '/factory', { slug: 'by-hand', source: { kind: 'dashboard' } });
    const answer = await service.api('POST', `/factory/${String(made.body['uid'])}/plan`, { files: files(TREE) });
    expect(answer.body).toMatchObject({ valid: true, summary: { create: 4 } });
  });
});

describe('millwright plan', () => {
  let tree: FactoryFolder;
  beforeEach(async () => {
    tree = await factoryFolder(TREE);
  });
  afterEach(() => tree.remove());

  const millwright = (...argv: string[]): Promise<Call> =>
    call(['plan', ...argv], {
      cwd: tree.path,
      environment: { MILLWRIGHT_SERVER: service.url, MILLWRIGHT_API_KEY: viewer },
    });
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(tree.path, path)), { recursive: true });
    writeFileSync(join(tree.path, path), text);
  };

  it('ends with 0 where nothing changes', async () => {
    expect(await millwright()).toEqual({ code: 0, out: 'No changes.\n', err: '' });
  });

  it('ends with 2 and the changes, with the URL of a new webhook', async () => {
    put(webhookPath('fresh'), 'secretName: hook-token\n');
    const fresh = service.webhookUid('shop', 'fresh');
    const first = await millwright('.', '--factory', 'shop');
    expect(await millwright('.', '--factory', 'shop')).toEqual(first); // same tree and facts, same bytes
    expect({ ...first, out: first.out.split('\n') }).toEqual({
      code: 2,
      err: '',
      out: [
        `+ webhook fresh (${fresh}) webhooks/fresh.yaml`,
        `    url      ${service.ingressUrl('shop', 'fresh')}`,
        expect.stringMatching(/^    secret   hook-token \(version 1, fingerprint [0-9a-f]{12}\)$/),
        '    traffic  none in the last 7 days',
        '    replay   no stored deliveries to ask',
        '1 to create, 0 to update, 0 to delete.',
        '',
      ],
    });
    expect(JSON.parse((await millwright('--format', 'json')).out)).toMatchObject({
      factory_uid: uid,
      summary: { create: 1 },
    });
  });

  it('ends with 1 and every problem', async () => {
    put(webhookPath('fresh'), 'secretName: hook-tokne\nenabld: false\n');
    const { code, out, err } = await millwright();
    expect({ code, out }).toEqual({
      code: 1,
      out:
        'webhooks/fresh.yaml:1:13: secretName "hook-tokne" is not a team secret; did you mean "hook-token"? ' +
        'Else create it first, or grant it to this factory ' +
        '[secret-known]\nwebhooks/fresh.yaml:2:1: unknown key "enabld"; did you mean "enabled"? [unknown-key]\n',
    });
    expect(err).toBe('shop: 2 errors; nothing of this would apply\n');
  });

  it('ends with 4 where deletions would be held', async () => {
    rmSync(join(tree.path, 'automations'), { recursive: true });
    const { code, out, err } = await millwright();
    expect(code).toBe(4);
    expect(out).toMatch(
      patternOf(
        /^! automation report .*: deletion held back\n {4}traffic .*\n {4}replay .*\n/,
        /! automation triage .*: deletion held back\n {4}traffic .*\n {4}replay .*\n/,
        /2 deletions held back; nothing else changes\.\n$/,
      ),
    );
    expect(err).toMatch(/^shop: this revision would delete the last automation \(2 of 2\).*sha256:[0-9a-f]{64}\n$/);
  });

  it('says so where changes would wait, because the window is closed', async () => {
    put(webhookPath('fresh'), 'secretName: hook-token\n');
    await service.api('PATCH', `/factory/${uid}`, {
      sync_policy: { windows: [{ kind: 'deny', schedule: '* * * * *', duration_minutes: 1 }] },
    });
    try {
      expect(await millwright()).toMatchObject({
        code: 2,
        out: expect.stringContaining('+ webhook fresh'),
        err: expect.stringMatching(/^shop: .* waits; .*window[^.]*\n$/),
      });
    } finally {
      await service.api('PATCH', `/factory/${uid}`, { sync_policy: {} });
    }
  });

  it('sends nothing that is no text, and says what it is', async () => {
    symlinkSync('orders.yaml', join(tree.path, 'webhooks/link.yaml'));
    writeFileSync(join(tree.path, 'webhooks/latin.yaml'), Buffer.from([0xe9]));
    const { code, out, err } = await millwright();
    expect(code).toBe(1);
    expect(out).toBe(
      'webhooks/latin.yaml:1:1: the file is not UTF-8 from here on; save it as UTF-8 ' +
        '[not-utf8]\nwebhooks/link.yaml:1:1: this is a symbolic link; commit the file itself [not-a-file]\n',
    );
    expect(err).toContain('the server was not asked');
    expect(JSON.parse((await millwright('--format', 'json')).out)).toMatchObject({
      valid: false,
      diagnostics: [{ rule: 'not-utf8' }, { rule: 'not-a-file' }],
    });
  });

  it('tells build servers of changes and problems, and fails for warnings where that is asked for', async () => {
    put(webhookPath('fresh'), 'secretName: hook-token\n');
    rmSync(join(tree.path, 'webhooks/sales.yaml'));
    rmSync(join(tree.path, 'automations/report'), { recursive: true });
    put('factory.yaml', 'schemaVersion: v1\n');
    const github = await millwright('.', '--format', 'github');
    expect(github.code).toBe(2);
    expect(github.out.split('\n').map((line) => line.replace(/(title=[\w-]+)::.*/, '$1'))).toEqual([
      expect.stringMatching(/^::warning file=factory.yaml,line=1,.*title=unsupported-here$/),
      '::warning file=automations/report/automation.md,title=plan-delete',
      '::warning file=webhooks/sales.yaml,title=plan-delete',
      '::notice file=webhooks/fresh.yaml,title=plan-create',
      '',
    ]);
    expect((await millwright('.', '--strict')).code).toBe(1);
    const sarif = JSON.parse((await millwright('--format', 'sarif')).out);
    expect(
      sarif.runs[0].results.map(({ ruleId, level }: { ruleId: string; level: string }) => [ruleId, level]),
    ).toEqual([
      ['unsupported-here', 'warning'],
      ['plan-create', 'note'],
      ['plan-delete', 'note'],
      ['plan-delete', 'note'],
    ]);
    expect((await millwright('--format', 'junit')).out).toMatch(
      /<testsuites name="millwright plan" tests="4" failures="0">/,
    );
  });

  it.each<[string[], number, string]>([
    [['not-there'], 64, 'cannot be read (ENOENT)'],
    [['a', 'b'], 64, 'takes one DIR at most'],
    [['--factory', 'nope'], 5, 'there is no factory nope'],
    [['--format', 'xml'], 64, '--format must be one of text, json, github, sarif, junit'],
    [['--server', 'http://127.0.0.1:9'], 3, 'cannot be reached'],
    [['--changed-since', 'main', '--factory', 'shop'], 64, 'asks no server'],
  ])('%j ends with %d', async (argv, code, message) => {
    expect(await millwright(...argv)).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });
});

describe('millwright validate --server', () => {
  let tree: FactoryFolder;
  beforeAll(async () => {
    tree = await factoryFolder({
      webhooks: {
        orders: { secretName: 'hook-token' },
        typo: { secretName: 'hook-tokne' },
        hidden: { secretName: 'of-others' },
        unset: { secretName: 'unset-yet' },
      },
    });
  });
  afterAll(() => tree.remove());
  const validate = (key: string, ...argv: string[]): Promise<Call> =>
    call(['validate', '--server', service.url, ...argv], { cwd: tree.path, environment: { MILLWRIGHT_API_KEY: key } });

  it('checks the names of secrets against those that the factory may use', async () => {
    const { code, out, err } = await validate(service.adminKey, '--factory', 'shop');
    expect(code).toBe(1);
    expect(out.split('\n').map((line) => line.replace(/:.*\[/, ' ['))).toEqual([
      'webhooks/hidden.yaml [secret-known]',
      'webhooks/typo.yaml [secret-known]',
      'webhooks/unset.yaml [secret-unset]',
      '',
    ]);
    expect(out).not.toMatch(/hidden\.yaml.*did you mean "of-others"/);
    expect(err).not.toContain('whether named secrets exist');
  });

  it.each<[string[], number, string]>([
    [['--factory', 'shop'], 6, 'the secrets cannot be listed'],
    [['--factory', 'nope'], 5, 'there is no factory nope'],
    [['--factory', 'shop', '--secrets-list', 'x'], 64, 'not both'],
    [['--server', 'http://127.0.0.1:9'], 3, 'cannot be reached'],
  ])('of a viewer, %j ends with %d', async (argv, code, message) => {
    expect(await validate(viewer, ...argv)).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });
});
