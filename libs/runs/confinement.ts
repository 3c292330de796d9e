/** Whether a run may start with the walls that its machine has. contract 10. */
import type { Tier } from './egress.ts';

export interface ConfinementWish {
  /** What works: the service's own example or demo, the operator's command, or an agent that takes commands from prompt, repository or payload. */
  worker: 'ours' | 'command' | 'agent';
  tier: Tier;
  /** Which walls were seen to hold. */
  walls: { processes: boolean; files: boolean; network: boolean };
  /** MILLWRIGHT_ALLOW_UNSANDBOXED. */
  allowUnsandboxed: boolean;
}

/** Why a run may not start here, in words for its owner; undefined: it may. */
export function confinementProblem({ worker, tier, walls, allowUnsandboxed }: ConfinementWish): string | undefined {
  if (allowUnsandboxed || worker === 'ours') return undefined;
  const isConfined = walls.processes && walls.files && walls.network;
  if (worker === 'agent' && !isConfined) return `an agent takes commands, and this machine has no complete sandbox for them; ${WAYS_OUT}`;
  // What a delivery started must not reach further than its policy, whoever wrote the command.
  return tier === 'strict' && !walls.network ? `a delivery started this run, and this machine cannot keep it from the network; ${WAYS_OUT}` : undefined;
}

const WAYS_OUT = 'install bubblewrap where the service runs, or let its operator set MILLWRIGHT_ALLOW_UNSANDBOXED=true';
