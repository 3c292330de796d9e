/** Workspaces as real folders: private, filled with what a run is given, and removed whatever the run left in them. */
import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bytesBelow } from './folder-trees.ts';
import { inputsOf, prepareWorkspace, putInputs, removeWorkspace, type WorkspaceContents } from './workspaces.ts';

const RUN = '017f22e2-79b0-7cc3-98c4-dc0c0c07398f';
const asRoot = process.getuid?.() === 0;

describe('a workspace', () => {
  let base: string;
  let contents: WorkspaceContents;
  beforeEach(async () => {
    base = await mkdtemp(join(tmpdir(), 'millwright-workspaces-'));
    contents = { root: join(base, 'runs'), runId: RUN, epoch: 1, prompt: 'Do it.' };
  });
  afterEach(() => rm(base, { recursive: true, force: true }));

  it('takes and loses entries whose names are no text, and tells how much they take', async () => {
    const made = await prepareWorkspace(contents);
    const odd = (folder: string): Buffer => Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0xff, 0xfe])]);
    await mkdir(odd(made.tmp));
    await writeFile(odd(made.workspace), Buffer.alloc(100_000, 1));
    await unlink(join(made.workspace, 'prompt.md'));
    await mkdir(join(made.workspace, 'prompt.md'));
    await writeFile(odd(join(made.workspace, 'prompt.md')), 'x');
    expect(await bytesBelow(made.folder)).toBeGreaterThanOrEqual(100_000);
    const again = await prepareWorkspace({ ...contents, epoch: 2 });
    expect(await readFile(join(again.workspace, 'prompt.md'), 'utf8')).toBe('Do it.');
    await removeWorkspace(contents.root, RUN);
    await expect(stat(made.folder)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('holds prompt, exact payload bytes and attachments, read-only, in private folders', async () => {
    const payload = Uint8Array.from([0x7b, 0x22, 0xc3, 0xa9, 0x22, 0x3a, 0x20, 0x31, 0x7d, 0x0a]);
    const made = await prepareWorkspace({
      ...contents,
      payload,
      attachments: [{ fileName: 'a.txt', content: async () => Buffer.from('a') }],
    });
    expect((await readdir(made.workspace)).sort()).toEqual([
      'artifacts',
      'attachments',
      'event-payload.json',
      'prompt.md',
    ]);
    expect(await inputsOf(made, true)).toEqual([
      { from: join(made.inputs, 'attachments'), at: made.attachments, folder: true },
      { from: join(made.inputs, 'event-payload.json'), at: join(made.workspace, 'event-payload.json'), folder: false },
    ]);
    expect(await readdir(join(made.inputs, 'attachments'))).toEqual(['a.txt']);
    expect(new Uint8Array(await readFile(join(made.inputs, 'event-payload.json')))).toEqual(payload);
    expect(new Uint8Array(await readFile(join(made.workspace, 'event-payload.json')))).toEqual(payload);
    expect(await readFile(join(made.workspace, 'prompt.md'), 'utf8')).toBe('Do it.');
    for (const name of [
      'workspace/event-payload.json',
      'workspace/prompt.md',
      'inputs/attachments/a.txt',
      'inputs/event-payload.json',
    ])
      expect((await stat(join(made.folder, name))).mode & 0o777).toBe(0o444);
    for (const path of [
      made.folder,
      made.inputs,
      made.workspace,
      made.attachments,
      made.artifacts,
      made.home,
      made.tmp,
      made.mountPoint,
    ])
      expect((await stat(path)).mode & 0o777).toBe(0o700);
  });

  it('keeps HOME and the agent’s files between executions, and starts with an empty temp folder', async () => {
    const first = await prepareWorkspace(contents);
    for (const folder of [first.home, first.workspace, first.tmp]) await writeFile(join(folder, 'kept'), 'x');
    const second = await prepareWorkspace({ ...contents, epoch: 2, prompt: 'Go on.' });
    expect(await readdir(second.home)).toEqual(['kept']);
    expect((await readdir(second.workspace)).sort()).toEqual(['artifacts', 'attachments', 'kept', 'prompt.md']);
    expect(await readFile(join(second.workspace, 'prompt.md'), 'utf8')).toBe('Go on.');
    expect(await readdir(second.tmp)).toEqual([]);
  });

  it('replaces links that an agent planted, and leaves what they point to alone', async () => {
    const outside = join(base, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'precious'), 'untouched');
    const made = await prepareWorkspace({ ...contents, payload: Buffer.from('{}') });
    await unlink(join(made.workspace, 'event-payload.json'));
    await symlink(join(outside, 'precious'), join(made.workspace, 'event-payload.json'));
    await unlink(join(made.workspace, 'prompt.md'));
    await mkdir(join(made.workspace, 'prompt.md', 'folder'), { recursive: true });
    for (const folder of [made.home, made.tmp]) {
      await rm(folder, { recursive: true });
      await symlink(outside, folder);
    }

    const again = await prepareWorkspace({ ...contents, payload: Buffer.from('{}') });
    expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('untouched');
    expect(await readdir(outside)).toEqual(['precious']);
    for (const folder of [again.home, again.tmp]) expect((await lstat(folder)).isDirectory()).toBe(true);
    expect(await readFile(join(again.workspace, 'event-payload.json'), 'utf8')).toBe('{}');
    expect(await readFile(join(again.workspace, 'prompt.md'), 'utf8')).toBe('Do it.');

    await symlink(outside, join(again.workspace, 'link'));
    await removeWorkspace(contents.root, RUN);
    expect(await readdir(contents.root)).toEqual([]);
    expect(await readFile(join(outside, 'precious'), 'utf8')).toBe('untouched');
  });

  it('keeps the files of earlier requests, and writes new ones into no folder that an agent chose', async () => {
    const outside = join(base, 'outside');
    await mkdir(outside);
    await writeFile(join(outside, 'b.txt'), 'untouched');
    const file = (fileName: string) => [{ fileName, content: async () => Buffer.from(fileName) }];
    const first = await prepareWorkspace({ ...contents, attachments: file('a.txt') });
    const second = await prepareWorkspace({ ...contents, epoch: 2, attachments: file('b.txt') });
    expect((await readdir(join(second.inputs, 'attachments'))).sort()).toEqual(['a.txt', 'b.txt']);
    for (const folder of [first.attachments, first.artifacts]) {
      await rm(folder, { recursive: true });
      await symlink(outside, folder);
    }
    // A message with a file comes while the run is alive.
    await putInputs(second, { attachments: file('b.txt') });
    expect(await readFile(join(outside, 'b.txt'), 'utf8')).toBe('untouched');
    expect(await inputsOf(second, true)).toEqual([
      { from: join(second.inputs, 'attachments'), at: second.attachments, folder: true },
    ]);
    expect((await lstat(second.attachments)).isDirectory()).toBe(true);
    const third = await prepareWorkspace({ ...contents, epoch: 3, attachments: file('c.txt') });
    for (const folder of [third.attachments, third.artifacts]) expect((await lstat(folder)).isDirectory()).toBe(true);
    expect(await readdir(outside)).toEqual(['b.txt']);
  });

  it('shows its files by a link where nothing can be mounted', async () => {
    const made = await prepareWorkspace({
      ...contents,
      attachments: [{ fileName: 'a.txt', content: async () => Buffer.from('a') }],
    });
    expect(await inputsOf(made, false)).toEqual([]);
    expect(await readFile(join(made.attachments, 'a.txt'), 'utf8')).toBe('a');
  });

  it('goes away even if it is deeper than a path can be long, or closed', async () => {
    const made = await prepareWorkspace(contents);
    await nest(made.workspace, 40);
    await mkdir(join(made.tmp, 'closed', 'inner'), { recursive: true });
    await chmod(join(made.tmp, 'closed'), 0);
    await removeWorkspace(contents.root, RUN);
    expect(await readdir(contents.root)).toEqual([]);
    await removeWorkspace(contents.root, RUN);
  });

  it.each(['..', '../x', 'a/b', '', RUN.toUpperCase(), `${RUN}/..`])(
    'is never made or removed for the id %j',
    async (runId) => {
      await expect(prepareWorkspace({ ...contents, runId })).rejects.toThrow('run id is not a UUID');
      await expect(removeWorkspace(contents.root, runId)).rejects.toThrow('run id is not a UUID');
    },
  );

  it.each(['../x', '.bashrc', 'event-payload.json', 'prompt.md', 'a/b'])(
    'takes no attachment called %j',
    async (fileName) => {
      const attachments = [{ fileName, content: async () => Buffer.from('x') }];
      await expect(prepareWorkspace({ ...contents, attachments })).rejects.toThrow('attachment name');
    },
  );

  (asRoot ? describe : describe.skip)('of a service that runs as root', () => {
    it('belongs to the run’s own user, other names of foreign files excepted', async () => {
      const made = await prepareWorkspace(contents);
      await writeFile(join(made.home, 'session'), 'x');
      await writeFile(join(base, 'foreign'), 'x');
      execFileSync('ln', [join(base, 'foreign'), join(made.home, 'hard')]);
      await symlink(join(base, 'foreign'), join(made.home, 'soft'));
      await prepareWorkspace({ ...contents, owner: { uid: 65_534, gid: 65_534 } });
      expect((await lstat(made.home)).uid).toBe(65_534);
      expect((await lstat(join(made.home, 'session'))).uid).toBe(65_534);
      expect((await lstat(join(base, 'foreign'))).uid).toBe(0);
      for (const path of [made.folder, made.mountPoint]) expect((await lstat(path)).uid).toBe(0);
    });
  });
});

/** A chain of folders, each with a name of 200 characters, made from its inner end because no path reaches that. */
async function nest(folder: string, depth: number): Promise<void> {
  const [inner, outer] = [join(folder, 'inner'), join(folder, 'outer')];
  await mkdir(inner);
  await writeFile(join(inner, 'leaf'), 'x');
  await symlink('/', join(inner, 'link'));
  for (let level = 0; level < depth; level += 1) {
    await mkdir(outer);
    await rename(inner, join(outer, 'd'.repeat(200)));
    await rename(outer, inner);
  }
}
