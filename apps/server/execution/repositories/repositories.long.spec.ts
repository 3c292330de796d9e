/** Bare copies of repositories: shared, repaired, swept, and never of a place inside. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostPatternOfUrl, type HostPattern } from '#isolation';
import { eventually } from '../../../../test/support/services/service.ts';
import { startGitServer, type GitServer, type TestRepository } from '../../../../test/support/git/git-server.ts';
import { checkGitUrl } from '../../sync/sources/git/git-urls.ts';
import { Repositories } from './repositories.ts';
import type { RepositoryAccess } from './repositories-access.ts';

const DAY_MS = 86_400_000;
let git: GitServer;
let repository: TestRepository;
let dataDir: string;
let nowMs: number;
let diskLow: boolean;
let repositories: Repositories;
/** Undefined: `diskLow` says it. */
let lowWhile: (() => boolean) | undefined;

beforeAll(async () => {
  git = await startGitServer();
  repository = git.createRepository('acme/app');
  repository.commit({ 'file.txt': 'one' });
  repository.git('tag', 'v1', 'main');
  repository.git('-c', 'user.name=t', '-c', 'user.email=t@example.com', 'tag', '-a', '-m', 'two', 'v2', 'main');
});
afterAll(() => git.close());
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'repositories-'));
  [nowMs, diskLow] = [Date.now(), false];
  lowWhile = undefined;
  repositories = made();
  git.fault = undefined;
  git.forget();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function access(more: Partial<RepositoryAccess> = {}, url = git.urlOf('acme/app')): RepositoryAccess {
  const verdict = checkGitUrl(url, false);
  if (!verdict.ok) throw new Error(verdict.reason);
  return {
    factoryUid: 'fac_a',
    address: verdict.address,
    host: hostPatternOfUrl(verdict.address.url) as HostPattern,
    publicOnly: false,
    ...more,
  };
}
const made = (more: { runDiskBytesMax?: number; setupTimeoutMs?: number } = {}): Repositories =>
  new Repositories({
    config: { dataDir, gitCaFile: git.caFile, searchPath: process.env['PATH'], setupTimeoutMs: 20_000, ...more },
    isDiskLow: () => lowWhile?.() ?? diskLow,
    nowMs: () => nowMs,
  });
const copies = (): string[] =>
  existsSync(join(dataDir, 'repositories')) ? readdirSync(join(dataDir, 'repositories')) : [];
const commitOf = (branch?: string, more?: Partial<RepositoryAccess>): Promise<string> =>
  repositories.use(access(more), undefined, (copy) => copy.commitOf(branch));

describe('a copy', () => {
  it('has branches and tags as they are now', async () => {
    const tip = repository.tip();
    expect(await Promise.all([undefined, 'main', 'v1', 'v2'].map((name) => commitOf(name)))).toEqual([
      tip,
      tip,
      tip,
      tip,
    ]);
    const moved = repository.commit({ 'file.txt': 'rewritten' }, { rewrite: true });
    repository.commit({ 'other.txt': 'x' }, { branch: 'side' });
    expect([await commitOf(), await commitOf('side')]).toEqual([moved, repository.tip('side')]);
    repository.deleteBranch('side');
    await expect(commitOf('side')).rejects.toThrow('has no branch "side"');
    expect(copies()).toHaveLength(1);
  }, 120_000);

  it('is fetched once for all who wait, one fetch at a time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => commitOf()));
    expect(git.count('fetch')).toBeLessThanOrEqual(2);
    expect(git.count('fetch')).toBeGreaterThan(0);
  }, 120_000);

  it('is read by its run and by nobody else: the folder above it is the service’s', async () => {
    await repositories.use(access(), undefined, ({ folder }) => {
      const modes = [folder, join(folder, 'HEAD'), join(folder, 'objects/pack')].map(
        (path) => statSync(path).mode & 0o777,
      );
      expect(modes).toEqual([0o755, 0o644, 0o755]);
      expect(statSync(join(dataDir, 'repositories')).mode & 0o777).toBe(0o700);
      return Promise.resolve();
    });
  });

  it('is another one for everybody who has a credential', async () => {
    await commitOf();
    await commitOf(undefined, { credential: { identity: 'fac_a token', value: 'x'.repeat(20) } });
    await commitOf(undefined, { credential: { identity: 'fac_b token', value: 'x'.repeat(20) } });
    expect(new Set(copies()).size).toBe(3);
  }, 120_000);

  it('is made anew when it is broken', async () => {
    await commitOf();
    const [name = ''] = copies();
    rmSync(join(dataDir, 'repositories', name, 'objects'), { recursive: true });
    writeFileSync(join(dataDir, 'repositories', name, 'objects'), 'no folder');
    expect(await commitOf()).toBe(repository.tip());
  }, 120_000);

  it('goes when it has not been used for long, and not while it is used', async () => {
    await commitOf();
    nowMs += 13 * DAY_MS;
    await repositories.sweep();
    expect(copies()).toHaveLength(1);
    await repositories.use(access(), undefined, async () => {
      nowMs += 30 * DAY_MS;
      await repositories.sweep();
      expect(copies()).toHaveLength(1);
    });
    await repositories.sweep();
    expect(copies()).toEqual([]);
  }, 120_000);

  it('leaves other folders alone when it is swept', async () => {
    await commitOf();
    const other = join(dataDir, 'repositories', 'notes');
    writeFileSync(other, '');
    utimesSync(other, 0, 0);
    await repositories.sweep();
    expect(existsSync(other)).toBe(true);
  });
});

describe('a fetch', () => {
  it('ends with the last one who waits for it, and with nobody else', async () => {
    git.fault = { kind: 'slow', delayMs: 1_500, only: 'fetch' };
    const [one, other] = [new AbortController(), new AbortController()];
    const waiting = [one, other].map(({ signal }) =>
      repositories.use(access(), signal, (copy) => copy.commitOf(undefined)),
    );
    setTimeout(() => one.abort(), 300);
    await expect(waiting[0]).rejects.toThrow('the run was ended');
    expect(await waiting[1]).toBe(repository.tip());
    repository.commit({ 'file.txt': 'more to fetch' });
    git.fault = { kind: 'hang', only: 'fetch' };
    const last = new AbortController();
    const hanging = repositories.use(access(), last.signal, (copy) => copy.commitOf(undefined));
    setTimeout(() => last.abort(), 300);
    await expect(hanging).rejects.toThrow('the run was ended');
    git.fault = undefined;
    expect(await commitOf()).toBe(repository.tip()); // the next one does not wait for a host that hangs
  }, 120_000);

  it.each([
    { url: 'https://127.0.0.1:1/a/b', why: 'this machine' },
    { url: 'https://[::1]/a/b', why: 'this machine by its other address' },
    { url: 'https://2130706433/a/b', why: 'this machine in one number' },
    { url: 'https://169.254.169.254/a/b', why: 'metadata of a cloud' },
    { url: 'https://10.1.2.3/a/b', why: 'a private network' },
    { url: 'https://localhost/a/b', why: 'a name of this machine' },
    { url: 'https://metadata.google.internal/a/b', why: 'a name of metadata' },
  ])('of a host that nobody named goes to public addresses only: $why', async ({ url }) => {
    await expect(
      repositories.use(access({ publicOnly: true }, url), undefined, () => Promise.resolve()),
    ).rejects.toThrow('no public address');
  });

  it('does not begin when the disk is nearly full', async () => {
    diskLow = true;
    await expect(commitOf()).rejects.toThrow('disk');
    expect(git.requests).toEqual([]);
  });
});

describe('room', () => {
  it('is kept by a bound for each copy, which may not pass it the next time either', async () => {
    git.createRepository('acme/big').commit({ 'big.bin': randomBytes(9 * 1_048_576).toString('base64') });
    const use = (): Promise<string> =>
      repositories.use(access({}, git.urlOf('acme/big')), undefined, (copy) => copy.commitOf(undefined));
    await use();
    repositories = made({ runDiskBytesMax: 4 * 1_048_576 });
    await expect(use()).rejects.toThrow(
      /acme\/big is too large: \d+ MB of it had come; a repository may take at most 4 MB \(MILLWRIGHT_RUN_DISK_MB\)/,
    );
    expect(copies()).toEqual([]);
    await expect(use()).rejects.toThrow('too large');
    expect(copies()).toEqual([]);
    expect(await commitOf()).toBe(repository.tip());
  }, 120_000);

  it('is made by copies that nobody uses, the least recently used first and no more than needed', async () => {
    for (const name of ['one', 'two', 'three']) {
      git.createRepository(`room/${name}`).commit({ 'file.txt': name });
      await repositories.use(access({}, git.urlOf(`room/${name}`)), undefined, () => Promise.resolve());
      nowMs += 60_000;
    }
    const [before, first] = [copies(), access({}, git.urlOf('room/one'))];
    lowWhile = () => copies().length > 2;
    await repositories.use(first, undefined, async ({ folder }) => {
      utimesSync(join(folder, 'millwright-used'), 0, 0); // the oldest of all, and yet in use
      lowWhile = () => copies().length > 1;
      await repositories.relieve();
      expect(copies()).toEqual([folder.split('/').at(-1)]);
    });
    expect(before).toHaveLength(3);
    lowWhile = () => true;
    await repositories.relieve();
    expect(copies()).toEqual([]);
  }, 120_000);

  it('ends a fetch when there is none, and leaves nothing of it', async () => {
    git.fault = { kind: 'hang', only: 'fetch' };
    const failed = commitOf().catch((error: unknown) => error);
    await eventually('the fetch', () => git.count('fetch') > 0);
    diskLow = true;
    expect(await failed).toMatchObject({
      message: expect.stringMatching(
        /acme\/app was not fetched to its end: the disk of the service was nearly full when \d+ MB of it had come/,
      ) as string,
    });
    expect(copies()).toEqual([]);
  }, 120_000);
});

describe('turns', () => {
  const silent: Socket[] = [];
  const server = createServer((socket) => void silent.push(socket.on('error', () => undefined)));
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    for (const socket of silent) socket.destroy();
    server.close();
  });
  const hanging = (path: string, factoryUid: string, signal?: AbortSignal): Promise<unknown> =>
    repositories
      .use(access({ factoryUid }, `https://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`), signal, () =>
        Promise.resolve(),
      )
      .catch((error: unknown) => error);

  it('go to another factory while one has fetches that hang, and to another host; silence ends them', async () => {
    repositories = made({ setupTimeoutMs: 8_000 });
    const [all, one] = [new AbortController(), new AbortController()];
    const mine = ['a/1', 'a/2', 'a/3', 'a/4'].map((path) =>
      hanging(path, 'fac_a', path === 'a/1' ? undefined : path === 'a/3' ? one.signal : all.signal),
    );
    await eventually('two that hang', () => silent.length === 2);
    expect(await commitOf(undefined, { factoryUid: 'fac_b' })).toBe(repository.tip());
    // One that the first factory waits for, too, is not kept back by it.
    const [late, shared] = [commitOf(), commitOf(undefined, { factoryUid: 'fac_b' })];
    expect(await Promise.all([late, shared])).toEqual([repository.tip(), repository.tip()]);
    const others = ['b/1', 'b/2'].map((path) => hanging(path, 'fac_b', all.signal));
    await eventually('a third, and no fourth of one host', () => silent.length === 3);
    expect(await commitOf(undefined, { factoryUid: 'fac_c' })).toBe(repository.tip());
    one.abort();
    expect(await mine[2]).toMatchObject({ name: 'AbortError' }); // while it waits
    expect(await mine[0]).toMatchObject({
      message: expect.stringContaining('its host did not say within 8 s what it has') as string,
    });
    await eventually('the next in its place', () => silent.length > 3);
    all.abort();
    expect(await Promise.all([...mine.slice(2), ...others])).toEqual(
      Array.from({ length: 4 }, () => expect.objectContaining({ name: 'AbortError' }) as unknown),
    );
    expect(copies()).toEqual([expect.any(String)]);
  }, 120_000);

  it('are not lost with whoever leaves before theirs has come', async () => {
    const [all, early] = [new AbortController(), new AbortController()];
    const before = silent.length;
    const mine = ['a/1', 'a/2'].map((path) => hanging(path, 'fac_a', all.signal));
    await eventually('two that hang', () => silent.length >= before + 2); // one that was given up may still have come
    const left = repositories.use(access(), early.signal, () => Promise.resolve());
    early.abort();
    await expect(left).rejects.toThrow('the run was ended');
    const next = commitOf();
    all.abort();
    expect(await next).toBe(repository.tip());
    await Promise.all(mine);
  }, 120_000);
});
