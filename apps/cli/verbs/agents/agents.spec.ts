/** Schedules and agent identities from the command line, against a service. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call, type Call, type CallOptions } from '../../../../test/support/services/recorded-io.ts';
import { bootService, type TestService } from '../../../../test/support/services/service.ts';

let test: TestService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agents-'));
  test = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  mkdirSync(join(folder, 'repo/automations/triage'), { recursive: true });
  writeFileSync(
    join(folder, 'repo/automations/triage/automation.md'),
    '---\ntriggers:\n' +
      '  - {provider: schedule, event: cron_fired, schedule: {name: dawn, cron: "0 5 * * *"}}\n---\nLook.\n',
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

describe('millwright schedules', () => {
  it('makes one, shows it, pauses, resumes, changes and deletes it', async () => {
    const made = await millwright(
      ['schedules', 'create', 'Nightly sweep', '--cron', '0 3 * * *', '--prompt', '-', '--model', 'm-1'].concat([
        '--factory=filed',
        '--metadata=team=core',
      ]),
      { stdin: 'Remove dead code.\n' },
    );
    expect(made).toEqual({
      code: 0,
      out: expect.stringMatching(/^[0-9a-f-]{36}\n$/),
      err: expect.stringMatching(/^made: Nightly sweep, next run \S+T03:00:00Z\n$/),
    });
    const shown = await millwright(['schedules', 'get', made.out.trim()]);
    expect(shown.out).toMatch(/^schedule +Nightly sweep \([0-9a-f-]{36}\)\nstate +active\ncron +0 3 \* \* \*\nnext/);
    expect(shown.out).toMatch(/\nmanaged in +the API\nmade by +admin\n.*\nteam +core\n\n {2}Remove dead code\.\n$/);
    expect(await millwright(['schedules', 'pause', 'Nightly sweep'])).toMatchObject({
      code: 0,
      out: 'Nightly sweep: paused\n',
    });
    const { out: row } = await millwright(['schedules', 'list', '--factory', 'filed']);
    expect(row).toMatch(/^[0-9a-f-]{36} +Nightly sweep +0 3 \* \* \* +paused +- +- +0 +the API$/m);
    const changed = await answer('schedules', 'update', 'Nightly sweep', '--skill', 'count', '--cron=@hourly');
    expect(changed).toMatchObject({
      name: 'Nightly sweep',
      cron_schedule: '@hourly',
      enabled: false,
      prompt: 'Remove dead code.',
      metadata: { team: 'core' },
      agent_config: { model_id: 'm-1', skill_spec: 'count' },
    });
    expect(await answer('schedules', 'resume', 'Nightly sweep')).toMatchObject({ enabled: true });
    expect((await millwright(['schedules', 'delete', 'Nightly sweep'])).out).toBe('Nightly sweep: deleted\n');
    expect(await millwright(['schedules', 'get', 'Nightly sweep'])).toMatchObject({ code: 5 });
  });

  it('lists triggers with their file, which says how they are changed', async () => {
    const { out } = await millwright(['schedules']);
    expect(out).toMatch(/^ID +NAME +CRON +STATE +NEXT +LAST RUN +MISSED +MANAGED IN\n/);
    expect(out).toMatch(/ dawn +0 5 \* \* \* +active +\S+T05:00:00Z +- +0 +automations\/triage\/automation\.md$/m);
    expect((await millwright(['schedules', 'get', 'dawn'])).out).not.toContain('automation_id');
    expect(await millwright(['schedules', 'pause', 'dawn'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('automations/triage/automation.md: change it in this file'),
    });
  });

  it('says what of it is not served', async () => {
    const OZ = ['--mode=orchestrate', '--harness=oz'];
    const made = await millwright(['schedules', 'create', 'x', '--cron=@daily', '--prompt=x', ...OZ]);
    expect(made).toMatchObject({ code: 0, err: expect.stringMatching(/ignored, .*: \/mode\n$/) });
    const { out } = await millwright(['schedules', 'get', 'x']);
    expect(out).toMatch(/\nnot served +\/mode\n/);
    const run = await millwright(['run', '--prompt=x', ...OZ]);
    expect(run.err).toMatch(/ignored, because it is not served here: \/mode\n/);
    await millwright(['schedules', 'delete', 'x']);
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['create', 'x', '--prompt', 'y'], 64, '--cron EXPRESSION is missing'],
    [['create', 'x', '--cron', '@daily'], 64, '--prompt TEXT|- or --skill SKILL is missing'],
    [['create', 'x', '--cron', '* * *', '--prompt', 'y'], 1, 'cron_schedule'],
    [['create', 'x', '--cron', '@daily', '--prompt', 'y', '--metadata', 'core'], 64, 'KEY=VALUE'],
    [['update', 'dawn'], 64, 'say what is to change'],
    [['update', 'dawn', '--identity', 'x', '--no-identity'], 64, 'not both'],
    [['update', 'dawn', '--identity', 'x'], 5, 'no agent identity'],
    [['delete', 'nope'], 5, 'there is no schedule of that name or ID'],
    [['stop', 'nope'], 64, 'say one of list, get, create, update, pause, resume, delete'],
  ])('%j is refused with %d', async (argv, code, message) => {
    expect(await millwright(['schedules', ...argv])).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
  });

  it('asks for the ID where two have one name', async () => {
    for (const cron of ['@daily', '@hourly'])
      expect(await answer('schedules', 'create', 'twin', '--prompt=x', `--cron=${cron}`)).toBeDefined();
    const refused = await millwright(['schedules', 'pause', 'twin']);
    expect(refused).toMatchObject({ code: 64, err: expect.stringMatching(/called that: \S{36}, \S{36}; say the ID/) });
    const [id = ''] = /\S{36}/.exec(refused.err.split('that: ')[1] ?? '') ?? [];
    expect(await answer('schedules', 'pause', id)).toMatchObject({ id, enabled: false });
  });
});

describe('millwright identities', () => {
  it('makes one, which a run and a schedule take, changes and deletes it', async () => {
    const options = [
      '--model',
      'small',
      '--prompt',
      'Read first.',
      '--secret',
      'A_TOKEN,B_TOKEN',
      '--skill',
      'acme/tools:count,acme/tools:read',
      '--factory',
      'filed',
    ];
    const made = await millwright(['identities', 'create', 'reviewer', '--description', 'Reads', ...options]);
    expect(made).toEqual({ code: 0, out: expect.stringMatching(/^[0-9a-f-]{36}\n$/), err: 'made: reviewer\n' });
    const uid = made.out.trim();
    const shown = await millwright(['identities', 'get', 'reviewer']);
    expect(shown.out).toMatch(/^identity +reviewer \([0-9a-f-]{36}\)\ndescription +Reads\n/);
    expect(shown.out).toMatch(
      /\nskills +acme\/tools:count, acme\/tools:read\nsecrets +A_TOKEN, B_TOKEN\nchanged +\S+\n\n {2}Read first\.\n$/,
    );
    const { out: rows } = await millwright(['identities']);
    expect(rows).toMatch(/^UID +NAME +HARNESS +MODEL +FACTORY +CHANGED +DESCRIPTION\n\S{36} +reviewer +- +small +fac_/);
    expect(await answer('identities', 'update', uid, '--harness', 'codex', '--model', 'g', '--name', 'critic')).toEqual(
      expect.objectContaining({ name: 'critic', prompt: 'Read first.' }),
    );
    const run = await answer('run', '--prompt', 'x', '--identity', 'critic');
    expect(await answer('runs', 'get', String(run['run_id']))).toMatchObject({ metadata: { agent_identity_uid: uid } });
    await answer('schedules', 'create', 'of it', '--cron=@daily', '--prompt=x', '--identity=critic');
    expect(await millwright(['identities', 'delete', 'critic'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('schedules use the agent identity: of it'),
    });
    expect(await answer('schedules', 'update', 'of it', '--no-identity')).not.toHaveProperty('agent_uid');
    expect((await millwright(['identities', 'delete', 'critic'])).out).toBe('critic: deleted\n');
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['get', 'nope'], 5, 'there is no agent identity of that name or UID'],
    [['update', 'nope'], 64, 'say what is to change'],
    [['create'], 64, 'NAME is missing'],
    [['list', '--factory', 'nope'], 5, 'there is no factory nope'],
  ])('%j is refused with %d', async (argv, code, message) => {
    expect(await millwright(['identities', ...argv])).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
  });
});
