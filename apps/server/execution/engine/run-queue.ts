/**
 * The queue of the engine `bullmq`, in PostgreSQL or Redis: holds tokens, each of which says that something waits. What
 * BullMQ is, only this file knows. explanation: Engine.
 */
import type { Job, Queue, QueueOptions, Worker, WorkerOptions } from 'bullmq';
import type { Redis } from 'ioredis';
import { ANSWER_MS, postgresConnection, RECONNECT_MS, RedisConnections } from './run-queue-connections.ts';

/** Says that something waits; whoever takes it claims what is next, which may be another run. */
export interface Token {
  /** Two of the same ID are one, as long as the first is in the queue or worked on. */
  id: string;
  runId: string;
  epoch: number;
}

/** A token that somebody has been given. */
export interface ReceivedToken extends Token {
  /** How often it was given to anybody, this time included. */
  times: number;
}

/**
 * Works for a token as long as it takes; answers how long it rests before it is given to anybody again, undefined: it
 * is used up. Never throws.
 */
export type Serve = (token: ReceivedToken) => Promise<number | undefined>;

export interface RunQueueOptions {
  /** Of this installation: two that share a Redis have two. */
  name: string;
  /** Undefined: the queue is in the database. */
  redisUrl?: string;
  /** Without a pooler between: names and notifications of the queue belong to sessions. */
  databaseUrl: string;
  /** An outage, or a fault of the queue. */
  report(fault: unknown): void;
}

/** Of the keys in Redis; braces keep them on one node of a cluster. */
const PREFIX = '{millwright}';
const JOB = 'run';
/**
 * A token whose worker does not renew it for so long is given to another one. The lease in the tables decides about the
 * run.
 */
const LOCK_MS = 30_000;
/** Entries of the stream in which the queue tells of itself, to which nobody listens here. */
const STREAM_MAX = 100;
const CLOSE_MS = 3_000;

/** Loaded by processes that have such a queue, by no other. */
async function loaded() {
  const [bullmq, { Redis: client }] = await Promise.all([import('bullmq'), import('ioredis')]);
  return { bullmq, Redis: client };
}
type Packages = Awaited<ReturnType<typeof loaded>>;

/** A part of BullMQ, and the connection that it was given where the queue is in Redis. */
interface Opened<T> {
  it: T;
  client: Redis | undefined;
}

export class RunQueue {
  private readonly options: RunQueueOptions;
  private queue: Promise<Opened<Queue>> | undefined;
  private worker: Worker | undefined;
  /** Resolves when every token that was taken is served, and the queue knows. */
  private served: Promise<void> | undefined;
  private readonly connections = new RedisConnections();
  private isStopped = false;
  private concurrency = 1;

  constructor(options: RunQueueOptions) {
    this.options = options;
  }

  /**
   * Adds tokens; those that are there already stay. Rejects when the queue cannot be reached: some of them may be
   * added.
   */
  async add(tokens: readonly Token[]): Promise<void> {
    const jobs = tokens.map(({ id, runId, epoch }) => ({
      name: JOB,
      data: { run_id: runId, epoch },
      opts: { jobId: id, removeOnComplete: true, removeOnFail: true },
    }));
    await this.ask((queue) => queue.addBulk(jobs));
  }

  /** Tokens that nobody has taken. Rejects when the queue cannot be reached. */
  async waiting(): Promise<number> {
    const { waiting = 0, delayed = 0 } = await this.ask((queue) => queue.getJobCounts('waiting', 'delayed'));
    return waiting + delayed;
  }

  /** Begins to take tokens, `concurrency` at once at most. `onEmpty`: there was no other one. Called once. */
  work(concurrency: number, serve: Serve, onEmpty: () => void): void {
    this.setConcurrency(concurrency);
    const begin = async (): Promise<void> => {
      const packages = await loaded();
      while (!this.isStopped) {
        const { it: worker, client } = this.newWorker(packages, serve, onEmpty);
        this.worker = worker;
        // One that could not begin never will: the database was not to be reached, and is asked by a new one.
        const hasBegun = await worker.waitUntilReady().then(
          () => true,
          (fault: unknown) => (this.options.report(fault), false),
        );
        if (hasBegun || this.isStopped) return;
        await within(CLOSE_MS, worker.close(true)).catch(() => undefined);
        this.connections.drop(client);
        await pause(RECONNECT_MS);
      }
    };
    void begin().catch((fault: unknown) => this.options.report(fault));
  }

  /** How many tokens are taken at once from now on; at least one. */
  setConcurrency(concurrency: number): void {
    this.concurrency = Math.max(1, concurrency);
    if (this.worker !== undefined) this.worker.concurrency = this.concurrency;
  }

  /** Takes no more tokens. */
  stop(): void {
    this.isStopped = true;
    const { worker } = this;
    if (worker !== undefined) this.served ??= worker.pause().catch(() => undefined);
  }

  /** After `stop`, when every token that was taken is served. A queue that cannot be reached is left as it is. */
  async close(): Promise<void> {
    this.stop();
    const queue = await this.queue?.catch(() => undefined);
    await briefly(this.served);
    // nothing is waited for any more that the queue would have to answer
    const closed = briefly(Promise.all([this.worker?.close(true), queue?.it.close()]));
    this.connections.disconnect();
    await closed;
  }

  private ask<T>(question: (queue: Queue) => Promise<T>): Promise<T> {
    return within(ANSWER_MS, this.opened().then(question));
  }

  private async opened(): Promise<Queue> {
    this.queue ??= loaded().then((packages) => this.newQueue(packages));
    const opening = this.queue;
    const { it: queue, client } = await opening;
    try {
      await queue.waitUntilReady();
      return queue;
    } catch (fault) {
      // It would say so for ever: the next question is asked of a new one.
      if (this.queue === opening) this.queue = undefined;
      await within(CLOSE_MS, queue.close()).catch(() => undefined);
      this.connections.drop(client);
      throw fault;
    }
  }

  private newQueue({ bullmq, Redis: client }: Packages): Opened<Queue> {
    const { name, redisUrl, databaseUrl } = this.options;
    const more: Partial<QueueOptions> = { prefix: PREFIX, streams: { events: { maxLen: STREAM_MAX } } };
    // Who asks hears at once that nobody is there, and tries again by itself.
    const redis =
      redisUrl === undefined
        ? undefined
        : this.connections.open(client, redisUrl, { enableOfflineQueue: false, maxRetriesPerRequest: 0 });
    const queue =
      redis === undefined
        ? (new bullmq.Queue(
            name,
            { ...more, connection: postgresConnection(databaseUrl) },
            bullmq.createPostgresBackend,
          ) as unknown as Queue)
        : new bullmq.Queue(name, { ...more, connection: redis });
    queue.on('error', () => undefined); // whoever asks it something gets it
    return { it: queue, client: redis };
  }

  private newWorker({ bullmq, Redis: client }: Packages, serve: Serve, onEmpty: () => void): Opened<Worker> {
    const { name, redisUrl, databaseUrl, report } = this.options;
    const process = async (job: Job, lock?: string): Promise<void> => {
      const restMs = await serve(toToken(job));
      if (restMs === undefined) return;
      await job.moveToDelayed(Date.now() + restMs, lock);
      throw new bullmq.DelayedError();
    };
    const more: Partial<WorkerOptions> = {
      prefix: PREFIX,
      concurrency: this.concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      runRetryDelay: RECONNECT_MS,
    };
    const redis =
      redisUrl === undefined ? undefined : this.connections.open(client, redisUrl, { maxRetriesPerRequest: null });
    const worker =
      redis === undefined
        ? (new bullmq.Worker(
            name,
            process,
            { ...more, connection: postgresConnection(databaseUrl) },
            bullmq.createPostgresBackend,
          ) as unknown as Worker)
        : new bullmq.Worker(name, process, { ...more, connection: redis });
    worker.on('error', report);
    worker.on('drained', onEmpty);
    return { it: worker, client: redis };
  }
}

function toToken({ id, data, attemptsStarted }: Job): ReceivedToken {
  const { run_id: runId, epoch } = data as { run_id: string; epoch: number };
  return { id: id ?? '', runId, epoch, times: attemptsStarted };
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new QueueUnreachableError(ms)), ms);
  });
  work.catch(() => undefined); // nobody waits for it any more when it is late
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** The queue did not answer. */
class QueueUnreachableError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms / 1_000} s`);
  }
}

/** Whatever becomes of it, it is not waited for much longer. */
async function briefly(work: Promise<unknown> | undefined): Promise<void> {
  await within(CLOSE_MS, Promise.resolve(work)).catch(() => undefined);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms).unref());
}
