/**
 * Commits that a key of the sync policy signed, and those that none did: real keys, signatures and tools. The rest is
 * told in test/faults/reconciling/git-verification.long.spec.ts.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  dataOutsideCache,
  readRepository,
  type ReadRepository,
  snapshotOf,
} from '../../../../../test/support/git/read-repository.ts';
import {
  headerBy,
  replaceTip,
  type SigningKey,
  signingKeys,
  type SigningKeys,
  signTip,
  tamperedTip,
  tipWithHeaders,
  tipWithSignature,
} from '../../../../../test/support/git/signing-keys.ts';
import type { GitSourceOptions } from './git-source.ts';
import type { Source } from '../source.ts';

const WEBHOOK = 'secretName: orders-hook\n';

let keys: SigningKeys;
let ssh: SigningKey;
let otherSsh: SigningKey;
let pgp: SigningKey;
let otherPgp: SigningKey;
let expired: SigningKey;

let ground: ReadRepository;

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
  ground = readRepository();
  ground.repository.commit({ 'webhooks/a.yaml': WEBHOOK });
});

afterEach(() => ground.close());

const open = (policy: readonly string[], options: Partial<GitSourceOptions> = {}): Source =>
  ground.open({ verify: { keys: policy }, ...options });

/** Whatever became of a verification, nothing of it stays behind. */
function expectNothingLeft(): void {
  expect(dataOutsideCache(ground)).toEqual([]);
}

describe('a commit is read that a key of the policy signed', () => {
  it.each<{ by: () => SigningKey; why: string }>([
    { by: () => ssh, why: 'an ssh-ed25519 key' },
    { by: () => pgp, why: 'an OpenPGP key' },
  ])('$why', async ({ by }) => {
    const commit = signTip(ground.repository, by());
    const snapshot = await snapshotOf(open([otherSsh, ssh, pgp].map(({ publicKey }) => publicKey)));
    expect(snapshot).toMatchObject({ ok: true, revision: `main@sha1:${commit}`, files: [{ path: 'webhooks/a.yaml' }] });
    expectNothingLeft();
  });

  it.each<{ by: () => SigningKey; why: string }>([{ by: () => ssh, why: 'by an SSH key' }])(
    'in a repository that uses SHA-256, $why',
    async ({ by }) => {
      ground.replace('modern.git', { objectFormat: 'sha256' });
      ground.repository.commit({ 'webhooks/a.yaml': WEBHOOK });
      const commit = signTip(ground.repository, by());
      expect(await snapshotOf(open([ssh.publicKey, pgp.publicKey]))).toMatchObject({
        ok: true,
        revision: `main@sha256:${commit}`,
      });
      replaceTip(ground.repository, (object) => object.replace('\n\nsigned', '\n\nforged'));
      expect(await snapshotOf(open([ssh.publicKey, pgp.publicKey]))).toMatchObject({ refused: true });
    },
  );

  it('once: neither a tip that is at hand nor one that is read again from the cache is verified twice', async () => {
    const commit = signTip(ground.repository, pgp);
    const source = open([pgp.publicKey]);
    await snapshotOf(source);
    ground.started = 0;
    expect(await snapshotOf(source, `main@sha1:${commit}`)).toMatchObject({ ok: true, unchanged: true });
    expect(ground.started).toBe(1); // git ls-remote
  });
});

describe('a commit is refused, with what was found and a way out,', () => {
  it.each<{ made: () => string; policy: () => SigningKey[]; found: () => string; why: string }>([
    { made: () => ground.repository.tip(), policy: () => [ssh, pgp], found: () => 'is not signed', why: 'unsigned' },
    {
      made: () => signTip(ground.repository, otherSsh),
      policy: () => [ssh, pgp],
      found: () => `SSH key ${otherSsh.fingerprint}, which is not among`,
      why: 'another SSH key',
    },
    {
      made: () => signTip(ground.repository, otherPgp),
      policy: () => [ssh, pgp],
      found: () => `OpenPGP key ${otherPgp.fingerprint}, which is not among`,
      why: 'another OpenPGP key',
    },
    {
      made: () => tamperedTip(ground.repository, ssh),
      policy: () => [ssh],
      found: () => `SSH key ${ssh.fingerprint} that does not fit its contents`,
      why: 'contents changed under an SSH signature',
    },
    {
      made: () => tamperedTip(ground.repository, pgp),
      policy: () => [pgp],
      found: () => `OpenPGP key ${pgp.fingerprint.slice(-16)} that does not fit its contents`,
      why: 'contents changed under an OpenPGP signature',
    },
    {
      made: () => signTip(ground.repository, expired),
      policy: () => [expired],
      found: () => `OpenPGP key ${expired.fingerprint}, which has expired`,
      why: 'signed when the key was good, expired now',
    },
    {
      made: () =>
        tipWithSignature(
          ground.repository,
          keys.sshSignature(ssh, 'file', ground.repository.git('cat-file', 'commit', 'refs/heads/main')),
        ),
      policy: () => [ssh],
      found: () => 'made for something else than git',
      why: 'an SSH signature that was given for a file',
    },
    {
      made: () =>
        tipWithHeaders(ground.repository, headerBy(ground.repository, ssh) + headerBy(ground.repository, ssh)),
      policy: () => [ssh],
      found: () => 'more than one signature',
      why: 'the same signature twice',
    },
    {
      made: () =>
        tipWithSignature(ground.repository, '-----BEGIN SIGNED MESSAGE-----\nAAAA\n-----END SIGNED MESSAGE-----'),
      policy: () => [ssh, pgp],
      found: () => 'X.509',
      why: 'a certificate',
    },
  ])('$why', async ({ made, policy, found }) => {
    signTip(ground.repository, ssh); // a good parent changes nothing: nobody falls back to it
    ground.repository.commit({ 'webhooks/a.yaml': 'secretName: changed\n' });
    const commit = made();
    const snapshot = await snapshotOf(open(policy().map(({ publicKey }) => publicKey)));
    expect(snapshot).toEqual({
      ok: false,
      refused: true,
      reason: 'source-unverified',
      revision: `main@sha1:${commit}`,
      message: expect.stringContaining(found()),
    });
    expect(snapshot).toMatchObject({
      message: expect.stringMatching(
        new RegExp(
          `^commit ${commit} .+\\. It must not apply, and what was applied before keeps serving; push .+ or ` +
            'let an admin .+$',
        ),
      ),
    });
    expectNothingLeft();
  });

  it('also when it is at hand, if these keys have not verified it yet, and when read from the cache', async () => {
    const revision = `main@sha1:${signTip(ground.repository, ssh)}`;
    expect(await snapshotOf(open([ssh.publicKey]), revision)).toMatchObject({ ok: true, unchanged: false });
    const source = open([otherSsh.publicKey]);
    expect(await snapshotOf(source, revision)).toMatchObject({ refused: true });
    expect(await source.cached?.(revision)).toMatchObject({ refused: true });
  });
});

describe('a machine that cannot verify', () => {
  it.each<{ by: () => SigningKey; tool: string; script?: string; words: string; why: string }>([
    { by: () => ssh, tool: 'ssh-keygen', words: 'ssh-keygen is not installed', why: 'OpenSSH is missing' },
    { by: () => pgp, tool: 'gpg', words: 'gpg is not installed', why: 'GnuPG is missing' },
    { by: () => pgp, tool: 'gpg', script: 'exit 2', words: 'could not read any', why: 'a gpg that does not work' },
  ])('has a failure to be tried again, never a verified commit: $why', async ({ by, tool, script, words }) => {
    const commit = signTip(ground.repository, by());
    const searchPath = ground.searchPath(script === undefined ? {} : { [tool]: script });
    const policy = [ssh.publicKey, pgp.publicKey];
    expect(await snapshotOf(open(policy, { searchPath }))).toMatchObject({
      ok: false,
      reason: 'refused',
      retry: 'backoff',
      message: expect.stringContaining(words),
    });
    expectNothingLeft();
    expect(await snapshotOf(open(policy))).toMatchObject({ ok: true, revision: `main@sha1:${commit}` });
  });

  it('because a key of its policy cannot be read: it starts nothing, and the message repeats no key', async () => {
    signTip(ground.repository, ssh);
    const injected = `${ssh.publicKey.trim()}\n* namespaces="git" ${otherSsh.publicKey}`;
    const snapshot = await snapshotOf(open([ssh.publicKey, injected]));
    expect(snapshot).toMatchObject({
      ok: false,
      reason: 'refused',
      message: expect.stringContaining('key 2 of the sync policy'),
    });
    expect(JSON.stringify(snapshot)).not.toContain('AAAA');
    expect(ground.started).toBe(0);
  });
});
