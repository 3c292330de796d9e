/** What is made ready before a run takes its prompt: its skill where the agent looks for it, its environment in the workspace. contract 3, 8 (environments), 10. */
import { DEFAULT_OUTPUT_BYTES_MAX, type CommandEnd, type CommandSpec } from '../command/command.ts';
import type { Environments, SetUp } from './environments.ts';
import { lastLines } from '../command/last-lines.ts';
import type { ExecutionSpec } from './execution-spec.ts';
import type { Skills } from './skills.ts';
import type { Workspace } from '../workspace/workspaces.ts';

/** Output kept of a step whose earlier steps have written all that is kept of them together. */
const STEP_OUTPUT_BYTES_MIN = 16_384;

export interface SetUpParts {
  skills: Skills;
  environments: Environments;
  outfit: ExecutionSpec;
  workspace: Workspace;
  /** Milliseconds of one step. */
  stepMs: number;
  /** Aborted when the run is to be ended. */
  signal: AbortSignal;
  /** A line for people in the run's log. */
  say(text: string): void;
  /** What every command of the run has; `onText` hears what it writes. */
  commandSpec(onText: (text: string) => void): Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'>;
  finished(spec: CommandSpec): Promise<CommandEnd>;
}

/** Skill, then environment. All steps together may write what one command may. */
export async function setUp({
  skills,
  environments,
  outfit,
  workspace,
  stepMs,
  signal,
  say,
  commandSpec,
  finished,
}: SetUpParts): Promise<SetUp> {
  const { skill, environment, profile, secretValues } = outfit;
  if (skill !== undefined) await skills.put(skill, workspace, profile?.skillFolders ?? []);
  if (environment === undefined) return { ok: true };
  let written = 0;
  return environments.setUp(environment, {
    workspace,
    signal,
    secretValues,
    say,
    run: async (command, more) => {
      const told = lastLines();
      const outputBytesMax = Math.max(STEP_OUTPUT_BYTES_MIN, DEFAULT_OUTPUT_BYTES_MAX - written);
      const spec = commandSpec((text) => {
        written += text.length;
        told.take(text);
      });
      const end = await finished({
        ...spec,
        ...more,
        outputBytesMax,
        command,
        operatorWords: [],
        prompt: '',
        deadlineMs: stepMs,
        env: { ...spec.env, ...more?.env },
      });
      return { end, lastLines: told.text() };
    },
  });
}
