/**
 * What is made ready before a run takes its prompt: its skill where the agent finds it, its environment in the
 * workspace. contract §3, §8.1 (environments), §10.
 */
import { chmod, lchown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isSkillFilePath } from '#agents';
import type { CommandEnd } from '#runs';
import { DEFAULT_OUTPUT_BYTES_MAX, type CommandSpec } from '../command/command.ts';
import type { ExecutionSpec } from '../preparation/execution-spec.ts';
import type { RunSkill } from '../preparation/skills.ts';
import { removeEntry } from '../workspace/folder-trees.ts';
import { writeInput, type Owner, type Workspace } from '../workspace/workspaces.ts';
import type { EnvironmentSetup, SetupResult } from './environment-setup.ts';

/** Bytes of output that a step still has when the earlier steps have written all that they may write together. */
const STEP_OUTPUT_BYTES_MIN = 16_384;

export interface RunSetupDeps {
  environments: Pick<EnvironmentSetup, 'setUp'>;
  spec: ExecutionSpec;
  workspace: Workspace;
  /** Milliseconds of one step. */
  stepMs: number;
  /** Aborted when the run is to be ended. */
  signal: AbortSignal;
  /** A line for people in the run's log. */
  say(text: string): void;
  /** What every command of the run has; `onText` hears what it writes. */
  commandSpec(onText: (text: string) => void): Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'>;
  /** Runs one command to its end. */
  run(spec: CommandSpec): Promise<CommandEnd>;
}

/** Skill, then environment. All steps together may write what one command may. */
export async function setUp(deps: RunSetupDeps): Promise<SetupResult> {
  const { environments, workspace, stepMs, signal, say, commandSpec, run } = deps;
  const { skills, environment, profile, secretValues } = deps.spec;
  for (const skill of skills) await putSkill(skill, workspace, profile?.skillFolders ?? []);
  if (environment === undefined) return { ok: true };
  let written = 0;
  return environments.setUp(environment, {
    workspace,
    signal,
    secretValues,
    say,
    run: async (command, more) => {
      const output = new LastLines();
      const outputBytesMax = Math.max(STEP_OUTPUT_BYTES_MIN, DEFAULT_OUTPUT_BYTES_MAX - written);
      const spec = commandSpec((text) => {
        written += text.length;
        output.add(text);
      });
      const end = await run({
        ...spec,
        ...more,
        outputBytesMax,
        command,
        operatorWords: [],
        prompt: '',
        deadlineMs: stepMs,
        env: { ...spec.env, ...more?.env },
      });
      return { end, lastLines: output.text() };
    },
  });
}

/** Lines and characters of a command's output that a message about it repeats: what fits under a run's state. */
const LINES_MAX = 10;
const CHARACTERS_MAX = 2_000;

/** The end of what a command has written, for the message that says why it failed. */
export class LastLines {
  private end = '';

  add(text: string): void {
    this.end = `${this.end}${text}`.slice(-CHARACTERS_MAX);
  }

  /** Without empty lines at its end; empty when nothing was written. */
  text(): string {
    return this.end.trimEnd().split('\n').slice(-LINES_MAX).join('\n');
  }
}

/** Writes the files of a skill below each of these folders of the run's home, in a folder of its name. */
async function putSkill(skill: RunSkill, workspace: Workspace, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const above = await foldersIn(workspace.home, folder.split('/'), workspace.owner);
    await putInto(join(above, skill.name), skill);
  }
}

/**
 * Folders inside one of the run's, each of which belongs to the run. Nothing of the run is alive; a link that it left
 * is replaced, never followed.
 */
async function foldersIn(folder: string, names: readonly string[], owner: Owner | undefined): Promise<string> {
  let at = folder;
  for (const name of names) {
    at = join(at, name);
    const found = await lstat(at).catch(() => undefined);
    if (found?.isDirectory() === true) continue;
    await removeEntry(at);
    await mkdir(at, { mode: 0o755 });
    if (owner !== undefined) await lchown(at, owner.uid, owner.gid);
  }
  return at;
}

/** A fresh folder of the service's, which the run reads: what an earlier execution put in its place goes away. */
async function putInto(folder: string, { files }: RunSkill): Promise<void> {
  await removeEntry(folder);
  await readableFolder(folder);
  const made = new Set(['']);
  for (const { path, content, executable } of files) {
    if (!isSkillFilePath(path)) throw new Error('a path of a skill leads out of its folder');
    const names = path.split('/').slice(0, -1);
    for (const [index] of names.entries()) {
      const inner = names.slice(0, index + 1).join('/');
      if (!made.has(inner)) await readableFolder(join(folder, inner));
      made.add(inner);
    }
    await writeInput(join(folder, path), content, executable ? 0o555 : 0o444);
  }
}

/** Whatever the service's own mask is. */
async function readableFolder(path: string): Promise<void> {
  await mkdir(path);
  await chmod(path, 0o755);
}
