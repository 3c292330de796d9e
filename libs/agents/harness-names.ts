/** The names of harnesses that an installation has. contract §3.4 (AmbientAgentConfig), §8.6. */
import { BUILT_IN_HARNESS, harnessNamed, HOSTED_HARNESS_NAMES, type ServerAgent } from './agent-config.ts';
import { LAUNCH_PROFILES } from './built-in-profiles.ts';
import { COMMAND_HARNESS } from './launch-profiles.ts';

/** What `harness.type` can name, unless the operator has profiles of its own in a file. */
export const HARNESS_NAMES: readonly string[] = [
  BUILT_IN_HARNESS,
  COMMAND_HARNESS,
  ...LAUNCH_PROFILES.map(({ id }) => id),
  ...HOSTED_HARNESS_NAMES,
];

/** What runs get on the machine where they are worked on. contract §8.4. */
export interface AgentAvailability {
  /** Harness of a run that names none. */
  harness: string;
  /** Names of the agent that comes with the service. */
  builtIn: readonly string[];
  /** That has the demo model and no other. */
  hasDemoModelOnly: boolean;
  /** Harnesses that can be named and not be had → what brings them, for people. */
  missing: Readonly<Record<string, string>>;
  installed: readonly string[];
}

/** `found`: the agents that can be installed. */
export function agentAvailability(
  found: readonly { id: string; installed: boolean; install: string }[],
  { harness, builtInModel }: ServerAgent,
): AgentAvailability {
  const hasCommand = harness === COMMAND_HARNESS;
  const aliases = HOSTED_HARNESS_NAMES.flatMap((name) =>
    found.filter(({ id }) => id === harnessNamed(name)).map((agent) => ({ ...agent, id: name })),
  );
  const absent = [...found, ...aliases].filter(({ installed }) => !installed);
  return {
    harness,
    builtIn: [BUILT_IN_HARNESS, ...HOSTED_HARNESS_NAMES.filter((name) => harnessNamed(name) === BUILT_IN_HARNESS)],
    hasDemoModelOnly: builtInModel === DEMO_MODEL,
    missing: Object.fromEntries([
      ...absent.map(({ id, install }) => [id, `install it on the machine of the service (${install})`]),
      ...(hasCommand ? [] : [[COMMAND_HARNESS, 'set MILLWRIGHT_RUN_COMMAND']]),
    ]) as Record<string, string>,
    installed: [
      BUILT_IN_HARNESS,
      ...(hasCommand ? [COMMAND_HARNESS] : []),
      ...found.filter(({ installed }) => installed).map(({ id }) => id),
    ],
  };
}

/** What the agent that comes with the service calls the model that it has without any. */
export const DEMO_MODEL = 'demo';
