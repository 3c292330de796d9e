/**
 * Whether a commit is signed by a key of the sync policy: git and its tools verify, in surroundings made for this one
 * question. contract §9
 */
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readCommitKey, type CommitKey } from '#authentication';
import { findTools } from '../../../process/program.ts';
import { keyringEnvironment, prepareKeyring } from './git-keyring.ts';
import type { GitSession } from './git-session.ts';
import {
  signatureOf,
  type SshSigner,
  ALLOWED_SIGNER,
  judgeOpenPgp,
  judgeSsh,
  type SignatureVerdict,
} from './git-signatures.ts';
import { failure, SourceUnavailableError, SourceUnverifiedError, type SourceFailure } from '../source.ts';

/** A commit object, in bytes: its message can be of any length, nobody writes one of this. */
const COMMIT_BYTES_MAX = 8 * 1024 * 1024;

/** Debian package of each program that verifies. */
const PACKAGES = { gpg: 'gnupg', 'ssh-keygen': 'openssh-client' } as const;

/** What is to be verified, and where there is room for it. */
export interface VerifiableCommit {
  gitDir: string;
  commit: string;
  /** How the commit is called in what people read. */
  revision: string;
  /** Folder that is made for one verification and removed after it. */
  scratchFolder: string;
}

/** Verifies commits against the keys of one policy. */
export interface CommitVerifier {
  /** Whether this commit was the last that was verified: it is not verified again. */
  holds(commit: string): boolean;
  /**
   * Throws `SourceUnverifiedError` where the commit is not signed as the policy asks, `SourceUnavailableError` where
   * that cannot be found out here.
   */
  demand(session: GitSession, commit: VerifiableCommit): Promise<void>;
}

/** Keys are refused when they are written into a policy; one that came by another way must not count as no key. */
export function readCommitKeys(texts: readonly string[]): CommitKey[] | SourceFailure {
  const keys = texts.map(readCommitKey);
  const wrong = keys.findIndex((key) => 'problem' in key);
  if (wrong >= 0)
    return failure(
      'refused',
      `key ${wrong + 1} of the sync policy cannot be read, so no commit is verified; name it anew in verify_commits`,
    );
  return keys as CommitKey[];
}

/**
 * A commit counts as verified when a key of the policy made its one signature and is good now. An OpenPGP key that has
 * expired or was revoked verifies nothing any more, also not what it signed before: the time in a signature is whatever
 * the signer wrote. A tip is verified when it is first seen and again after a restart; that its key expires meanwhile
 * takes nothing away from what is applied.
 */
export function createCommitVerifier(keys: readonly CommitKey[]): CommitVerifier {
  let verified: string | undefined;
  return {
    holds: (commit) => commit === verified,
    async demand(session, { gitDir, commit, revision, scratchFolder }) {
      if (commit === verified) return;
      const object = await session.read(gitDir, ['cat-file', 'commit', commit], COMMIT_BYTES_MAX);
      const refuse = (found: string): SourceUnverifiedError =>
        new SourceUnverifiedError(
          `commit ${commit} ${found}. It must not apply, and what was applied before keeps serving; ${WAY_OUT}`,
          revision,
        );
      const question = { session, gitDir, commit, scratchFolder, keys };
      const verdict = await judge(question, signatureOf(commit, object));
      if (verdict !== 'verified') throw refuse(verdict.found);
      verified = commit;
    },
  };
}

const WAY_OUT =
  'push a commit that a key of the sync policy signed, or let an admin put the right key into verify_commits';

interface Question {
  session: GitSession;
  gitDir: string;
  commit: string;
  scratchFolder: string;
  keys: readonly CommitKey[];
}

async function judge(question: Question, signature: ReturnType<typeof signatureOf>): Promise<SignatureVerdict> {
  switch (signature.kind) {
    case 'none':
      return { found: 'is not signed' };
    case 'several':
      return { found: 'carries more than one signature; none of them is relied on' };
    case 'x509':
      return { found: 'is signed with an X.509 certificate; only SSH and OpenPGP keys can be verified' };
    case 'unknown':
      return { found: 'carries a signature of an unknown kind; only SSH and OpenPGP keys can be verified' };
    case 'unreadable':
      return { found: 'carries a signature that cannot be read' };
    case 'openpgp':
      return verifyOpenPgp(question);
    case 'ssh':
      return verifySsh(question, signature.signer);
  }
}

async function verifySsh(question: Question, signer: SshSigner): Promise<SignatureVerdict> {
  const keys = question.keys.flatMap((key) => (key.kind === 'ssh' ? [key] : []));
  if (signer.namespace !== 'git')
    return { found: 'carries an SSH signature that was made for something else than git' };
  if (!keys.some(({ blob }) => blob === signer.blob))
    return { found: `is signed by the SSH key ${signer.fingerprint}, which is not among the keys of the sync policy` };
  const program = await toolNamed('ssh-keygen', question);
  return inScratch(question, async (folder) => {
    const allowed = join(folder, 'allowed-signers');
    await writeFile(
      allowed,
      keys.map(({ type, blob }) => `${ALLOWED_SIGNER} namespaces="git" ${type} ${blob}\n`).join(''),
      {
        mode: 0o600,
      },
    );
    const settings = ['-c', `gpg.ssh.program=${program}`, '-c', `gpg.ssh.allowedSignersFile=${allowed}`];
    return judgeSsh(await askGit(question, settings, { TMPDIR: folder }), signer.fingerprint);
  });
}

async function verifyOpenPgp(question: Question): Promise<SignatureVerdict> {
  const keys = question.keys.filter((key) => key.kind === 'openpgp');
  if (keys.length === 0) return { found: 'is signed by an OpenPGP key, and the sync policy names SSH keys only' };
  const program = await toolNamed('gpg', question);
  return inScratch(question, async (folder) => {
    const { fingerprints } = await prepareKeyring(question.session, program, folder, keys);
    return judgeOpenPgp(
      await askGit(question, ['-c', `gpg.program=${program}`], keyringEnvironment(folder)),
      fingerprints,
    );
  });
}

function askGit(
  { session, gitDir, commit }: Question,
  settings: readonly string[],
  environment: Readonly<Record<string, string>>,
): ReturnType<GitSession['examine']> {
  return session.examine(gitDir, [...settings, 'verify-commit', '--raw', commit], environment);
}

/** A machine that cannot verify has verified nothing: what serves stays, and it is tried again. */
async function toolNamed(name: keyof typeof PACKAGES, { session, commit }: Question): Promise<string> {
  const path = (await findTools([name], session.bounds.searchPath)).get(name);
  if (path !== undefined) return path;
  throw new SourceUnavailableError(
    'refused',
    `${name} is not installed, or not on the search path, so the signature of commit ${commit} could not be ` +
      `checked; install it (Debian: apt-get install ${PACKAGES[name]})`,
  );
}

/** A folder for nobody else, gone afterwards; one that a killed process left is gone before. */
async function inScratch(
  question: Question,
  work: (folder: string) => Promise<SignatureVerdict>,
): Promise<SignatureVerdict> {
  const folder = question.scratchFolder;
  await rm(folder, { recursive: true, force: true });
  try {
    await mkdir(folder, { mode: 0o700 });
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
