/**
 * Finds the best means of isolation of this machine by trying it: what is reported was seen, not assumed. contract §10.
 */
import { spawn } from 'node:child_process';
import { readlinkSync } from 'node:fs';
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { findTools, STANDARD_PATH } from '../../process/program.ts';
import { privateFiles } from './installation-files.ts';
import { bubblewrapCandidates } from './sandboxes-bubblewrap.ts';
import { namespaceCandidates } from './sandboxes-namespace.ts';
import {
  ownerOf,
  sendInput,
  type NetworkPolicy,
  type Sandbox,
  type SandboxCandidate,
  type SandboxKind,
  type Tools,
  type WrappedCommand,
} from './sandboxes.ts';
import { missingGuarantees, type Guarantees } from '../executor.ts';
import { removeEntry } from '../workspace/folder-trees.ts';
import { prepareWorkspace } from '../workspace/workspaces.ts';

export interface Detection {
  /**
   * The service's data folder: no run sees it, and the trial takes place in it. The system's temporary folder is tried
   * without it.
   */
  dataDir?: string;
  /** Further files and folders that no run ever sees: key files stored elsewhere. */
  hidden?: readonly string[];
  /** Only these kinds are tried; `bare` always works. All by default. */
  kinds?: readonly SandboxKind[];
  /** Where bwrap, unshare, setpriv, sh, ip and perl are looked for, as in PATH. */
  path?: string;
}

const TOOL_NAMES = ['bwrap', 'unshare', 'setpriv', 'sh', 'ip', 'perl'];

/** Milliseconds until a trial counts as failed; a working one takes a hundredth of it. */
const TRIAL_MS_MAX = 10_000;

/** Milliseconds for the rest of what an ended one printed. */
const OUTPUT_END_MS = 1_000;

/** Any UUID: a trial has a folder of its own. */
const TRIAL_RUN_ID = '00000000-0000-7000-8000-000000000000';

/**
 * Says from inside which spaces it is in, whether there is a loopback, whether the service's file can be read, and that
 * the workspace can be written.
 */
const TRIAL_SCRIPT = [
  'echo "pid $(readlink /proc/self/ns/pid)"',
  'echo "net $(readlink /proc/self/ns/net)"',
  'case "$(cat /proc/self/status)" in *Seccomp:?2*) echo "calls filtered" ;; esac',
  'case "$(cat /proc/net/fib_trie)" in *127.0.0.1*) echo "loopback up" ;; esac',
  'cat "$TRIAL_SECRET" >/dev/null 2>&1 && echo "secret readable"',
  ': > made-inside && : > "$HOME/x" && : > "$TMPDIR/x" && : > /tmp/x && echo "workspace writable"',
].join('\n');

/** The best sandbox that works here; `bare` when none does. Takes well under a second. */
export async function detectSandbox(detection: Detection = {}): Promise<Sandbox> {
  const tools = await findTools(TOOL_NAMES, detection.path ?? STANDARD_PATH);
  const { kinds = ['bubblewrap', 'pid-namespace', 'bare'], dataDir } = detection;
  const named = [...(dataDir === undefined ? [] : [dataDir]), ...(detection.hidden ?? [])];
  const hidden = [...named.map((path) => resolve(path)), ...privateFiles()];
  const found = (candidate: SandboxCandidate, guarantees: Guarantees): Sandbox => {
    return { ...candidate, guarantees, hidden, description: described(candidate, guarantees) };
  };
  for (const candidate of await candidates(tools)) {
    if (!kinds.includes(candidate.kind)) continue;
    const guarantees = await tried(candidate, dataDir ?? tmpdir());
    if (guarantees?.processes === true) return found(candidate, guarantees);
  }
  if (!kinds.includes('bare')) throw new Error(`no sandbox of the kinds ${kinds.join(', ')} works on this machine`);
  return found(BARE, { processes: false, files: false, network: false, loopback: true, uid: false, calls: false });
}

/**
 * No isolation: a process group of its own, and a kill that follows descendants and the run's mark in their
 * environment.
 */
export const BARE: SandboxCandidate = {
  kind: 'bare',
  means: 'a plain process',
  wrap: async (argv): Promise<WrappedCommand> => ({ argv, wrapped: false }),
};

async function candidates(tools: Tools): Promise<SandboxCandidate[]> {
  if (process.platform !== 'linux') return [];
  const asRoot = process.getuid?.() === 0;
  const bwrap = tools.get('bwrap');
  const version = bwrap === undefined ? '' : await output({ argv: [bwrap, '--version'] }, {});
  return [...bubblewrapCandidates(tools, version, asRoot), ...namespaceCandidates(tools, asRoot)];
}

/** What a candidate really gives, or undefined when it does not work here. */
async function tried(candidate: SandboxCandidate, scratch: string): Promise<Guarantees | undefined> {
  const base = await mkdtemp(join(scratch, 'millwright-sandbox-'));
  try {
    // A step that is not allowed here (giving folders away, for one) means that this candidate does not work here.
    const attempt = (network: NetworkPolicy): Promise<Guarantees | undefined> =>
      trial(candidate, base, network).catch(() => undefined);
    // Where the network cannot be taken away, the rest may still hold.
    return (await attempt('none')) ?? (await attempt('host'));
  } finally {
    await removeEntry(base);
  }
}

async function trial(
  candidate: SandboxCandidate,
  base: string,
  network: NetworkPolicy,
): Promise<Guarantees | undefined> {
  const secret = join(base, 'secret');
  await writeFile(secret, 'secret', { mode: 0o600 });
  const contents = {
    root: join(base, 'runs'),
    runId: TRIAL_RUN_ID,
    epoch: 1,
    prompt: '',
    owner: ownerOf(candidate, TRIAL_RUN_ID),
  };
  const workspace = await prepareWorkspace(contents);
  const command = await candidate.wrap(['/bin/sh', '-c', TRIAL_SCRIPT], {
    workspace,
    network,
    hidden: [base],
    readOnly: [],
    words: [],
  });
  const said = await output(command, {
    PATH: STANDARD_PATH,
    HOME: workspace.home,
    TMPDIR: workspace.tmp,
    TRIAL_SECRET: secret,
  });
  if (!said.includes('workspace writable')) return undefined;
  const made = await stat(join(workspace.workspace, 'made-inside')).catch(() => undefined);
  return {
    processes: isOther(said, 'pid'),
    files: !said.includes('secret readable'),
    network: network === 'none' && isOther(said, 'net'),
    loopback: said.includes('loopback up'),
    uid: made !== undefined && made.uid !== process.getuid?.(),
    calls: said.includes('calls filtered'),
  };
}

function isOther(said: string, space: 'pid' | 'net'): boolean {
  const inside = new RegExp(`^${space} (.+)$`, 'm').exec(said)?.[1];
  return inside !== undefined && inside !== readlinkSync(`/proc/self/ns/${space}`);
}

/** What a program printed, whatever its exit code; empty when it could not run or did not end. */
function output(
  { argv: [program, ...rest], input }: Pick<WrappedCommand, 'argv' | 'input'>,
  environment: Record<string, string>,
): Promise<string> {
  return new Promise((done) => {
    const child = spawn(program, rest, {
      env: environment,
      cwd: '/',
      timeout: TRIAL_MS_MAX,
      killSignal: 'SIGKILL',
      stdio: ['ignore', 'pipe', 'ignore', 'pipe', input === undefined ? 'ignore' : 'pipe'],
    });
    let printed = '';
    child.stdout?.on('data', (bytes: Buffer) => (printed += bytes.toString('utf8')));
    (child.stdio[3] as Readable).on('error', () => undefined).resume(); // the sandbox's report
    child.on('error', () => done(printed));
    child.on('close', () => done(printed));
    // What it left running may hold its output open for ever.
    child.on('exit', () => setTimeout(() => done(printed), OUTPUT_END_MS).unref());
    if (input !== undefined) sendInput(child, input);
  });
}

function described(candidate: SandboxCandidate, guarantees: Guarantees): string {
  const missing = missingGuarantees(guarantees);
  const held =
    missing.length === 0
      ? 'own files, processes, network and user, calls filtered'
      : `NOT ISOLATED: ${missing.join('; ')}`;
  return `${candidate.kind} (${candidate.means}): ${held}`;
}
