/** Runs sweeps as the service does, without its pauses, for suites that check what remains. */
import { randomBytes } from 'node:crypto';
import { SweepStore, type Sweep } from '../../apps/server/store/retention/sweeps.ts';
import { Sweeper } from '../../apps/server/retention/sweeper.ts';
import { select, meddle, type Stores } from './backends.ts';

export const DAY_MS = 86_400_000;

/** An ID of any time; later calls with the same time answer later IDs. */
export function idAt(ms: number): string {
  const hex = Math.floor(ms).toString(16).padStart(12, '0');
  return (
    `${hex.slice(0, 8)}-${hex.slice(8)}-7${(made += 1).toString(16).padStart(3, '0').slice(-3)}` +
    `-8${randomBytes(2).toString('hex').slice(1)}-${randomBytes(6).toString('hex')}`
  );
}

let made = 0;

/** What a sweeper of the tests may be told. */
export interface Sweeping {
  owner?: string;
  /** Called where the service would pause. */
  pause?(): Promise<void>;
  /** What one transaction may take, milliseconds: 0 for steps as small as they get. */
  stepMs?: number;
}

export function sweeperOf(
  stores: Stores,
  sweeps: readonly Sweep[],
  { owner = 'sweeper', pause = async () => undefined, stepMs = 8 }: Sweeping = {},
): Sweeper {
  return new Sweeper(new SweepStore(stores.database, owner), sweeps, {
    stepMs,
    pause,
    monotonicMs: () => performance.now(),
    report: (fault) => {
      throw fault;
    },
  });
}

/** A whole round of each from its beginning, due or not. */
export async function sweepAll(stores: Stores, ...sweeps: readonly Sweep[]): Promise<void> {
  await meddle(stores, "UPDATE sweep SET done_at = 0, place = ''");
  await sweeperOf(stores, sweeps).ask();
}

/** The sweep as it stands between rounds and steps. */
export async function sweepState(
  stores: Stores,
  { name }: Pick<Sweep, 'name'>,
): Promise<{ place: string; owner: string | null; done_at: number } | undefined> {
  return (
    await select<{ place: string; owner: string | null; done_at: number }>(
      stores,
      'SELECT place, owner, done_at FROM sweep WHERE name = ?',
      name,
    )
  )[0];
}

/** One log entry of a webhook. */
export interface SeededEntry {
  entryId: string;
  outcome: string;
  receivedAtMs: number;
  sizeBytes?: number;
}

/** Writes entries past the store: old ones, as they were written when they were young. */
export async function seedEntries(
  stores: Stores,
  { webhookUid, factoryUid }: { webhookUid: string; factoryUid: string },
  entries: readonly SeededEntry[],
): Promise<void> {
  const values = entries.map(({ entryId, outcome, receivedAtMs, sizeBytes = 1 }) => [
    entryId,
    webhookUid,
    factoryUid,
    'd',
    outcome,
    sizeBytes,
    1,
    receivedAtMs,
    '192.0.2.1',
    'r',
    1,
    outcome === 'accepted' ? Buffer.alloc(sizeBytes) : null,
  ]);
  await stores.database.run(function* () {
    yield {
      kind: 'insert',
      table: 'delivery',
      rows: values,
      ignoreConflicts: false,
      uuids: ['entry_id'],
      columns: [
        'entry_id',
        'webhook_uid',
        'factory_uid',
        'delivery_id',
        'outcome',
        'size',
        'size_exact',
        'received_at',
        'client_address',
        'revision',
        'entries',
        'payload',
      ],
    };
  });
}
