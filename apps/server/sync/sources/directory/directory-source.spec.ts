/** A factory directory that changes, breaks and holds odd things while it is read. */
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createDirectorySource } from './directory-source.ts';
import type { Snapshot, Source } from '../source.ts';

const never = new AbortController().signal;
let folder: string;
let root: string;
let slept: number[];
/** What happens between the two listings. */
let meanwhile: () => void;
const opened: Source[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'directory-source-'));
  root = join(folder, 'factory');
  mkdirSync(root);
  slept = [];
  meanwhile = () => undefined;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((source) => source.close()));
  rmSync(folder, { recursive: true, force: true });
});

function open(path = root): Source {
  const source = createDirectorySource({
    path,
    sleep: (milliseconds) => {
      slept.push(milliseconds);
      meanwhile();
      return Promise.resolve();
    },
  });
  opened.push(source);
  return source;
}

function write(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content);
}

function textsOf(snapshot: Snapshot): Record<string, string> {
  if (!snapshot.ok || snapshot.unchanged) throw new Error(`no tree: ${JSON.stringify(snapshot)}`);
  return Object.fromEntries(snapshot.files.map((file) => [file.path, Buffer.from(file.content).toString('utf8')]));
}

function reasonOf(snapshot: Snapshot): string {
  return snapshot.ok ? 'ok' : snapshot.reason;
}

describe('a directory', () => {
  it('gives its definition files, sorted, and a revision made of their content', async () => {
    write('webhooks/orders.yaml', 'a');
    write('factory.yaml', 'b');
    write('README.md', 'no definition');
    write('skills/x/node_modules/y/SKILL.md', 'not ours');
    write('skills/x/.git/config', 'not ours');
    const snapshot = await open().snapshot({}, never);
    expect(textsOf(snapshot)).toEqual({ 'factory.yaml': 'b', 'webhooks/orders.yaml': 'a' });
    expect(snapshot).toMatchObject({ revision: expect.stringMatching(/^sha256:[0-9a-f]{64}$/) });
  });

  it('reads the folders of the hosted service too, which are warned about, and keeps bystanders out', async () => {
    write('agents/a/agent.md', 'x');
    write('Webhooks/a.yaml', 'x');
    write('webhooks/.gitkeep', '');
    write('docs/webhooks/a.yaml', 'x');
    expect(Object.keys(textsOf(await open().snapshot({}, never)))).toEqual(['Webhooks/a.yaml', 'agents/a/agent.md']);
  });

  it('says which files are programs', async () => {
    write('skills/x/SKILL.md', 'x');
    write('skills/x/run.sh', 'x');
    chmodSync(join(root, 'skills/x/run.sh'), 0o755);
    const snapshot = await open().snapshot({}, never);
    if (!snapshot.ok || snapshot.unchanged) throw new Error('no tree');
    expect(snapshot.files.map(({ path, executable }) => [path, executable])).toEqual([
      ['skills/x/SKILL.md', undefined],
      ['skills/x/run.sh', true],
    ]);
  });

  it('has the same revision for the same content, wherever it lies and whatever else lies there', async () => {
    write('webhooks/orders.yaml', 'a');
    const first = await open().snapshot({}, never);
    renameSync(root, join(folder, 'moved'));
    root = join(folder, 'moved');
    write('notes.txt', 'no definition');
    expect(await open(root).snapshot({ atHand: first.ok ? first.revision : '' }, never)).toMatchObject({
      ok: true,
      unchanged: true,
    });
  });

  it('is read by one listing while nothing changes', async () => {
    write('webhooks/orders.yaml', 'a');
    const source = open();
    const first = await source.snapshot({}, never);
    expect(slept).toEqual([300]);
    expect(await source.snapshot({ atHand: first.ok ? first.revision : '' }, never)).toMatchObject({ unchanged: true });
    expect(slept).toEqual([300]);
  });

  it('waits longer before it believes that a file is gone', async () => {
    write('webhooks/a.yaml', 'a');
    write('webhooks/b.yaml', 'b');
    const source = open();
    const first = await source.snapshot({}, never);
    rmSync(join(root, 'webhooks/b.yaml'));
    expect(textsOf(await source.snapshot({ atHand: first.ok ? first.revision : '' }, never))).toEqual({
      'webhooks/a.yaml': 'a',
    });
    expect(slept).toEqual([300, 2000]);
  });

  it('waits longer after a restart too, when nobody remembers which files there were', async () => {
    write('webhooks/a.yaml', 'a');
    expect(reasonOf(await open().snapshot({ atHand: 'sha256:applied before' }, never))).toBe('ok');
    expect(slept).toEqual([2000]);
  });

  it.each([
    { change: () => write('webhooks/b.yaml', 'new'), why: 'a file came' },
    { change: () => rmSync(join(root, 'webhooks/a.yaml')), why: 'a file went' },
    { change: () => write('webhooks/a.yaml', 'A'), why: 'a file of the same length changed' },
    { change: () => symlinkSync('a.yaml', join(root, 'webhooks/l.yaml')), why: 'a link came' },
    { change: () => write('skills/x/large', Buffer.alloc(300_000)), why: 'a file came that is not read' },
  ])('is unstable when two listings do not agree: $why', async ({ change }) => {
    write('webhooks/a.yaml', 'a');
    meanwhile = change;
    const source = open();
    expect(reasonOf(await source.snapshot({}, never))).toBe('unstable');
    meanwhile = () => undefined;
    expect(reasonOf(await source.snapshot({}, never))).toBe('ok');
  });

  it('does not take a change of other files for one of its own', async () => {
    write('webhooks/a.yaml', 'a');
    meanwhile = () => write('README.md', 'new');
    expect(reasonOf(await open().snapshot({}, never))).toBe('ok');
  });

  it('follows no link inside, and reports each', async () => {
    writeFileSync(join(folder, 'outside'), 'secret');
    mkdirSync(join(root, 'webhooks'));
    symlinkSync(join(folder, 'outside'), join(root, 'webhooks', 'a.yaml'));
    symlinkSync(folder, join(root, 'skills'));
    const snapshot = await open().snapshot({}, never);
    expect(snapshot).toMatchObject({
      files: [
        { path: 'skills', kind: 'symlink', content: new Uint8Array() },
        { path: 'webhooks/a.yaml', kind: 'symlink', content: new Uint8Array() },
      ],
    });
  });

  it('may itself be a link that is switched over', async () => {
    write('webhooks/a.yaml', 'a');
    symlinkSync(root, join(folder, 'current'));
    expect(textsOf(await open(join(folder, 'current')).snapshot({}, never))).toEqual({ 'webhooks/a.yaml': 'a' });
  });

  it('leaves a file that is too large unread', async () => {
    write('webhooks/large.yaml', Buffer.alloc(1_048_576));
    write('webhooks/limit.yaml', Buffer.alloc(262_144));
    const snapshot = await open().snapshot({}, never);
    if (!snapshot.ok || snapshot.unchanged) throw new Error('no tree');
    expect(snapshot.files.map(({ path, sizeBytes, content }) => [path, sizeBytes, content.length])).toEqual([
      ['webhooks/large.yaml', 1_048_576, 0],
      ['webhooks/limit.yaml', undefined, 262_144],
    ]);
  });

  it('keeps odd names exact', async () => {
    write('webhooks/line\nbreak büro.yaml', 'x');
    mkdirSync(join(root, 'skills'));
    writeFileSync(Buffer.concat([Buffer.from(join(root, 'skills/')), Buffer.from([0xff, 0xfe])]), 'y');
    const texts = textsOf(await open().snapshot({}, never));
    expect(texts).toEqual({ 'webhooks/line\nbreak büro.yaml': 'x', [String.raw`skills/\xff\xfe`]: 'y' });
  });

  it('refuses what is neither file nor folder, without waiting for it', async () => {
    mkdirSync(join(root, 'webhooks'));
    execFileSync('mkfifo', [join(root, 'webhooks', 'pipe.yaml')]);
    expect(reasonOf(await open().snapshot({}, never))).toBe('refused');
  });

  it('refuses more than fits into memory', async () => {
    for (let index = 0; index < 260; index += 1) write(`skills/s/${index}`, Buffer.alloc(262_144));
    expect(reasonOf(await open().snapshot({}, never))).toBe('refused');
  });

  it('is empty when it is empty: the guard decides what that means', async () => {
    expect(textsOf(await open().snapshot({}, never))).toEqual({});
  });

  it.each([
    { prepare: () => rmSync(root, { recursive: true }), why: 'it is gone' },
    { prepare: () => (rmSync(root, { recursive: true }), writeFileSync(root, '')), why: 'it is a file' },
    {
      prepare: () => (rmSync(root, { recursive: true }), symlinkSync(join(folder, 'nowhere'), root)),
      why: 'it is a dead link',
    },
  ])('says path-missing when $why, and recovers when it is back', async ({ prepare }) => {
    prepare();
    const source = open();
    expect(await source.snapshot({ atHand: 'sha256:x' }, never)).toMatchObject({
      ok: false,
      reason: 'path-missing',
      retry: 'backoff',
    });
    rmSync(root, { recursive: true, force: true });
    write('webhooks/a.yaml', 'a');
    expect(reasonOf(await source.snapshot({ atHand: 'sha256:x' }, never))).toBe('ok');
  });

  it('that goes away between the listings is missing, not empty', async () => {
    write('webhooks/a.yaml', 'a');
    meanwhile = () => rmSync(root, { recursive: true });
    expect(reasonOf(await open().snapshot({}, never))).toBe('path-missing');
  });

  it('stops when it is called off or closed', async () => {
    write('webhooks/a.yaml', 'a');
    expect(reasonOf(await open().snapshot({}, AbortSignal.abort()))).toBe('timeout');
    const source = open();
    meanwhile = () => void source.close();
    expect(reasonOf(await source.snapshot({}, never))).toBe('timeout');
  });
});

describe('watching', () => {
  it('hints at changes of definition files, once for a burst, and no more after it ended', async () => {
    write('webhooks/a.yaml', 'a');
    const source = open();
    let hints = 0;
    let wake: () => void = () => undefined;
    const end = source.watch?.(() => {
      hints += 1;
      wake();
    });
    // A watcher needs a moment to be ready, and says not when: write until the first hint comes.
    const hinted = new Promise<void>((resolve) => (wake = resolve));
    const writing = setInterval(() => appendFileSync(join(root, 'webhooks/a.yaml'), 'x'), 250);
    await hinted;
    clearInterval(writing);
    end?.();
    expect(hints).toBe(1);
  });

  it('is of no harm where there is no directory', async () => {
    const source = open(join(folder, 'nowhere'));
    const end = source.watch?.(() => undefined);
    end?.();
    await source.close();
  });
});
