/** The agent that misbehaves as its model says: what a run's `model_id` is, it does. */
import { fileURLToPath } from 'node:url';
import { profilesWith, type LaunchProfile } from '#agents';

const PROGRAM = fileURLToPath(new URL('./hostile-agent.mjs', import.meta.url));

export const HOSTILE_KEY = 'hostile-key-0123456789';

/** Beside the built-in profiles. */
export const HOSTILE_PROFILES: readonly LaunchProfile[] = profilesWith([
  {
    id: 'hostile',
    command: [process.execPath, PROGRAM],
    modelVia: { kind: 'flag', flag: '--model' },
    secretEnv: { HOSTILE_KEY },
  },
]);
