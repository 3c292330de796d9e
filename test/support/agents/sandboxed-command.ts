/**
 * Commands in the real sandboxes of this machine: found once, started in a data folder of the test's own, heard line by
 * line.
 */
import { join } from 'node:path';
import { startCommand, type CommandSpec, type RunningCommand } from '../../../apps/server/execution/command/command.ts';
import type { ExecutionOutput } from '../../../apps/server/execution/executor.ts';
import { detectSandbox } from '../../../apps/server/execution/sandbox/sandboxes-detection.ts';
import { ownerOf, type Sandbox, type SandboxKind } from '../../../apps/server/execution/sandbox/sandboxes.ts';
import { prepareWorkspace, type Workspace } from '../../../apps/server/execution/workspace/workspaces.ts';

export interface SandboxedCommand extends RunningCommand {
  events: readonly ExecutionOutput[];
  /** Everything of one kind so far. */
  text(kind: ExecutionOutput['kind']): string;
  /** Resolves when the output holds the text. */
  says(wanted: string, kind?: ExecutionOutput['kind']): Promise<void>;
  workspace: Workspace;
}

/** The sandbox of this kind if it works here. */
export function sandboxHere(kind: SandboxKind): Promise<Sandbox | undefined> {
  return detectSandbox({ kinds: [kind] }).catch(() => undefined);
}

let runs = 0;

/** Starts a command as a run of its own; `base` is the data folder that it must not see. */
export async function startSandboxed(
  sandbox: Sandbox,
  base: string,
  spec: Partial<CommandSpec> & { script?: string },
): Promise<SandboxedCommand> {
  const { script = 'true', ...more } = spec;
  // nobody else's, for processes are found by it
  const ours = String(process.pid).padStart(8, '0').slice(-8);
  const runId = `00000000-0000-7000-8000-${ours}${String((runs += 1)).padStart(4, '0')}`;
  const workspace = await prepareWorkspace({
    root: join(base, 'runs'),
    runId,
    epoch: 3,
    prompt: '',
    owner: ownerOf(sandbox, runId),
  });
  const events: ExecutionOutput[] = [];
  const listeners = new Set<() => void>();
  const onEvent = (event: ExecutionOutput): void => {
    events.push(event);
    for (const heard of listeners) heard();
  };
  const text = (kind: ExecutionOutput['kind']): string =>
    events
      .filter((event) => event.kind === kind)
      .map((event) => event.text)
      .join('');
  const running = await startCommand({
    command: ['sh', '-c', script],
    workspace,
    sandbox: { ...sandbox, hidden: [...sandbox.hidden, base] },
    prompt: '',
    deadlineMs: 60_000,
    onEvent,
    ...more,
  });
  const says = (wanted: string, kind: ExecutionOutput['kind'] = 'stdout'): Promise<void> =>
    new Promise((resolve) => {
      const heard = (): void => {
        if (!text(kind).includes(wanted)) return;
        listeners.delete(heard);
        resolve();
      };
      listeners.add(heard);
      heard();
    });
  const { identity, finished } = running;
  const cancel = (why?: string): Promise<void> => running.cancel(why);
  return { identity, finished, cancel, kill: () => running.kill(), events, text, says, workspace };
}
