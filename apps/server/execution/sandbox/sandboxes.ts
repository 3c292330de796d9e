/**
 * What keeps a run away from the machine it runs on, and which of that holds here. contract §10; explanation: Coding
 * agents, Sandbox.
 */
import type { ChildProcess } from 'node:child_process';
import type { Writable } from 'node:stream';
import type { Isolation } from '../executor.ts';
import type { RunCgroups } from './run-cgroups.ts';
import type { Owner, Workspace } from '../workspace/workspaces.ts';

export type SandboxKind = 'bubblewrap' | 'pid-namespace' | 'bare';

/** `none`: not even loopback reaches the service; `host`: the network of the machine as it is. */
export type NetworkPolicy = 'none' | 'host';

/** What one execution may see. */
export interface Confinement {
  workspace: Workspace;
  network: NetworkPolicy;
  /** Files and folders that stay invisible even inside something that is visible: data folder, key files. */
  hidden: readonly string[];
  /** Files and folders that the operator wants visible, read-only, in addition to the system's: these and no others. */
  readOnly: readonly string[];
  /**
   * Words of the command line that the operator wrote, and nobody else: what they name as an absolute path is visible
   * too. Words that come from a request, a definition or a payload must never be among them, for each could show the
   * run another file of the machine.
   */
  words: readonly string[];
  /** Files, sockets and folders of the service for this execution, read-only, also of what is hidden otherwise. */
  shown?: readonly { from: string; at: string; folder?: boolean }[];
}

/** A command line that runs another one inside a sandbox. */
export interface WrappedCommand {
  argv: readonly [string, ...string[]];
  /**
   * The outermost process is not the command; it writes `{"child-pid": n}` and at last `{"exit-code": n}` to descriptor
   * 3.
   */
  wrapped: boolean;
  /** What the outermost process reads from INPUT_DESCRIPTOR until its end. */
  input?: Uint8Array;
}

/** Gives a started command what it reads; one that ends before is none the worse. */
export function sendInput({ stdio }: ChildProcess, input: Uint8Array): void {
  const stream = stdio[INPUT_DESCRIPTOR] as Writable;
  stream.on('error', () => undefined);
  stream.end(input);
}

/** The first number behind the standard streams and the report. */
export const INPUT_DESCRIPTOR = 4;

/** One means of isolation, not yet tried on this machine. */
export interface SandboxCandidate {
  kind: SandboxKind;
  /** How it is built, for people. */
  means: string;
  /**
   * Runs are somebody else than the service, and their folders must belong to them (`ownerOf`); absent: the service's
   * own user.
   */
  owner?: Owner;
  /** The command line that runs `argv` (its first element an absolute path) in the run's workspace. */
  wrap(argv: readonly [string, ...string[]], confinement: Confinement): Promise<WrappedCommand>;
}

/** A means of isolation that works here. */
export interface Sandbox extends SandboxCandidate, Isolation {
  kind: SandboxKind;
  means: string;
  /** Absolute paths of what no run ever sees: data folder, key files. */
  hidden: readonly string[];
  /** Where each command gets a control group of its own; absent: there are none. */
  cgroups?: RunCgroups;
}

/** Programs of the machine by name → absolute path, as far as they are installed. */
export type Tools = ReadonlyMap<string, string>;

/** Who runs are when the service is root and nothing else is said: the user that owns nothing. */
export const NOBODY_USER: Owner = { uid: 65_534, gid: 65_534 };

/** Users that nobody else has (systemd, "Users, Groups, UIDs and GIDs": 60578 … 61183 are never given out). */
const RUN_UID_FIRST = 60_578;
const RUN_UIDS = 606;

/**
 * The user of one run where runs have one of their own: the same for all of its executions. The kernel counts processes
 * by user, so that a run that forks without end hinders only itself. Two runs may share one; they are still isolated in
 * every other way.
 */
export function ownerOf({ owner }: SandboxCandidate, runId: string): Owner | undefined {
  // The last digits of a run's ID are random.
  const uid = RUN_UID_FIRST + (Number.parseInt(runId.replaceAll('-', '').slice(-8), 16) % RUN_UIDS);
  return owner === undefined ? undefined : { uid, gid: uid };
}

/** Bytes of memory that a run's /tmp may take; large temporary files belong into TMPDIR, which is on disk. */
export const TMPFS_BYTES_MAX = 256 * 1_024 * 1_024;

/**
 * Command prefix (setpriv of util-linux): another user, no groups, no capabilities, nothing to be regained by
 * set-user-id programs.
 */
export function withoutPrivileges(setpriv: string, owner: Owner): string[] {
  return [setpriv, `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...NOTHING_LEFT, '--'];
}

/** The same inside a user namespace, where the user stays number 0 by name only. */
export function withoutNamespacePrivileges(setpriv: string): string[] {
  return [setpriv, ...NOTHING_LEFT, '--securebits=+noroot,+noroot_locked', '--'];
}

const NOTHING_LEFT = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
