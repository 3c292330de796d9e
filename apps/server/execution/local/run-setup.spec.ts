/** All steps of a set-up together may write what one command may; each still has its last words. contract §3.1. */
import type { CommandEnd } from '#runs';
import { DEFAULT_OUTPUT_BYTES_MAX, type CommandSpec } from '../command/command.ts';
import type { RunEnvironment } from '../preparation/environments.ts';
import type { SetupStepDeps } from './environment-setup.ts';
import type { ExecutionSpec } from '../preparation/execution-spec.ts';
import { setUp } from './run-setup.ts';
import type { Workspace } from '../workspace/workspaces.ts';

it('bounds what the steps write together, and keeps the last words of each', async () => {
  const bounds: (number | undefined)[] = [];
  const words: string[] = [];
  let hear: (text: string) => void = () => undefined;
  const environments = {
    setUp: async (_environment: RunEnvironment, { run }: SetupStepDeps) => {
      for (const step of ['one', 'two', 'three']) words.push((await run(['/bin/sh', '-c', step])).lastLines);
      return { ok: true as const };
    },
  };
  const ready = await setUp({
    environments,
    spec: { environment: {}, secretValues: [], skills: [] } as unknown as ExecutionSpec,
    workspace: {} as Workspace,
    stepMs: 1_000,
    signal: new AbortController().signal,
    say: () => undefined,
    commandSpec: (onText) => {
      hear = onText;
      return { env: {} } as Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'>;
    },
    run: async ({ command, outputBytesMax, operatorWords }): Promise<CommandEnd> => {
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
