/** Which way of sandboxing a machine gets, what each one guarantees, and which folders a run is shown. */
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isConfining } from '#isolation';
import { bubblewrapCandidates } from './sandboxes-bubblewrap.ts';
import { findTools } from '../../process/program.ts';
import { detectSandbox } from './sandboxes-detection.ts';
import { filterOfCalls, withFilter } from './sandboxes-filter.ts';
import { namespaceCandidates } from './sandboxes-namespace.ts';
import { viewOf, type Mount } from './sandboxes-view.ts';
import { ownerOf, type Confinement } from './sandboxes.ts';
import { missingGuarantees } from '../executor.ts';
import { prepareWorkspace } from '../workspace/workspaces.ts';

const RUN = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const ALL = { processes: true, files: true, network: true, loopback: true, uid: true, calls: true };

describe('guarantees', () => {
  it.each([
    { guarantees: ALL, confining: true, missing: 0, why: 'everything holds' },
    { guarantees: { ...ALL, uid: false }, confining: true, missing: 1, why: 'the same user behind three walls' },
    { guarantees: { ...ALL, calls: false }, confining: true, missing: 1, why: 'the walls stand, thinner' },
    { guarantees: { ...ALL, loopback: false }, confining: true, missing: 0, why: 'no way out is no weakness' },
    { guarantees: { ...ALL, files: false }, confining: false, missing: 1, why: 'the key could be read' },
    { guarantees: { ...ALL, network: false }, confining: false, missing: 1, why: 'the service could be reached' },
    { guarantees: { ...ALL, processes: false }, confining: false, missing: 1, why: 'a daemon could outlive its run' },
  ])('$guarantees: confining $confining, because $why', ({ guarantees, confining, missing }) => {
    expect(isConfining(guarantees)).toBe(confining);
    expect(missingGuarantees(guarantees)).toHaveLength(missing);
  });
});

describe('candidates', () => {
  const tools = new Map(['bwrap', 'unshare', 'setpriv', 'sh'].map((name) => [name, `/usr/bin/${name}`]));
  it.each([
    {
      version: 'bubblewrap 0.8.0\n',
      count: 6,
      why: 'as others, and in a user namespace, sealed or not; filtered or not',
    },
    { version: 'bubblewrap 0.7.0\n', count: 4, why: 'it cannot seal one' },
    { version: 'bubblewrap 1.0.0\n', count: 6, why: 'newer is fine' },
    { version: 'bubblewrap 0.6.1\n', count: 0, why: 'it cannot bound /tmp' },
    { version: '', count: 0, why: 'it does not even say its version' },
  ])('of $version: $count, because $why', ({ version, count }) => {
    expect(bubblewrapCandidates(tools, version, true)).toHaveLength(count);
  });

  it('have a user of their own only where the service is root', () => {
    const owners = (asRoot: boolean) =>
      [...bubblewrapCandidates(tools, '0.8', asRoot), ...namespaceCandidates(tools, asRoot)].map(
        ({ owner }) => owner?.uid,
      );
    const [asOther, asService] = [65_534, undefined];
    const ways = [asOther, asService, asService];
    expect(owners(true)).toEqual([...ways, ...ways, asOther, asService, asService, asService]);
    expect(owners(false)).toEqual(Array.from({ length: 7 }, () => undefined));
  });

  it('give each run the same user always, out of those that are nobody else’s', () => {
    const [asOther, asService] = bubblewrapCandidates(tools, '0.8', true);
    if (asOther === undefined || asService === undefined) throw new Error('unexpected');
    const ids = Array.from(
      { length: 200 },
      (_, index) => `017f22e2-79b0-7cc3-98c4-dc0c${(index * 2_654_435).toString(16).padStart(8, '0')}`,
    );
    const uids = ids.map((id) => ownerOf(asOther, id)?.uid ?? 0);
    expect(uids).toEqual(ids.map((id) => ownerOf(asOther, id)?.uid));
    expect(uids.every((uid) => uid >= 60_578 && uid <= 61_183)).toBe(true);
    expect(new Set(uids).size).toBeGreaterThan(100);
    expect(ownerOf(asService, RUN)).toBeUndefined();
  });

  it('filter system calls before they do not, and give bubblewrap the filter by a descriptor of its own', async () => {
    const root = await mkdtemp(join(tmpdir(), 'millwright-filter-'));
    const workspace = await prepareWorkspace({ root, runId: RUN, epoch: 1 });
    const bytes: number[] = [];
    for (const candidate of bubblewrapCandidates(tools, '0.8', true)) {
      const confinement: Confinement = { workspace, network: 'none', hidden: [], readOnly: [], words: [] };
      const { argv, input } = await candidate.wrap(['/bin/true'], confinement);
      expect(argv[argv.indexOf('--seccomp') + 1]).toBe(input === undefined ? argv[0] : '4');
      bytes.push(input?.length ?? 0);
    }
    const [first = 0] = bytes;
    expect(first).toBeGreaterThan(1_000);
    expect(bytes).toEqual([first, first, first, 0, 0, 0]);
    await rm(root, { recursive: true });
  });

  it('are without a filter on a processor whose calls nobody has listed', () => {
    expect(filterOfCalls('riscv64')).toBeUndefined();
    expect(withFilter('/usr/bin/perl', 'riscv64')).toBeUndefined();
    expect(withFilter('/usr/bin/perl', 'arm64')?.[4]).toBe('167');
  });

  it('are none without their programs', () => {
    expect([...bubblewrapCandidates(new Map(), '0.8', true), ...namespaceCandidates(new Map(), true)]).toEqual([]);
  });
});

describe('detection', () => {
  it('always ends with an answer, the loud one when nothing works', async () => {
    const bare = await detectSandbox({ path: '' });
    expect(bare.kind).toBe('bare');
    expect(bare.description).toContain('NOT ISOLATED');
    expect(bare.description).toContain('keys');
    await expect(detectSandbox({ kinds: ['bubblewrap'], path: '' })).rejects.toThrow('bubblewrap');
  });

  it('finds programs that may be executed, in the order of the path', async () => {
    const base = await mkdtemp(join(tmpdir(), 'millwright-tools-'));
    await mkdir(join(base, 'a', 'tool'), { recursive: true });
    await mkdir(join(base, 'b'));
    await writeFile(join(base, 'b', 'tool'), '');
    const path = `${join(base, 'a')}:${join(base, 'b')}`;
    expect(await findTools(['tool'], path)).toEqual(new Map());
    await chmod(join(base, 'b', 'tool'), 0o755);
    expect(await findTools(['tool'], path)).toEqual(new Map([['tool', join(base, 'b', 'tool')]]));
    await rm(base, { recursive: true });
  });
});

describe('the view of a run', () => {
  let base: string;
  let confinement: Confinement;
  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'millwright-view-')));
    await mkdir(join(base, 'project', 'bin'), { recursive: true });
    await writeFile(join(base, 'project', 'bin', 'agent.sh'), '#!/bin/sh\n', { mode: 0o755 });
    await writeFile(join(base, 'project', 'top.sh'), '#!/bin/sh\n', { mode: 0o755 });
    const workspace = await prepareWorkspace({
      root: join(base, 'project', 'data', 'runs'),
      runId: RUN,
      epoch: 1,
      prompt: '',
    });
    await writeFile(join(base, 'project', 'data', 'key'), 'key');
    confinement = { workspace, network: 'none', hidden: [join(base, 'project', 'data')], readOnly: [], words: [] };
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  const places = (view: readonly Mount[], writable: boolean) =>
    view
      .filter((mount) => mount.kind === 'bind' && mount.writable === writable && mount.at.startsWith(base))
      .map(({ at }) => at);

  it('shows of the run its three folders, writable, and of the command the folder it lies in', async () => {
    const view = await viewOf({ ...confinement, words: ['/bin/sh', join(base, 'project', 'bin', 'agent.sh')] });
    expect(places(view, true)).toEqual([
      confinement.workspace.workspace,
      confinement.workspace.home,
      confinement.workspace.tmp,
    ]);
    expect(places(view, false)).toEqual([join(base, 'project', 'bin')]);
  });

  it.each([
    { argv: ['project/top.sh'], seen: ['project/top.sh'], why: 'its folder holds the data folder: the file alone' },
    { argv: ['project/data/key'], seen: [], why: 'nothing of the data folder, even if named' },
    { argv: ['project/data'], seen: [], why: 'not the data folder itself' },
    { argv: ['project'], seen: [], why: 'not what holds it' },
    { argv: ['missing/file'], seen: [], why: 'there is nothing to show' },
  ])('shows $seen for $argv, because $why', async ({ argv, seen }) => {
    const view = await viewOf({ ...confinement, words: argv.map((path) => join(base, path)) });
    expect(places(view, false)).toEqual(seen.map((path) => join(base, path)));
  });

  it('follows links to what the command line means, and covers hidden things inside', async () => {
    await mkdir(join(base, 'lib', 'keys'), { recursive: true });
    await writeFile(join(base, 'lib', 'agent.sh'), '');
    await writeFile(join(base, 'lib', 'master.key'), 'key');
    await symlink(join(base, 'lib', 'agent.sh'), join(base, 'project', 'bin', 'linked.sh'));
    const hidden = [...confinement.hidden, join(base, 'other.key')];
    const linked = await viewOf({ ...confinement, hidden, words: [join(base, 'project', 'bin', 'linked.sh')] });
    expect(places(linked, false)).toEqual([join(base, 'lib'), join(base, 'project', 'bin')]);

    const alone = await viewOf({
      ...confinement,
      hidden: [join(base, 'lib', 'master.key'), join(base, 'lib', 'keys')],
      words: [join(base, 'lib', 'agent.sh')],
    });
    expect(places(alone, false)).toEqual([join(base, 'lib', 'agent.sh')]);
  });

  it('covers what is hidden inside the system’s folders', async () => {
    const view = await viewOf({ ...confinement, hidden: ['/usr/share'], words: ['/bin/sh'] });
    expect(view).toContainEqual(expect.objectContaining({ kind: 'tmpfs', at: '/usr/share' }));
    expect(
      view.some((mount) => mount.kind === 'bind' && ['/', '/etc', '/root', '/home', '/var', '/run'].includes(mount.at)),
    ).toBe(false);
  });

  it('tells about the network only where there is one', async () => {
    const resolver = async (network: 'none' | 'host') =>
      (await viewOf({ ...confinement, network, words: ['/bin/sh'] })).some((mount) => mount.at === '/etc/hosts');
    expect(await resolver('none')).toBe(false);
    expect(await resolver('host')).toBe(true);
  });

  it(
    'shows a file of the service inside of a folder of the run, over what lies there, and does not make the ' +
      'folder anew',
    async () => {
      const at = join(confinement.workspace.workspace, 'given.json');
      const view = await viewOf({
        ...confinement,
        words: ['/bin/sh'],
        shown: [{ from: join(base, 'project', 'data', 'key'), at }],
      });
      expect(view).toContainEqual({
        kind: 'bind',
        from: join(base, 'project', 'data', 'key'),
        at,
        folder: false,
        writable: false,
      });
      const ofFolder = view.filter((mount) => mount.at === confinement.workspace.workspace);
      expect(ofFolder.map(({ kind }) => kind)).toEqual(['bind']);
      expect(view.findIndex((mount) => mount.at === at)).toBeGreaterThan(view.indexOf(ofFolder[0] as Mount));
    },
  );

  it('makes every folder above a mount point first', async () => {
    const view = await viewOf({ ...confinement, words: ['/bin/sh'] });
    view.forEach(({ at }, index) => {
      const above = at.slice(0, at.lastIndexOf('/'));
      if (above !== '') expect(view.slice(0, index).map((mount) => mount.at)).toContain(above);
    });
  });
});
