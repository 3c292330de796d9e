/**
 * What has to be true and known before a command can start: its program, environment and limits, the files of /etc
 * that are made for it, the descriptors it gets. contract §3, §10.
 */
import { isInjectableEnvName } from '#isolation';
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { findTools, isProgram, STANDARD_PATH } from '../../process/program.ts';
import { isHidden } from '../sandbox/sandboxes-view.ts';
import type { Confinement, WrappedCommand } from '../sandbox/sandboxes.ts';
import { removeEntry } from '../workspace/folder-trees.ts';
import type { Owner, Workspace } from '../workspace/workspaces.ts';
import type { CommandSpec } from './command.ts';

/** Bounds that the kernel enforces on each process of a run. */
export interface CommandLimits {
  /**
   * Processes and threads of the run's user; only where runs have a user of their own, for it counts all of that
   * user's.
   */
  processesMax: number;
  /** Bytes of one file. */
  fileBytesMax: number;
  openFilesMax: number;
}

/** Enough for a build with a compiler and a browser, and far below what would make the machine stall. */
export const DEFAULT_LIMITS: CommandLimits = { processesMax: 4_096, fileBytesMax: 4 * 1_024 ** 3, openFilesMax: 8_192 };

/** What a run is, as far as its command may want to act on it. contract §3.2 (Create). */
export interface CommandFacts {
  mode: string;
  /** Somebody was said to watch and answer. */
  interactive: boolean;
  conversationId: string;
  parentRunId?: string;
}

export type Program = { ok: true; argv: readonly [string, ...string[]] } | { ok: false; reason: string };

/** The command line with its program as an absolute path, or why it cannot run. */
export async function programOf({ command, env = {}, path = STANDARD_PATH, sandbox }: CommandSpec): Promise<Program> {
  const [name, ...rest] = command;
  if (name === undefined || name === '') return { ok: false, reason: 'no command is configured' };
  const refused = Object.keys(env).find((variable) => !isInjectableEnvName(variable));
  if (refused !== undefined)
    return { ok: false, reason: `the variable ${JSON.stringify(refused)} cannot be set for a run` };
  const found = name.includes('/') ? name : (await findTools([name], path)).get(name);
  if (found === undefined)
    return { ok: false, reason: `the command "${name}" is not installed in any folder of ${path}` };
  if (!isAbsolute(found)) return { ok: false, reason: `the command "${name}" must be an absolute path or a bare name` };
  if (!(await isProgram(found)))
    return { ok: false, reason: `the command "${found}" does not exist or is not executable` };
  if (sandbox.guarantees.files && (await isHidden(found, sandbox.hidden))) {
    return {
      ok: false,
      reason: `the command "${found}" lies in a folder that runs never see; move it out of the data folder`,
    };
  }
  return { ok: true, argv: [found, ...rest] };
}

/** How far a run is behind the service when processors are short. */
const NICENESS = 10;

/**
 * The same command line under the kernel's limits, where the system's programs can set them. Core files would hold
 * secrets.
 */
export async function limited(argv: WrappedCommand['argv'], spec: CommandSpec): Promise<WrappedCommand['argv']> {
  const { limits = DEFAULT_LIMITS, sandbox } = spec;
  const tools = await findTools(['prlimit', 'choom', 'nice'], STANDARD_PATH);
  const [prlimit, choom, nice] = [tools.get('prlimit'), tools.get('choom'), tools.get('nice')];
  const processes = sandbox.guarantees.uid ? [`--nproc=${limits.processesMax}`] : [];
  const bounds = ['--core=0', `--fsize=${limits.fileBytesMax}`, `--nofile=${limits.openFilesMax}`, ...processes, '--'];
  const steps: readonly (readonly [program: string | undefined, ...options: string[]])[] = [
    [nice, '-n', String(NICENESS)],
    // When memory runs out, the kernel is to end a run and not the service.
    [choom, '-n', '1000', '--'],
    [prlimit, ...bounds],
  ];
  const [program = '', ...rest] = [
    ...steps.flatMap(([name, ...options]) => (name === undefined ? [] : [name, ...options])),
    ...argv,
  ];
  return [program, ...rest];
}

/** Everything the command finds in its environment; nothing of the service's own. */
export function environmentOf({
  workspace,
  env = {},
  harnessEnv = {},
  facts,
  path = STANDARD_PATH,
}: CommandSpec): Record<string, string> {
  return {
    ...env,
    ...harnessEnv,
    ...(facts === undefined ? {} : toVariables(facts)),
    PATH: path,
    HOME: workspace.home,
    TMPDIR: workspace.tmp,
    SHELL: '/bin/sh',
    LANG: 'C.UTF-8',
    MILLWRIGHT_RUN_ID: workspace.runId,
    MILLWRIGHT_EXECUTION_EPOCH: String(workspace.epoch),
    MILLWRIGHT_ATTACHMENTS: workspace.attachments,
    MILLWRIGHT_ARTIFACTS: workspace.artifacts,
  };
}

function toVariables({ mode, interactive, conversationId, parentRunId }: CommandFacts): Record<string, string> {
  return {
    MILLWRIGHT_RUN_MODE: mode,
    MILLWRIGHT_INTERACTIVE: String(interactive),
    MILLWRIGHT_CONVERSATION_ID: conversationId,
    ...(parentRunId === undefined ? {} : { MILLWRIGHT_PARENT_RUN_ID: parentRunId }),
  };
}

/**
 * The files, and where the run sees them. Without the machine's network its names mean nothing; a user of its own is in
 * none of its lists.
 */
export async function ownFiles(
  workspace: Workspace,
  network: Confinement['network'],
): Promise<NonNullable<Confinement['shown']>> {
  const { owner } = workspace;
  const files = [
    ...(network === 'none' ? [{ name: 'hosts', text: '127.0.0.1 localhost\n::1 localhost\n' }] : []),
    ...(owner === undefined
      ? []
      : [
          { name: 'passwd', text: usersOf(owner, workspace.home) },
          { name: 'group', text: groupsOf(owner) },
        ]),
  ];
  return Promise.all(
    files.map(async ({ name, text }) => ({
      from: await written(join(workspace.folder, name), text),
      at: `/etc/${name}`,
    })),
  );
}

async function written(path: string, text: string): Promise<string> {
  await removeEntry(path);
  await writeFile(path, text);
  // Whatever the service's own mask is.
  await chmod(path, 0o444);
  return path;
}

/** Programs ask for the name and home of their user, and some fall over one that has none. */
function usersOf({ uid, gid }: Owner, home: string): string {
  return (
    `root:x:0:0:root:/root:/bin/sh\nrun:x:${uid}:${gid}:run:${home}` +
    `:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/bin/false\n`
  );
}

function groupsOf({ gid }: Owner): string {
  return `root:x:0:\nrun:x:${gid}:\nnogroup:x:65534:\n`;
}

/** What `/proc/<pid>/fdinfo` says of a descriptor that no child inherits (O_CLOEXEC), octal. */
const CLOSED_ON_EXEC = 0o2_000_000;

/** Highest number that is looked after; whoever started the service did not open more. */
const DESCRIPTOR_MAX = 65_535;

/** A child's descriptors: pipes at first, then nothing. Call `started` when the child is, whatever came of it. */
export interface Descriptors {
  stdio: ('pipe' | 'ignore' | number)[];
  started(): void;
}

/**
 * `pipes` pipes from 0 on. Node marks only the lowest of what the service inherited; every other number that a child
 * would inherit too leads nowhere in it.
 */
export function ownDescriptors(pipes: number): Descriptors {
  const stdio: Descriptors['stdio'] = Array.from({ length: pipes }, () => 'pipe');
  const inherited = inheritedDescriptors().filter((number) => number >= pipes);
  if (inherited.length === 0) return { stdio, started: () => undefined };
  const nowhere = openSync('/dev/null', 'r+');
  for (const number of inherited) {
    while (stdio.length < number) stdio.push('ignore');
    stdio[number] = nowhere;
  }
  return { stdio, started: () => closeSync(nowhere) };
}

/** Numbers above the standard streams that a child would inherit, lowest first; none where there is no `/proc`. */
function inheritedDescriptors(): number[] {
  const numbers = namesOf('/proc/self/fd')
    .map(Number)
    .filter((number) => number > 2 && number <= DESCRIPTOR_MAX);
  return numbers.filter(isInherited).sort((a, b) => a - b);
}

function isInherited(number: number): boolean {
  try {
    const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`/proc/self/fdinfo/${number}`, 'latin1'))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
  } catch {
    // Closed meanwhile: it was the one with which this list was read.
    return false;
  }
}

function namesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
