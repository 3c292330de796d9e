/**
 * Control groups of runs: where they may be made, what is written into them, and what they end that nothing else finds.
 */
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { sandboxHere, startSandboxed } from '../../../../test/support/agents/sandboxed-command.ts';
import { describeCgroups, findCgroups, RunCgroups, type CgroupPlace } from './run-cgroups.ts';
import type { Sandbox } from './sandboxes.ts';

const MIB = 1_024 ** 2;

let base: string;
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millwright-cgroups-'));
});
afterEach(() => rm(base, { recursive: true, force: true }));

/** Files as a kernel shows them; answers what the service would find. */
async function machine(files: Readonly<Record<string, string>>): Promise<CgroupPlace> {
  const all = {
    'proc/self/mountinfo': `41 31 0:38 / ${base}/cgroup rw,relatime - cgroup2 cgroup2 rw\n`,
    'proc/self/cgroup': '0::/millwright.service\n',
    'cgroup/millwright.service/cgroup.procs': `${process.pid}\n`,
    'cgroup/millwright.service/cgroup.type': 'domain\n',
    'cgroup/millwright.service/cgroup.controllers': 'cpu memory pids\n',
    'cgroup/millwright.service/cgroup.subtree_control': '',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    await mkdir(dirname(join(base, name)), { recursive: true });
    await writeFile(join(base, name), text);
  }
  return findCgroups(join(base, 'proc'));
}

describe('the place of control groups', () => {
  it('is the service’s own group, where nobody else is in it', async () => {
    const place = await machine({ 'proc/self/stat': '' });
    const folder = join(base, 'cgroup/millwright.service');
    expect(place).toEqual({ ok: true, folder, own: folder, control: { memory: true, processes: true }, isRoot: false });
    expect(describeCgroups(place)).toBe('memory is enforced by a cgroup per run');
  });

  it('is above the group that the service has made of it before, or that systemd has', async () => {
    const place = await machine({
      'proc/self/cgroup': '0::/millwright.service/service\n',
      'cgroup/millwright.service/cgroup.procs': '',
    });
    expect(place).toMatchObject({ ok: true, folder: join(base, 'cgroup/millwright.service') });
  });

  it.each<{ files: Record<string, string>; why: string }>([
    { files: { 'proc/self/mountinfo': '1 2 0:3 / /x rw - cgroup cgroup rw,memory\n' }, why: 'no cgroup v2 is mounted' },
    { files: { 'proc/self/cgroup': '4:memory:/x\n' }, why: 'no cgroup v2 is mounted' },
    { files: { 'proc/self/cgroup': '0::/elsewhere\n' }, why: 'cannot be written' },
    { files: { 'cgroup/millwright.service/cgroup.procs': '2\n' }, why: 'processes of others' },
  ])('is refused aloud: $why', async ({ files, why }) => {
    const place = await machine({ ...files, 'proc/2/stat': '2 (x) S 0 0 0' });
    expect(place).toEqual({ ok: false, reason: expect.stringContaining(why) });
    expect(describeCgroups(place)).toContain('NOT ENFORCED');
  });

  it('is without a bound of memory where no controller is, which is said', async () => {
    const place = await machine({ 'cgroup/millwright.service/cgroup.controllers': 'hugetlb\n' });
    expect(describeCgroups(place)).toMatch(/no memory controller.*NOT ENFORCED/);
  });
});

describe('a control group', () => {
  it('has the bounds of its run, and the service moves out of its way', async () => {
    const cgroups = await RunCgroups.open(await machine({}));
    const folder = join(base, 'cgroup/millwright.service');
    const textOf = (name: string): Promise<string> => readFile(join(folder, name), 'utf8');
    expect(await textOf('service/cgroup.procs')).toBe(String(process.pid));
    expect(await textOf('cgroup.subtree_control')).toBe('+memory +pids');
    await cgroups?.create('r', { memoryBytesMax: 5 * MIB, processesMax: 12 });
    const [group = ''] = (await readdir(folder)).filter((name) => name.startsWith(`run-${process.pid}-`));
    expect(await textOf(join(group, 'memory.max'))).toBe(String(5 * MIB));
    expect(await textOf(join(group, 'memory.swap.max'))).toBe('0');
    expect(await textOf(join(group, 'memory.oom.group'))).toBe('1');
    expect(await textOf(join(group, 'pids.max'))).toBe('12');
  });
});

const place = await findCgroups();
if (!place.ok) console.warn(`SKIPPED: control groups of this machine: ${place.reason}`);

(place.ok ? describe : describe.skip)('a run in a control group of this machine', () => {
  let bare: Sandbox;
  beforeAll(async () => {
    bare = { ...((await sandboxHere('bare')) as Sandbox), cgroups: await RunCgroups.open(place) };
  });

  it('ends with everything, also with what hides from every search of processes', async () => {
    const file = join(base, 'pid');
    // Another session, another parent, and no variable that says whose it is.
    const hiding = `env -i setsid sh -c 'echo $$ > ${file}; exec sleep 300'`;
    const script = `${hiding} & while [ ! -s ${file} ]; do sleep 0.05; done; exit 3`;
    await chmod(base, 0o777);
    const command = await startSandboxed(bare, base, { script });
    expect(await command.finished).toEqual({ kind: 'exited', code: 3 });
    const pid = Number(await readFile(file, 'utf8'));
    expect(pid).toBeGreaterThan(1);
    // At most nobody has counted it yet.
    expect(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => 'gone')).toMatch(/^gone$|\) [ZX] /);
    if (!place.ok) throw new Error('unexpected');
    const left = (await readdir(place.folder)).filter((name) => name.startsWith(`run-${process.pid}-`));
    expect(left).toEqual([]);
  });

  it('is ended by the kernel when it takes too much memory, before anybody looks', async () => {
    if (!place.ok || !place.control.memory)
      return console.warn('SKIPPED: memory by cgroup v2: this machine has the controller in cgroup v1, or nowhere');
    const fill = `${process.execPath} -e 'Buffer.alloc(400 * 1024 * 1024, 1); setTimeout(() => 0, 20000)'`;
    const command = await startSandboxed(bare, base, {
      script: fill,
      usage: { memoryBytesMax: 150 * MIB, pollMs: 60_000 },
    });
    await sleep(0);
    expect(await command.finished).toEqual({
      kind: 'exceeded',
      message: expect.stringContaining('the kernel ended it'),
    });
  });
});

it.each(['bubblewrap', 'pid-namespace'] as const)('the sandbox "%s" is built inside of a group', async (kind) => {
  const sandbox = await sandboxHere(kind);
  if (sandbox === undefined || !place.ok) return console.warn(`SKIPPED: no control group around "${kind}" here`);
  const cgroups = await RunCgroups.open(place);
  const command = await startSandboxed({ ...sandbox, cgroups }, base, { script: 'cat /proc/self/cgroup' });
  expect(await command.finished).toEqual({ kind: 'exited', code: 0 });
  if (kind === 'bubblewrap') expect(command.text('stdout')).toMatch(/^0::\/$/m);
  else expect(command.text('stdout')).toMatch(/^0::\/.*run-/m);
});
