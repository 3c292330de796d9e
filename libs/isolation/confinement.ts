/** Whether a run may start with the isolation available on its machine. contract §10. */
import type { Tier } from './egress.ts';

export interface ConfinementRequest {
  /**
   * What works: the service's own example or demo, the operator's command, or an agent that takes commands from prompt,
   * repository or payload.
   */
  worker: 'ours' | 'command' | 'agent';
  tier: Tier;
  /** Which walls were seen to hold. */
  walls: { processes: boolean; files: boolean; network: boolean };
  /** MILLWRIGHT_ALLOW_UNSANDBOXED. */
  allowUnsandboxed: boolean;
}

/**
 * Whether commands that come from an API, a repository or a payload may run behind these walls. The service's user is
 * tolerated: what that user could do to the service needs files, processes or network in common. contract §10.
 */
export function isConfining({ processes, files, network }: ConfinementRequest['walls']): boolean {
  return processes && files && network;
}

/** Why a run may not start here, in words for its owner; undefined: it may. */
export function confinementProblem({ worker, tier, walls, allowUnsandboxed }: ConfinementRequest): string | undefined {
  if (allowUnsandboxed || worker === 'ours') return undefined;
  if (worker === 'agent' && !isConfining(walls))
    return `an agent takes commands, and this machine has no complete sandbox for them; ${WAYS_OUT}`;
  // What a delivery started must not reach further than its policy, whoever wrote the command.
  return tier === 'strict' && !walls.network
    ? `a delivery started this run, and this machine cannot keep it from the network; ${WAYS_OUT}`
    : undefined;
}

const WAYS_OUT = 'install bubblewrap where the service runs, or let its operator set MILLWRIGHT_ALLOW_UNSANDBOXED=true';
