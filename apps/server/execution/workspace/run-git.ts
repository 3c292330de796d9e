/** How git is used inside a run's sandbox, by its own user: with a configuration of the service's, and none of the machine's or the run's. contract 10. */
import { join } from 'node:path';
import type { CommandSpec } from '../command/command.ts';
import { writeInput, type Workspace } from './workspaces.ts';

/** No template or hook is run, and a repository may be somebody else's. */
const CONFIG =
  '[safe]\n\tdirectory = *\n[core]\n\thooksPath = /dev/null\n[init]\n\ttemplateDir =\n[submodule]\n\trecurse = false\n[advice]\n\tdetachedHead = false\n';

/** What a command with git sees and has for that. Nothing of the run may be alive. */
export async function sandboxedGit({ folder }: Workspace): Promise<Required<Pick<CommandSpec, 'shown' | 'own'>>> {
  const config = join(folder, 'git-config');
  await writeInput(config, CONFIG);
  return {
    shown: [{ from: config, at: config }],
    own: { GIT_CONFIG_GLOBAL: config, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0', GIT_ALLOW_PROTOCOL: 'file' },
  };
}
