/**
 * A service process that takes bursts of deliveries and is ended in the middle of them, and what its database holds
 * afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { Agent, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { expect } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../factories/factory-folder.ts';
import { startServiceProcess, type ServiceProcess } from './service-process.ts';

const TOKEN = 'bearer-token-of-the-tests';
const ENVIRONMENT = { MILLWRIGHT_RUN_CONCURRENCY: '0' };

/** A delivery's number, and its status; undefined: the connection broke before its answer. */
type OnAnswer = (number: number, status: number | undefined) => void;

export interface StoredBursts {
  /** Delivery number → its entries by outcome. */
  entries: Map<number, { entryId: string; outcome: string }[]>;
  /** Entry → automations of its runs. */
  runs: Map<string, string[]>;
}

/** A delivery of an odd number starts two runs, one of an even number one. */
const runsOf = (number: number): number => (number % 2 === 1 ? 2 : 1);

/** The process, the folder that its factories are read from, and who sends to their webhooks. */
export class BurstField {
  /** The process of now; undefined only before `start`. */
  service!: ServiceProcess;
  private readonly dataDir: string;
  private readonly folder: FactoryFolder;
  private readonly senders: number;
  private readonly webhooks: string[] = [];

  private constructor(dataDir: string, folder: FactoryFolder, senders: number) {
    [this.dataDir, this.folder, this.senders] = [dataDir, folder, senders];
  }

  /** A running service with so many factories of so many webhooks each. `senders`: requests in flight at once. */
  static async open(
    factories: readonly string[],
    { webhooksEach, senders }: { webhooksEach: number; senders: number },
  ): Promise<BurstField> {
    const names = Array.from({ length: webhooksEach }, (_, index) => `hook-${index}`);
    const folder = await factoryFolder({
      webhooks: Object.fromEntries(names.map((name) => [name, { secretName: 'bearer' }])),
      automations: { all: { webhooks: names }, odd: { webhooks: names, payload: { odd: [true] } } },
    });
    const field = new BurstField(await mkdtemp(join(tmpdir(), 'millwright-killed-')), folder, senders);
    await field.serve(factories, webhooksEach).catch(async (error: unknown) => {
      await field.close();
      throw error;
    });
    return field;
  }

  async start(): Promise<void> {
    this.service = await startServiceProcess(this.dataDir, ENVIRONMENT);
  }

  async close(): Promise<void> {
    this.service?.signal('SIGKILL');
    await this.service?.ended;
    await this.folder.remove();
    await rm(this.dataDir, { recursive: true, force: true });
  }

  /** Sends numbers through all senders at once; calls `onAnswer` with each answer as it comes. */
  async burst(numbers: readonly number[], onAnswer: OnAnswer): Promise<void> {
    const agent = new Agent({ keepAlive: true, maxSockets: this.senders });
    let next = 0;
    const sender = async (): Promise<void> => {
      while (next < numbers.length) {
        const number = numbers[next] as number;
        next += 1;
        onAnswer(number, await this.deliver(agent, number));
      }
    };
    await Promise.all(Array.from({ length: this.senders }, sender));
    agent.destroy();
  }

  /** A burst in which the process gets a signal when so many are answered. */
  async burstUntil(
    numbers: readonly number[],
    { signal, answeredBefore }: { signal: 'SIGKILL' | 'SIGTERM'; answeredBefore: number },
  ): Promise<{ answered: Set<number>; others: (number | undefined)[] }> {
    const answered = new Set<number>();
    const others: (number | undefined)[] = [];
    await this.burst(numbers, (number, status) => {
      if (status === 202) answered.add(number);
      else others.push(status);
      if (answered.size === answeredBefore) this.service.signal(signal);
    });
    return { answered, others };
  }

  /** What its database holds, whether or not the process lives. */
  stored(): StoredBursts {
    const database = new Sqlite(join(this.dataDir, 'millwright.sqlite'), { readonly: true });
    const entries: StoredBursts['entries'] = new Map();
    const entriesText = 'SELECT entry_id, delivery_id, outcome FROM delivery ORDER BY entry_id';
    for (const row of database
      .prepare<[], { entry_id: string; delivery_id: string; outcome: string }>(entriesText)
      .all()) {
      const number = Number(row.delivery_id.slice(2));
      const known = entries.get(number);
      const entry = { entryId: row.entry_id, outcome: row.outcome };
      if (known === undefined) entries.set(number, [entry]);
      else known.push(entry);
    }
    const runs: StoredBursts['runs'] = new Map();
    const runsText = 'SELECT entry_id, automation_uid FROM every_run';
    for (const row of database.prepare<[], { entry_id: string; automation_uid: string }>(runsText).all())
      runs.set(row.entry_id, [...(runs.get(row.entry_id) ?? []), row.automation_uid]);
    database.close();
    return { entries, runs };
  }

  /** Starts the process, and has it serve the folder as each of these factories. */
  private async serve(factories: readonly string[], webhooksEach: number): Promise<void> {
    await this.start();
    await this.service.api('PUT', '/secrets/bearer', { value: TOKEN });
    for (const slug of factories) {
      const { uid } = (await this.service.api('POST', '/factory', { slug, source: this.folder.source })) as {
        uid: string;
      };
      await this.service.api('POST', `/factory/${uid}/sync?wait=true`);
      const { webhooks } = (await this.service.api('GET', `/factory/${uid}/webhooks`)) as {
        webhooks: { uid: string }[];
      };
      this.webhooks.push(...webhooks.map((webhook) => webhook.uid));
    }
    if (this.webhooks.length !== factories.length * webhooksEach)
      throw new Error(`${this.webhooks.length} webhooks were made`);
  }

  private deliver(agent: Agent, number: number): Promise<number | undefined> {
    return new Promise((resolve) => {
      const url = `${this.service.url}/webhooks/w/${this.webhooks[number % this.webhooks.length] ?? ''}`;
      const body = JSON.stringify({ number, odd: number % 2 === 1 });
      const outgoing = httpRequest(url, {
        agent,
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'x-millwright-delivery-id': `d-${number}`,
          'content-length': body.length,
        },
      });
      outgoing.once('response', (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode)).once('error', () => resolve(undefined));
      });
      outgoing.once('error', () => resolve(undefined));
      outgoing.end(body);
    });
  }
}

/** Every accepted delivery is there once with exactly its runs, and there is no run besides. */
export function expectWhole({ entries, runs }: StoredBursts, answered: ReadonlySet<number>): void {
  const broken: string[] = [];
  for (const number of answered) if (!entries.has(number)) broken.push(`${number} was answered and is lost`);
  let started = 0;
  for (const [number, [first, ...more]] of entries) {
    if (first?.outcome !== 'accepted' || more.some(({ outcome }) => outcome !== 'duplicate'))
      broken.push(`${number} is ${[first, ...more].map((entry) => entry?.outcome).join(', ')}`);
    const automations = runs.get(first?.entryId ?? '') ?? [];
    if (automations.length !== runsOf(number) || new Set(automations).size !== automations.length)
      broken.push(`${number} has started ${automations.join(', ')}`);
    started += automations.length;
  }
  expect(broken).toEqual([]);
  expect([...runs.values()].flat()).toHaveLength(started);
}
