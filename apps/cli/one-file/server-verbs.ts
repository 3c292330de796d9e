/**
 * Verbs of the service in the command as one file, which holds none of the service: each says which package has it.
 * contract §11.10 (One file), decision 0100.
 */
import type { DescribedVerb } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { printFailure } from '../terminal/failure.ts';

/** Where these verbs are. */
const PACKAGE = '@millwright/server';

/** A verb that is not here: whatever its arguments are, one line that names the package, and 64. */
export function absentVerb(name: string): DescribedVerb {
  const message = `not in this file, because it works with the service itself: install the package ${PACKAGE}`;
  return Object.assign(
    (...[argv, io]: Parameters<DescribedVerb>) =>
      Promise.resolve(printFailure(name, { message, exit: EXIT.usage }, argv, io)),
    { synopsis: `millwright ${name}`, summary: `of the package ${PACKAGE}`, options: {} },
  );
}

const absent = (name: string) => (): Promise<DescribedVerb> => Promise.resolve(absentVerb(name));

export const SERVER_VERBS = {
  start: absent('start'),
  'support-bundle': absent('support-bundle'),
  doctor: absent('doctor'),
  backup: absent('backup'),
  restore: absent('restore'),
  upgrade: absent('upgrade'),
} satisfies (typeof import('../verbs/installation/server-verbs.ts'))['SERVER_VERBS'];

export const START_USAGE: string | undefined = undefined;

export const ABSENT_NOTE: string =
  `${Object.keys(SERVER_VERBS).join(', ')} and keys rotate-master are not in this file:\n` +
  `the package ${PACKAGE} has them.\n`;
