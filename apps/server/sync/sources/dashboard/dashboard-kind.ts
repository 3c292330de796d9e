/** A factory without files, as a kind of source: what is managed over the API has nothing to read. contract §4.1. */
import { DASHBOARD_KIND } from '#reconcile';
import type { SourceKind } from '../source.ts';
import { failure, type Source } from '../source.ts';

/** What is stored of it. */
export type DashboardSource = { kind: typeof DASHBOARD_KIND };

/** A pass that began before the factory was managed on the dashboard learns here that it is. */
const NO_FILES: Source = {
  snapshot: () => Promise.resolve(failure('empty', 'this factory is managed on the dashboard and has no files')),
  close: () => Promise.resolve(),
};

export const dashboardKind: SourceKind<DashboardSource> = {
  kind: DASHBOARD_KIND,
  hasCommits: false,
  isLocal: false,
  isNamedByFiles: false,
  requestErrors: () => [],
  toStored: () => ({ kind: DASHBOARD_KIND }),
  toItem: () => ({ kind: DASHBOARD_KIND }),
  repositoryOf: () => undefined,
  opener: () => () => NO_FILES,
  forget: () => Promise.resolve(),
};
