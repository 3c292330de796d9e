/** One execution from claim to end: workspace, process, log, lease, cancel. spec: States and transitions; contract 3, 10. */
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { confinementProblem, hostPatternOfUrl, type HostPattern, type LaunchProfile, isInjectableEnvName, isInjectableValue, networkOf, readArtifact, type AmbientAgentConfig, type Tier } from '#runs';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { SecretReader } from '../secrets/reader.ts';
import type { ArtifactStore } from '../store/artifacts.ts';
import type { AttachmentStore, StoredAttachment } from '../store/attachments.ts';
import type { DeliveryStore } from '../store/deliveries.ts';
import { decodePayload } from '../store/payload-bytes.ts';
import type { RunEvent } from '../store/run-log.ts';
import type { ClaimedRun, Ending, RunStore } from '../store/runs.ts';
import { collectArtifacts } from './artifact-collection.ts';
import type { TurnEnd } from './agent-conversation.ts';
import { agentExecution, BUILT_IN_ID, profileOf, toTurnEnding, type BuiltInAgent } from './agents.ts';
import { startCommand, type CommandEnd, type RunningCommand } from './command.ts';
import { toEnding } from './endings.ts';
import { ownerOf, type Sandbox } from './sandboxes.ts';
import { prepareWorkspace, type Workspace } from './workspaces.ts';

/** How often lease and cancel wishes are looked at. */
const LOOK_MS = 2_000;
/** The log is written in batches of this age. */
const LOG_MS = 200;
/** A database that is away is asked again after this time, for as long as the run is ours. */
const PERSIST_AGAIN_MS = 1_000;
/** Output kept of one execution; the middle of more is dropped. */
const OUTPUT_BYTES_MAX = 4 * 1_048_576;

/** The command that runs when the operator configured none. */
export const EXAMPLE_COMMAND = ['/bin/sh', fileURLToPath(new URL('./example-agent.sh', import.meta.url))];

export interface SupervisionParts {
  config: Config;
  runs: RunStore;
  deliveries: DeliveryStore;
  attachments: AttachmentStore;
  artifacts: ArtifactStore;
  secrets: SecretReader;
  nowMs(): number;
  newId(): string;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
  isDiskLow(): boolean;
  log: Log;
  run: ClaimedRun;
  sandbox: Promise<Sandbox>;
  builtInAgent: BuiltInAgent;
  /** Folder of all workspaces. */
  root: string;
  leaseMs: number;
}

/** Kind of harness of a resolved configuration; the operator's command where none is named. */
export function harnessOf(agentConfig: string): string {
  return (JSON.parse(agentConfig) as AmbientAgentConfig).harness?.type ?? 'command';
}

/** What a delivery started stays in the strict tier, whoever sends follow-ups. contract 10. */
export function tierOf({ entryId }: ClaimedRun): Tier {
  return entryId === undefined ? 'standard' : 'strict';
}

/** A run that cannot be started as it is asked for; `message` tells its owner what to do. */
class SetupFailed extends Error {}

/** The claim was lost or a cancel came first: nothing more is written. */
const GIVEN_UP = Symbol('given up');

export class Supervision {
  /** Settles, without ever throwing, when the execution is over and written down. */
  readonly done: Promise<void>;
  private readonly parts: SupervisionParts;
  private command: RunningCommand | undefined;
  private workspace: Workspace | undefined;
  /** Values that must not be kept of this run in any form. */
  private secretValues: readonly string[] = [];
  /** How the turn of an agent ended; undefined for a command. */
  private turn: (() => TurnEnd | undefined) | undefined;
  private looking = false;
  private lost = false;
  private endedFor: string | undefined;
  private readonly events: RunEvent[] = [];
  private writing: Promise<void> = Promise.resolve();

  constructor(parts: SupervisionParts) {
    this.parts = parts;
    this.done = this.execute();
  }

  /** Looks now whether the run is still ours and still wanted. */
  look(): void {
    if (this.looking) return;
    this.looking = true;
    void this.renew().finally(() => {
      this.looking = false;
    });
  }

  /** Ends the command for a reason of the service's; the run is FAILED with these words. */
  endFor(reason: string): void {
    this.endedFor = reason;
    void this.command?.cancel();
  }

  /** The service stops: ends the command and leaves the run to the next process. */
  handOver(): void {
    this.lost = true;
    void this.command?.cancel();
  }

  private async execute(): Promise<void> {
    const timers = [setInterval(() => this.look(), LOOK_MS), setInterval(() => void this.flush(), LOG_MS)];
    try {
      const ending = await this.attempt();
      await this.flush();
      if (ending !== GIVEN_UP && !this.lost) await this.finish(ending);
    } catch (error) {
      this.parts.log.fault('an execution could not be written down', error, { run_id: this.parts.run.runId });
    } finally {
      timers.forEach((timer) => clearInterval(timer));
    }
  }

  private async attempt(): Promise<Ending | typeof GIVEN_UP> {
    const { run, runs, sandbox } = this.parts;
    try {
      if (!(await runs.prepare(run))) return GIVEN_UP;
      const means = await sandbox;
      const started = await this.start(means);
      if (started === GIVEN_UP) return cancelledFirst();
      this.command = started;
      if (started.identity !== undefined) await runs.noteProcess(run, JSON.stringify(started.identity), means.kind);
      if (this.lost) await started.cancel();
      this.look(); // a cancel may have come while we were starting
      const end = await started.finished;
      await this.flush(); // whoever watches sees the last words before we look for files
      await this.keepArtifacts();
      return this.endedFor === undefined ? this.toEnding(end) : { state: 'FAILED', message: this.endedFor, errorCode: 'resource_unavailable', retryable: false };
    } catch (error) {
      await this.command?.cancel(); // whatever failed: nothing of it may go on unsupervised
      if (error instanceof SetupFailed) return { state: 'FAILED', message: error.message, errorCode: 'environment_setup_failed', retryable: false };
      this.parts.log.fault('an execution failed inside the service', error, { run_id: run.runId });
      return { state: 'ERROR', message: 'the service failed while it ran this; its log has the details', errorCode: 'internal_error', retryable: true };
    }
  }

  private async start(sandbox: Sandbox): Promise<RunningCommand | typeof GIVEN_UP> {
    const { run, runs, config, root, builtInAgent } = this.parts;
    const harness = harnessOf(run.agentConfig);
    const profile = harness === 'command' ? undefined : profileOf(harness, builtInAgent);
    if (harness !== 'command' && profile === undefined) throw new SetupFailed(`the harness "${harness}" is not available here; use harness type "command" or "builtin", or leave it out`);
    const problem = confinementProblem({ worker: workerOf(profile, config), tier: tierOf(run), walls: sandbox.guarantees, allowUnsandboxed: config.allowUnsandboxed });
    if (problem !== undefined) throw new SetupFailed(problem);
    const payload = await this.payload();
    const secrets = await this.secrets();
    const ownKey = config.agentEnvironment['MILLWRIGHT_AGENT_API_KEY'];
    this.secretValues = [...secrets.map(([, value]) => value), ...(profile?.id === BUILT_IN_ID && ownKey !== undefined ? [ownKey] : [])];
    const begun = await runs.begin(run);
    if (begun === undefined) return GIVEN_UP;
    this.parts.tell(run.runId);
    const files = begun.attachments.map((attachment) => ({ fileName: attachment.fileName, content: () => this.attached(attachment) }));
    const workspace = await prepareWorkspace({
      root, runId: run.runId, epoch: run.epoch, prompt: begun.prompt, payload, attachments: files, owner: ownerOf(sandbox, run.runId),
    });
    this.workspace = workspace;
    const agent = profile && agentExecution({
      profile, workspace, prompt: begun.prompt, config: JSON.parse(run.agentConfig) as AmbientAgentConfig, environment: profile.id === BUILT_IN_ID ? config.agentEnvironment : {},
      secretValues: this.secretValues, nowMs: this.parts.nowMs, onEvent: (event) => void this.events.push(event),
    });
    this.turn = agent?.ended;
    return startCommand({
      command: config.runCommand ?? EXAMPLE_COMMAND,
      ...agent?.spec,
      readOnly: profile?.id === BUILT_IN_ID ? builtInAgent.readOnly : [],
      workspace,
      sandbox,
      env: Object.fromEntries(secrets),
      told: { mode: begun.mode, interactive: run.interactive, conversationId: run.conversationId, parentRunId: run.parentRunId },
      secretValues: this.secretValues,
      network: networkOf({ operator: config.runNetwork, tier: tierOf(run), models: modelHosts(config), repositories: [] }),
      usage: { diskBytesMax: config.runDiskBytesMax, memoryBytesMax: config.runMemoryBytesMax },
      prompt: begun.prompt,
      deadlineMs: config.runTimeoutMs,
      outputBytesMax: OUTPUT_BYTES_MAX,
      onEvent: ({ kind, text, at }) => void this.events.push({ kind, atMs: at, body: JSON.stringify({ text }) }),
    });
  }

  /** What the agent said of its turn, unless its process ended for a reason of ours or could not begin. */
  private toEnding(end: CommandEnd): Ending {
    const turn = this.turn?.();
    return turn === undefined || (end.kind !== 'exited' && end.kind !== 'signalled') ? toEnding(end, this.parts.config.runTimeoutMs) : toTurnEnding(turn);
  }

  private async attached(attachment: StoredAttachment): Promise<Uint8Array> {
    const content = await this.parts.attachments.content(attachment);
    if (content === undefined) throw new Error('a stored attachment is gone');
    return content;
  }

  /** Stores what the run leaves to be kept, before its end is written; what is not kept is said in its log. Changes nothing about the end. */
  private async keepArtifacts(): Promise<void> {
    const { run, artifacts, newId, isDiskLow, log } = this.parts;
    if (this.workspace === undefined || this.lost) return;
    try {
      for await (const found of collectArtifacts(this.workspace, this.secretValues)) {
        if (!found.ok) this.say({ text: found.message });
        else if (isDiskLow()) return this.say({ text: 'files are not kept: the disk of the service is nearly full' });
        else await this.persist(() => artifacts.keep(run, { ...readArtifact(found.folder, found.name, found.content), artifactUid: newId(), content: found.content }));
      }
    } catch (error) {
      log.fault('the files of a run could not be kept', error, { run_id: run.runId });
      this.say({ text: 'files are not kept: the service could not read them' });
    }
  }

  private say(body: { text: string } | { state: string; message: string }): void {
    this.events.push({ kind: 'status', atMs: this.parts.nowMs(), body: JSON.stringify(body) });
  }

  private async payload(): Promise<Uint8Array | undefined> {
    const { run, deliveries } = this.parts;
    const stored = run.entryId === undefined ? undefined : await deliveries.payload(run.entryId);
    return stored && decodePayload(stored);
  }

  /** Named secrets as environment variables of the agent's process; one that is not granted looks like one that does not exist. */
  private async secrets(): Promise<[string, string][]> {
    const { run, secrets } = this.parts;
    const names = ((JSON.parse(run.agentConfig) as AmbientAgentConfig).secrets ?? []).map(({ name }) => name);
    return Promise.all(
      names.map(async (name): Promise<[string, string]> => {
        const value = run.factoryUid === undefined ? undefined : await secrets.value(run.factoryUid, name, 'run');
        if (value === undefined || !isInjectableEnvName(name)) throw new SetupFailed(`the secret ${name} cannot be given to this run: it must exist, be granted for runs and be named like an environment variable`);
        const text = Buffer.from(value).toString('utf8');
        if (!isInjectableValue(text)) throw new SetupFailed(`the secret ${name} cannot be given to this run: only values of 8 characters to 16 KiB can be kept out of its log`);
        return [name, text];
      }),
    );
  }

  private async renew(): Promise<void> {
    const { run, runs, leaseMs, log } = this.parts;
    try {
      const renewed = await runs.renew(run, leaseMs);
      if (renewed === undefined) this.lost = true;
      if (this.command !== undefined && (renewed === undefined || renewed.cancelRequested)) await this.command.cancel();
    } catch (error) {
      log.fault('a lease could not be renewed', error, { run_id: run.runId });
    }
  }

  /** Writes what the agent has said since the last time, in order; what could not be written is kept for the next time. */
  private flush(): Promise<void> {
    this.writing = this.writing.then(async () => {
      const batch = this.events.splice(0);
      if (batch.length === 0) return;
      try {
        await this.parts.runs.append(this.parts.run, batch);
        this.parts.tell(this.parts.run.runId);
      } catch (error) {
        this.events.unshift(...batch);
        this.parts.log.fault('the log of a run could not be written', error, { run_id: this.parts.run.runId });
      }
    });
    return this.writing;
  }

  private async finish(ending: Ending): Promise<void> {
    const { run, runs, tell } = this.parts;
    this.say({ state: ending.state, message: ending.message });
    await this.persist(async () => {
      const batch = this.events.splice(0);
      try {
        await runs.append(run, batch);
      } catch (error) {
        this.events.unshift(...batch);
        throw error;
      }
    });
    await this.persist(() => runs.finish(run, ending));
    tell(run.runId);
  }

  /** The work is done: its end is written however long the database is away, unless the run is taken from us. */
  private async persist(write: () => Promise<unknown>): Promise<void> {
    while (!this.lost) {
      try {
        await write();
        return;
      } catch (error) {
        this.parts.log.fault('the end of an execution could not be written yet', error, { run_id: this.parts.run.runId });
        await sleep(PERSIST_AGAIN_MS);
      }
    }
  }
}

/** Who gives the commands: the demo model only ever those of ours. */
function workerOf(profile: LaunchProfile | undefined, config: Config): 'ours' | 'command' | 'agent' {
  if (profile === undefined) return config.runCommand === undefined ? 'ours' : 'command';
  const isDemo = profile.id === BUILT_IN_ID && config.agentEnvironment['MILLWRIGHT_AGENT_MODEL'] === undefined;
  return isDemo ? 'ours' : 'agent';
}

/** Where the model of the built-in agent is. */
function modelHosts(config: Config): HostPattern[] {
  const pattern = hostPatternOfUrl(config.agentEnvironment['MILLWRIGHT_AGENT_BASE_URL'] ?? '');
  return pattern === undefined ? [] : [pattern];
}

function cancelledFirst(): Ending {
  return { state: 'CANCELLED', message: 'cancelled before it started' };
}

