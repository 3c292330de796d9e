/**
 * Follows repositories over ssh from a real sshd: keys, host keys, hosts that hang and die, and where the key must
 * never stand. contract §9.7 (Git).
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createGitSource, type GitSourceOptions } from '../../../apps/server/sync/sources/git/git-source.ts';
import type { Snapshot } from '../../../apps/server/sync/sources/source.ts';
import {
  deliver,
  statusOf,
  syncAndGetStatus,
  syncsOf,
  webhookFile,
  webhookPath,
} from '../../support/factories/factory-files.ts';
import { createRepository, type TestRepository } from '../../support/git/git-repository.ts';
import { bootService, eventually, type TestService } from '../../support/services/service.ts';
import { makeKey, startSshServer, whyNoSshd, type SshServer } from '../../support/git/ssh-server.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
const obstacle = whyNoSshd();
if (obstacle !== undefined) console.warn(`SSH IS NOT TESTED: ${obstacle}`);
const overSsh = obstacle === undefined ? describe : describe.skip;
const never = new AbortController().signal;

let folder: string;
let server: SshServer;
let knownHosts: string;
let count = 0;

beforeAll(async () => {
  if (obstacle !== undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'ssh-test-'));
  server = await startSshServer();
  knownHosts = join(folder, 'known hosts');
  writeFileSync(knownHosts, server.knownHosts);
});

afterAll(async () => {
  if (obstacle !== undefined) return;
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

afterEach(() => {
  if (obstacle === undefined) server.fault = undefined;
});

function newRepository(): TestRepository {
  const repository = createRepository(folder, `r${(count += 1)}`);
  repository.commit({ [webhookPath('orders')]: webhookFile('hook-token') });
  return repository;
}

/** Base64 lines of a key: any of them anywhere is a leak. */
function linesOf(key: string): string[] {
  return key.split(/\r?\n/).filter((line) => line.length > 20 && !line.includes('-----'));
}

function expectNowhere(text: string, key: string): void {
  for (const line of linesOf(key)) expect(text).not.toContain(line);
}

overSsh('a factory that is followed over ssh', () => {
  let service: TestService;

  beforeAll(async () => {
    service = await bootService({
      environment: { MILLWRIGHT_GIT_KNOWN_HOSTS_FILE: knownHosts, MILLWRIGHT_SYNC_INTERVAL: '3600' },
    });
    await service.secret('hook-token', TOKEN);
  });

  afterAll(() => service.stop());

  async function following(
    repository: TestRepository,
    key: string,
    url = server.urlOf(repository.folder),
  ): Promise<string> {
    const slug = `f${(count += 1)}`;
    const { status, body } = await service.api('PUT', `/secrets/${slug}-key`, {
      value: key,
      grants: { uses: ['git'] },
    });
    expect([status, body]).toEqual([200, expect.anything()]);
    const made = await service.api('POST', '/factory', {
      slug,
      source: { kind: 'git', url, branch: 'main', credential_secret: `${slug}-key` },
    });
    expect([made.status, made.body]).toEqual([200, expect.anything()]);
    await syncAndGetStatus(service, String(made.body['uid']));
    return String(made.body['uid']);
  }

  const changed: [string, (key: string) => string][] = [
    ['as ssh-keygen wrote it', (key) => key],
    ['with the line ends of another system', (key) => key.replaceAll('\n', '\r\n')],
    ['without its last line end', (key) => key.trimEnd()],
  ];
  it.each(changed)('takes a key %s, and the key stands nowhere afterwards', async (_how, change) => {
    const repository = newRepository();
    const uid = await following(repository, change(server.key));
    const { condition, inventory } = await statusOf(service, uid);
    expect([condition.ending, condition.message, inventory.map(({ slug }) => slug)]).toEqual([
      'applied',
      null,
      ['orders'],
    ]);
    repository.commit({ [webhookPath('later')]: webhookFile('hook-token') });
    expect((await syncAndGetStatus(service, uid)).inventory.map(({ slug }) => slug)).toEqual(['later', 'orders']);
    expect(filesBelow(join(service.dataDir, 'git')).filter((file) => file.endsWith('.key'))).toEqual([]);
    for (const file of filesBelow(join(service.dataDir, 'git')))
      expectNowhere(readFileSync(file, 'latin1'), server.key);
    expectNowhere(service.logged.join('') + JSON.stringify(await syncsOf(service, uid)), server.key);
  });

  it('needs the key to be granted for git', async () => {
    const repository = newRepository();
    const uid = await following(repository, server.key);
    const { body } = await service.api('GET', `/factory/${uid}`);
    const { credential_secret: name } = body['source'] as { credential_secret: string };
    await service.api('PUT', `/secrets/${name}`, { grants: { uses: ['webhook'] } });
    repository.commit({ [webhookPath('later')]: webhookFile('hook-token') });
    const status = await syncAndGetStatus(service, uid);
    expect(status.condition).toMatchObject({ ending: 'failed', reason: 'denied' });
    expect(status.inventory.map(({ slug }) => slug)).toEqual(['orders']);
  });

  it('changes nothing while the host shows another key than the one that is known, and says so', async () => {
    const uid = await following(newRepository(), server.key);
    const { slug } = (await service.api('GET', `/factory/${uid}`)).body;
    makeKey(join(folder, 'another-host'));
    writeFileSync(
      knownHosts,
      server.knownHosts.replace(/ ssh-ed25519 .*/, ` ${readFileSync(join(folder, 'another-host.pub'), 'utf8').trim()}`),
    );
    try {
      const asked = server.commands().length;
      const status = await syncAndGetStatus(service, uid);
      expect(status.condition).toMatchObject({
        ending: 'failed',
        reason: 'refused',
        message: expect.stringMatching(/shows another key.*MILLWRIGHT_GIT_KNOWN_HOSTS_FILE/),
      });
      expect(server.commands()).toHaveLength(asked);
      expect((await deliver(service.ingressUrl(String(slug), 'orders'), TOKEN)).status).toBe(202);
    } finally {
      writeFileSync(knownHosts, server.knownHosts);
    }
    await eventually('the factory follows again by itself', async () =>
      (await statusOf(service, uid)).condition.ending === 'applied' ? true : undefined,
    );
  });
});

overSsh('a repository over ssh', () => {
  let cacheDir: string;

  beforeEach(() => {
    cacheDir = join(folder, `cache${(count += 1)}`);
  });

  async function read(repository: TestRepository, options: Partial<GitSourceOptions> = {}): Promise<Snapshot> {
    const source = createGitSource({
      url: server.urlOf(repository.folder),
      cacheDir,
      allowLocal: false,
      timeoutMs: 20_000,
      gate: (run) => run(),
      credential: () => Promise.resolve(server.key),
      ssh: { knownHostsFile: knownHosts },
      ...options,
    });
    try {
      return await source.snapshot({}, never);
    } finally {
      await source.close();
      expect(existsSync(`${cacheDir}.key`)).toBe(false);
    }
  }

  const other = (passphrase = ''): string => makeKey(join(folder, `key${(count += 1)}`), passphrase);

  it.each<[string, () => Partial<GitSourceOptions>, string, RegExp]>([
    [
      'no known hosts',
      () => ({ ssh: {} }),
      'refused',
      /not in the file that MILLWRIGHT_GIT_KNOWN_HOSTS_FILE names.*nothing was sent/,
    ],
    [
      'a file of known hosts that is not there',
      () => ({ ssh: { knownHostsFile: join(folder, 'none') } }),
      'refused',
      /not in the file/,
    ],
    [
      'a key that the host does not know',
      () => ({ credential: () => Promise.resolve(other()) }),
      'denied',
      /does not accept the credential's key.*credential_secret/,
    ],
    ['no key', () => ({ credential: undefined }), 'denied', /does not accept/],
    [
      'a key that is protected by a passphrase',
      () => ({ credential: () => Promise.resolve(other('sesame')) }),
      'denied',
      /protected by a passphrase.*store a key without one/,
    ],
    ['a token', () => ({ credential: () => Promise.resolve('ghp_0123456789') }), 'denied', /no private key/],
    [
      'a port on which nobody listens',
      () => ({ url: server.urlOf('/r').replace(/:\d+/, ':1') }),
      'unreachable',
      /Connection refused/,
    ],
    ['no ssh on the search path', () => ({ searchPath: onlyGit() }), 'refused', /ssh is not installed/],
  ])('says what is wrong and what to do: %s', async (_what, options, reason, words) => {
    const snapshot = await read(newRepository(), options());
    expect(snapshot).toMatchObject({ ok: false, reason, message: expect.stringMatching(words) });
    expectNowhere(JSON.stringify(snapshot), server.key);
    expect(JSON.stringify(snapshot)).not.toContain(cacheDir);
  });

  it('says that a repository is missing', async () => {
    const repository = newRepository();
    rmSync(repository.folder, { recursive: true });
    expect(await read(repository)).toMatchObject({ ok: false, reason: 'repository-missing' });
  });

  it('is asked in the scp form for the very path that it names', async () => {
    // The form has no port: ours refuses the connection to the usual one, or a host there shows a key that is not
    // known.
    const snapshot = await read(newRepository(), {
      url: `${server.user}@127.0.0.1:r`,
      searchPath: `${sshToOurPort()}:${process.env['PATH']}`,
    });
    expect(snapshot).toMatchObject({ ok: false });
    expect(server.commands().at(-1)).toBe("git-upload-pack 'r'");
  });

  it('shows its key to nobody while it is used: it stands in no argument and no environment', async () => {
    server.fault = 'hang';
    const repository = newRepository();
    const reading = read(repository, { timeoutMs: 2_500 });
    const seen = await eventually('ssh runs', () => {
      const lines = processes().filter((line) => line.includes(`${cacheDir}.key`));
      return lines.some((line) => line.includes(`127.0.0.1`)) ? lines.join('\n') : undefined;
    });
    expectNowhere(seen, server.key);
    expect(seen).not.toContain('PRIVATE KEY');
    expect(await reading).toMatchObject({ ok: false, reason: 'timeout' });
    await eventually('nothing of it runs', () =>
      processes().some((line) => line.includes(cacheDir)) ? undefined : true,
    );
  });

  it('that is cut off in mid-fetch is read in whole when the host is back', async () => {
    const repository = newRepository();
    repository.commit({
      'notes.txt': 'x',
      ...Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`folder-${at}/file`, `${at}`])),
    });
    server.fault = 'die-in-mid-fetch';
    expect(await read(repository)).toMatchObject({ ok: false, reason: 'unreachable' });
    server.fault = undefined;
    expect(await read(repository)).toMatchObject({ ok: true, files: [{ path: webhookPath('orders') }] });
    expect(filesBelow(cacheDir).filter((file) => /tmp_|\.lock$/.test(file))).toEqual([]);
  });

  it('on a host that takes the connection and says nothing ends at the time limit', async () => {
    const silent: Server = createServer((socket) => void socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address() as { port: number };
    const snapshot = await read(newRepository(), { url: `ssh://git@127.0.0.1:${address.port}/r`, timeoutMs: 1_000 });
    expect(snapshot).toMatchObject({ ok: false, reason: 'timeout', ofHost: true });
    await new Promise((resolve) => silent.close(resolve));
  });

  function onlyGit(): string {
    const path = mkdtempSync(join(folder, 'path-'));
    symlinkSync(execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim(), join(path, 'git'));
    return path;
  }

  function sshToOurPort(): string {
    const path = mkdtempSync(join(folder, 'path-'));
    writeFileSync(join(path, 'ssh'), `#!/bin/sh\nexec /usr/bin/ssh -p ${server.port} "$@"\n`, { mode: 0o755 });
    return path;
  }
});

function filesBelow(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Arguments and environment of every process that may be looked at. */
function processes(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => `${content(`/proc/${pid}/cmdline`)} ${content(`/proc/${pid}/environ`)}`);
}

function content(file: string): string {
  try {
    return readFileSync(file, 'latin1').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}
