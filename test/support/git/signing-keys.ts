/**
 * Keys that sign commits, made by the real tools, and commits that they sign: SSH and OpenPGP, in good and in bad
 * order.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { environment, type TestRepository } from './git-repository.ts';

export interface SigningKey {
  /** What a sync policy names. */
  publicKey: string;
  /** As the tools write it. */
  fingerprint: string;
  /** Settings of git that make it sign with this key. */
  settings: readonly string[];
  environment: Readonly<Record<string, string>>;
}

export interface OpenPgpKeyOptions {
  /** Seconds or days as gpg takes them; never. */
  expires?: string;
  /** Whether a subkey signs, as forges and careful people have it. */
  subkey?: boolean;
  /** `20250101T000000`: when gpg believes the key and its signatures were made. */
  madeAt?: string;
}

export interface SigningKeys {
  /** A key made by ssh-keygen. */
  ssh(name: string, type?: 'ed25519' | 'rsa' | 'ecdsa', bits?: number): SigningKey;
  openPgp(name: string, options?: OpenPgpKeyOptions): SigningKey;
  /** The public key with its revocation. */
  revoked(key: SigningKey): string;
  /** A detached SSH signature over anything, for any purpose. */
  sshSignature(key: SigningKey, namespace: string, text: string): string;
  /** A whole OpenPGP message with its signature, dressed up as a signature alone. */
  openPgpMessage(key: SigningKey, text: string): string;
  /** Ends the agent that gpg started, and deletes all keys. */
  close(): void;
}

/** Makes keys in a folder of their own; its path is short, because agents listen on a socket in it. */
export function signingKeys(): SigningKeys {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'));
  const home = join(folder, 'gnupg');
  mkdirSync(home, { mode: 0o700 });
  const gpgEnvironment = { GNUPGHOME: home };
  const gpg = (args: readonly string[], input = ''): string =>
    run('gpg', ['--batch', '--quiet', '--no-tty', ...args], { ...environment(), ...gpgEnvironment }, input);
  return {
    ssh(name, type = 'ed25519', bits) {
      const file = join(folder, name);
      run(
        'ssh-keygen',
        [
          '-q',
          '-t',
          type,
          ...(bits === undefined ? [] : ['-b', String(bits)]),
          '-N',
          '',
          '-C',
          `${name}@example.com`,
          '-f',
          file,
        ],
        environment(),
      );
      const fingerprint = run('ssh-keygen', ['-l', '-f', `${file}.pub`], environment()).split(' ')[1] ?? '';
      return {
        publicKey: readFileSync(`${file}.pub`, 'utf8'),
        fingerprint,
        settings: ['-c', 'gpg.format=ssh', '-c', `user.signingkey=${file}`],
        environment: {},
      };
    },
    openPgp(name, { expires = 'never', madeAt, subkey = false } = {}) {
      const at = madeAt === undefined ? [] : ['--faked-system-time', madeAt];
      const user = `${name} <${name}@example.com>`;
      gpg([...at, '--passphrase', '', '--quick-gen-key', user, 'ed25519', 'sign', expires]);
      const fingerprint = /^fpr:+([0-9A-F]{40}):/m.exec(gpg(['--with-colons', '--list-keys', `=${user}`]))?.[1] ?? '';
      if (subkey) gpg(['--passphrase', '', '--quick-add-key', fingerprint, 'ed25519', 'sign', 'never']);
      const settings = [
        '-c',
        `user.signingkey=${fingerprint}`,
        ...(madeAt === undefined ? [] : ['-c', `gpg.program=${fakedClock(folder, madeAt)}`]),
      ];
      return {
        publicKey: gpg(['--armor', '--export', fingerprint]),
        fingerprint,
        settings,
        environment: gpgEnvironment,
      };
    },
    revoked({ fingerprint }) {
      const certificate = readFileSync(join(home, 'openpgp-revocs.d', `${fingerprint}.rev`), 'utf8');
      gpg(['--import'], certificate.replace(/^:-----/m, '-----'));
      return gpg(['--armor', '--export', fingerprint]);
    },
    sshSignature(key, namespace, text) {
      const file = (key.settings.at(-1) ?? '').replace('user.signingkey=', '');
      return run('ssh-keygen', ['-Y', 'sign', '-q', '-f', file, '-n', namespace], environment(), text);
    },
    openPgpMessage: ({ fingerprint }, text) =>
      gpg(['--armor', '--local-user', fingerprint, '--sign'], text).replaceAll('PGP MESSAGE', 'PGP SIGNATURE'),
    close() {
      run('gpgconf', ['--kill', 'all'], { ...environment(), ...gpgEnvironment });
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Signs the tip of a branch anew, with the same tree and parents, or with further ones; the branch then names the
 * signed commit.
 */
export function signTip(
  repository: TestRepository,
  key: SigningKey,
  { branch = 'main', parents = [] }: { branch?: string; parents?: readonly string[] } = {},
): string {
  const [tip = '', ...own] = repository
    .git('rev-list', '--parents', '--max-count=1', `refs/heads/${branch}`)
    .trim()
    .split(' ');
  const names = {
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.com',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.com',
  };
  const follows = [...own, ...parents].flatMap((parent) => ['-p', parent]);
  const args = [
    '--git-dir',
    repository.folder,
    ...key.settings,
    'commit-tree',
    '-S',
    '-m',
    'signed',
    ...follows,
    `${tip}^{tree}`,
  ];
  return moved(repository, branch, run('git', args, { ...environment(), ...names, ...key.environment }));
}

/** Puts another commit object in the place of a branch's tip, as somebody would who tampers with it. */
export function replaceTip(repository: TestRepository, change: (object: string) => string, branch = 'main'): string {
  const object = change(repository.git('cat-file', 'commit', `refs/heads/${branch}`));
  const args = ['--git-dir', repository.folder, 'hash-object', '-t', 'commit', '-w', '--stdin'];
  return moved(repository, branch, run('git', args, environment(), object));
}

/** The header of a signature, as a commit has it. */
export function signatureHeader(signature: string, name = 'gpgsig'): string {
  return `${name} ${signature.trimEnd().replaceAll('\n', '\n ')}\n`;
}

/** The tip of a repository, signed, and then with another message under the same signature. */
export function tamperedTip(repository: TestRepository, key: SigningKey): string {
  signTip(repository, key);
  return replaceTip(repository, (object) => object.replace('\n\nsigned', '\n\nforged'));
}

/** The tip with a signature that somebody made elsewhere. */
export function tipWithSignature(repository: TestRepository, signature: string): string {
  return tipWithHeaders(repository, signatureHeader(signature));
}

/** The tip with lines of header at its end. */
export function tipWithHeaders(repository: TestRepository, headers: string): string {
  return replaceTip(repository, (object) => object.replace('\n\n', `\n${headers}\n`));
}

/** The signature header that a key makes for the tip, which stays as it is. */
export function headerBy(repository: TestRepository, key: SigningKey): string {
  const unsigned = repository.tip();
  signTip(repository, key);
  const object = repository.git('cat-file', 'commit', 'refs/heads/main');
  moved(repository, 'main', unsigned);
  return /^gpgsig [^\n]*\n(?: [^\n]*\n)*/m.exec(object)?.[0] ?? '';
}

function moved(repository: TestRepository, branch: string, answer: string): string {
  const commit = answer.trim();
  repository.git('update-ref', `refs/heads/${branch}`, commit);
  return commit;
}

/** git asks gpg to sign; this one believes that it is another day. */
function fakedClock(folder: string, madeAt: string): string {
  const file = join(folder, `gpg-at-${madeAt}`);
  writeFileSync(file, `#!/bin/sh\nexec gpg --faked-system-time ${madeAt} "$@"\n`, { mode: 0o755 });
  return file;
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv, input = ''): string {
  return execFileSync(program, [...args], { env, input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
}
