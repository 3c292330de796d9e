/** All steps of a set-up together may write what one command may; each still has its last words. contract 3 (events). */
import { DEFAULT_OUTPUT_BYTES_MAX, type CommandEnd, type CommandSpec } from '../command/command.ts';
import type { Environments, RunEnvironment, EnvironmentSetupDeps } from './environments.ts';
import type { ExecutionSpec } from './execution-spec.ts';
import { setUp } from './run-setup.ts';
import type { Skills } from './skills.ts';
import type { Workspace } from '../workspace/workspaces.ts';

it('bounds what the steps write together, and keeps the last words of each', async () => {
  const bounds: (number | undefined)[] = [];
  const words: string[] = [];
  let hear: (text: string) => void = () => undefined;
  const environments = {
    setUp: async (_environment: RunEnvironment, { run }: EnvironmentSetupDeps) => {
      for (const step of ['one', 'two', 'three']) words.push((await run(['/bin/sh', '-c', step])).lastLines);
      return { ok: true as const };
    },
  } as unknown as Environments;
  const ready = await setUp({
    skills: {} as Skills,
    environments,
    outfit: { environment: {}, secretValues: [] } as unknown as ExecutionSpec,
    workspace: {} as Workspace,
    stepMs: 1_000,
    signal: new AbortController().signal,
    say: () => undefined,
    commandSpec: (onText) => {
      hear = onText;
      return { env: {} } as Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'>;
    },
    finished: async ({ command, outputBytesMax, operatorWords }): Promise<CommandEnd> => {
      bounds.push(outputBytesMax);
      expect(operatorWords).toEqual([]); // a definition's words show the run no file of the machine
      hear('x'.repeat(DEFAULT_OUTPUT_BYTES_MAX / 2 + 10));
      hear(`\nend of ${command[2]}\n`);
      return { kind: 'exited', code: 0 };
    },
  });
  expect(ready).toEqual({ ok: true });
  expect(bounds).toEqual([DEFAULT_OUTPUT_BYTES_MAX, expect.any(Number), 16_384]);
  expect(bounds[1]).toBeLessThan(DEFAULT_OUTPUT_BYTES_MAX / 2);
  expect(words.map((text) => text.split('\n').at(-1))).toEqual(['end of one', 'end of two', 'end of three']);
});
