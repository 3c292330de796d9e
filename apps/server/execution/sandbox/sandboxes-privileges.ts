/** How a process gives up what its user could do, for good, before it becomes the command. contract 10 (own uid). */
import type { Owner } from '../workspace/workspaces.ts';

/** Command prefix (setpriv of util-linux): another user, no groups, no capabilities, nothing to be regained by set-user-id programs. */
export function withoutPrivileges(setpriv: string, owner: Owner): string[] {
  return [setpriv, `--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups', ...NOTHING_LEFT, '--'];
}

/** The same inside a user namespace, where the user stays number 0 by name only. */
export function withoutNamespacePrivileges(setpriv: string): string[] {
  return [setpriv, ...NOTHING_LEFT, '--securebits=+noroot,+noroot_locked', '--'];
}

const NOTHING_LEFT = ['--no-new-privs', '--inh-caps=-all', '--bounding-set=-all'];
