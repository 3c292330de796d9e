/**
 * One execution on this machine: its workspace, its set-up, its command in a sandbox, and the changes that it leaves.
 * contract §3, §10.
 */
import { fileURLToPath } from 'node:url';
import { BUILT_IN_HARNESS, countedCall, pricesOf } from '#agents';
import type { CommandEnd } from '#runs';
import type { Config } from '../../config/config.ts';
import type { Log } from '../../process/log.ts';
import { startCommand, type CommandSpec, type RunningCommand } from '../command/command.ts';
import type { AgentLaunch, ExecutionRequest, ExecutionResult, ExecutionTask, KillOptions } from '../executor.ts';
import { ownerOf, type Sandbox } from '../sandbox/sandboxes.ts';
import type { TranscriptSecrets } from '../workspace/transcript-secrets.ts';
import { prepareWorkspace, putInputs, type Workspace } from '../workspace/workspaces.ts';
import type { EnvironmentSetup } from './environment-setup.ts';
import { leaveDiffs } from './repository-diffs.ts';
import { setUp } from './run-setup.ts';

/** The command that runs when the operator configured none. */
export const EXAMPLE_COMMAND = ['/bin/sh', fileURLToPath(new URL('../command/example-agent.sh', import.meta.url))];

export interface LocalExecutionDeps {
  config: Config;
  environments: EnvironmentSetup;
  builtInAgent: { readOnly: readonly string[] };
  sandbox: Sandbox;
  /** Folder of all workspaces. */
  root: string;
  request: ExecutionRequest;
  log: Log;
  transcripts: TranscriptSecrets;
  /** Bounds what its folder takes of the disk, where the file system can. Must not reject. */
  bound(workspace: Workspace): Promise<void>;
}

/** What every command of the execution has. */
type CommonSpec = Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'>;

export class LocalExecution {
  private readonly deps: LocalExecutionDeps;
  private command: RunningCommand | undefined;
  /** How what runs was last asked to end. */
  private killing: KillOptions | undefined;

  constructor(deps: LocalExecutionDeps) {
    this.deps = deps;
  }

  /** Workspace, set-up, task, work, and the changes in its repositories. */
  async carryOut(): Promise<ExecutionResult> {
    const { request, sandbox, root } = this.deps;
    const { runId, epoch } = request;
    const workspace = await prepareWorkspace({ root, runId, epoch, owner: ownerOf(sandbox, runId) });
    await this.deps.bound(workspace);
    if (this.isTranscribed()) await this.deps.transcripts.begin(workspace, request.spec.secretValues);
    const ready = await this.setUp(workspace);
    if (!ready.ok) return 'ended' in ready ? ended(ready.ended) : { kind: 'setup-failed', message: ready.reason };
    const task = await request.begin();
    if (task === undefined) return { kind: 'not-begun' };
    await putInputs(workspace, { prompt: task.prompt, payload: request.spec.payload, attachments: task.attachments });
    const end = await this.work(task, workspace);
    await this.redactTranscripts(workspace);
    await this.leaveDiffs(end, workspace);
    return ended(end);
  }

  /** What the agent has noted of the conversation stays for its next execution, without secrets. */
  private async redactTranscripts(workspace: Workspace): Promise<void> {
    const { request, log, transcripts } = this.deps;
    if (!this.isTranscribed()) return;
    await transcripts
      .end(workspace, request.spec.secretValues)
      .catch((error: unknown) => log.fault('transcript redaction failed', error, { run_id: request.runId }));
  }

  private isTranscribed(): boolean {
    return this.deps.request.spec.profile?.id === BUILT_IN_HARNESS;
  }

  /** Ends what runs; what is only being started is ended as soon as it is. */
  async kill(options: KillOptions): Promise<void> {
    this.killing = options;
    await this.end(options);
  }

  /** Ends what runs, politely, without a word in the log of who wanted it. */
  async abandon(): Promise<void> {
    await this.command?.cancel();
  }

  private async end({ atOnce = false, why }: KillOptions): Promise<void> {
    await (atOnce ? this.command?.kill() : this.command?.cancel(why));
  }

  private setUp(workspace: Workspace) {
    const { config, environments, request } = this.deps;
    return setUp({
      environments,
      spec: request.spec,
      workspace,
      stepMs: config.setupTimeoutMs,
      signal: request.signal,
      say: (text) => request.say(text),
      commandSpec: (onText) => this.commonSpec(workspace, onText),
      run: (spec) => this.run(spec),
    });
  }

  /** The agent, or the command, does what it was given. */
  private work(task: ExecutionTask, workspace: Workspace): Promise<CommandEnd> {
    const { config, request } = this.deps;
    const agent: AgentLaunch | undefined = request.work({
      cwd: workspace.workspace,
      stateFolder: workspace.folder,
      addAttachments: (attachments) => putInputs(workspace, { attachments }),
    });
    return this.run({
      ...this.commonSpec(workspace),
      command: config.runCommand ?? EXAMPLE_COMMAND,
      ...agent,
      readOnly: this.readOnly(),
      facts: { mode: task.mode, ...request.facts },
      prompt: task.prompt,
      deadlineMs: Number.POSITIVE_INFINITY, // the time of the whole execution counts
    });
  }

  private readOnly(): readonly string[] {
    const { builtInAgent, request } = this.deps;
    const { profile } = request.spec;
    return profile?.id === BUILT_IN_HARNESS ? builtInAgent.readOnly : (profile?.readOnly ?? []);
  }

  private leaveDiffs(end: CommandEnd, workspace: Workspace): Promise<void> {
    const { request, log } = this.deps;
    return leaveDiffs({
      end,
      workspace,
      runId: request.runId,
      log,
      signal: request.signal,
      say: (text) => request.say(text),
      run: (spec) => this.run({ ...this.commonSpec(workspace), ...spec }),
    });
  }

  private commonSpec(workspace: Workspace, onText?: (text: string) => void): CommonSpec {
    const { config, sandbox, request } = this.deps;
    const { network, secrets, secretValues, broker } = request.spec;
    return {
      workspace,
      sandbox,
      network,
      broker: broker && {
        rules: broker.rules,
        hosts: broker.hosts,
        mcp: broker.mcp,
        ca: broker.ca,
        models: {
          routes: broker.routes,
          onUsage: (used, { prices = [] }, model) => request.onModelCall(countedCall(used, pricesOf(prices, model))),
          refusal: () => request.modelRefusal(),
        },
      },
      secretValues,
      env: secrets,
      usage: { diskBytesMax: config.runDiskBytesMax, memoryBytesMax: config.runMemoryBytesMax },
      onEvent: (event) => {
        if (event.kind !== 'status') onText?.(event.text);
        request.onOutput(event);
      },
    };
  }

  /** Runs one command of this execution to its end. */
  private async run(spec: CommandSpec): Promise<CommandEnd> {
    const { request } = this.deps;
    if (request.signal.aborted) return { kind: 'cancelled' };
    const command = await startCommand(spec);
    this.command = command;
    if (request.signal.aborted) void this.end(this.killing ?? {});
    const { identity, finished } = command;
    const process = identity && JSON.stringify(identity);
    const noted = request.onProcess({ process, sandbox: spec.sandbox.kind, finished });
    noted.catch(() => command.cancel()); // nothing goes on that nobody could find
    const end = await finished;
    await noted;
    request.onProcessEnd();
    return end;
  }
}

function ended(end: CommandEnd): ExecutionResult {
  return { kind: 'ended', end };
}
