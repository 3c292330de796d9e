/** Factories, their automations and events from the command line, against a service. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type Call, type CallOptions } from '../../../../test/support/services/recorded-io.ts';
import { bootService, eventually, type TestService } from '../../../../test/support/services/service.ts';

let test: TestService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'factories-'));
  test = await bootService();
  mkdirSync(join(folder, 'repo/automations/triage'), { recursive: true });
  writeFileSync(
    join(folder, 'repo/automations/triage/automation.md'),
    '---\ntriggers:\n  - {provider: schedule, event: cron_fired, schedule: {cron: "0 5 * * *"}}\n---\nLook.\n',
  );
  await test.factory('filed', { kind: 'directory', path: join(folder, 'repo') });
});
afterAll(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

function millwright(argv: string[], options: CallOptions = {}): Promise<Call> {
  const environment = { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey };
  return call(argv, { environment, cwd: folder, ...options });
}

async function answer(...argv: string[]): Promise<Record<string, unknown>> {
  const { code, out, err } = await millwright([...argv, '-o', 'json']);
  expect({ code, err }).toEqual({ code: 0, err: expect.any(String) });
  return JSON.parse(out) as Record<string, unknown>;
}

describe('millwright factories', () => {
  it('makes one, lists it, changes it and deletes it', async () => {
    const made = await millwright(['factories', 'create', 'shop', '--name', 'The shop']);
    expect(made).toEqual({
      code: 0,
      out: expect.stringMatching(/^shop \(fac_\w{26}\): made, managed over the API\n$/),
      err: '',
    });
    const listed = await millwright(['factories']);
    expect(listed.out).toMatch(/^NAME +LABEL +STATE +UPDATED +UID +SOURCE\n/);
    expect(listed.out).toMatch(/^shop +The shop +active +\S+Z +fac_\w+ +managed over the API$/m);
    expect((await millwright(['factories', 'list', '--search', 'sho'])).out).not.toContain('filed');
    expect(await millwright(['factories', 'update', 'shop', '--name', 'New', '--suspend'])).toMatchObject({ code: 0 });
    expect(await answer('factories', 'list', '--search', 'shop')).toMatchObject({
      factories: [{ slug: 'shop', name: 'New', suspended: true }],
    });
    expect(await answer('factories', 'update', 'shop', '--resume')).toMatchObject({ suspended: false });
    expect(await millwright(['factories', 'delete', 'shop'])).toEqual({ code: 0, out: 'shop: deleted\n', err: '' });
    expect(await millwright(['status', 'shop'])).toMatchObject({ code: 5 });
  });

  it('says the source member by member, and keeps what is not named', async () => {
    const git = ['--git', 'https://git.example.com/acme/factory.git'];
    writeFileSync(join(folder, 'policy.yaml'), 'fast_forward_only: true\n');
    await answer('factories', 'create', 'followed', ...git, '--branch', 'main', '--sync-policy', 'policy.yaml');
    const changed = await answer('factories', 'update', 'followed', '--path', 'ops', '--interval', '60');
    expect(changed).toMatchObject({
      source: { kind: 'git', url: git[1], branch: 'main', path: 'ops', interval: 60 },
      sync_policy: { fast_forward_only: true },
    });
    const policy = ['factories', 'update', 'followed', '--sync-policy', '-', '-o', 'json'];
    expect(JSON.parse((await millwright(policy, { stdin: '{}' })).out)).toMatchObject({ sync_policy: {} });
    expect(await answer('factories', 'update', 'followed', ...git)).toMatchObject({
      source: { kind: 'git', url: git[1] },
    });
    expect((await answer('factories', 'update', 'followed', '--api'))['source']).toEqual({ kind: 'dashboard' });
    await answer('factories', 'delete', 'followed');
  });

  it('leaves the folder of the repository by a dot, and says so of nothing', async () => {
    const git = ['--git', 'https://git.example.com/acme/factory.git', '--branch', 'main', '--path', 'ops'];
    await answer('factories', 'create', 'nested', ...git);
    expect(await millwright(['factories', 'update', 'nested', '--path', ''])).toMatchObject({
      code: 64,
      err: expect.stringContaining('--path is empty; write --path . for the root of the repository'),
    });
    expect(await millwright(['factories', 'update', 'nested', '--path', '.'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/factory\.git#main$/m),
    });
    expect((await answer('factories', 'list', '--search', 'nested'))['factories']).toMatchObject([
      { source: { kind: 'git', url: git[1], branch: 'main' } },
    ]);
    await answer('factories', 'delete', 'nested');
  });

  it('refuses a directory that nobody knows the place of', async () => {
    expect(await millwright(['factories', 'create', 'near', '--directory', 'repo'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('must be the absolute path of a folder on the server'),
    });
  });

  it('is not deleted by the way where it serves something', async () => {
    expect(await millwright(['factories', 'delete', 'filed'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/filed serves 0 webhooks, 1 automation, 0 schedules\n.*--force/),
    });
    const { uid } = await answer('factories', 'create', 'clocked');
    await test.api('POST', '/agent/schedules', {
      name: 'w',
      cron_schedule: '@daily',
      prompt: 'Look.',
      factory_uid: uid,
    });
    expect(await millwright(['factories', 'delete', 'clocked'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/clocked serves 0 webhooks, 0 automations, 1 schedule\n.*--force/),
    });
    expect(await millwright(['factories', 'delete', 'clocked', '--force'])).toMatchObject({ code: 0 });
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['create'], 64, 'SLUG is missing'],
    [['create', 'filed'], 1, 'slug'],
    [['create', 'No Such'], 1, '1 to 63 of a-z'],
    [['create', 'x', '--branch', 'main'], 64, 'go with --git'],
    [['create', 'x', '--api', '--directory', '/x'], 64, 'give one of --git, --directory and --api'],
    [['create', 'x', '--git', 'https://user:hunter2@git.example.com/x'], 1, 'url'],
    [['create', 'x', '--interval', 'soon'], 64, '--interval must be'],
    [['create', 'x', '--sync-policy', 'not-there'], 64, 'cannot be read'],
    [['update', 'filed'], 64, 'say what to change'],
    [['update', 'filed', '--suspend', '--resume'], 64, 'not both'],
    [['update', 'nope', '--name', 'x'], 5, 'there is no factory nope'],
    [['delete', 'nope'], 5, 'there is no factory nope'],
    [['remove'], 64, 'say one of list, create, update, delete'],
  ])('%j is refused with %d', async (argv, code, message) => {
    const refused = await millwright(['factories', ...argv]);
    expect(refused).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    expect(refused.err).not.toContain('hunter2');
  });
});

describe('millwright automations', () => {
  it('lists and shows them', async () => {
    const [heading, row, ...others] = (await millwright(['automations', 'filed'])).out.split('\n');
    expect(heading).toMatch(/^NAME +ENABLED +TRIGGERS +RUNS +LAST FIRED +FILE$/);
    expect(row).toMatch(/^triage +yes +schedule +0 +- +automations\/triage\/automation.md$/);
    expect(others).toEqual(['']);
    expect(await answer('automations', 'list', 'filed')).toMatchObject({ automations: [{ slug: 'triage' }] });
    const { out } = await millwright(['automations', 'get', 'filed', 'triage']);
    expect(out).toMatch(/^automation +triage \(auto_\w{26}\)\n/);
    expect(out).toMatch(/\ntriggers +schedule 0 5 \* \* \*\nnext +\S+Z \(0 5 \* \* \*\)\n/);
    expect(out).toMatch(/\n\n {2}Look\.\n$/);
  });

  it('says which edit of a file does it, where files decide', async () => {
    expect(await millwright(['automations', 'disable', 'filed', 'triage'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/automations\/triage\/automation\.md:\n(.*\n)* {2}\| enabled: false\n/),
    });
  });

  it('disables, enables and deletes one of the API', async () => {
    const { uid } = await answer('factories', 'create', 'by-hand');
    await test.api('POST', `/factory/${String(uid)}/automations`, {
      name: 'Nightly',
      prompt: 'Look.',
      triggers: [{ provider: 'schedule', cron: '@daily' }],
    });
    expect(await millwright(['automations', 'disable', 'by-hand', 'nightly'])).toMatchObject({
      code: 0,
      out: 'nightly: disabled\n',
    });
    expect(await millwright(['automations', 'enable', 'by-hand', 'nightly'])).toMatchObject({
      out: 'nightly: enabled\n',
    });
    expect(await millwright(['automations', 'get', 'by-hand', 'nope'])).toMatchObject({
      code: 5,
      err: expect.stringContaining('factory by-hand has no automation nope; it has nightly'),
    });
    expect(await millwright(['automations', 'delete', 'by-hand', 'nightly'])).toMatchObject({ code: 0 });
    expect(await millwright(['automations', 'by-hand'])).toMatchObject({ code: 0, out: '', err: expect.any(String) });
  });
});

describe('a name that was left out', () => {
  it.each([
    [['deliveries', 'filed'], 'WEBHOOK'],
    [['webhooks', 'disable', 'filed'], 'WEBHOOK'],
    [['automations', 'get', 'filed'], 'AUTOMATION'],
  ])('is told of, where %j has the factory alone', async (argv, missing) => {
    await millwright(['factories', 'create', 'another']);
    expect(await millwright(argv)).toMatchObject({
      code: 64,
      err: expect.stringContaining(`${missing} is missing: filed is a factory`),
    });
  });
});

describe('millwright events', () => {
  it('lists them, newest first', async () => {
    const { out } = await millwright(['events', 'filed']);
    expect(out).toMatch(/^AT +REASON +REVISION +MESSAGE\n/);
    const { events } = (await answer('events', 'filed', '--limit', '1')) as { events: object[] };
    expect(events).toHaveLength(1);
  });

  it('follows them, oldest first, a line of JSON for each', async () => {
    let printed = '';
    const following = millwright(['events', 'filed', '--follow', '-o', 'json'], { heard: (text) => (printed = text) });
    await eventually('it prints what there is', () => printed.length > 0 || undefined);
    await millwright(['factories', 'update', 'filed', '--suspend']);
    await eventually('it tells of the first change', () => printed.includes('"suspended"') || undefined);
    await millwright(['factories', 'update', 'filed', '--resume']);
    await eventually('it tells of the second', () => printed.includes('"resumed"') || undefined);
    process.emit('SIGINT');
    const { code, out } = await following;
    const seen = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { id: string; at: string; reason: string });
    expect(code).toBe(0);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(seen.length);
    expect(seen.map(({ at }) => at)).toEqual(seen.map(({ at }) => at).sort());
    expect(seen.map(({ reason }) => reason).join(' ')).toMatch(/suspend/i);
    expect(process.listenerCount('SIGINT')).toBe(0);
  });

  it('begins with the newest', async () => {
    expect(await millwright(['events', 'filed', '--follow', '--cursor', 'x'])).toMatchObject({ code: 64 });
  });
});
