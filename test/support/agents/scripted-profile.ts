/** The scripted agent as a service knows it, and the prompts that it obeys. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { profilesWith, type LaunchProfile, type OwnProfile } from '#agents';
import type { ScriptStep } from './scripted-agent.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** What an operator would write about it. */
export function scriptedProfile(
  id = 'scripted',
  more: Partial<OwnProfile> = {},
  ability: 'resume' | 'load' | 'none' = 'resume',
): OwnProfile {
  return {
    id,
    command: [
      process.execPath,
      '--import',
      join(ROOT, 'test/support/processes/typescript-loader.mjs'),
      join(ROOT, 'test/support/agents/scripted-agent.ts'),
      ability,
    ],
    resume: ability,
    credentials: [],
    readOnly: ['test', 'node_modules', 'package.json'].map((name) => join(ROOT, name)),
    install: 'it is here',
    ...more,
  };
}

/** Profiles for a service inside the test. */
export function scriptedProfiles(...profiles: OwnProfile[]): LaunchProfile[] {
  return profilesWith(profiles.length === 0 ? [scriptedProfile()] : profiles);
}

/** A prompt with a script in it. */
export function script(...steps: ScriptStep[]): string {
  return `Do this.\n\n\`\`\`script\n${JSON.stringify(steps)}\n\`\`\`\n`;
}
