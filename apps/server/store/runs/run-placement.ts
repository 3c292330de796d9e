/** Where a run may be worked on: on the machine that it asks for, and where its environment is served. reference: Engine. */
import { placeholders, row, rows, type SqlValue, type Transaction } from '../database/transactions.ts';

/** What a process that has places says of itself. */
export interface Placement {
  /** What its machine is called; undefined: it takes no run that asks for a machine. */
  host?: string;
  /** Environments whose runs it takes, by name or UID; none: all, and runs without one. */
  environments: readonly string[];
}

export const ANYWHERE: Placement = { environments: [] };

/** A condition of a WHERE clause, with its values. */
export interface PlacementCondition {
  text: string;
  params: readonly SqlValue[];
}

const EVERYTHING: PlacementCondition = { text: '', params: [] };

/** As the index of waiting runs has it. */
export const HOST = "COALESCE(worker_host, '')";

/** The parts of the queue that a process may take from: '' for runs that ask for no machine, and its own where any asks for it. */
export function* hostsServed({ host }: Placement): Transaction<string[]> {
  if (host === undefined) return [''];
  const asked = yield* row(`SELECT 1 AS waits FROM run WHERE state = 'QUEUED' AND ${HOST} = ? LIMIT 1`, host);
  return asked === undefined ? [''] : ['', host];
}

/**
 * Which runs of a factory have an environment that is served: a run names its environment as its author wrote it, by name or UID, and so does the
 * operator. What of a lane is of other environments is passed over in the index alone.
 */
export function* environmentsServed({ environments }: Placement): Transaction<(factory: string) => PlacementCondition> {
  if (environments.length === 0) return () => EVERYTHING;
  const marks = placeholders(environments.length);
  const known = yield* rows<{ uid: string; slug: string; factory_uid: string }>(
    `SELECT uid, slug, factory_uid FROM resource WHERE kind = 'environment' AND deleted_at IS NULL AND (uid IN (${marks}) OR slug IN (${marks}))`,
    ...environments,
    ...environments,
  );
  return (factory) => {
    const names = new Set([
      ...environments,
      ...known.filter(({ factory_uid: uid }) => uid === factory).flatMap(({ uid, slug }) => [uid, slug]),
    ]);
    return { text: ` AND environment_id IN (${placeholders(names.size)})`, params: [...names] };
  };
}

/** Whether anything waits that a process of this placement may not take, and another one may. */
export function* waitsForOthers({ host, environments }: Placement): Transaction<boolean> {
  const others: PlacementCondition[] =
    host === undefined
      ? [{ text: `${HOST} > ''`, params: [] }]
      : [
          { text: `${HOST} > '' AND ${HOST} < ?`, params: [host] },
          { text: `${HOST} > ?`, params: [host] },
        ];
  for (const { text, params } of environments.length === 0
    ? others
    : [...others, { text: `${HOST} = ''`, params: [] }]) {
    if ((yield* row(`SELECT 1 AS waits FROM run WHERE state = 'QUEUED' AND ${text} LIMIT 1`, ...params)) !== undefined)
      return true;
  }
  return false;
}
