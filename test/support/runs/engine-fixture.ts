/** Workers inside a test: real tables, queue and notices; a run lasts until the test releases it. */
import type { LiveBounds } from '#runs';
import { QueueDispatch } from '../../../apps/server/execution/engine/dispatch-queue.ts';
import type { Dispatch, WorkerSlots } from '../../../apps/server/execution/engine/dispatch.ts';
import { TableDispatch } from '../../../apps/server/execution/engine/dispatch.ts';
import { ExecutionSlots, type ExecutionSlot } from '../../../apps/server/execution/engine/execution-slots.ts';
import { OutboxRelay } from '../../../apps/server/execution/engine/outbox-relay.ts';
import { RunQueue, type ReceivedToken, type Serve } from '../../../apps/server/execution/engine/run-queue.ts';
import { Log } from '../../../apps/server/process/log.ts';
import { Outbox } from '../../../apps/server/store/runs/outbox.ts';
import type { Placement } from '../../../apps/server/store/runs/run-placement.ts';
import type { Question } from '../../../apps/server/store/runs/permissions.ts';
import type { ClaimedRun } from '../../../apps/server/store/runs/runs.ts';
import type { Stores } from '../../conformance/backends.ts';
import { newId, unique } from '../../conformance/seeds.ts';

/** Location of the queue; `tables`: there is none. */
export type QueuePlace = 'tables' | { databaseUrl: string; redisUrl?: string };

export interface EngineFixtureOptions {
  queue: QueuePlace;
  bounds?: LiveBounds;
}

export interface WorkerOptions {
  places?: number;
  placement?: Partial<Placement>;
  /** Runs are over when the test says so; else at once. */
  holds?: boolean;
  leaseMs?: number;
}

/** A queue that records the received tokens. */
class WatchedQueue extends RunQueue {
  readonly claimed: ReceivedToken[] = [];
  override work(concurrency: number, serve: Serve, onEmpty: () => void): void {
    super.work(concurrency, (token) => (this.claimed.push(token), serve(token)), onEmpty);
  }
}

/** A process that makes runs. */
export interface Maker {
  relay: OutboxRelay | undefined;
  queue: WatchedQueue | undefined;
  wake(): void;
  stop(): Promise<void>;
}

export interface Worker {
  readonly name: string;
  readonly dispatch: Dispatch;
  readonly queue: WatchedQueue | undefined;
  readonly relay: OutboxRelay | undefined;
  /** Every run that it was given, in order. */
  readonly given: ClaimedRun[];
  /** Runs that it works on. */
  held(): string[];
  release(runId: string): void;
  /** It asks people, and waits. */
  ask(run: ClaimedRun): Promise<void>;
  /** Somebody has answered; resolves when it goes on. */
  answer(run: ClaimedRun): Promise<void>;
  /** Drains: what it holds goes back to the queue. */
  stop(): Promise<void>;
}

export interface EngineFixture {
  /** Lines of the log of every process. */
  readonly logged: string[];
  maker(stores: Stores): Maker;
  worker(name: string, stores: Stores, options?: WorkerOptions): Worker;
  /** Ends every process that has not ended. */
  clear(): Promise<void>;
}

const QUESTION: Question = {
  title: 'rm -r build',
  toolKind: undefined,
  input: undefined,
  paths: undefined,
  options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
};

export function engineFixture({ queue: place, bounds = {} }: EngineFixtureOptions): EngineFixture {
  const name = unique('test-runs-');
  const logged: string[] = [];
  const log = new Log((line) => void logged.push(line), Date.now);
  const endings = new Set<() => Promise<void>>();

  const queueing = (stores: Stores): { outbox: Outbox; queue: WatchedQueue; relay: OutboxRelay } | undefined => {
    if (place === 'tables') return undefined;
    const outbox = new Outbox(stores.database);
    const queue = new WatchedQueue({ name, ...place, report: (fault) => log.fault('the queue has a fault', fault) });
    return { outbox, queue, relay: new OutboxRelay({ outbox, queue, log, nowMs: Date.now }) };
  };

  function ending(stop: () => Promise<void>): () => Promise<void> {
    let stopped: Promise<void> | undefined;
    const once = (): Promise<void> => (stopped ??= stop());
    endings.add(once);
    return once;
  }

  return {
    logged,
    maker(stores) {
      const parts = queueing(stores);
      parts?.relay.start();
      return {
        relay: parts?.relay,
        queue: parts?.queue,
        wake: () => parts?.relay.wake(),
        stop: ending(async () => parts?.relay.stop()),
      };
    },
    worker(workerName, stores, { places: count = 2, placement: wished = {}, holds = false, leaseMs = 60_000 } = {}) {
      const placement: Placement = { host: workerName, environments: [], ...wished };
      const parts = queueing(stores);
      const dispatch = parts === undefined ? new TableDispatch(log) : new QueueDispatch({ ...parts, placement, log });
      const given: ClaimedRun[] = [];
      const held = new Map<string, (how: 'over' | 'back') => void>();
      const places = new ExecutionSlots({
        count,
        perFactoryMax: bounds.perFactoryHere,
        onChange: (parked) => dispatch.parked(parked),
      });
      const slotOf = new Map<string, ExecutionSlot>();
      const work = async (run: ClaimedRun): Promise<void> => {
        given.push(run);
        const slot = places.hold(run.factoryUid);
        slotOf.set(run.runId, slot);
        const how = await new Promise<'over' | 'back'>((resolve) => {
          held.set(run.runId, resolve);
          if (!holds) resolve('over');
        });
        if (how === 'over') await stores.runs.finish(run, { state: 'SUCCEEDED', message: 'done' });
        else await stores.runs.release(run, () => 'requeue');
        held.delete(run.runId);
        slot.release();
        dispatch.ended(run);
      };
      const slots: WorkerSlots = {
        count,
        free: () => places.free(),
        async take(wanted) {
          places.reserve(wanted);
          try {
            const runs = await stores.runs.claim(
              workerName,
              leaseMs,
              wanted,
              Array.from({ length: wanted }, () => newId()),
              bounds,
              placement,
            );
            return runs.map(work);
          } finally {
            places.unreserve(wanted);
          }
        },
      };
      parts?.relay.start();
      dispatch.start(slots);
      return {
        name: workerName,
        dispatch,
        queue: parts?.queue,
        relay: parts?.relay,
        given,
        held: () => [...held.keys()],
        release: (runId) => held.get(runId)?.('over'),
        async ask(run) {
          await stores.runs.prepare(run);
          await stores.runs.begin(run);
          if (!(await stores.permissions.ask(run, newId(), QUESTION))) throw new Error('it could not ask');
          slotOf.get(run.runId)?.park();
        },
        async answer(run) {
          const [asked] = await stores.permissions.ofRun(run.runId);
          await stores.permissions.close(run, asked?.permissionId ?? '', { option: QUESTION.options[0], text: 'yes' });
          await slotOf.get(run.runId)?.resume(new AbortController().signal);
        },
        stop: ending(async () => {
          await dispatch.stop();
          const all = [...held.values()];
          for (const end of all) end('back');
          while (held.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
          await dispatch.close();
        }),
      };
    },
    async clear() {
      for (const end of endings) await end();
      endings.clear();
    },
  };
}
