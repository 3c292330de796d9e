/** Bare copies of repositories: shared, repaired, swept, and never of a place inside. */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hostPatternOfUrl, type HostPattern } from '#runs';
import { startGitServer, type GitServer, type TestRepository } from '../../../test/support/git-server.ts';
import { checkGitUrl } from '../sync/sources/git-urls.ts';
import { Repositories } from './repositories.ts';
import type { RepositoryAccess } from './repositories-access.ts';

const DAY_MS = 86_400_000;
let git: GitServer;
let repository: TestRepository;
let dataDir: string;
let nowMs: number;
let diskLow: boolean;
let repositories: Repositories;

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
  repositories = new Repositories({ config: { dataDir, gitCaFile: git.caFile, searchPath: process.env['PATH'], setupTimeoutMs: 20_000 }, isDiskLow: () => diskLow, nowMs: () => nowMs });
  git.fault = undefined;
  git.forget();
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function access(more: Partial<RepositoryAccess> = {}, url = git.urlOf('acme/app')): RepositoryAccess {
  const verdict = checkGitUrl(url, false);
  if (!verdict.ok) throw new Error(verdict.message);
  return { address: verdict.address, host: hostPatternOfUrl(verdict.address.url) as HostPattern, publicOnly: false, ...more };
}
const copies = (): string[] => (existsSync(join(dataDir, 'repositories')) ? readdirSync(join(dataDir, 'repositories')) : []);
const commitOf = (branch?: string, more?: Partial<RepositoryAccess>): Promise<string> => repositories.use(access(more), undefined, (copy) => copy.commitOf(branch));

describe('a copy', () => {
  it('has branches and tags as they are now', async () => {
    const tip = repository.tip();
    expect(await Promise.all([undefined, 'main', 'v1', 'v2'].map((name) => commitOf(name)))).toEqual([tip, tip, tip, tip]);
    const moved = repository.commit({ 'file.txt': 'rewritten' }, { rewrite: true });
    repository.commit({ 'other.txt': 'x' }, { branch: 'side' });
    expect([await commitOf(), await commitOf('side')]).toEqual([moved, repository.tip('side')]);
    repository.deleteBranch('side');
    await expect(commitOf('side')).rejects.toThrow('has no branch "side"');
    expect(copies()).toHaveLength(1);
  }, 60_000);

  it('is fetched once for all who wait, one fetch at a time', async () => {
    await Promise.all(Array.from({ length: 8 }, () => commitOf()));
    expect(git.count('fetch')).toBeLessThanOrEqual(2);
    expect(git.count('fetch')).toBeGreaterThan(0);
  }, 60_000);

  it('is read by its run and by nobody else: the folder above it is the service’s', async () => {
    await repositories.use(access(), undefined, ({ folder }) => {
      const modes = [folder, join(folder, 'HEAD'), join(folder, 'objects/pack')].map((path) => statSync(path).mode & 0o777);
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
  }, 60_000);

  it('is made anew when it is broken', async () => {
    await commitOf();
    const [name = ''] = copies();
    rmSync(join(dataDir, 'repositories', name, 'objects'), { recursive: true });
    writeFileSync(join(dataDir, 'repositories', name, 'objects'), 'no folder');
    expect(await commitOf()).toBe(repository.tip());
  }, 60_000);

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
  }, 60_000);

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
    const waiting = [one, other].map(({ signal }) => repositories.use(access(), signal, (copy) => copy.commitOf(undefined)));
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
  }, 60_000);

  it.each([
    { url: 'https://127.0.0.1:1/a/b', why: 'this machine' },
    { url: 'https://[::1]/a/b', why: 'this machine by its other address' },
    { url: 'https://2130706433/a/b', why: 'this machine in one number' },
    { url: 'https://169.254.169.254/a/b', why: 'metadata of a cloud' },
    { url: 'https://10.1.2.3/a/b', why: 'a private network' },
    { url: 'https://localhost/a/b', why: 'a name of this machine' },
    { url: 'https://metadata.google.internal/a/b', why: 'a name of metadata' },
  ])('of a host that nobody named goes to public addresses only: $why', async ({ url }) => {
    await expect(repositories.use(access({ publicOnly: true }, url), undefined, () => Promise.resolve())).rejects.toThrow('no public address');
  });

  it('does not begin when the disk is nearly full', async () => {
    diskLow = true;
    await expect(commitOf()).rejects.toThrow('disk');
    expect(git.requests).toEqual([]);
  });
});
