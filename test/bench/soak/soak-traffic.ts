/**
 * What comes to a service all day at once: deliveries, refused ones, people who read and follow, runs that are worked
 * on, and changed files.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Millwright } from '#client';
import { acceptOrder } from '../acceptance/accept.ts';
import { databaseBytes } from '../figures/database-usage.ts';
import { timed } from '../figures/figures.ts';
import type { LoadGenerator, LoadOrder } from '../loads/loads.ts';
import { memoryOf } from '../figures/process-memory.ts';
import type { RunningService, SeededService } from '../seeds/seeded-service.ts';
import type { Sender, Target } from '../loads/senders.ts';

/** A load at a time lasts this long, and is a sample. */
const WINDOW_SECONDS = 10;
const REFUSED_A_SECOND = 40;
const READ_EVERY_MS = 200;
const RUN_EVERY_MS = 1_000;
/** Runs that are followed at once: a key may have 20 streams open. */
const RUNS_AT_ONCE_MAX = 10;
const FOLLOWERS_OF_A_RUN = 2;
const PASS_EVERY_MS = 10_000;
/** Deliveries a second that start a run, beside those that start none. */
const STARTING_A_SECOND = 1;
/** Large bodies that are made for a window: each webhook that gets some spends a sixth of its minute on them. */
const LARGE_DISTINCT = 40;
/** In flight at once. */
const CONNECTIONS = 64;

/** As the process is seen from outside, after one window. */
export interface OutsideSample {
  atSeconds: number;
  residentBytes: number;
  fileDescriptors: number;
  databaseBytes: number;
  /** Of the window's deliveries, and of the reads meanwhile. */
  acceptP50Ms: number;
  acceptP99Ms: number;
  readMs: number[];
  /** So far. */
  accepted: number;
}

export class Traffic {
  readonly samples: OutsideSample[] = [];
  /** What went wrong, and how often. */
  readonly errors = new Map<string, number>();
  readonly counts = { accepted: 0, refused: 0, reads: 0, runs: 0, passes: 0 };
  private readonly service: RunningService;
  private readonly seeded: SeededService;
  private readonly perSecond: number;
  private readonly client: Millwright;
  private readonly beganAtMs = performance.now();
  private readonly endsAtMs: number;
  private reads: number[] = [];

  constructor(service: RunningService, seeded: SeededService, perSecond: number, minutes: number) {
    this.service = service;
    this.seeded = seeded;
    this.perSecond = perSecond;
    this.client = new Millwright({ baseURL: service.url, apiKey: service.key, maxRetries: 0 });
    this.endsAtMs = this.beganAtMs + minutes * 60_000;
  }

  /** Everything at once, until the time is over and what was begun has ended. */
  async flow(generators: { accepted: LoadGenerator; starting: LoadGenerator; refused: LoadGenerator }): Promise<void> {
    await Promise.all([
      this.again('deliveries', 0, (n) => this.accept(generators.accepted, n)),
      this.again('deliveries that start runs', 0, (n) => this.start(generators.starting, n)),
      this.again('refused requests', 0, (n) => this.refuse(generators.refused, n)),
      this.again('reads', READ_EVERY_MS, (n) => this.read(n)),
      this.work(),
      this.again('passes', PASS_EVERY_MS, (n) => this.pass(n)),
    ]);
  }

  private get isOver(): boolean {
    return performance.now() >= this.endsAtMs;
  }

  private async again(name: string, everyMs: number, work: (n: number) => Promise<void>): Promise<void> {
    for (let n = 0; !this.isOver; n += 1) {
      await work(n).catch((error: unknown) => this.wrong(`${name}: ${(error as Error).message}`));
      if (everyMs > 0) await pause(everyMs);
    }
  }

  private wrong(what: string, times = 1): void {
    this.errors.set(what, (this.errors.get(what) ?? 0) + times);
  }

  private async accept(generator: LoadGenerator, n: number): Promise<void> {
    const count = this.perSecond * WINDOW_SECONDS;
    const { statuses, p50Ms, p99Ms } = await generator.drive(
      { ...this.order('token', this.seeded.targets.token, this.perSecond), from: n * count, reportOf: 'passed' },
      [],
    );
    this.counted('accepted', statuses, ['202']);
    const reads = this.reads;
    this.reads = [];
    this.samples.push({
      atSeconds: (performance.now() - this.beganAtMs) / 1_000,
      residentBytes: memoryOf(this.service.pid).residentBytes,
      fileDescriptors: readdirSync(`/proc/${this.service.pid}/fd`).length,
      databaseBytes: await databaseBytes(this.seeded),
      acceptP50Ms: p50Ms,
      acceptP99Ms: p99Ms,
      readMs: reads,
      accepted: this.counts.accepted,
    });
  }

  private async start(generator: LoadGenerator, n: number): Promise<void> {
    const { statuses } = await generator.drive(
      {
        ...this.order('token', this.seeded.targets.token, STARTING_A_SECOND),
        from: n * STARTING_A_SECOND * WINDOW_SECONDS,
      },
      [],
    );
    this.counted('accepted', statuses, ['202']);
  }

  /** The kinds take turns. One over the rate is accepted until it is over it. */
  private async refuse(generator: LoadGenerator, n: number): Promise<void> {
    const { token } = this.seeded.targets;
    const kinds: readonly { sender: Sender; targets: readonly Target[]; wanted: readonly string[] }[] = [
      {
        sender: 'token',
        targets: token.map(({ path, secret }) => ({ path: path.replace(/....$/, '0000'), secret })),
        wanted: ['404'],
      },
      { sender: 'wrong_token', targets: token, wanted: ['401'] },
      { sender: 'too_large', targets: token, wanted: ['413'] },
      { sender: 'wrong_token', targets: token.slice(0, 1), wanted: ['401', '429'] },
    ];
    const { sender, targets, wanted } = kinds[n % kinds.length] as (typeof kinds)[number];
    const { statuses } = await generator.drive(
      {
        ...this.order(sender, targets, REFUSED_A_SECOND),
        from: n * REFUSED_A_SECOND * WINDOW_SECONDS,
        ...(sender === 'too_large' ? { distinct: LARGE_DISTINCT } : {}),
      },
      [],
    );
    this.counted('refused', statuses, wanted);
  }

  private order(sender: Sender, targets: readonly Target[], perSecond: number): LoadOrder {
    const count = perSecond * WINDOW_SECONDS;
    return {
      ...acceptOrder(this.service, this.seeded, 'token')(),
      sender,
      targets,
      perSecond,
      count,
      distinct: count,
      secondsMax: WINDOW_SECONDS,
      connections: CONNECTIONS,
    };
  }

  private counted(
    as: 'accepted' | 'refused',
    statuses: Readonly<Record<string, number>>,
    wanted: readonly string[],
  ): void {
    for (const [status, count] of Object.entries(statuses)) {
      if (wanted.includes(status)) this.counts[as] += count;
      else this.wrong(`${as}: answered ${status}`, count);
    }
  }

  private async read(n: number): Promise<void> {
    const {
      factoryUids,
      targets: { token },
    } = this.seeded;
    const at = n % factoryUids.length;
    const log = `/factory/${factoryUids[at]}/webhooks/${token[at]?.path.split('/').at(-1)}/deliveries?limit=20`;
    const path = [
      '/agent/runs?limit=20',
      log,
      `/factory/${factoryUids[at]}/webhooks`,
      '/agent/runs?limit=20&state=SUCCEEDED',
    ][n % 4] as string;
    this.reads.push(await timed(() => this.service.api('GET', path)));
    this.counts.reads += 1;
  }

  /** A new run every second, each followed by several to its end. */
  private async work(): Promise<void> {
    const open = new Set<Promise<void>>();
    await this.again('runs', RUN_EVERY_MS, async () => {
      if (open.size >= RUNS_AT_ONCE_MAX) return;
      const { run_id: runId } = await this.client.agent.runs.create({ prompt: 'Count the herons.' });
      const followed = Promise.all(Array.from({ length: FOLLOWERS_OF_A_RUN }, () => this.follow(runId)))
        .then(() => void (this.counts.runs += 1))
        .catch((error: unknown) => this.wrong(`runs: ${(error as Error).message}`))
        .finally(() => open.delete(followed));
      open.add(followed);
    });
    await Promise.all(open);
  }

  private async follow(runId: string): Promise<void> {
    const events = this.client.agent.runs.events(runId);
    for await (const event of events) void event;
    if (events.runState !== 'SUCCEEDED') throw new Error(`one ended as ${events.runState ?? 'nothing'}`);
  }

  /** Changes a file, and waits until it is served. */
  private async pass(n: number): Promise<void> {
    const { uid, path } = this.seeded.model;
    const secret = (await this.service.api('GET', `/factory/${uid}/webhooks`)) as {
      webhooks: { secret_name?: string }[];
    };
    writeFileSync(
      join(path, 'webhooks/hook-0.yaml'),
      `authMode: token\nsecretName: ${secret.webhooks[0]?.secret_name}\ndescription: Change ${n}.\n`,
    );
    await this.service.api('POST', `/factory/${uid}/sync?wait=true`);
    if (!JSON.stringify(await this.service.api('GET', `/factory/${uid}/webhooks`)).includes(`Change ${n}.`))
      throw new Error('a changed file was not applied');
    this.counts.passes += 1;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
