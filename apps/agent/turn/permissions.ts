/** Asks the client whether a call may run. */
import {
  type AgentContext,
  methods,
  type PermissionOption,
  type RequestPermissionResponse,
  type ToolCallUpdate,
} from '@agentclientprotocol/sdk';
import { untilAborted } from './aborts.ts';

export type Permission = 'allowed' | 'always' | 'refused';

const OPTIONS: readonly (PermissionOption & { answer: Permission })[] = [
  { optionId: 'allow_once', name: 'Allow', kind: 'allow_once', answer: 'allowed' },
  {
    optionId: 'allow_always',
    name: 'Allow every call of this tool in this session',
    kind: 'allow_always',
    answer: 'always',
  },
  { optionId: 'reject_once', name: 'Refuse', kind: 'reject_once', answer: 'refused' },
];

/**
 * The client's answer. A client that cannot be asked, or that answers `cancelled` without cancelling the turn, refuses.
 * Rejects when the turn is cancelled.
 */
export async function askPermission(
  client: AgentContext,
  sessionId: string,
  toolCall: ToolCallUpdate,
  signal: AbortSignal,
): Promise<Permission> {
  const options = OPTIONS.map(({ optionId, name, kind }) => ({ optionId, name, kind }));
  const asked: Promise<RequestPermissionResponse> = client.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall,
    options,
  });
  const outcome = await untilAborted(
    asked.then(
      (answer) => answer.outcome,
      () => undefined,
    ),
    signal,
  );
  if (outcome?.outcome !== 'selected') return 'refused';
  const { optionId } = outcome;
  return OPTIONS.find((option) => option.optionId === optionId)?.answer ?? 'refused';
}
