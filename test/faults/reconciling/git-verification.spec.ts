/** What the compact suite of git-verification.spec.ts leaves out: rare kinds of keys, forged signatures, and tools that do not work. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createRepository } from '../../support/git-repository.ts';
import type { TestRepository } from '../../support/git-repository.ts';
import { headerBy, replaceTip, signTip, signingKeys, tipWithHeaders, tipWithSignature } from '../../support/signing-keys.ts';
import type { SigningKey, SigningKeys } from '../../support/signing-keys.ts';
import { createGitSource } from '../../../apps/server/sync/sources/git.ts';
import type { GitSourceOptions } from '../../../apps/server/sync/sources/git.ts';
import type { Snapshot, Source } from '../../../apps/server/sync/sources/source.ts';

const WEBHOOK = 'secretName: orders-hook\n';
const never = new AbortController().signal;

let keys: SigningKeys;
let ssh: SigningKey;
let otherSsh: SigningKey;
let rsa: SigningKey;
let ecdsa: SigningKey;
let pgp: SigningKey;
let otherPgp: SigningKey;
let careful: SigningKey;
let revoked: SigningKey;

let folder: string;
let repository: TestRepository;
let started: number;
const opened: Source[] = [];

beforeAll(() => {
  keys = signingKeys();
  ssh = keys.ssh('alice');
  otherSsh = keys.ssh('mallory');
  rsa = keys.ssh('rosa', 'rsa', 2048);
  ecdsa = keys.ssh('eve', 'ecdsa', 384);
  pgp = keys.openPgp('forge');
  otherPgp = keys.openPgp('stranger');
  careful = keys.openPgp('careful', { subkey: true });
  revoked = keys.openPgp('lost');
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
    { by: () => rsa, why: 'an ssh-rsa key' },
    { by: () => ecdsa, why: 'an ECDSA key' },
    { by: () => careful, why: 'a subkey of an OpenPGP key' },
  ])('$why', async ({ by }) => {
    const commit = signTip(repository, by());
    const snapshot = await read(open([otherSsh, ssh, rsa, ecdsa, pgp, careful].map(({ publicKey }) => publicKey)));
    expect(snapshot).toMatchObject({ ok: true, revision: `main@sha1:${commit}`, files: [{ path: 'webhooks/a.yaml' }] });
    expectNothingLeft();
  });

  it.each<{ by: () => SigningKey; why: string }>([
    { by: () => pgp, why: 'by an OpenPGP key' },
  ])('in a repository that uses SHA-256, $why', async ({ by }) => {
    repository = createRepository(folder, 'modern.git', { objectFormat: 'sha256' });
    repository.commit({ 'webhooks/a.yaml': WEBHOOK });
    const commit = signTip(repository, by());
    expect(await read(open([ssh.publicKey, pgp.publicKey]))).toMatchObject({ ok: true, revision: `main@sha256:${commit}` });
    replaceTip(repository, (object) => object.replace('\n\nsigned', '\n\nforged'));
    expect(await read(open([ssh.publicKey, pgp.publicKey]))).toMatchObject({ refused: true });
  });

  it('also a merge of commits that nobody signed, made by a forge with its own key', async () => {
    const side = repository.commit({ 'webhooks/b.yaml': WEBHOOK }, { branch: 'side' });
    signTip(repository, pgp, { parents: [side] });
    expect(await read(open([pgp.publicKey]))).toMatchObject({ ok: true });
    expect(await read(open([ssh.publicKey]))).toMatchObject({ refused: true });
  });
});

describe('a commit is refused, with what was found and a way out,', () => {
  it.each<{ made: () => string; policy: () => SigningKey[]; found: () => string; why: string }>([
    { made: () => signTip(repository, ssh), policy: () => [pgp], found: () => `SSH key ${ssh.fingerprint}, which is not among`, why: 'an SSH key where OpenPGP keys are named' },
    { made: () => signTip(repository, pgp), policy: () => [ssh], found: () => 'names SSH keys only', why: 'an OpenPGP key where SSH keys are named' },
    { made: () => tipWithHeaders(repository, headerBy(repository, pgp) + headerBy(repository, ssh)), policy: () => [ssh], found: () => 'more than one signature', why: 'two kinds of signatures' },
    { made: () => tipWithHeaders(repository, headerBy(repository, otherPgp) + headerBy(repository, pgp).replace('gpgsig ', ' ')), policy: () => [pgp], found: () => 'more than one signature', why: 'two signatures in one header' },
    { made: () => tipWithSignature(repository, '-----BEGIN PGP MESSAGE-----\nAAAA\n-----END PGP MESSAGE-----'), policy: () => [ssh, pgp], found: () => 'unknown kind', why: 'nothing that is known' },
    { made: () => tipWithSignature(repository, '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----'), policy: () => [ssh], found: () => 'cannot be read', why: 'no SSH signature at all' },
    { made: () => tipWithSignature(repository, '-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----'), policy: () => [pgp], found: () => 'cannot be read', why: 'no OpenPGP signature at all' },
    { made: () => tipWithSignature(repository, keys.openPgpMessage(pgp, 'a letter')), policy: () => [pgp], found: () => 'cannot be read', why: 'a signed letter of the key, in the place of a signature' },
    { made: () => tipWithSignature(repository, keys.sshSignature(ssh, 'git', 'something else')), policy: () => [ssh], found: () => 'does not fit its contents', why: 'a signature of the key over something else' },
    { made: () => replaceTip(repository, (object) => object.replace('\n\n', `\n\n${headerBy(repository, ssh)}\n`)), policy: () => [ssh], found: () => 'is not signed', why: 'a signature in the message is none' },
  ])('$why', async ({ made, policy, found }) => {
    signTip(repository, ssh); // a good parent changes nothing: nobody falls back to it
    repository.commit({ 'webhooks/a.yaml': 'secretName: changed\n' });
    const commit = made();
    const snapshot = await read(open(policy().map(({ publicKey }) => publicKey)));
    expect(snapshot).toEqual({ ok: false, refused: true, reason: 'source-unverified', revision: `main@sha1:${commit}`, message: expect.stringContaining(found()) });
    expect(snapshot).toMatchObject({ message: expect.stringMatching(new RegExp(`^commit ${commit} .+\\. Nothing of it is applied; push .+ or let an admin .+$`)) });
    expectNothingLeft();
  });

  it('a revoked key, whichever of its two copies is named first', async () => {
    signTip(repository, revoked); // before: a revoked key signs nothing any more
    expect(await read(open([revoked.publicKey]))).toMatchObject({ ok: true });
    const withRevocation = keys.revoked(revoked);
    for (const policy of [[withRevocation], [revoked.publicKey, withRevocation], [withRevocation, revoked.publicKey]]) {
      expect(await read(open(policy))).toMatchObject({ refused: true, message: expect.stringContaining(`OpenPGP key ${revoked.fingerprint}, which was revoked`) });
    }
  });

  it('until a good one follows', async () => {
    const source = open([ssh.publicKey]);
    expect(await read(source)).toMatchObject({ refused: true });
    const commit = signTip(repository, ssh);
    expect(await read(source)).toMatchObject({ ok: true, revision: `main@sha1:${commit}` });
  });
});

describe('a machine that cannot verify', () => {
  it.each<{ by: () => SigningKey; tool: string; script?: string; words: string; why: string }>([
    { by: () => ssh, tool: 'ssh-keygen', script: 'exit 0', words: 'ssh-keygen could not check', why: 'a tool that agrees without a word' },
    { by: () => ssh, tool: 'ssh-keygen', script: 'exit 255', words: 'ssh-keygen could not check', why: 'a tool that does not work' },
    { by: () => pgp, tool: 'gpg', script: `case "$*" in *--import*) exec ${which('gpg')} "$@";; *) exit 0;; esac`, words: 'gpg could not check', why: 'a gpg that agrees without a word' },
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
});

it.each<{ by: () => SigningKey; tool: string; why: string }>([
  { by: () => ssh, tool: 'ssh-keygen', why: 'of ssh-keygen, with git around it' },
  { by: () => pgp, tool: 'gpg', why: 'of gpg while it reads the keys' },
])('a verification is ended at the time limit $why', async ({ by, tool }) => {
  signTip(repository, by());
  const searchPath = join(folder, 'bin');
  mkdirSync(searchPath);
  symlinkSync(which('git'), join(searchPath, 'git'));
  writeFileSync(join(searchPath, tool), '#!/bin/sh\nexec /bin/sleep 61.5\n', { mode: 0o755 });
  expect(await read(open([ssh.publicKey, pgp.publicKey], { searchPath, timeoutMs: 1_500 }))).toMatchObject({ ok: false, reason: 'timeout' });
  expectNothingLeft();
  expect(agentsOf('sleep 61.5')).toEqual([]);
});

it('a verification takes nothing from the user, starts no agent, and clears away what a killed one left', async () => {
  signTip(repository, pgp);
  const left = join(folder, 'data', 'cache.verify');
  mkdirSync(join(left, 'private-keys-v1.d'), { recursive: true });
  writeFileSync(join(left, 'gpg.conf'), 'no-such-option\n');
  expect(await read(open([pgp.publicKey]))).toMatchObject({ ok: true });
  expectNothingLeft();
  expect(agentsOf(left)).toEqual([]);
});

function which(program: string): string {
  return execFileSync('/bin/sh', ['-c', `command -v ${program}`], { encoding: 'utf8' }).trim();
}

function agentsOf(home: string): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' }).split('\n').filter((line) => line.includes(home));
}
