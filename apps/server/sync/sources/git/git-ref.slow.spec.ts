/** Another ref of a repository, read from a real git server beside the branch that is followed. contract §12.6 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRef, type WantedRef } from '#reconcile';
import { startGitServer, type GitServer, type TestRepository } from '../../../../../test/support/git/git-server.ts';
import type { CommitTrees, RefReading, Source, SourceFailure } from '../source.ts';
import { createGitSource, type GitSourceOptions } from './git-source.ts';

const WEBHOOK = 'secretName: orders-hook\n';
const never = new AbortController().signal;
let server: GitServer;
let folder: string;
let serial = 0;

beforeAll(async () => {
  server = await startGitServer();
});
afterAll(() => server.close());
beforeEach(() => {
  serial += 1;
  folder = mkdtempSync(join(tmpdir(), 'git-ref-'));
  server.fault = undefined;
  server.token = undefined;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function wanted(text: string): WantedRef {
  const parsed = parseRef(text);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.ref;
}

async function withSource<Reading>(
  options: Partial<GitSourceOptions>,
  ask: (source: Source) => Promise<Reading> | undefined,
): Promise<Reading> {
  const source = createGitSource({
    url: server.urlOf(`r${serial}`),
    branch: 'main',
    cacheDir: join(folder, 'cache'),
    caFile: server.caFile,
    allowLocal: false,
    timeoutMs: 20_000,
    gate: (run) => run(),
    ...options,
  });
  try {
    return (await ask(source)) as Reading;
  } finally {
    await source.close();
  }
}

const read = (text: string, options: Partial<GitSourceOptions> = {}, signal = never): Promise<RefReading> =>
  withSource(options, ({ atRef }) => atRef?.(wanted(text), () => false, signal));

const readAll = (commits: readonly string[]): Promise<CommitTrees | SourceFailure> =>
  withSource({}, ({ atCommits }) => atCommits?.(commits, never));

function repositoryWith(files: Record<string, string>, objectFormat?: 'sha256'): TestRepository {
  const repository = server.createRepository(`r${serial}`, { ...(objectFormat && { objectFormat }) });
  repository.commit({ 'webhooks/orders.yaml': WEBHOOK });
  repository.commit(files, { branch: 'topic' });
  return repository;
}

const paths = (reading: RefReading): unknown => reading.ok && reading.files?.map(({ path }) => path);

it('is read with the credential of the source, and leaves nothing behind', async () => {
  repositoryWith({ 'webhooks/topic.yaml': WEBHOOK, 'README.md': 'no definition' });
  server.token = 'a-token';
  expect(await read('topic')).toMatchObject({ ok: false, reason: 'denied' });
  expect(paths(await read('topic', { credential: () => Promise.resolve('a-token') }))).toEqual(['webhooks/topic.yaml']);
  expect(readdirSync(folder)).toEqual([]);
});

it('is read in a repository that names its objects by SHA-256', async () => {
  const repository = repositoryWith({ 'webhooks/topic.yaml': WEBHOOK }, 'sha256');
  for (const ref of ['topic', repository.tip('topic')]) expect(paths(await read(ref))).toEqual(['webhooks/topic.yaml']);
  expect(await read('a'.repeat(40))).toMatchObject({ ok: false, reason: 'ref-unknown' });
});

it('is read from a server that sends no file by its name', async () => {
  repositoryWith({ 'webhooks/topic.yaml': WEBHOOK });
  server.fault = { kind: 'withhold', only: 'fetch' };
  expect(paths(await read('topic'))).toEqual(['webhooks/topic.yaml']);
});

it('is refused where it sends more than is read, and nothing of it stays', async () => {
  repositoryWith({ 'webhooks/topic.yaml': WEBHOOK, 'webhooks/noise.yaml': randomBytes(200_000).toString('base64') });
  expect(await read('topic', { fetchBytesMax: 100_000 })).toMatchObject({
    ok: false,
    reason: 'refused',
    message: expect.stringContaining('sends more than'),
  });
  expect(readdirSync(folder)).toEqual([]);
});

it('ends with its signal, and nothing of it stays', async () => {
  repositoryWith({});
  server.fault = { kind: 'hang' };
  const leaving = new AbortController();
  const reading = read('topic', {}, leaving.signal);
  leaving.abort();
  expect(await reading).toMatchObject({ ok: false, reason: 'timeout' });
  expect(readdirSync(folder)).toEqual([]);
});

describe('several commits', () => {
  /** Ten commits of ten branches, each with a file of its own. */
  function branches(objectFormat?: 'sha256'): string[] {
    const repository = repositoryWith({ 'webhooks/topic.yaml': WEBHOOK }, objectFormat);
    return Array.from({ length: 10 }, (_, at) =>
      repository.commit({ [`webhooks/w${at}.yaml`]: WEBHOOK }, { branch: `b${at}` }),
    );
  }

  it.each([undefined, 'sha256'] as const)('are read in one exchange for all of them (%s)', async (format) => {
    const commits = branches(format);
    server.forget();
    const found = await readAll(commits);
    const fetches = server.count('fetch');
    expect(fetches).toBeLessThanOrEqual(2); // the commits, and what files they lack
    const single = await read(commits[3] ?? '');
    expect(found.ok && [...found.trees.keys()]).toEqual(commits);
    expect(found.ok && found.trees.get(commits[3] ?? '')).toEqual(single.ok && single.files);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are read from a server that sends no file by its name', async () => {
    const commits = branches();
    server.fault = { kind: 'withhold', only: 'fetch' };
    const found = await readAll(commits);
    expect(found.ok && found.trees.size).toBe(10);
  });

  it('are none of them there where one is not given out', async () => {
    expect(await readAll([...branches(), 'a'.repeat(40)])).toMatchObject({ ok: false });
    expect(readdirSync(folder)).toEqual([]);
  });
});
