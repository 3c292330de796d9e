/** A factory without files, as a kind of source: what is managed over the API has nothing to read. contract §4.1. */
import { NO_SOURCE } from '#reconcile';
import type { SourceKind } from '../source.ts';
import { failure, type Source } from '../source.ts';

/** What is stored of it. */
export type DashboardSource = { kind: typeof NO_SOURCE };

/** A pass that began before the factory was managed on the dashboard learns here that it is. */
const NO_FILES: Source = {
  snapshot: () => Promise.resolve(failure('empty', 'this factory is managed on the dashboard and has no files')),
  close: () => Promise.resolve(),
};

export const dashboardKind: SourceKind<DashboardSource> = {
  kind: NO_SOURCE,
  hasCommits: false,
  isLocal: false,
  isNamedByFiles: false,
  requestErrors: () => [],
  toStored: () => ({ kind: NO_SOURCE }),
  toItem: () => ({ kind: NO_SOURCE }),
  repositoryOf: () => undefined,
  opener: () => () => NO_FILES,
  forget: () => Promise.resolve(),
};
