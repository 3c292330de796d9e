/** Another ref of a repository, read from a real git server beside the branch that is followed. contract §12.6 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRef, type WantedRef } from '#reconcile';
import { startGitServer, type GitServer, type TestRepository } from '../../../../../test/support/git/git-server.ts';
import type { RefReading } from '../source.ts';
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

async function read(text: string, options: Partial<GitSourceOptions> = {}, signal = never): Promise<RefReading> {
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
    return (await source.atRef?.(wanted(text), () => false, signal)) as RefReading;
  } finally {
    await source.close();
  }
}

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
