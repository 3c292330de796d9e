/**
 * The agents that runs of this process may get: the one that comes with the service, and those that the operator may
 * have installed.
 */
import type { LaunchProfile, ServerAgent } from '#agents';
import type { Config } from '../../config/config.ts';
import { profileOf, type BuiltInAgent } from '../agent/agents.ts';
import { harnessOf, serverAgent } from './execution-spec.ts';

export class RunAgents {
  /** What runs get that name nothing themselves. */
  readonly server: ServerAgent;
  constructor(
    config: Config,
    readonly builtIn: BuiltInAgent,
    readonly profiles: readonly LaunchProfile[],
  ) {
    this.server = serverAgent(config);
  }

  /** Whether the agent of a resolved configuration takes a message while it works; JSON text. */
  takesPromptsInTurn(agentConfig: string): boolean {
    return profileOf(harnessOf(agentConfig), this.builtIn, this.profiles)?.concurrentPrompt === true;
  }
}
