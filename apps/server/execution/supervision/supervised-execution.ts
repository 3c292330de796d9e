/**
 * What a supervision asks of its executor for one execution, and what it does when it hears of it. contract §3, §10.
 */
import type { Task } from '../../store/runs/run-tasks.ts';
import type { CountedCall } from '#agents';
import type { RunEnd } from '#runs';
import type { AgentReports } from '../agent/agent-events.ts';
import type { AgentActivity, AgentSession } from '../agent/agent-session.ts';
import type {
  AgentLaunch,
  ExecutionOutput,
  ExecutionPlace,
  ExecutionRequest,
  ExecutionTask,
  RunFacts,
  StartedProcess,
} from '../executor.ts';
import type { ExecutionSpec } from '../preparation/execution-spec.ts';
import { attachmentFiles, supervisedAgent } from './supervised-agent.ts';
import type { RunEventWriter } from './run-event-writer.ts';
import type { SupervisionDeps } from './supervisor.ts';

/** The task that an execution begins with, or the end of one that does not begin. */
export type Beginning = { task: Task; end?: undefined } | { task?: undefined; end: RunEnd };

export interface SupervisedExecutionDeps extends SupervisionDeps {
  spec: ExecutionSpec;
  signal: AbortSignal;
  events: RunEventWriter;
  reports: AgentReports;
  activity: AgentActivity;
  /** Takes what is to be done. */
  takeTask(): Promise<Beginning>;
  /** The work begins now. */
  onWork(): void;
  /** Something was started: a cancel may have come meanwhile. */
  onStarted(): void;
  /** Something has ended: it may have been ended by whoever took the run over. */
  onProcessEnd(): void;
  /** The store says that the run is ours no longer. */
  onLost(): void;
}

export class SupervisedExecution implements ExecutionRequest {
  readonly runId: string;
  readonly epoch: number;
  readonly spec: ExecutionSpec;
  readonly facts: RunFacts;
  readonly signal: AbortSignal;
  /** Undefined while no agent is spoken with. */
  agent: AgentSession | undefined;
  /** The end of an execution that did not begin. */
  unbegun: RunEnd | undefined;
  private readonly deps: SupervisedExecutionDeps;
  private task: Task | undefined;

  constructor(deps: SupervisedExecutionDeps) {
    const { runId, epoch, interactive, conversationId, parentRunId } = deps.run;
    this.deps = deps;
    this.runId = runId;
    this.epoch = epoch;
    this.spec = deps.spec;
    this.facts = { interactive, conversationId, parentRunId };
    this.signal = deps.signal;
  }

  say(text: string): void {
    this.deps.events.say({ text });
  }

  onOutput({ kind, text, at }: ExecutionOutput): void {
    this.deps.events.push({ kind, atMs: at, body: JSON.stringify({ text }) });
  }

  onModelCall(used: CountedCall): void {
    this.deps.events.usage?.counted(used);
  }

  modelRefusal(): string | undefined {
    return this.deps.events.usage?.refusal();
  }

  onProcess(started: StartedProcess): Promise<void> {
    const noted = this.noteProcess(started);
    this.deps.onStarted();
    return noted;
  }

  onProcessEnd(): void {
    this.deps.onProcessEnd();
  }

  async begin(): Promise<ExecutionTask | undefined> {
    const { attachments, publish, takeTask } = this.deps;
    const { task, end } = await takeTask();
    [this.task, this.unbegun] = [task, end];
    if (task === undefined) return undefined;
    publish(this.runId);
    return { prompt: task.prompt, mode: task.mode, attachments: attachmentFiles(attachments, task) };
  }

  work(place: ExecutionPlace): AgentLaunch | undefined {
    const { task, signal } = this;
    if (task === undefined) throw new Error('work begins without a task');
    this.agent = supervisedAgent({ ...this.deps, place, task, mayGoOn: () => !signal.aborted });
    this.deps.onWork();
    return this.agent?.launch;
  }

  /** Remembers what runs, for whoever takes the run over; until then it is ours alone to end. */
  private async noteProcess({ process, sandbox, finished }: StartedProcess): Promise<void> {
    const { run, runs, events, onLost } = this.deps;
    if (process === undefined) return;
    let hasEnded = false;
    void finished.then(() => (hasEnded = true));
    const noted = await events.retryWhileOwned(
      () => runs.noteProcess(run, process, sandbox),
      () => !hasEnded,
    );
    if (noted?.answer === false) onLost();
  }
}
