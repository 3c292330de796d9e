/** One execution from claim to end: outfit, workspace, set-up, process, log, lease, cancel. spec: States and transitions; contract 3, 10. */
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { BUILT_IN_HARNESS, readArtifact } from '#runs';
import type { Log } from '../log.ts';
import type { ArtifactStore } from '../store/artifacts.ts';
import type { AttachmentStore, StoredAttachment } from '../store/attachments.ts';
import type { RunEvent } from '../store/run-log.ts';
import type { Task } from '../store/run-tasks.ts';
import type { ClaimedRun, Ending, RunStore } from '../store/runs.ts';
import { collectArtifacts } from './artifact-collection.ts';
import type { TurnEnd } from './agent-conversation.ts';
import { agentExecution, toTurnEnding, type AgentExecution } from './agents.ts';
import { startCommand, type CommandEnd, type CommandSpec, type RunningCommand } from './command.ts';
import { toEnding } from './endings.ts';
import type { SetUp } from './environments.ts';
import { lastLines } from './last-lines.ts';
import { fitOut, SetupFailed, type Outfit, type OutfitParts } from './outfits.ts';
import { ownerOf } from './sandboxes.ts';
import { prepareWorkspace, putInputs, type Workspace } from './workspaces.ts';

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

export interface SupervisionParts extends OutfitParts {
  runs: RunStore;
  attachments: AttachmentStore;
  artifacts: ArtifactStore;
  nowMs(): number;
  newId(): string;
  /** Tells who watches a run that something new is stored of it. */
  tell(runId: string): void;
  isDiskLow(): boolean;
  log: Log;
  run: ClaimedRun;
  /** Folder of all workspaces. */
  root: string;
  leaseMs: number;
}

/** The claim was lost or a cancel came first: nothing more is written. */
const GIVEN_UP = Symbol('given up');

/** The service decided that an execution ends. */
type EndedFor = Pick<Ending, 'message' | 'errorCode'>;

export class Supervision {
  /** Settles, without ever throwing, when the execution is over and written down. */
  readonly done: Promise<void>;
  private readonly parts: SupervisionParts;
  private command: RunningCommand | undefined;
  private workspace: Workspace | undefined;
  private secretValues: readonly string[] = [];
  private looking = false;
  private lost = false;
  private endedFor: EndedFor | undefined;
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
  endFor(message: string, errorCode = 'resource_unavailable'): void {
    this.endedFor ??= { message, errorCode };
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
    const { run, runs } = this.parts;
    try {
      if (!(await runs.prepare(run))) return GIVEN_UP;
      const outfit = await fitOut(this.parts, run);
      this.secretValues = outfit.secretValues;
      const workspace = await this.madeWorkspace(outfit);
      const setUp = await this.setUp(outfit, workspace);
      if (!setUp.ok) return 'ended' in setUp ? this.toEnding(setUp.ended, undefined, outfit) : unready(setUp.message);
      const task = await runs.begin(run);
      if (task === undefined) return cancelledFirst();
      this.parts.tell(run.runId);
      await this.hand(task, workspace, outfit);
      const { end, turn } = await this.work(task, workspace, outfit);
      await this.flush(); // whoever watches sees the last words before we look for files
      await this.keepArtifacts();
      return this.toEnding(end, turn, outfit);
    } catch (error) {
      await this.command?.cancel(); // whatever failed: nothing of it may go on unsupervised
      if (error instanceof SetupFailed) return unready(error.message);
      this.parts.log.fault('an execution failed inside the service', error, { run_id: run.runId });
      return { state: 'ERROR', message: 'the service failed while it ran this; its log has the details', errorCode: 'internal_error', retryable: true };
    }
  }

  private async madeWorkspace({ sandbox }: Outfit): Promise<Workspace> {
    const { run, root } = this.parts;
    return (this.workspace = await prepareWorkspace({ root, runId: run.runId, epoch: run.epoch, owner: ownerOf(sandbox, run.runId) }));
  }

  /** Skill and environment, before the run takes its prompt. */
  private async setUp(outfit: Outfit, workspace: Workspace): Promise<SetUp> {
    const { skills, environments } = this.parts;
    const { skill, environment, profile } = outfit;
    if (skill !== undefined) await skills.put(skill, workspace, profile?.skillFolders ?? []);
    if (environment === undefined) return { ok: true };
    return environments.setUp(environment, {
      workspace,
      say: (text) => this.say({ text }),
      run: async (command, more) => {
        const told = lastLines();
        const spec = this.commandSpec(outfit, workspace, (text) => told.take(text));
        const end = await this.finished({ ...spec, ...more, command, operatorWords: [], prompt: '', deadlineMs: this.parts.config.setupTimeoutMs, env: { ...spec.env, ...more?.env } });
        return { end, lastLines: told.text() };
      },
    });
  }

  private async hand({ prompt, attachments }: Pick<Task, 'prompt' | 'attachments'>, workspace: Workspace, outfit: Outfit): Promise<void> {
    const files = attachments.map((attachment) => ({ fileName: attachment.fileName, content: () => this.attached(attachment) }));
    await putInputs(workspace, { prompt, payload: outfit.payload, attachments: files });
  }

  /** The agent, or the command, does what it was given. */
  private async work(task: Task, workspace: Workspace, outfit: Outfit): Promise<{ end: CommandEnd; turn?: TurnEnd }> {
    const { run, config, builtInAgent } = this.parts;
    const agent = this.agentFor(task, workspace, outfit);
    const end = await this.finished({
      ...this.commandSpec(outfit, workspace),
      command: config.runCommand ?? EXAMPLE_COMMAND,
      ...agent?.spec,
      readOnly: outfit.profile?.id === BUILT_IN_HARNESS ? builtInAgent.readOnly : (outfit.profile?.readOnly ?? []),
      told: { mode: task.mode, interactive: run.interactive, conversationId: run.conversationId, parentRunId: run.parentRunId },
      prompt: task.prompt,
      deadlineMs: deadlineMs(outfit),
    });
    return { end, turn: agent?.ended() };
  }

  private agentFor(task: Task, workspace: Workspace, { profile, config, skill, own, secretValues }: Outfit): AgentExecution | undefined {
    return profile && agentExecution({
      profile, workspace, config, skill, prompt: task.prompt, environment: own, secretValues,
      nowMs: this.parts.nowMs, onEvent: (event) => void this.events.push(event),
    });
  }

  /** What every command of this run has. */
  private commandSpec({ sandbox, secrets, secretValues, network }: Outfit, workspace: Workspace, onText?: (text: string) => void): Omit<CommandSpec, 'command' | 'prompt' | 'deadlineMs'> {
    const { runDiskBytesMax: diskBytesMax, runMemoryBytesMax: memoryBytesMax } = this.parts.config;
    return {
      workspace, sandbox, network, secretValues, env: secrets, usage: { diskBytesMax, memoryBytesMax }, outputBytesMax: OUTPUT_BYTES_MAX,
      onEvent: ({ kind, text, at }) => {
        if (kind !== 'status') onText?.(text);
        this.events.push({ kind, atMs: at, body: JSON.stringify({ text }) });
      },
    };
  }

  /** Runs one command of this execution to its end; a cancel, a loss or a deadline ends it. */
  private async finished(spec: CommandSpec): Promise<CommandEnd> {
    const { run, runs } = this.parts;
    const command = await startCommand(spec);
    this.command = command;
    if (command.identity !== undefined) await runs.noteProcess(run, JSON.stringify(command.identity), spec.sandbox.kind);
    if (this.lost || this.endedFor !== undefined) await command.cancel();
    this.look(); // a cancel may have come while we were starting
    return command.finished;
  }

  /** What the agent said of its turn, unless its process ended for a reason of ours or could not begin. */
  private toEnding(end: CommandEnd, turn: TurnEnd | undefined, outfit: Outfit): Ending {
    if (this.endedFor !== undefined) return { state: 'FAILED', ...this.endedFor, retryable: false };
    return turn === undefined || (end.kind !== 'exited' && end.kind !== 'signalled') ? toEnding(end, deadlineMs(outfit)) : toTurnEnding(turn);
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

/** Milliseconds of wall-clock time of one execution. */
function deadlineMs({ limits }: Outfit): number {
  return (limits.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
}

function unready(message: string): Ending {
  return { state: 'FAILED', message, errorCode: 'environment_setup_failed', retryable: false };
}

function cancelledFirst(): Ending {
  return { state: 'CANCELLED', message: 'cancelled before it started' };
}
