/**
 * Keys for git: the private OpenPGP home in which a signature is checked, no agent, no key server, nothing of the
 * user's; and whether a credential is a private key for ssh.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommitKey } from '#authentication';
import { SourceUnavailableError } from '../source.ts';
import type { GitSession } from './git-session.ts';

/** What gpg prints while it reads the keys of a policy, in bytes. */
const ANSWER_BYTES_MAX = 1024 * 1024;

/**
 * Whose keys they are was decided by who wrote the policy: no web of trust. Nothing is asked of anybody, here or
 * elsewhere.
 */
const SETTINGS = [
  'batch',
  'no-tty',
  'no-autostart',
  'disable-dirmngr',
  'no-auto-key-retrieve',
  'no-auto-check-trustdb',
  'trust-model always',
];

export interface Keyring {
  /** Fingerprints of the primary keys that gpg took. */
  fingerprints: ReadonlySet<string>;
}

/** What gpg must be told to work in a home. */
export function keyringEnvironment(home: string): Record<string, string> {
  return { GNUPGHOME: home, TMPDIR: home };
}

/**
 * Fills an empty folder. A key that gpg does not take is none that it could verify with; two copies of one become one.
 */
export async function prepareKeyring(
  session: GitSession,
  gpg: string,
  home: string,
  keys: readonly CommitKey[],
): Promise<Keyring> {
  await writeFile(join(home, 'gpg.conf'), SETTINGS.map((setting) => `${setting}\n`).join(''), { mode: 0o600 });
  // else newer versions keep keys in a service of their own
  await writeFile(join(home, 'common.conf'), '', { mode: 0o600 });
  // As bytes: in text, gpg takes two blocks without check sums for one that is broken.
  const packets = keys.flatMap((key) => (key.kind === 'openpgp' ? [Buffer.from(key.packets, 'base64')] : []));
  const said = await runGpg(session, gpg, home, ['--status-fd=1', '--import'], Buffer.concat(packets));
  const fingerprints = new Set(
    [...said.matchAll(/^\[GNUPG:\] IMPORT_OK \d+ ([0-9A-F]{40,64})$/gm)].map(
      ([, fingerprint]) => fingerprint as string,
    ),
  );
  if (fingerprints.size === 0)
    throw new SourceUnavailableError(
      'refused',
      `${gpg} could not read any of the sync policy's OpenPGP keys, so no signature was checked; look whether ` +
        'it works on this machine (gpg --version), and export the keys again',
    );
  return { fingerprints };
}

/** What gpg prints. Its exit code says little: one odd key among good ones is a failure to it. */
function runGpg(
  session: GitSession,
  gpg: string,
  home: string,
  args: readonly string[],
  input: Uint8Array,
): Promise<string> {
  const { signals, timeoutMs, searchPath, gate } = session.bounds;
  const env = { PATH: searchPath, HOME: '/nonexistent', LC_ALL: 'C.UTF-8', ...keyringEnvironment(home) };
  const limits = { env, cwd: home, timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: ANSWER_BYTES_MAX } as const;
  const run = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const child = execFile(gpg, [...args], limits, (error, stdout) => {
        for (const signal of signals) signal.removeEventListener('abort', end);
        if (error === null || typeof error.code === 'number') return resolve(stdout);
        reject(
          new SourceUnavailableError(
            'timeout',
            `${gpg} was ended before it had read the sync policy's keys, so no signature was checked`,
          ),
        );
      });
      const end = (): void => void child.kill('SIGKILL');
      for (const signal of signals) signal.addEventListener('abort', end, { once: true });
      if (signals.some((signal) => signal.aborted)) end();
      child.stdin?.on('error', () => undefined); // a child that ended early says so by its exit code
      child.stdin?.end(input);
    });
  return gate(run);
}

export type KeyReading = { ok: true; text: string } | { ok: false; reason: string };

const PEM = /^-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----\n([\s\S]+?)\n-----END \1-----$/;

/** What an OpenSSH key file begins with; the name of its cipher follows, its length in four bytes before it. */
const OPENSSH_MAGIC = 'openssh-key-v1\0';

/** The text of a key as ssh reads it: lines that end with LF, the last one too. */
export function readSshKey(value: string): KeyReading {
  const text = value.replaceAll(/\r\n?/g, '\n').trim();
  const [, kind, body] = PEM.exec(text) ?? [];
  if (kind === undefined || body === undefined) return refuse(wordsFor(text));
  if (isEncrypted(kind, body))
    return refuse(
      'it is protected by a passphrase, which nobody is there to type; store a key without one (ssh-keygen -p), ' +
        'for this repository only',
    );
  return { ok: true, text: `${text}\n` };
}

function wordsFor(text: string): string {
  if (/^(?:ssh-|ecdsa-|sk-)\S+ /.test(text)) return 'it is a public key; store the private one';
  return text.includes('PRIVATE KEY-----')
    ? 'a part of the private key is missing; store the whole file, from its first line to its last'
    : 'it is no private key; store the file that ssh-keygen wrote, from its first line to its last';
}

function isEncrypted(kind: string, body: string): boolean {
  if (kind === 'ENCRYPTED PRIVATE KEY' || body.includes('Proc-Type: 4,ENCRYPTED')) return true;
  const bytes = Buffer.from(body, 'base64').toString('latin1');
  return (
    kind === 'OPENSSH PRIVATE KEY' &&
    bytes.startsWith(OPENSSH_MAGIC) &&
    bytes.slice(OPENSSH_MAGIC.length + 4, OPENSSH_MAGIC.length + 8) !== 'none'
  );
}

function refuse(problem: string): KeyReading {
  return { ok: false, reason: `the credential of the repository cannot be used for ssh: ${problem}` };
}
