/**
 * The agent of one execution with everything around it: who decides its permission requests, follow-ups with their
 * files, what was said before. contract §3.8 (Follow-up).
 */
import { IDLE_MINUTES } from '#agents';
import { isConfining } from '#isolation';
import type { AttachmentStore } from '../../store/runs/run-files.ts';
import type { Task } from '../../store/runs/run-tasks.ts';
import type { AgentReports } from '../agent/agent-events.ts';
import { type AgentActivity, AgentSession } from '../agent/agent-session.ts';
import { conversationDigest } from '../agent/conversation-digest.ts';
import { FollowupWait } from '../agent/followup-wait.ts';
import { PermissionBroker } from '../agent/permission-broker.ts';
import type { AttachmentFile, ExecutionPlace } from '../executor.ts';
import type { ExecutionSpec } from '../preparation/execution-spec.ts';
import type { RunEventWriter } from './run-event-writer.ts';
import type { SupervisionDeps } from './supervisor.ts';

export interface SupervisedAgentDeps extends SupervisionDeps {
  events: RunEventWriter;
  reports: AgentReports;
  activity: AgentActivity;
  spec: ExecutionSpec;
  place: ExecutionPlace;
  task: Task;
  /** The execution is not stopped: it may take on more. */
  mayGoOn(): boolean;
}

/** Undefined: no agent, but a command works on it. */
export function supervisedAgent(deps: SupervisedAgentDeps): AgentSession | undefined {
  const { run, histories, nowMs, events, reports, activity, task, place, log } = deps;
  const { profile, config, skills, harnessEnv, secretValues, tier, mcpServers } = deps.spec;
  if (profile === undefined) return undefined;
  const texts = task.parts.map(({ text }) => text);
  return new AgentSession({
    profile,
    place,
    config,
    skills,
    mcpServers,
    task,
    environment: harnessEnv,
    secretValues,
    nowMs,
    reports,
    activity,
    usage: events.usage,
    isAsking: run.interactive && tier === 'standard',
    hasPast: run.epoch > 1 || run.conversationId !== run.runId,
    permissions: permissionsOf(deps),
    conversationDigest: () => conversationDigest(histories, run, texts),
    takeFollowups: (isInTurn) => takeFollowups(deps, isInTurn),
    followupWait: (take) => followupWait(deps, take),
    isInterruptOpen: (interruptId) => isInterruptOpen(deps, interruptId),
    onEvent: (event) => events.push(event),
    onFault: (error) => log.fault('agent conversation write failed', error, { run_id: run.runId }),
  });
}

/** Files of what an execution takes on, each read when it is written. */
export function attachmentFiles(store: AttachmentStore, { attachments }: Task): AttachmentFile[] {
  return attachments.map((attachment) => ({
    fileName: attachment.fileName,
    content: async () => {
      const content = await store.content(attachment);
      if (content === undefined) throw new Error('a stored attachment is gone');
      return content;
    },
  }));
}

/** What people have said to the run since, with its files where the agent finds them. */
async function takeFollowups(
  { run, runs, attachments, events, place, mayGoOn }: SupervisedAgentDeps,
  isInTurn: boolean,
): Promise<Task | undefined> {
  if (!mayGoOn()) return undefined;
  const task = await events.persist(async () => {
    await events.flush(); // what was said before belongs to the turn before
    return runs.takeFollowups(run, isInTurn);
  });
  if (task === undefined) return undefined;
  await place.addAttachments(attachmentFiles(attachments, task));
  events.say({ text: 'what came meanwhile goes to the agent' });
  return task;
}

/** The wait of an interrupted agent; who watches the run sees that it waits. */
function followupWait(
  { run, interrupts, events, slot, publish, spec: { config } }: SupervisedAgentDeps,
  take: () => Promise<Task | undefined>,
): FollowupWait {
  return new FollowupWait({
    block: async () => {
      await events.flush();
      const blocked = await events.retryWhileOwned(() => interrupts.block(run));
      publish(run.runId);
      return blocked?.answer === true;
    },
    unblock: async () => void (await events.retryWhileOwned(() => interrupts.unblock(run))),
    take,
    idleMinutes: config.idle_timeout_minutes ?? IDLE_MINUTES,
    slot,
  });
}

async function isInterruptOpen(
  { run, interrupts, events }: SupervisedAgentDeps,
  interruptId: string,
): Promise<boolean> {
  return (await events.retryWhileOwned(() => interrupts.isOpen(run, interruptId)))?.answer === true;
}

function permissionsOf({
  run,
  slot,
  permissions,
  nowMs,
  newId,
  publish,
  log,
  events,
  spec: { config, tier, secretValues, sandbox },
}: SupervisedAgentDeps): PermissionBroker {
  return new PermissionBroker({
    store: permissions,
    claim: run,
    situation: {
      tier,
      isConfined: isConfining(sandbox.guarantees),
      interactive: run.interactive,
      idleMinutes: config.idle_timeout_minutes ?? IDLE_MINUTES,
    },
    secretValues,
    nowMs,
    newId,
    onEvent: (event) => events.push(event),
    flush: () => events.flush(),
    retryWhileOwned: (write) => events.persist(write),
    publish: () => publish(run.runId),
    slot,
    onFault: (error) => log.fault('permission answer read failed', error, { run_id: run.runId }),
  });
}
