/**
 * The agents that runs of this process may get: the one that comes with the service, and those that the operator may
 * have installed.
 */
import { agentAvailability, type AgentAvailability, type LaunchProfile, type ServerAgent } from '#agents';
import type { Config } from '../../config/config.ts';
import { profileOf, type BuiltInAgent } from '../agent/agents.ts';
import { agentsFound } from '../agent/profiles.ts';
import { harnessOf, serverAgent } from './execution-spec.ts';

/** For this long a program counts as there, or not: passes of many factories ask one after the other. */
const FOUND_MS = 10_000;

export class RunAgents {
  /** What runs get that name nothing themselves. */
  readonly server: ServerAgent;
  private found: { answer: Promise<AgentAvailability>; atMs: number } | undefined;

  constructor(
    private readonly config: Config,
    readonly builtIn: BuiltInAgent,
    readonly profiles: readonly LaunchProfile[],
  ) {
    this.server = serverAgent(config);
  }

  /** Whether an agent works in turns on a resolved configuration, and not a command; JSON text. */
  takesInterrupts(agentConfig: string): boolean {
    return harnessOf(agentConfig) !== 'command';
  }

  /** Whether the agent of a resolved configuration takes a message while it works; JSON text. */
  takesPromptsInTurn(agentConfig: string): boolean {
    return profileOf(harnessOf(agentConfig), this.builtIn, this.profiles)?.concurrentPrompt === true;
  }

  /** Which agents and models are to be had; undefined where no runs are worked on. */
  async available(): Promise<AgentAvailability | undefined> {
    if (!this.config.roles.has('worker')) return undefined;
    const nowMs = performance.now();
    if (this.found === undefined || nowMs - this.found.atMs > FOUND_MS) {
      const found = agentsFound(this.profiles, this.config.searchPath);
      this.found = { answer: found.then((agents) => agentAvailability(agents, this.server)), atMs: nowMs };
    }
    return this.found.answer;
  }
}
