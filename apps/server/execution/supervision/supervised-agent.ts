/** The agent of one execution with everything around it: the desk for its questions, follow-ups with their files, what was said before. contract 3 (Follow-up). */
import { IDLE_MINUTES } from '#agents';
import { isConfining } from '#isolation';
import type { AttachmentStore } from '../../store/runs/run-files.ts';
import type { Task } from '../../store/runs/run-tasks.ts';
import type { AgentReports } from '../agent/agent-artifacts.ts';
import { permissionBroker, type PermissionBroker } from '../agent/permission-broker.ts';
import { agentExecution, type AgentExecution } from '../agent/agents.ts';
import type { ExecutionSpec } from '../preparation/execution-spec.ts';
import type { SupervisionLog } from './supervision-log.ts';
import type { SupervisionDeps } from './supervisor.ts';
import { conversationDigest } from '../agent/conversation-digest.ts';
import { putInputs, type Workspace, type WorkspaceInputs } from '../workspace/workspaces.ts';

export interface SupervisedAgentDeps extends SupervisionDeps {
  told: SupervisionLog;
  reports: AgentReports;
  outfit: ExecutionSpec;
  workspace: Workspace;
  task: Task;
  /** The execution is not to end: it may take on more. */
  mayGoOn(): boolean;
}

/** Undefined: no agent, but a command works on it. */
export function supervisedAgent(parts: SupervisedAgentDeps): AgentExecution | undefined {
  const { run, histories, nowMs, told, reports, task, workspace, log } = parts;
  const { profile, config, skill, own, secretValues, tier, mcpServers } = parts.outfit;
  return (
    profile &&
    agentExecution({
      profile,
      workspace,
      config,
      skill,
      mcpServers,
      task,
      environment: own,
      secretValues,
      nowMs,
      reports,
      usage: told.usage,
      isAsking: run.interactive && tier === 'standard',
      hasPast: run.epoch > 1 || run.conversationId !== run.runId,
      desk: deskOf(parts),
      toldSoFar: () =>
        conversationDigest(
          histories,
          run,
          task.parts.map(({ text }) => text),
        ),
      takeFollowups: () => takenFollowups(parts),
      onEvent: (event) => told.push(event),
      onFault: (error) =>
        log.fault('something of a conversation with an agent could not be kept', error, { run_id: run.runId }),
    })
  );
}

/** Files of what an execution takes on, each read when it is written. */
export function filesOf(store: AttachmentStore, { attachments }: Task): NonNullable<WorkspaceInputs['attachments']> {
  return attachments.map((attachment) => ({
    fileName: attachment.fileName,
    content: async () => {
      const content = await store.content(attachment);
      if (content === undefined) throw new Error('a stored attachment is gone');
      return content;
    },
  }));
}

/** What people have said to the run since, with its files in their place. */
async function takenFollowups({
  run,
  runs,
  attachments,
  told,
  workspace,
  mayGoOn,
}: SupervisedAgentDeps): Promise<Task | undefined> {
  if (!mayGoOn()) return undefined;
  const task = await told.persist(async () => {
    await told.flush(); // what was said before belongs to the turn before
    return runs.takeFollowups(run);
  });
  if (task === undefined) return undefined;
  await putInputs(workspace, { attachments: filesOf(attachments, task) });
  told.say({ text: 'what came meanwhile goes to the agent' });
  return task;
}

function deskOf({
  run,
  permissions,
  nowMs,
  newId,
  tell,
  log,
  told,
  outfit: { config, tier, secretValues, sandbox },
}: SupervisedAgentDeps): PermissionBroker {
  return permissionBroker({
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
    onEvent: (event) => told.push(event),
    flush: () => told.flush(),
    insist: (write) => told.persist(write),
    tell: () => tell(run.runId),
    onFault: (error) =>
      log.fault('answers to the questions of a run could not be looked for', error, { run_id: run.runId }),
  });
}
