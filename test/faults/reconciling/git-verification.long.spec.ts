/**
 * What the compact suite of apps/server/sync/sources/git leaves out: rare kinds of keys, forged signatures, and tools
 * that do not work.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  dataOutsideCache,
  readRepository,
  type ReadRepository,
  snapshotOf,
  which,
} from '../../support/git/read-repository.ts';
import {
  headerBy,
  replaceTip,
  type SigningKey,
  signingKeys,
  type SigningKeys,
  signTip,
  tipWithHeaders,
  tipWithSignature,
} from '../../support/git/signing-keys.ts';
import type { GitSourceOptions } from '../../../apps/server/sync/sources/git/git-source.ts';
import type { Source } from '../../../apps/server/sync/sources/source.ts';

const WEBHOOK = 'secretName: orders-hook\n';

let keys: SigningKeys;
let ssh: SigningKey;
let otherSsh: SigningKey;
let rsa: SigningKey;
let ecdsa: SigningKey;
let pgp: SigningKey;
let otherPgp: SigningKey;
let careful: SigningKey;
let revoked: SigningKey;

let ground: ReadRepository;

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
    { by: () => rsa, why: 'an ssh-rsa key' },
    { by: () => ecdsa, why: 'an ECDSA key' },
    { by: () => careful, why: 'a subkey of an OpenPGP key' },
  ])('$why', async ({ by }) => {
    const commit = signTip(ground.repository, by());
    const snapshot = await snapshotOf(
      open([otherSsh, ssh, rsa, ecdsa, pgp, careful].map(({ publicKey }) => publicKey)),
    );
    expect(snapshot).toMatchObject({ ok: true, revision: `main@sha1:${commit}`, files: [{ path: 'webhooks/a.yaml' }] });
    expectNothingLeft();
  });

  it.each<{ by: () => SigningKey; why: string }>([{ by: () => pgp, why: 'by an OpenPGP key' }])(
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

  it('also a merge of commits that nobody signed, made by a forge with its own key', async () => {
    const side = ground.repository.commit({ 'webhooks/b.yaml': WEBHOOK }, { branch: 'side' });
    signTip(ground.repository, pgp, { parents: [side] });
    expect(await snapshotOf(open([pgp.publicKey]))).toMatchObject({ ok: true });
    expect(await snapshotOf(open([ssh.publicKey]))).toMatchObject({ refused: true });
  });
});

describe('a commit is refused, with what was found and a way out,', () => {
  it.each<{ made: () => string; policy: () => SigningKey[]; found: () => string; why: string }>([
    {
      made: () => signTip(ground.repository, ssh),
      policy: () => [pgp],
      found: () => `SSH key ${ssh.fingerprint}, which is not among`,
      why: 'an SSH key where OpenPGP keys are named',
    },
    {
      made: () => signTip(ground.repository, pgp),
      policy: () => [ssh],
      found: () => 'names SSH keys only',
      why: 'an OpenPGP key where SSH keys are named',
    },
    {
      made: () =>
        tipWithHeaders(ground.repository, headerBy(ground.repository, pgp) + headerBy(ground.repository, ssh)),
      policy: () => [ssh],
      found: () => 'more than one signature',
      why: 'two kinds of signatures',
    },
    {
      made: () =>
        tipWithHeaders(
          ground.repository,
          headerBy(ground.repository, otherPgp) + headerBy(ground.repository, pgp).replace('gpgsig ', ' '),
        ),
      policy: () => [pgp],
      found: () => 'more than one signature',
      why: 'two signatures in one header',
    },
    {
      made: () =>
        tipWithHeaders(ground.repository, `${headerBy(ground.repository, ssh)}gpgsig-x nobody\n signed this\n`),
      policy: () => [ssh],
      found: () => 'more than one signature',
      why: 'a header that git leaves out of what is signed',
    },
    {
      made: () => tipWithSignature(ground.repository, '-----BEGIN PGP MESSAGE-----\nAAAA\n-----END PGP MESSAGE-----'),
      policy: () => [ssh, pgp],
      found: () => 'unknown kind',
      why: 'nothing that is known',
    },
    {
      made: () =>
        tipWithSignature(ground.repository, '-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----'),
      policy: () => [ssh],
      found: () => 'cannot be read',
      why: 'no SSH signature at all',
    },
    {
      made: () =>
        tipWithSignature(ground.repository, '-----BEGIN PGP SIGNATURE-----\n\nAAAA\n-----END PGP SIGNATURE-----'),
      policy: () => [pgp],
      found: () => 'cannot be read',
      why: 'no OpenPGP signature at all',
    },
    {
      made: () => tipWithSignature(ground.repository, keys.openPgpMessage(pgp, 'a letter')),
      policy: () => [pgp],
      found: () => 'cannot be read',
      why: 'a signed letter of the key, in the place of a signature',
    },
    {
      made: () => tipWithSignature(ground.repository, keys.sshSignature(ssh, 'git', 'something else')),
      policy: () => [ssh],
      found: () => 'does not fit its contents',
      why: 'a signature of the key over something else',
    },
    {
      made: () =>
        replaceTip(ground.repository, (object) => object.replace('\n\n', `\n\n${headerBy(ground.repository, ssh)}\n`)),
      policy: () => [ssh],
      found: () => 'is not signed',
      why: 'a signature in the message is none',
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

  it('a revoked key, whichever of its two copies is named first', async () => {
    signTip(ground.repository, revoked); // before: a revoked key signs nothing any more
    expect(await snapshotOf(open([revoked.publicKey]))).toMatchObject({ ok: true });
    const withRevocation = keys.revoked(revoked);
    for (const policy of [[withRevocation], [revoked.publicKey, withRevocation], [withRevocation, revoked.publicKey]]) {
      expect(await snapshotOf(open(policy))).toMatchObject({
        refused: true,
        message: expect.stringContaining(`OpenPGP key ${revoked.fingerprint}, which was revoked`),
      });
    }
  });

  it('until a good one follows', async () => {
    const source = open([ssh.publicKey]);
    expect(await snapshotOf(source)).toMatchObject({ refused: true });
    const commit = signTip(ground.repository, ssh);
    expect(await snapshotOf(source)).toMatchObject({ ok: true, revision: `main@sha1:${commit}` });
  });
});

describe('a machine that cannot verify', () => {
  it.each<{ by: () => SigningKey; tool: string; script?: string; words: string; why: string }>([
    {
      by: () => ssh,
      tool: 'ssh-keygen',
      script: 'exit 0',
      words: 'ssh-keygen could not check',
      why: 'a tool that agrees without a word',
    },
    {
      by: () => ssh,
      tool: 'ssh-keygen',
      script: 'exit 255',
      words: 'ssh-keygen could not check',
      why: 'a tool that does not work',
    },
    {
      by: () => pgp,
      tool: 'gpg',
      script: `case "$*" in *--import*) exec ${which('gpg')} "$@";; *) exit 0;; esac`,
      words: 'gpg could not check',
      why: 'a gpg that agrees without a word',
    },
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
});

it.each<{ by: () => SigningKey; tool: string; why: string }>([
  { by: () => ssh, tool: 'ssh-keygen', why: 'of ssh-keygen, with git around it' },
  { by: () => pgp, tool: 'gpg', why: 'of gpg while it reads the keys' },
])('a verification is ended at the time limit $why', async ({ by, tool }) => {
  signTip(ground.repository, by());
  const searchPath = ground.searchPath({ [tool]: 'exec /bin/sleep 61.5' });
  expect(await snapshotOf(open([ssh.publicKey, pgp.publicKey], { searchPath, timeoutMs: 1_500 }))).toMatchObject({
    ok: false,
    reason: 'timeout',
  });
  expectNothingLeft();
  expect(agentsOf('sleep 61.5')).toEqual([]);
});

it('a verification takes nothing from the user, starts no agent, and clears away what a killed one left', async () => {
  signTip(ground.repository, pgp);
  const left = join(ground.folder, 'data', 'cache.verify');
  mkdirSync(join(left, 'private-keys-v1.d'), { recursive: true });
  writeFileSync(join(left, 'gpg.conf'), 'no-such-option\n');
  expect(await snapshotOf(open([pgp.publicKey]))).toMatchObject({ ok: true });
  expectNothingLeft();
  expect(agentsOf(left)).toEqual([]);
});

function agentsOf(home: string): string[] {
  if (!existsSync('/proc/self/cmdline')) return [];
  return execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(home));
}
