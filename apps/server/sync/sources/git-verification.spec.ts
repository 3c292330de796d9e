/** Commits that a key of the sync policy signed, and those that none did: real keys, signatures and tools. The rest is told in test/faults/reconciling/git-verification.spec.ts. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRepository } from '../../../../test/support/git-repository.ts';
import type { TestRepository } from '../../../../test/support/git-repository.ts';
import { headerBy, replaceTip, signTip, signingKeys, tamperedTip, tipWithHeaders, tipWithSignature } from '../../../../test/support/signing-keys.ts';
import type { SigningKey, SigningKeys } from '../../../../test/support/signing-keys.ts';
import { createGitSource } from './git.ts';
import type { GitSourceOptions } from './git.ts';
import type { Snapshot, Source } from './source.ts';

const WEBHOOK = 'secretName: orders-hook\n';
const never = new AbortController().signal;

let keys: SigningKeys;
let ssh: SigningKey;
let otherSsh: SigningKey;
let pgp: SigningKey;
let otherPgp: SigningKey;
let expired: SigningKey;

let folder: string;
let repository: TestRepository;
let started: number;
const opened: Source[] = [];

beforeAll(() => {
  keys = signingKeys();
  ssh = keys.ssh('alice');
  otherSsh = keys.ssh('mallory');
  pgp = keys.openPgp('forge');
  otherPgp = keys.openPgp('stranger');
  expired = keys.openPgp('past', { expires: '1d', madeAt: '20250101T000000' });
});

afterAll(() => {
  keys.close();
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'git-verified-'));
  repository = createRepository(folder, 'factory.git');
  repository.commit({ 'webhooks/a.yaml': WEBHOOK });
  started = 0;
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((source) => source.close()));
  rmSync(folder, { recursive: true, force: true });
});

function open(policy: readonly string[], options: Partial<GitSourceOptions> = {}): Source {
  const source = createGitSource({
    url: repository.folder,
    cacheDir: join(folder, 'data', 'cache'),
    allowLocal: true,
    timeoutMs: 20_000,
    gate: (run) => {
      started += 1;
      return run();
    },
    verify: { keys: policy },
    ...options,
  });
  opened.push(source);
  return source;
}

async function read(source: Source, atHand?: string): Promise<Snapshot> {
  return source.snapshot({ atHand }, never);
}

/** Whatever became of a verification, nothing of it stays behind. */
function expectNothingLeft(): void {
  expect(readdirSync(join(folder, 'data')).filter((name) => name !== 'cache')).toEqual([]);
}

describe('a commit is read that a key of the policy signed', () => {
  it.each<{ by: () => SigningKey; why: string }>([
    { by: () => ssh, why: 'an ssh-ed25519 key' },
    { by: () => pgp, why: 'an OpenPGP key' },
  ])('$why', async ({ by }) => {
    const commit = signTip(repository, by());
    const snapshot = await read(open([otherSsh, ssh, pgp].map(({ publicKey }) => publicKey)));
    expect(snapshot).toMatchObject({ ok: true, revision: `main@sha1:${commit}`, files: [{ path: 'webhooks/a.yaml' }] });
    expectNothingLeft();
  });

  it.each<{ by: () => SigningKey; why: string }>([
    { by: () => ssh, why: 'by an SSH key' },
  ])('in a repository that uses SHA-256, $why', async ({ by }) => {
    repository = createRepository(folder, 'modern.git', { objectFormat: 'sha256' });
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const commit = signTip(repository, by());
    expect(await read(open([ssh.publicKey, pgp.publicKey]))).toMatchObject({ ok: true, revision: `main@sha256:${commit}` });
    replaceTip(repository, (object) => object.replace('\n\nsigned', '\n\nforged'));
    expect(await read(open([ssh.publicKey, pgp.publicKey]))).toMatchObject({ refused: true });
  });

  it('once: neither a tip that is at hand nor one that is read again from the cache is verified twice', async () => {
    const commit = signTip(repository, pgp);
    const source = open([pgp.publicKey]);
    await read(source);
    started = 0;
    expect(await read(source, `main@sha1:${commit}`)).toMatchObject({ ok: true, unchanged: true });
    expect(started).toBe(1); // git ls-remote
  });
});

describe('a commit is refused, with what was found and a way out,', () => {
  it.each<{ made: () => string; policy: () => SigningKey[]; found: () => string; why: string }>([
    { made: () => repository.tip(), policy: () => [ssh, pgp], found: () => 'is not signed', why: 'unsigned' },
    { made: () => signTip(repository, otherSsh), policy: () => [ssh, pgp], found: () => `SSH key ${otherSsh.fingerprint}, which is not among`, why: 'another SSH key' },
    { made: () => signTip(repository, otherPgp), policy: () => [ssh, pgp], found: () => `OpenPGP key ${otherPgp.fingerprint}, which is not among`, why: 'another OpenPGP key' },
    { made: () => tamperedTip(repository, ssh), policy: () => [ssh], found: () => `SSH key ${ssh.fingerprint} that does not fit its contents`, why: 'contents changed under an SSH signature' },
    { made: () => tamperedTip(repository, pgp), policy: () => [pgp], found: () => `OpenPGP key ${pgp.fingerprint.slice(-16)} that does not fit its contents`, why: 'contents changed under an OpenPGP signature' },
    { made: () => signTip(repository, expired), policy: () => [expired], found: () => `OpenPGP key ${expired.fingerprint}, which has expired`, why: 'signed when the key was good, expired now' },
    { made: () => tipWithSignature(repository, keys.sshSignature(ssh, 'file', repository.git('cat-file', 'commit', 'refs/heads/main'))), policy: () => [ssh], found: () => 'made for something else than git', why: 'an SSH signature that was given for a file' },
    { made: () => tipWithHeaders(repository, headerBy(repository, ssh) + headerBy(repository, ssh)), policy: () => [ssh], found: () => 'more than one signature', why: 'the same signature twice' },
    { made: () => tipWithSignature(repository, '-----BEGIN SIGNED MESSAGE-----\nAAAA\n-----END SIGNED MESSAGE-----'), policy: () => [ssh, pgp], found: () => 'X.509', why: 'a certificate' },
  ])('$why', async ({ made, policy, found }) => {
    signTip(repository, ssh); // a good parent changes nothing: nobody falls back to it
    repository.commit({ 'webhooks/a.yaml': 'secretName: changed\n' });
    const commit = made();
    const snapshot = await read(open(policy().map(({ publicKey }) => publicKey)));
    expect(snapshot).toEqual({ ok: false, refused: true, reason: 'source-unverified', revision: `main@sha1:${commit}`, message: expect.stringContaining(found()) });
    expect(snapshot).toMatchObject({ message: expect.stringMatching(new RegExp(`^commit ${commit} .+\\. Nothing of it is applied; push .+ or let an admin .+$`)) });
    expectNothingLeft();
  });

  it('also when it is at hand, if these keys have not verified it yet, and when it is read from the cache', async () => {
    const revision = `main@sha1:${signTip(repository, ssh)}`;
    expect(await read(open([ssh.publicKey]), revision)).toMatchObject({ ok: true, unchanged: false });
    const source = open([otherSsh.publicKey]);
    expect(await read(source, revision)).toMatchObject({ refused: true });
    expect(await source.cached?.(revision)).toMatchObject({ refused: true });
  });

});

describe('a machine that cannot verify', () => {
  it.each<{ by: () => SigningKey; tool: string; script?: string; words: string; why: string }>([
    { by: () => ssh, tool: 'ssh-keygen', words: 'ssh-keygen is not installed', why: 'OpenSSH is missing' },
    { by: () => pgp, tool: 'gpg', words: 'gpg is not installed', why: 'GnuPG is missing' },
    { by: () => pgp, tool: 'gpg', script: 'exit 2', words: 'could not read any', why: 'a gpg that does not work' },
  ])('has a failure to be tried again, never a verified commit: $why', async ({ by, tool, script, words }) => {
    const commit = signTip(repository, by());
    const searchPath = join(folder, 'bin');
    mkdirSync(searchPath);
    symlinkSync(which('git'), join(searchPath, 'git'));
    if (script !== undefined) writeFileSync(join(searchPath, tool), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    const policy = [ssh.publicKey, pgp.publicKey];
    expect(await read(open(policy, { searchPath }))).toMatchObject({ ok: false, reason: 'refused', retry: 'backoff', message: expect.stringContaining(words) });
    expectNothingLeft();
    expect(await read(open(policy))).toMatchObject({ ok: true, revision: `main@sha1:${commit}` });
  });

  it('because a key of its policy cannot be read: it starts nothing, and the message repeats no key', async () => {
    signTip(repository, ssh);
    const injected = `${ssh.publicKey.trim()}\n* namespaces="git" ${otherSsh.publicKey}`;
    const snapshot = await read(open([ssh.publicKey, injected]));
    expect(snapshot).toMatchObject({ ok: false, reason: 'refused', message: expect.stringContaining('key 2 of the sync policy') });
    expect(JSON.stringify(snapshot)).not.toContain('AAAA');
    expect(started).toBe(0);
  });
});

function which(program: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
}
