/**
 * A directory of the server, as a kind of source: of one machine, allowed by the operator, named by its files. contract
 * §4.1 (source).
 */
import { isAbsolute } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceKind } from '../source.ts';
import { createDirectorySource } from './directory-source.ts';

/** What is stored of it. */
export type DirectorySource = { kind: 'directory'; path: string };

export const directoryKind: SourceKind<DirectorySource> = {
  kind: 'directory',
  hasCommits: false,
  isLocal: true,
  isNamedByFiles: true,
  // Of another one nobody knows where it begins: where the service was started.
  requestErrors: ({ path }) =>
    typeof path !== 'string' || path === '' || isAbsolute(path)
      ? []
      : [
          {
            pointer: '/source/path',
            message: 'must be the absolute path of a folder on the server, such as /srv/factory',
          },
        ],
  toStored: ({ path = '' }) => ({ kind: 'directory', path }), // the schema asks for the path
  toItem: ({ path }) => ({ kind: 'directory', path }),
  repositoryOf: () => undefined,
  opener:
    () =>
    ({ path }, { revisionApplied }) =>
      createDirectorySource({
        path,
        mayHaveServed: revisionApplied !== undefined,
        sleep: (ms, signal) => sleep(ms, undefined, { signal }).catch(() => undefined),
      }),
  forget: () => Promise.resolve(),
};
