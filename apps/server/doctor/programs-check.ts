/** The programs under everything: Node.js, git, and what verifies signed commits. */
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { findTools, STANDARD_PATH } from '../process/program.ts';
import type { DoctorTarget } from './doctor.ts';
import { ok, problem, warning, type Remark } from './findings.ts';

const ANSWER_MS_MAX = 5_000;
/** The oldest git with everything that fetches need; Debian 11 has a newer one. */
const GIT_LEAST: Version = [2, 29];

type Version = readonly [major: number, minor: number];

/** Node.js against the package's `engines`. */
export function node(): Remark[] {
  const least = leastNode();
  const version = versionIn(process.version) ?? [0, 0];
  if (isBefore(version, least))
    return [
      problem(
        `Node.js ${process.version} is too old`,
        `install Node.js ${least.join('.')} or newer (an even release, such as 22 or 24)`,
      ),
    ];
  if ((version[0] ?? 0) % 2 === 1)
    return [
      warning(
        `Node.js ${process.version} is a release without long support`,
        'install an even release, such as 22 or 24',
      ),
    ];
  return [ok(`Node.js ${process.version}; ${least.join('.')} or newer is needed`)];
}

/** git where the service looks for it. */
export async function git({ config }: DoctorTarget): Promise<Remark[]> {
  const path = (await findTools(['git'], config.searchPath ?? STANDARD_PATH)).get('git');
  const install = 'install git (Debian: apt-get install git)';
  if (path === undefined) return [problem('git is not found on PATH, so no git repository can be read', install)];
  const said = await answer(path);
  const version = versionIn(said ?? '');
  if (version === undefined) return [problem(`${path} does not say its version`, install)];
  if (isBefore(version, GIT_LEAST))
    return [
      warning(
        `${path} is version ${version.join('.')}, older than any that was tried`,
        `install git ${GIT_LEAST.join('.')} or newer`,
      ),
    ];
  return [ok(`${path}, version ${version.join('.')}`)];
}

/** What verifies signed commits: the program, what it is needed for, and its Debian package. */
const VERIFIERS = [
  ['gpg', 'OpenPGP', 'gnupg'],
  ['ssh-keygen', 'SSH', 'openssh-client'],
] as const;
/** The first git that verifies SSH signatures. */
const GIT_FOR_SSH_SIGNATURES: Version = [2, 34];

/** Never a problem: only factories whose sync policy has `verify_commits` need them, and those say so when they do. */
export async function signatures({ config }: DoctorTarget): Promise<Remark[]> {
  const path = config.searchPath ?? STANDARD_PATH;
  const tools = await findTools(['git', ...VERIFIERS.map(([name]) => name)], path);
  const missing = VERIFIERS.filter(([name]) => !tools.has(name)).map(([name, kind, inPackage]) =>
    warning(
      `${name} is not found on PATH, so commits signed by ${kind} keys cannot be verified (a sync policy with ` +
        'verify_commits needs that)',
      `install it (Debian: apt-get install ${inPackage})`,
    ),
  );
  const git = tools.get('git');
  const version = git === undefined ? undefined : versionIn((await answer(git)) ?? '');
  const old =
    version !== undefined && isBefore(version, GIT_FOR_SSH_SIGNATURES)
      ? [
          warning(
            `git ${version.join('.')} cannot verify commits signed by SSH keys (a sync policy with ` +
              'verify_commits needs that)',
            `install git ${GIT_FOR_SSH_SIGNATURES.join('.')} or newer`,
          ),
        ]
      : [];
  const found = [...missing, ...old];
  return found.length > 0 ? found : [ok('commits signed by SSH and OpenPGP keys can be verified')];
}

function answer(path: string): Promise<string | undefined> {
  return new Promise((done) => {
    execFile(
      path,
      ['--version'],
      { env: {}, cwd: '/', timeout: ANSWER_MS_MAX, killSignal: 'SIGKILL' },
      (error, stdout) => done(error === null ? stdout : undefined),
    );
  });
}

/** The package's file lies three folders up in the source and four in the built program. */
function leastNode(): Version {
  const place = ['../../../package.json', '../../../../package.json']
    .map((path) => new URL(path, import.meta.url))
    .find((url) => existsSync(url));
  const engines =
    place === undefined ? '' : (JSON.parse(readFileSync(place, 'utf8')) as { engines: { node: string } }).engines.node;
  return versionIn(engines) ?? [0, 0];
}

function versionIn(text: string): Version | undefined {
  const [, major, minor] = /(\d{1,4})\.(\d{1,4})/.exec(text) ?? [];
  return major === undefined || minor === undefined ? undefined : [Number(major), Number(minor)];
}

function isBefore([major, minor]: Version, [leastMajor, leastMinor]: Version): boolean {
  return major < leastMajor || (major === leastMajor && minor < leastMinor);
}
