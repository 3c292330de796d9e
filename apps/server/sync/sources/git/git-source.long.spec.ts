/** A factory repository behind a real git server, in good and in bad times. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type Fault,
  type GitServer,
  hideRepository,
  startGitServer,
  type TestRepository,
} from '../../../../../test/support/git/git-server.ts';
import { createGitSource, type GitSourceOptions } from './git-source.ts';
import type { Gate } from './git-session.ts';
import type { Snapshot, Source } from '../source.ts';

const WEBHOOK = 'secretName: orders-hook\n';
const never = new AbortController().signal;

let server: GitServer;
let folder: string;
let repository: TestRepository;
let name: string;
let serial = 0;
const opened: Source[] = [];

beforeAll(async () => {
  server = await startGitServer();
});

afterAll(async () => {
  await server.close();
});

beforeEach(() => {
  serial += 1;
  name = `factory-${serial}.git`;
  folder = mkdtempSync(join(tmpdir(), 'git-source-'));
  repository = server.createRepository(name);
  server.fault = undefined;
  server.token = undefined;
  server.forget();
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((source) => source.close()));
  rmSync(folder, { recursive: true, force: true });
});

function open(options: Partial<GitSourceOptions> = {}): Source {
  const source = createGitSource({
    url: server.urlOf(name),
    cacheDir: join(folder, 'cache'),
    caFile: server.caFile,
    allowLocal: false,
    timeoutMs: 20_000,
    gate: (run) => run(),
    ...options,
  });
  opened.push(source);
  return source;
}

async function read(source: Source, known?: string): Promise<Snapshot> {
  return source.snapshot({ atHand: known }, never);
}

/** path → text, for files that were read. */
function textsOf(snapshot: Snapshot): Record<string, string> {
  if (!snapshot.ok || snapshot.unchanged) throw new Error(`no tree: ${JSON.stringify(snapshot)}`);
  return Object.fromEntries(snapshot.files.map((file) => [file.path, Buffer.from(file.content).toString('utf8')]));
}

function revisionOf(snapshot: Snapshot): string {
  if (!snapshot.ok) throw new Error(`no revision: ${snapshot.reason} ${snapshot.message}`);
  return snapshot.revision;
}

function reasonOf(snapshot: Snapshot): string {
  return snapshot.ok ? 'ok' : snapshot.reason;
}

describe('a repository over https', () => {
  it('gives the definition files of the tip, sorted, and no others', async () => {
    const commit = repository.commit({
      'webhooks/orders.yaml': WEBHOOK,
      'factory.yaml': 'name: Example\n',
      'README.md': 'no definition',
      'docs/webhooks/x.yaml': 'no definition',
      'automations/triage/automation.md': '---\n---\nx\n',
    });
    const snapshot = await read(open());
    expect(revisionOf(snapshot)).toBe(`main@sha1:${commit}`);
    expect(Object.keys(textsOf(snapshot))).toEqual([
      'automations/triage/automation.md',
      'factory.yaml',
      'webhooks/orders.yaml',
    ]);
    expect(textsOf(snapshot)['webhooks/orders.yaml']).toBe(WEBHOOK);
  });

  it('asks an unchanged repository for one ref advertisement and fetches nothing', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    const revision = revisionOf(await read(source));
    server.forget();
    expect(await read(source, revision)).toEqual({ ok: true, revision, unchanged: true });
    expect(server.requests.map((request) => request.kind)).toEqual(['advertisement', 'ls-refs']);
  });

  it('knows an unchanged revision without any cache', async () => {
    const commit = repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const revision = `main@sha1:${commit}`;
    expect(await read(open(), revision)).toEqual({ ok: true, revision, unchanged: true });
    expect(existsSync(join(folder, 'cache'))).toBe(false);
  });

  it('fetches all missing files of a tree in one request, and never those that are no definitions', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 60 }, (_, index) => [`skills/s${index}/SKILL.md`, `skill ${index}`]),
    );
    repository.commit({ ...files, 'assets/large.bin': Buffer.alloc(3_000_000, 7) });
    const snapshot = await read(open());
    expect(Object.keys(textsOf(snapshot))).toHaveLength(60);
    expect(server.count('fetch')).toBe(2); // history and trees, then the files
    expect(bytesBelow(join(folder, 'cache', 'objects'))).toBeLessThan(200_000);
  });

  it('follows a new commit and fetches only what is new', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK, 'webhooks/b.yaml': 'secretName: b\n' });
    const source = open();
    const first = revisionOf(await read(source));
    repository.commit({ 'webhooks/b.yaml': null, 'webhooks/c.yaml': 'secretName: c\n' });
    const second = await read(source, first);
    expect(textsOf(second)).toEqual({ 'webhooks/a.yaml': WEBHOOK, 'webhooks/c.yaml': 'secretName: c\n' });
  });

  it('takes a force push for the new tip', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    const first = revisionOf(await read(source));
    const rewritten = repository.commit({ 'webhooks/z.yaml': WEBHOOK }, { rewrite: true });
    const second = await read(source, first);
    expect(revisionOf(second)).toBe(`main@sha1:${rewritten}`);
    expect(Object.keys(textsOf(second))).toEqual(['webhooks/z.yaml']);
  });

  it('follows the branch that HEAD names, or the one it was told', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const staging = repository.commit({ 'webhooks/b.yaml': WEBHOOK }, { branch: 'release/next' });
    expect(revisionOf(await read(open({ branch: 'release/next' })))).toBe(`release/next@sha1:${staging}`);
    repository.setHead('release/next');
    expect(revisionOf(await read(open({ cacheDir: join(folder, 'other') })))).toBe(`release/next@sha1:${staging}`);
  });

  it('is not misled by a branch whose name ends like a ref', async () => {
    repository.commit({ 'webhooks/decoy.yaml': WEBHOOK }, { branch: 'x/refs/heads/main' });
    const commit = repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    expect(revisionOf(await read(open({ branch: 'main' })))).toBe(`main@sha1:${commit}`);
  });

  it('reads a factory in a folder of the repository', async () => {
    repository.commit({
      'ops/factory/webhooks/a.yaml': WEBHOOK,
      'webhooks/other.yaml': 'x',
      'ops/factoryx/webhooks/b.yaml': 'x',
    });
    expect(textsOf(await read(open({ path: './ops/factory/' })))).toEqual({ 'webhooks/a.yaml': WEBHOOK });
  });

  it.each([
    { path: 'gone', why: 'no such folder' },
    { path: 'webhooks/a.yaml', why: 'a file is no folder' },
    { path: 'link', why: 'a link is no folder' },
    { path: 'sub', why: 'a submodule is not fetched' },
    { path: 'web*', why: 'a path is no pattern' },
    { path: ':(top)webhooks', why: 'and no pathspec' },
  ])('says path-missing for $path: $why', async ({ path }) => {
    repository.commit({
      'webhooks/a.yaml': WEBHOOK,
      link: { symlink: 'webhooks' },
      sub: { submodule: '1'.repeat(40) },
    });
    expect(reasonOf(await read(open({ path })))).toBe('path-missing');
  });

  it('gives an empty list for a tree without definitions: the guard decides what that means', async () => {
    repository.commit({ 'README.md': 'hello' });
    expect(textsOf(await read(open()))).toEqual({});
  });

  it('reads repositories that use SHA-256', async () => {
    const modern = server.createRepository(`sha256-${serial}.git`, { objectFormat: 'sha256' });
    const commit = modern.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open({ url: server.urlOf(`sha256-${serial}.git`) });
    expect(revisionOf(await read(source))).toBe(`main@sha256:${commit}`);
    expect(textsOf((await source.cached?.(`main@sha256:${commit}`)) as Snapshot)).toEqual({
      'webhooks/a.yaml': WEBHOOK,
    });
  });

  it('reads from a server that cannot leave files out', async () => {
    repository = server.createRepository(`plain-${serial}.git`, { filter: false });
    repository.commit({ 'webhooks/a.yaml': WEBHOOK, 'assets/x.bin': Buffer.alloc(1000) });
    expect(textsOf(await read(open({ url: server.urlOf(`plain-${serial}.git`) })))).toEqual({
      'webhooks/a.yaml': WEBHOOK,
    });
  });

  it('packs a cache that has grown many packs, and still reads it', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    const known = revisionOf(await read(source));
    const packs = join(folder, 'cache', 'objects', 'pack');
    for (let index = 0; index < 201; index += 1)
      writeFileSync(join(packs, `pack-${String(index).padStart(40, '0')}.pack`), '');
    repository.commit({ 'webhooks/b.yaml': WEBHOOK });
    expect(Object.keys(textsOf(await read(source, known)))).toEqual(['webhooks/a.yaml', 'webhooks/b.yaml']);
    expect(Object.keys(textsOf((await source.cached?.(known)) as Snapshot))).toEqual(['webhooks/a.yaml']);
  });
});

describe('what stands in a tree', () => {
  it('reports links and submodules without following them, and leaves a file that is too large unread', async () => {
    repository.commit({
      'webhooks/link.yaml': { symlink: '/etc/passwd' },
      'skills/vendored': { submodule: '1'.repeat(40) },
      'webhooks/large.yaml': Buffer.alloc(1_048_576, 0x61),
      'webhooks/limit.yaml': Buffer.alloc(262_144, 0x61),
    });
    const snapshot = await read(open());
    if (!snapshot.ok || snapshot.unchanged) throw new Error('no tree');
    expect(snapshot.files.map(({ content, ...file }) => ({ ...file, length: content.length }))).toEqual([
      { path: 'skills/vendored', kind: 'submodule', length: 0 },
      { path: 'webhooks/large.yaml', sizeBytes: 1_048_576, length: 0 },
      { path: 'webhooks/limit.yaml', length: 262_144 },
      { path: 'webhooks/link.yaml', kind: 'symlink', length: 0 },
    ]);
  });

  it('hands over an LFS pointer as the text it is', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 12\n`;
    repository.commit({ '.gitattributes': '*.yaml filter=lfs diff=lfs merge=lfs -text\n', 'webhooks/a.yaml': pointer });
    expect(textsOf(await read(open()))['webhooks/a.yaml']).toBe(pointer);
  });

  it('keeps names exact: spaces, newlines, quotes, letters of any script, and bytes that are no text', async () => {
    const names = ['a b', 'line\nbreak', '"quoted"\\', 'büro-注文', 'tab\t'].map((text) => `webhooks/${text}.yaml`);
    repository.commit({
      ...Object.fromEntries(names.map((path) => [path, path])),
      'latin1:webhooks/\xff\xfe.yaml': 'bytes',
    });
    const texts = textsOf(await read(open()));
    expect(Object.keys(texts).sort()).toEqual([...names, String.raw`webhooks/\xff\xfe.yaml`].sort());
    for (const path of names) expect(texts[path]).toBe(path);
  });

  it('keeps contents exact, byte by byte, and reads equal files once', async () => {
    const bytes = Uint8Array.from({ length: 1024 }, (_, index) => index % 256);
    repository.commit({
      'skills/a/x.bin': bytes,
      'skills/b/x.bin': bytes,
      'skills/c/empty': '',
      'webhooks/crlf.yaml': 'a: 1\r\n',
    });
    const snapshot = await read(open());
    if (!snapshot.ok || snapshot.unchanged) throw new Error('no tree');
    const contents = snapshot.files.map((file) => Buffer.from(file.content));
    expect(contents).toEqual([Buffer.from(bytes), Buffer.from(bytes), Buffer.alloc(0), Buffer.from('a: 1\r\n')]);
  });

  it('refuses more entries than a factory can have, and still serves a folder of the same repository', async () => {
    const many = Object.fromEntries(
      Array.from({ length: 100_001 }, (_, index) => [`data/${index % 100}/${index}`, '']),
    );
    repository.commit({ ...many, 'ops/webhooks/a.yaml': WEBHOOK });
    expect(await read(open())).toMatchObject({
      ok: false,
      reason: 'refused',
      message: expect.stringContaining('100000 entries'),
    });
    expect(textsOf(await read(open({ path: 'ops' })))).toEqual({ 'webhooks/a.yaml': WEBHOOK });
  });

  it('refuses definition files that do not fit into memory together', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 270 }, (_, index) => [`skills/s/${index}`, Buffer.alloc(260_000, index)]),
    );
    for (const [path, content] of Object.entries(files)) content.write(path);
    repository.commit(files);
    expect(reasonOf(await read(open()))).toBe('refused');
  });

  it('refuses a path of absurd length', async () => {
    repository.commit({ [`skills/${'d/'.repeat(2100)}x`]: '' });
    expect(reasonOf(await read(open()))).toBe('refused');
  });
});

describe('a repository that cannot be read', () => {
  it.each<{ fault: Fault; reason: string; why: string }>([
    { fault: { kind: 'refuse' }, reason: 'unreachable', why: 'the connection is closed' },
    { fault: { kind: 'status', status: 401 }, reason: 'denied', why: 'no credential' },
    { fault: { kind: 'status', status: 403 }, reason: 'denied', why: 'credential without rights' },
    { fault: { kind: 'status', status: 404 }, reason: 'repository-missing', why: 'renamed, deleted or hidden' },
    { fault: { kind: 'status', status: 500 }, reason: 'unreachable', why: 'a brown-out is no emptiness' },
    {
      fault: { kind: 'status', status: 503, only: 'fetch' },
      reason: 'unreachable',
      why: 'a brown-out between advertisement and fetch',
    },
    {
      fault: { kind: 'cut', afterBytes: 20, only: 'ls-refs' },
      reason: 'unreachable',
      why: 'the advertisement breaks off',
    },
    { fault: { kind: 'cut', afterBytes: 100, only: 'fetch' }, reason: 'unreachable', why: 'the pack breaks off' },
    {
      fault: { kind: 'redirect', to: 'https://127.0.0.1:9/elsewhere' },
      reason: 'refused',
      why: 'redirects are not followed',
    },
    {
      fault: { kind: 'html' },
      reason: 'empty',
      why: 'a sign-in page has no branches; the message names both possibilities',
    },
  ])('says $reason when the server answers $fault: $why', async ({ fault, reason }) => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    server.fault = fault;
    expect(await read(source)).toMatchObject({ ok: false, reason, retry: 'backoff' });
    server.fault = undefined;
    expect(textsOf(await read(source))).toEqual({ 'webhooks/a.yaml': WEBHOOK }); // recovers by itself
  });

  it('says unreachable when nothing listens', async () => {
    const port = await freePort();
    const snapshot = await read(open({ url: `https://127.0.0.1:${port}/x.git` }));
    expect(reasonOf(snapshot)).toBe('unreachable');
  });

  it('says unreachable when the certificate is not trusted', async () => {
    expect(reasonOf(await read(open({ caFile: undefined })))).toBe('unreachable');
  });

  it('tells an empty repository from a lost branch, and a lost branch from a lost repository', async () => {
    expect(reasonOf(await read(open()))).toBe('empty');
    expect(reasonOf(await read(open({ branch: 'main' })))).toBe('empty');
    repository.commit({ 'webhooks/a.yaml': WEBHOOK }, { branch: 'other' });
    expect(reasonOf(await read(open()))).toBe('branch-missing'); // HEAD names main
    expect(reasonOf(await read(open({ branch: 'main' })))).toBe('branch-missing');
    const show = hideRepository(repository);
    expect(reasonOf(await read(open()))).toBe('repository-missing');
    show();
  });

  it('says branch-missing after the branch was deleted, and recovers when it is back', async () => {
    repository.commit({ 'webhooks/keep.yaml': WEBHOOK }, { branch: 'keep' });
    const commit = repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open({ branch: 'main' });
    const revision = revisionOf(await read(source));
    repository.deleteBranch('main');
    expect(await read(source, revision)).toMatchObject({
      ok: false,
      reason: 'branch-missing',
      message: expect.stringContaining('"main"'),
    });
    repository.git('update-ref', 'refs/heads/main', commit);
    expect(await read(source, revision)).toEqual({ ok: true, revision, unchanged: true });
  });

  it.each<{ fault: Fault; why: string }>([
    { fault: { kind: 'hang', only: 'advertisement' }, why: 'before anything is known' },
    { fault: { kind: 'hang', only: 'fetch' }, why: 'in the middle of a fetch' },
  ])('ends a git that hangs at its time limit and leaves no process: $why', async ({ fault }) => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.fault = fault;
    const source = open({ timeoutMs: 700 });
    expect(reasonOf(await read(source))).toBe('timeout');
    expect(await processesNaming(name, folder)).toEqual([]);
    server.fault = undefined;
    expect(textsOf(await read(open()))).toEqual({ 'webhooks/a.yaml': WEBHOOK });
  });

  it('stops at once when it is called off or closed, and leaves no process', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.fault = { kind: 'hang' };
    const source = open();
    const calling = new AbortController();
    const calledOff = source.snapshot({}, calling.signal);
    await untilAsked();
    calling.abort();
    expect(reasonOf(await calledOff)).toBe('timeout');
    server.forget();
    const closed = read(source);
    await untilAsked();
    await source.close();
    expect(reasonOf(await closed)).toBe('timeout');
    expect(await processesNaming(name, folder)).toEqual([]);
  });

  it('waits for a slow server', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.fault = { kind: 'slow', delayMs: 200 };
    expect(reasonOf(await read(open()))).toBe('ok');
  });

  it.each([
    { options: { url: 'http://127.0.0.1/x.git' }, why: 'no encryption' },
    { options: { url: 'ext::sh -c id' }, why: 'a transport that runs commands' },
    { options: { url: '--upload-pack=id' }, why: 'an option' },
    { options: { url: '/srv/factory.git' }, why: 'a local path where they are not allowed' },
    { options: { branch: '--all' }, why: 'a branch that reads as an option' },
    { options: { branch: '*' }, why: 'a branch that is a pattern' },
    { options: { path: '../x' }, why: 'a path that leads out' },
  ])('refuses $options without starting git: $why', async ({ options }) => {
    const gate: Gate = () => Promise.reject(new Error('git was started'));
    expect(reasonOf(await read(open({ ...options, gate })))).toBe('refused');
  });

  it('says disk when the cache cannot be written', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    writeFileSync(join(folder, 'file'), '');
    expect(reasonOf(await read(open({ cacheDir: join(folder, 'file', 'cache') })))).toBe('disk');
  });

  it('says so when git is not there', async () => {
    const snapshot = await read(open({ searchPath: '/nonexistent' }));
    expect(snapshot).toMatchObject({ reason: 'refused', message: expect.stringContaining('not installed') });
  });
});

describe('credentials', () => {
  const TOKEN = 'glpat-3f9a/+secret=value';

  it('reads a private repository with the token, which stands in no argument and no file', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.token = TOKEN;
    expect(textsOf(await read(open({ credential: () => Promise.resolve(TOKEN) })))).toEqual({
      'webhooks/a.yaml': WEBHOOK,
    });
    expect(grep(folder, TOKEN)).toEqual([]);
    expect(grep(folder, Buffer.from(`x-access-token:${TOKEN}`).toString('base64'))).toEqual([]);
  });

  it('asks for the credential at each reading, so that a rotated one counts at once', async () => {
    const commit = repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.token = TOKEN;
    let current = 'the old one, revoked';
    const source = open({ credential: () => Promise.resolve(current) });
    expect(reasonOf(await read(source))).toBe('denied');
    current = TOKEN;
    expect(revisionOf(await read(source))).toBe(`main@sha1:${commit}`);
  });

  it.each([
    { credential: undefined, why: 'none is named' },
    { credential: () => Promise.resolve(undefined), why: 'it has no value' },
    { credential: () => Promise.reject(new Error(`the value is ${TOKEN}`)), why: 'it cannot be read' },
    { credential: () => Promise.resolve(`${TOKEN}\r\nX-Injected: 1`), why: 'it would add a header' },
  ])('says denied, without any value, when the credential does not do: $why', async ({ credential }) => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.token = 'another';
    const snapshot = await read(open({ credential }));
    expect(reasonOf(snapshot)).toBe('denied');
    expect(JSON.stringify(snapshot)).not.toContain(TOKEN);
  });

  it('never sends the authorization header after a redirect', async () => {
    const other = await startGitServer();
    try {
      repository.commit({ 'webhooks/a.yaml': WEBHOOK });
      for (const only of ['advertisement', 'ls-refs', 'fetch'] as const) {
        server.fault = { kind: 'redirect', to: other.url, only };
        expect(reasonOf(await read(open({ credential: () => Promise.resolve(TOKEN) })))).not.toBe('ok');
      }
      expect(other.requests).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('does not repeat what a server answers with', async () => {
    server.fault = { kind: 'status', status: 403, body: `you sent ${TOKEN}` };
    const snapshot = await read(open({ url: server.urlOf(name), credential: () => Promise.resolve(TOKEN) }));
    expect(reasonOf(snapshot)).toBe('denied');
    expect(JSON.stringify(snapshot)).not.toContain('glpat');
    const sent = Buffer.from((server.requests[0]?.authorization ?? '').replace('Basic ', ''), 'base64').toString();
    expect(sent).toBe(`x-access-token:${TOKEN}`);
  });

  it('refuses an https address with a user name, which may be a token, and does not repeat it', async () => {
    const snapshot = await read(open({ url: server.urlOf(name).replace('https://', 'https://some-user@') }));
    expect(reasonOf(snapshot)).toBe('refused');
    expect(JSON.stringify(snapshot)).not.toContain('some-user');
    expect(server.requests).toEqual([]);
  });
});

describe('the cache', () => {
  it('is read again without the network', async () => {
    const first = repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    await read(source);
    repository.commit({ 'webhooks/a.yaml': 'secretName: other\n' });
    await read(source);
    server.forget();
    server.fault = { kind: 'refuse' };
    expect(textsOf((await source.cached?.(`main@sha1:${first}`)) as Snapshot)).toEqual({ 'webhooks/a.yaml': WEBHOOK });
    expect(server.requests).toEqual([]);
  });

  it.each([
    { revision: `main@sha1:${'0'.repeat(40)}`, why: 'a commit that was never fetched' },
    { revision: 'sha256:abc', why: 'a revision of another kind of source' },
    { revision: `main@sha1:--output=/tmp/x`, why: 'no revision at all' },
  ])('says corrupt for $revision: $why', async ({ revision }) => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    await read(source);
    expect(reasonOf((await source.cached?.(revision)) as Snapshot)).toBe('corrupt');
  });

  it('is cleared of the locks that a killed git left', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const source = open();
    const known = revisionOf(await read(source));
    const cache = join(folder, 'cache');
    mkdirSync(join(cache, 'refs', 'millwright'), { recursive: true });
    const locks = ['shallow.lock', 'config.lock', 'HEAD.lock', 'packed-refs.lock', 'refs/millwright/tip.lock'];
    for (const left of [...locks, 'objects/pack/tmp_pack_x']) writeFileSync(join(cache, left), '');
    repository.commit({ 'webhooks/b.yaml': WEBHOOK });
    expect(Object.keys(textsOf(await read(source, known)))).toEqual(['webhooks/a.yaml', 'webhooks/b.yaml']);
    expect(readdirSync(cache, { recursive: true }).filter((path) => /\.lock$|tmp_/.test(String(path)))).toEqual([]);
  });

  it.each<{ damage: (cache: string) => void; why: string }>([
    { damage: (cache) => rmSync(join(cache, 'HEAD')), why: 'no repository any more' },
    { damage: (cache) => writeFileSync(join(cache, 'config'), '[core\n'), why: 'configuration that cannot be parsed' },
    { damage: (cache) => rmSync(join(cache, 'objects'), { recursive: true }), why: 'objects lost' },
    { damage: (cache) => packs(cache).forEach((pack) => truncateSync(pack, 20)), why: 'packs cut off by a full disk' },
    {
      damage: (cache) => writeFileSync(join(cache, 'refs', 'millwright', 'tip'), 'garbage\n'),
      why: 'a ref that names nothing',
    },
    {
      damage: (cache) => writeFileSync(cache.replace(/cache$/, 'cache.spare'), 'x'),
      why: 'something in the place of the spare',
    },
  ])('is rebuilt by itself: $why', async ({ damage }) => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const known = revisionOf(await read(open()));
    damage(join(folder, 'cache'));
    repository.commit({ 'webhooks/b.yaml': WEBHOOK });
    const source = open();
    expect(Object.keys(textsOf(await read(source, known)))).toEqual(['webhooks/a.yaml', 'webhooks/b.yaml']);
    repository.commit({ 'webhooks/c.yaml': WEBHOOK });
    expect(Object.keys(textsOf(await read(source)))).toHaveLength(3);
  });

  it('fetches everything from a server that withholds single files, and remembers that', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    server.fault = { kind: 'withhold' };
    expect(textsOf(await read(open()))).toEqual({ 'webhooks/a.yaml': WEBHOOK });
    repository.commit({ 'webhooks/b.yaml': WEBHOOK });
    server.forget();
    expect(Object.keys(textsOf(await read(open())))).toEqual(['webhooks/a.yaml', 'webhooks/b.yaml']);
    expect(server.count('fetch')).toBe(1);
  });

  it('never runs two git processes of one source at a time, and asks the gate for each', async () => {
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    let running = 0;
    let most = 0;
    const gate: Gate = async (run) => {
      running += 1;
      most = Math.max(most, running);
      try {
        return await run();
      } finally {
        running -= 1;
      }
    };
    const source = open({ gate });
    const snapshots = await Promise.all([read(source), read(source), read(source)]);
    expect(snapshots.map(reasonOf)).toEqual(['ok', 'ok', 'ok']);
    expect(most).toBe(1);
  });

  it('runs no hook and no filter of anybody', async () => {
    const modules = '[submodule "x"]\n\tpath = x\n\turl = ./x\n';
    repository.commit({ 'webhooks/a.yaml': WEBHOOK, '.gitattributes': '* filter=evil\n', '.gitmodules': modules });
    const source = open();
    await read(source);
    const hooks = join(folder, 'cache', 'hooks');
    mkdirSync(hooks, { recursive: true });
    for (const hook of ['reference-transaction', 'post-checkout', 'pre-auto-gc']) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${join(folder, 'ran')}\n`, { mode: 0o755 });
    }
    repository.commit({ 'webhooks/b.yaml': WEBHOOK });
    expect(reasonOf(await read(source))).toBe('ok');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('a local repository', () => {
  it.each([{ scheme: 'file://' }, { scheme: '' }])(
    'is read where it is allowed ("$scheme" before the path)',
    async ({ scheme }) => {
      const commit = repository.commit({ 'webhooks/a.yaml': WEBHOOK });
      const source = open({ url: `${scheme}${repository.folder}`, allowLocal: true });
      const snapshot = await read(source);
      expect(textsOf(snapshot)).toEqual({ 'webhooks/a.yaml': WEBHOOK });
      expect(await read(source, `main@sha1:${commit}`)).toMatchObject({ unchanged: true });
    },
  );

  it('is read without partial fetches too', async () => {
    repository.git('config', '--unset', 'uploadpack.allowFilter');
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    expect(textsOf(await read(open({ url: repository.folder, allowLocal: true })))).toEqual({
      'webhooks/a.yaml': WEBHOOK,
    });
  });

  it('says repository-missing when there is none', async () => {
    mkdirSync(join(folder, 'plain'));
    expect(reasonOf(await read(open({ url: join(folder, 'plain'), allowLocal: true })))).toBe('repository-missing');
    expect(reasonOf(await read(open({ url: join(folder, 'none'), allowLocal: true })))).toBe('repository-missing');
  });

  it('reads a work tree by its committed state', async () => {
    const work = join(folder, 'work');
    execFileSync('git', ['clone', '--quiet', repository.folder, work], { stdio: 'pipe' });
    mkdirSync(join(work, 'webhooks'));
    writeFileSync(join(work, 'webhooks', 'uncommitted.yaml'), WEBHOOK);
    expect(reasonOf(await read(open({ url: work, allowLocal: true })))).toBe('empty');
  });
});

function packs(cache: string): string[] {
  const pack = join(cache, 'objects', 'pack');
  return readdirSync(pack)
    .filter((file) => file.endsWith('.pack'))
    .map((file) => join(pack, file));
}

function bytesBelow(path: string): number {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function grep(path: string, text: string): string[] {
  const entries = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return entries.map((entry) => join(entry.parentPath, entry.name)).filter((file) => readFileSync(file).includes(text));
}

async function untilAsked(): Promise<void> {
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

/**
 * Live processes whose arguments or environment name one of the words; waits a little for those that are just ending.
 */
async function processesNaming(...words: string[]): Promise<string[]> {
  for (let attempt = 0; ; attempt += 1) {
    const found = listProcesses().filter(
      (line) => words.some((word) => line.includes(word)) && !line.includes('http-backend'),
    );
    if (found.length === 0 || attempt === 100) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function listProcesses(): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .flatMap((pid) => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ');
        return line.includes('git') ? [line] : [];
      } catch {
        return [];
      }
    });
}
