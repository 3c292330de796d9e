/** The names of harnesses that an installation has. contract §3.4 (AmbientAgentConfig), §8.6. */
import { BUILT_IN_HARNESS, HOSTED_HARNESS_NAMES } from './agent-config.ts';
import { LAUNCH_PROFILES } from './built-in-profiles.ts';
import { COMMAND_HARNESS } from './launch-profiles.ts';

/** What `harness.type` can name, unless the operator has profiles of its own in a file. */
export const HARNESS_NAMES: readonly string[] = [
  BUILT_IN_HARNESS,
  COMMAND_HARNESS,
  ...LAUNCH_PROFILES.map(({ id }) => id),
  ...HOSTED_HARNESS_NAMES,
];
