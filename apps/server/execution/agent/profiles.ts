/**
 * Which coding agents of this machine can be started, where their programs lie, and what of the machine they read.
 * explanation: Coding agents.
 */
import { open, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute } from 'node:path';
import { BUILT_IN_HARNESS, COMMAND_HARNESS, type LaunchProfile } from '#agents';
import { findTools, isProgram, STANDARD_PATH } from '../../process/program.ts';

/** Whether one agent is there. */
export interface AgentFound {
  id: string;
  installed: boolean;
  /** Its program, where it is. */
  path?: string;
  /** What installs it, for people. */
  install: string;
}

/** Looks for every agent where runs find it. `searchPath`: PATH of the service. */
export async function agentsFound(
  profiles: readonly LaunchProfile[],
  searchPath: string | undefined,
): Promise<AgentFound[]> {
  return Promise.all(
    profiles.map(async (profile) => {
      const path = await programOf(profile, searchPath);
      return { id: profile.id, installed: path !== undefined, path, install: profile.install };
    }),
  );
}

/**
 * What runs can name in addition to the profiles: the agent that comes with the service, and the operator's command if
 * there is one.
 */
export function ownAgents({ runCommand }: { runCommand?: readonly string[] }): AgentFound[] {
  const builtIn = { id: BUILT_IN_HARNESS, installed: true, install: 'it comes with the service' };
  return runCommand === undefined
    ? [builtIn]
    : [builtIn, { id: COMMAND_HARNESS, installed: true, install: 'set MILLWRIGHT_RUN_COMMAND' }];
}

/**
 * The profile as it can be started here: its program by its absolute path, with what that reads. Undefined: it is not
 * installed.
 */
export async function startable(
  profile: LaunchProfile,
  searchPath: string | undefined,
): Promise<LaunchProfile | undefined> {
  const program = await programOf(profile, searchPath);
  if (program === undefined) return undefined;
  const before = await interpreterOf(program);
  return {
    ...profile,
    command: [...before, program, ...profile.command.slice(1)],
    readOnly: [...(profile.readOnly ?? []), ...packagesOf(await realpath(program))],
  };
}

/** What to tell who wants an agent that is not there. */
export function notInstalled({ id, command, install }: LaunchProfile): string {
  return (
    `the agent ${id} is not installed: the machine of this service has no program ${JSON.stringify(command[0])}; ` +
    `install it there with: ${install}`
  );
}

/** Also in folders that the service's own PATH does not name: runs have one of their own. */
async function programOf({ command: [name = ''] }: LaunchProfile, searchPath = ''): Promise<string | undefined> {
  if (name === '') return undefined;
  if (name.includes('/')) return isAbsolute(name) && (await isProgram(name)) ? name : undefined;
  const path = [...searchPath.split(delimiter).filter(isAbsolute), STANDARD_PATH].join(delimiter);
  return (await findTools([name], path)).get(name);
}

/** Bytes that name the interpreter of a script. */
const FIRST_LINE_BYTES_MAX = 256;

/** Where node is no program of the system, a script that asks for it is started with the service's own. */
async function interpreterOf(program: string): Promise<string[]> {
  const file = await open(program).catch(() => undefined);
  if (file === undefined) return []; // it may be executed and not read: it is no script
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(FIRST_LINE_BYTES_MAX));
    const [line = ''] = buffer.toString('latin1', 0, bytesRead).split('\n');
    return /^#!.*\benv\s+(?:-S\s+)?node\b/.test(line) && (await findTools(['node'], STANDARD_PATH)).size === 0
      ? [process.execPath]
      : [];
  } finally {
    await file.close();
  }
}

/** All packages of an installation by npm: those that an agent needs lie next to it. */
function packagesOf(program: string): string[] {
  const at = program.indexOf(PACKAGES);
  return at < 0 ? [] : [program.slice(0, at + PACKAGES.length - 1)];
}

const PACKAGES = '/node_modules/';
