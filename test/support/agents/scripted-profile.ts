/** The scripted agent as a service knows it, and the prompts that it obeys. */
import { profilesWith, type LaunchProfile, type OwnProfile } from '#agents';
import { nodeArguments, programFiles } from '../processes/node-arguments.ts';
import type { ScriptStep } from './scripted-agent.ts';

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
      ...nodeArguments('test/support/agents/scripted-agent.ts', { withLibs: false }),
      ability,
    ],
    resume: ability,
    credentials: [],
    readOnly: programFiles(),
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
