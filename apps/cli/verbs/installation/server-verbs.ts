/**
 * Verbs that run the service's own code on this machine, each loaded when it is called. The command as one file has
 * `apps/cli/one-file/server-verbs.ts` in the place of this module. decision 0100.
 */
import type { Verb } from '../../command.ts';

/** How each of these verbs is loaded. */
export const SERVER_VERBS = {
  start: async (): Promise<Verb> => {
    const { serve } = await import('../../../server/main.ts');
    return (argv) => serve(argv);
  },
  'support-bundle': async (): Promise<Verb> => (await import('./support-bundle.ts')).supportBundle,
  doctor: async (): Promise<Verb> => (await import('./doctor.ts')).doctor,
  backup: async (): Promise<Verb> => (await import('./backup.ts')).backup,
  restore: async (): Promise<Verb> => (await import('./backup.ts')).restore,
  upgrade: async (): Promise<Verb> => (await import('./upgrade.ts')).upgrade,
};

/** Help of `start`: it is described by its text alone, as its code is the service's. */
export const START_USAGE: string | undefined =
  `usage: millwright start [--factory DIR|URL[#branch[:path]]] [--example] [--roles ROLE,…] [--supervised]

Runs the service until it is stopped. The environment configures it (MILLWRIGHT_PORT, MILLWRIGHT_DATA_DIR …).

  --factory DIR|URL[#branch[:path]]  where the factory "main" has its definitions: a folder, or a git repository
  --example                          make the example factory's secret on the first start; without --factory,
                                     serve the example that comes with this command
  --roles ROLE,…                     what this process does, of api, ingress, sync, worker and dashboard: ` +
  `several share one PostgreSQL
  --supervised                       hold the listening socket in a process of its own, so that "millwright
                                     upgrade" can put another version in the place of this one
`;

/** What the overview of verbs adds where some of them are absent. */
export const ABSENT_NOTE: string = '';
