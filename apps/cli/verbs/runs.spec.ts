/** `millwright run` and `runs` against a real service that runs a small command. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bootService, eventually, type TestService } from '../../../test/support/services/service.ts';
import { call, type Call, type CallOptions } from '../../../test/support/services/recorded-io.ts';

/** Does what the first word of its prompt says. */
const AGENT = `
read -r word rest
case "$word" in
  fail) echo "failing" >&2; exit 3 ;;
  wait) echo "waiting"; sleep 60 ;;
  make) printf 'hi' > artifacts/report.md; printf 'hello' > artifacts/b.txt; echo made ;;
  steer) printf 'a\\033[31mred\\tb\\r\\n::error::x\\nno line end' ;;
  *) echo "$word $rest"; cat ;;
esac
`;

let test: TestService;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'runs-'));
  test = await bootService({ environment: { MILLWRIGHT_RUN_COMMAND: JSON.stringify(['/bin/sh', '-c', AGENT]) } });
  mkdirSync(join(folder, 'repo'), { recursive: true });
  writeFileSync(join(folder, 'repo/factory.yaml'), 'name: Shop\nagentDefaults: {model: fast}\n');
  await test.factory('shop', { kind: 'directory', path: join(folder, 'repo') });
});
afterAll(async () => {
  await test.stop();
  rmSync(folder, { recursive: true });
});

function millwright(argv: string[], options: CallOptions = {}): Promise<Call> {
  return call(argv, { environment: { MILLWRIGHT_SERVER: test.url, MILLWRIGHT_API_KEY: test.adminKey }, ...options });
}

async function runItem(id: string): Promise<Record<string, unknown>> {
  return (await test.api('GET', `/agent/runs/${id}`)).body;
}

/** Starts a run and answers its ID. */
async function begin(prompt: string, ...argv: string[]): Promise<string> {
  const { code, out } = await millwright(['run', '--prompt', prompt, ...argv]);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^[0-9a-f-]{36} {2}QUEUED\n$/) });
  return out.slice(0, 36);
}

function reaches(id: string, state: string): Promise<boolean> {
  return eventually(`${id} is ${state}`, async () => ((await runItem(id))['state'] === state ? true : undefined));
}

describe('millwright run', () => {
  it('creates a run of the command line, with title, name and factory', async () => {
    const id = await begin('hello', '--title', 'A title', '--name', 'nightly', '--factory', 'shop');
    expect(await runItem(id)).toMatchObject({
      title: 'A title',
      prompt: 'hello',
      source: 'CLI',
      agent_config: { name: 'nightly', model_id: 'fast' },
    });
    await reaches(id, 'SUCCEEDED');
  });

  it('sends metadata and files along, also with a follow-up', async () => {
    writeFileSync(join(folder, 'notes.txt'), 'zwölf');
    const id = await begin(
      'wait',
      '--metadata',
      'ticket=T-1=x',
      '--metadata',
      'empty=',
      '--attach',
      join(folder, 'notes.txt'),
    );
    expect((await runItem(id))['metadata']).toEqual({ ticket: 'T-1=x', empty: '' });
    await eventually('it waits', async () =>
      (await millwright(['runs', 'events', id])).out.includes('waiting') ? true : undefined,
    );
    const attached = join(test.dataDir, 'runs', id, 'inputs/attachments');
    expect(readFileSync(join(attached, 'notes.txt'), 'utf8')).toBe('zwölf');
    await millwright(['runs', 'cancel', id]);
    await reaches(id, 'CANCELLED');
    expect(
      await millwright(['runs', 'followup', id, '--message', 'hello', '--attach', 'notes.txt'], { cwd: folder }),
    ).toMatchObject({ code: 0 });
    await reaches(id, 'SUCCEEDED');
    expect(readFileSync(join(attached, 'notes-2.txt'), 'utf8')).toBe('zwölf');
  });

  it.each([
    [['--metadata', 'nothing'], 64, 'KEY=VALUE'],
    [['--metadata', '=x'], 64, 'KEY=VALUE'],
    [['--attach', '/no/such/file'], 64, 'cannot be read'],
    [['--attach', '-'], 64, 'needs a file'],
    [['--metadata', 'delivery_id=x'], 1, 'metadata.delivery_id is reserved'],
  ])('refuses %j with code %i', async (argv, code, words) => {
    const refused = await millwright(['run', '--prompt', 'hello', ...argv]);
    expect(refused.code).toBe(code);
    expect(refused.err).toContain(words);
  });

  it('takes the prompt from stdin', async () => {
    const { out } = await millwright(['run', '--prompt', '-', '--format', 'json'], { stdin: 'from\nstdin ä\n' });
    const { run_id: id } = JSON.parse(out) as { run_id: string };
    expect(await runItem(id)).toMatchObject({ prompt: 'from\nstdin ä', title: 'from' });
  });

  it('follows: output on stdout, changes on stderr, the end as exit code', async () => {
    expect(await millwright(['run', '--prompt', 'hello\nworld', '--follow'])).toEqual({
      code: 0,
      out: 'hello \nworld\n',
      err: expect.stringMatching(/^run [0-9a-f-]{36}\n(-- .*\n)*-- SUCCEEDED: .*\n$/),
    });
  });

  it('ends with 1 when the followed run fails', async () => {
    const { code, out, err } = await millwright(['run', '--prompt', 'fail', '--follow']);
    expect({ code, out }).toEqual({ code: 1, out: 'failing\n' });
    expect(err).toContain('-- FAILED: the command ended with exit code 3\n');
  });

  it('says which agent, model, skill, environment and mode it wants', async () => {
    const { out } = await millwright([
      'run',
      '--prompt',
      'hello',
      '--harness',
      'command',
      '--model',
      'some-model',
      '--mode',
      'plan',
      '--interactive',
      '--format',
      'json',
    ]);
    const { run_id: id } = JSON.parse(out) as { run_id: string };
    expect(JSON.parse((await millwright(['runs', 'get', id, '--format', 'json'])).out)).toMatchObject({
      agent_config: { model_id: 'some-model', harness: { type: 'command' } },
    });
    await reaches(id, 'SUCCEEDED');
    expect(await millwright(['run', '--prompt', 'x', '--mode', 'sideways'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('mode'),
    });
    expect(await millwright(['run', '--skill', 'no such/skill'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('skill'),
    });
    const placed = JSON.parse(
      (await millwright(['run', '--prompt', 'hello', '--environment', 'shop-tests', '--format', 'json'])).out,
    ) as { run_id: string };
    expect(JSON.parse((await millwright(['runs', 'get', placed.run_id, '--format', 'json'])).out)).toMatchObject({
      agent_config: { environment_id: 'shop-tests' },
    });
  });

  it('prints one JSON document when it follows in JSON', async () => {
    const { code, out, err } = await millwright(['run', '--prompt', 'hello', '--follow', '--format', 'json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ state: 'SUCCEEDED', title: 'hello' });
    expect(err).toContain('hello');
  });

  it.each<[argv: string[], options: CallOptions, code: number, message: string]>([
    [[], {}, 64, '--prompt TEXT|- is missing'],
    [['--prompt', ''], {}, 64, '--prompt is empty'],
    [['--prompt', 'x', 'y'], {}, 64, 'takes no arguments'],
    [['--prompt', '-'], { terminalColumns: 80 }, 64, 'stdin is a terminal'],
    [['--prompt', '-'], { stdin: '' }, 1, 'prompt must not be empty'],
    [['--prompt', '-'], { stdin: Buffer.from([0xff]) }, 1, 'not UTF-8 text'],
    [['--prompt', 'x', '--factory', 'nope'], {}, 5, 'there is no factory nope'],
    [['--prompt', 'x', '--title', 'x'.repeat(201)], {}, 1, 'title must have at most 200 characters'],
  ])('%j is refused', async (argv, options, code, message) => {
    expect(await millwright(['run', ...argv], options)).toMatchObject({
      code,
      out: '',
      err: expect.stringContaining(message),
    });
  });
});

describe('millwright runs', () => {
  it('lists by state, factory and name, in pages', async () => {
    const failed = await begin('fail', '--name', 'listed');
    const fine = await begin('hello', '--name', 'listed', '--factory', 'shop');
    await Promise.all([reaches(failed, 'FAILED'), reaches(fine, 'SUCCEEDED')]);
    const ids = async (...argv: string[]): Promise<string[]> => {
      const { code, out } = await millwright(['runs', '--name', 'listed', ...argv]);
      expect(code).toBe(0);
      return out
        .split('\n')
        .slice(1, -1)
        .map((line) => line.slice(0, 36))
        .sort();
    };
    expect(await ids()).toEqual([failed, fine].sort());
    expect(await ids('--state', 'failed')).toEqual([failed]);
    expect(await ids('--state', 'FAILED', '--state', 'SUCCEEDED')).toEqual([failed, fine].sort());
    expect(await ids('--state', 'failed, succeeded')).toEqual([failed, fine].sort());
    expect(await ids('--factory', 'shop')).toEqual([fine]);
    const page = await millwright(['runs', '--name', 'listed', '--limit', '1']);
    expect(page.out).toMatch(/^ID +STATE +SOURCE +UPDATED +TITLE\n\S{36} {2}\w+ +CLI +\S+Z +\w+\n$/);
    const cursor = /--cursor (\S+)\n$/.exec(page.err)?.[1] ?? '';
    expect(await millwright(['runs', '--name', 'listed', '--limit', '1', '--cursor', cursor])).toMatchObject({
      code: 0,
      err: '',
    });
    expect(await millwright(['runs', '--state', 'BLOCKED'])).toEqual({
      code: 0,
      out: '',
      err: 'there are no such runs\n',
    });
    expect(await millwright(['runs', '--state', 'done'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('is not one of QUEUED'),
    });
    expect(JSON.parse((await millwright(['runs', '--name', 'listed', '--format', 'json'])).out)).toMatchObject({
      runs: [{}, {}],
      page_info: { has_next_page: false },
    });
  });

  it('shows one', async () => {
    const id = await begin('hello\nagain', '--name', 'shown');
    await reaches(id, 'SUCCEEDED');
    const { code, out } = await millwright(['runs', 'get', id.toUpperCase()]);
    expect(code).toBe(0);
    expect(out).toMatch(new RegExp(`^run +${id}\n`));
    expect(out).toContain('\nstate          SUCCEEDED\n');
    expect(out).toContain('\nconfiguration  name shown\n');
    expect(out.endsWith('\n\n  hello\n  again\n')).toBe(true);
    expect(JSON.parse((await millwright(['runs', 'get', id, '--format', 'json'])).out)).toMatchObject({ run_id: id });
  });

  it('cancels', async () => {
    const id = await begin('wait');
    await eventually('it waits', async () =>
      (await millwright(['runs', 'events', id])).out.includes('waiting') ? true : undefined,
    );
    const following = millwright(['runs', 'events', id, '--follow']);
    const cancelled = await millwright(['runs', 'cancel', id]);
    expect(cancelled).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`^${id} {2}(CANCELLED|INPROGRESS, being cancelled)\n$`)),
    });
    expect(await following).toMatchObject({
      code: 1,
      out: expect.stringMatching(/^waiting\n/),
      err: expect.stringContaining('-- CANCELLED'),
    });
    expect(JSON.parse((await millwright(['runs', 'cancel', id, '--format', 'json'])).out)).toBe(id);
    const ended = await begin('hello');
    await reaches(ended, 'SUCCEEDED');
    expect(await millwright(['runs', 'cancel', ended])).toMatchObject({
      code: 1,
      err: 'millwright runs cancel: the run has ended already\n',
    });
  });

  it('follows up, with text or stdin', async () => {
    const id = await begin('hello');
    await reaches(id, 'SUCCEEDED');
    expect(await millwright(['runs', 'followup', id, '--message', '-'], { stdin: 'more\n' })).toMatchObject({
      code: 0,
      out: 'handoff_execution: the run is queued again with it\n',
    });
    const { code, out } = await millwright(['runs', 'events', id, '--follow']);
    expect(code).toBe(0);
    expect(out).toContain('more');
    expect(await millwright(['runs', 'followup', id])).toMatchObject({
      code: 64,
      err: expect.stringContaining('--message TEXT|- is missing'),
    });
  });

  it('prints what a run wrote, and none of it steers the terminal', async () => {
    const id = await begin('steer');
    await reaches(id, 'SUCCEEDED');
    const { code, out } = await millwright(['runs', 'events', id]);
    expect(code).toBe(0);
    expect(out).toMatch(
      new RegExp(
        String.raw`^-- QUEUED\n-- CLAIMED\n-- PENDING\n-- network: .*\n-- INPROGRESS\na\\u\{1b\}\[31mred\tb\n` +
          String.raw`\\u\{3a\}:error::x\nno line end\n(-- .*\n)*-- SUCCEEDED: .*\n$`,
      ),
    );
    const json = await millwright(['runs', 'events', id, '--format', 'json']);
    expect(json.out).not.toContain('\u001b');
    const { events } = JSON.parse(json.out) as { events: { event_type: string }[] };
    expect(events.find(({ event_type: type }) => type !== 'status')).toMatchObject({
      event_type: 'stdout',
      run_id: id,
    });
  });

  it('shows what a run has made, how long it took, and saves its files without touching any other', async () => {
    const id = await begin('make');
    await reaches(id, 'SUCCEEDED');
    const shown = (await millwright(['runs', 'get', id])).out;
    expect(shown).toMatch(/\nrun time +\d+\.\d s\nartifacts +\S+ {2}\S+, \d bytes.*\n {2,}\S+ {2}\S+, \d bytes/);
    const listed = await millwright(['runs', 'artifacts', id]);
    expect(listed).toMatchObject({ code: 0, err: '' });
    expect(listed.out).toMatch(/^NAME +TYPE +SIZE +TITLE\n(.*\n){2}$/);
    expect(listed.out).toMatch(/\nreport\.md +\w+ +2 /);
    const into = join(folder, 'saved');
    const first = await millwright(['runs', 'artifacts', id, '--save', 'saved'], { cwd: folder });
    expect(first).toMatchObject({ code: 0, err: expect.stringContaining(`saved ${join(into, 'b.txt')}\n`) });
    expect([readFileSync(join(into, 'report.md'), 'utf8'), readFileSync(join(into, 'b.txt'), 'utf8')]).toEqual([
      'hi',
      'hello',
    ]);

    rmSync(join(into, 'report.md'));
    rmSync(join(into, 'b.txt'));
    writeFileSync(join(folder, 'precious'), 'mine');
    symlinkSync('../precious', join(into, 'b.txt'));
    const again = await millwright(['runs', 'artifacts', id, '--save', into]);
    expect(again).toMatchObject({ code: 1, out: '', err: expect.stringContaining(join(into, 'b.txt')) });
    expect(readdirSync(into)).toEqual(['b.txt']); // all or nothing
    expect((await millwright(['runs', 'artifacts', id, '--save', into, '--force'])).code).toBe(0);
    expect([readFileSync(join(folder, 'precious'), 'utf8'), readFileSync(join(into, 'b.txt'), 'utf8')]).toEqual([
      'mine',
      'hello',
    ]);
    expect(await millwright(['runs', 'artifacts', id, '--save', join(folder, 'precious')])).toMatchObject({
      code: 64,
      err: expect.stringContaining('cannot be written'),
    });
    expect(await millwright(['runs', 'artifacts', id, '--force'])).toMatchObject({
      code: 64,
      err: expect.stringContaining('--force needs --save DIR'),
    });
  });

  it('tells the end of a run that never ran', async () => {
    const id = await begin('wait');
    const cancelled = (await millwright(['runs', 'cancel', id])).code;
    await reaches(id, 'CANCELLED');
    const { out } = await millwright(['runs', 'events', id]);
    expect(cancelled).toBe(0);
    expect(out).toMatch(/^-- QUEUED\n/);
    expect(out.match(/-- CANCELLED/g)).toHaveLength(1);
  });

  it.each<[argv: string[], code: number, message: string]>([
    [['artifacts', '../x'], 64, 'ID must be the ID of a run'],
    [['get', '../factory'], 64, 'ID must be the ID of a run'],
    [['get'], 64, 'ID is missing'],
    [['get', '00000000-0000-7000-8000-000000000000'], 5, 'the run was not found'],
    [['cancel', '00000000-0000-7000-8000-000000000000'], 5, 'the run was not found'],
    [['stop', 'x'], 64, 'say one of get, cancel, interrupt, followup, events, artifacts'],
  ])('%j is refused', async (argv, code, message) => {
    expect(await millwright(['runs', ...argv])).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
  });
});
