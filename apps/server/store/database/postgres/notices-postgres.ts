/**
 * Notices over PostgreSQL's LISTEN and NOTIFY, on one connection of their own that is made again for as long as it
 * takes.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { Config } from '../../../config/config.ts';
import type { Log } from '../../../process/log.ts';
import { toStoreError } from '../store-errors.ts';
import { Notices, TOPICS, type NoticeTransport, type Topic } from '../notices.ts';
import { NO_NOTICES } from './postgres-probe.ts';

const CHANNEL = 'millwright';

/**
 * What is published again within this time is sent once: a burst of deliveries costs fifty statements a second, however
 * large it is.
 */
const COALESCED_MS = 20;

/** Notices that wait for a connection; of more, only their topics are sent. */
const WAITING_MAX = 10_000;

/**
 * A notice of one's own that comes back proves that the whole way works: a pooler in transaction mode takes LISTEN, and
 * brings nothing.
 */
const PROOF_EVERY_MS = 10_000;
const ANSWER_MS_MAX = 5_000;

/**
 * Between two attempts to connect: doubled up to the second one, so that a server that comes back is found soon and one
 * that is away is left alone.
 */
const PAUSE_MS_MIN = 100;
const PAUSE_MS_MAX = 10_000;

/** What is sent to oneself as a proof; no topic is called so. */
const PROOF = 'proof';

export interface PostgresLineDeps {
  /** The server itself, not a pooler in transaction mode. */
  url: string;
  /** Once an outage: notices do not arrive, because of this. */
  lost(fault: Error): void;
  /** They do again. */
  regained(): void;
}

/** They do not come back, although the database takes them. */
class NotificationsUndeliveredError extends Error {
  constructor() {
    super(
      'the database takes LISTEN and brings no notices: a pooler in transaction mode stands between; set ' +
        'MILLWRIGHT_DATABASE_DIRECT_URL to the server itself',
    );
  }
}

export class PostgresLine implements NoticeTransport {
  private readonly deps: PostgresLineDeps;
  /** Tells our notices from those of others. */
  private readonly name = randomBytes(6).toString('hex');
  private readonly stopping = new AbortController();
  private readonly waiting = new Set<string>();
  private receive: (topic: Topic, key: string) => void = () => undefined;
  private receiveAny: () => void = () => undefined;
  /** Proven: what is sent on it arrives. */
  private client: Client | undefined;
  private asked: Promise<unknown> = Promise.resolve();
  private isSending = false;
  private isLost = false;
  private proven: (() => void) | undefined;
  private listening: Promise<void> | undefined;

  constructor(deps: PostgresLineDeps) {
    this.deps = deps;
    setMaxListeners(0, this.stopping.signal); // every pause listens to it
  }

  start(receive: (topic: Topic, key: string) => void, receiveAny: () => void): void {
    [this.receive, this.receiveAny] = [receive, receiveAny];
    this.listening = this.keepListening();
  }

  send(topic: Topic, key: string): void {
    if (this.waiting.size >= WAITING_MAX) {
      this.waiting.clear();
      for (const every of TOPICS) this.waiting.add(`${every} `);
    }
    this.waiting.add(`${topic} ${key}`);
    if (!this.isSending) void this.flush();
  }

  async stop(): Promise<void> {
    await this.sendWaiting().catch(() => undefined); // the last words of a process that hands its work over
    this.stopping.abort();
    await this.listening;
  }

  private async keepListening(): Promise<void> {
    for (let pauseMs = PAUSE_MS_MIN; !this.stopping.signal.aborted; pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX)) {
      const wasProven = await this.listen();
      if (wasProven) pauseMs = PAUSE_MS_MIN;
      // Many processes lose their connections together: not all of them come back in the same moment.
      await pause(pauseMs * (0.5 + Math.random() / 2), this.stopping.signal);
    }
  }

  /** One connection from its beginning to its end; answers whether notices have arrived on it. Never throws. */
  private async listen(): Promise<boolean> {
    const client = new Client({
      connectionString: this.deps.url,
      connectionTimeoutMillis: ANSWER_MS_MAX,
      query_timeout: ANSWER_MS_MAX,
      keepAlive: true,
      application_name: 'millwright notices',
    });
    const over = new AbortController();
    client.on('error', (fault) => over.abort(fault));
    client.on('end', () => over.abort(new Error('the connection has ended')));
    const stop = (): void => over.abort();
    this.stopping.signal.addEventListener('abort', stop, { once: true });
    client.on('notification', ({ payload = '' }) => this.heard(payload));
    let isProven = false;
    try {
      await client.connect();
      await this.ask(client, `LISTEN ${CHANNEL}`);
      for (;;) {
        await this.prove(client, over.signal);
        if (!isProven) this.begin(client);
        isProven = true;
        await pause(PROOF_EVERY_MS, over.signal);
        over.signal.throwIfAborted();
      }
    } catch (error) {
      if (!this.isLost && !this.stopping.signal.aborted) this.deps.lost(toStoreError(error));
      this.isLost = true;
      return isProven;
    } finally {
      this.client = undefined;
      this.stopping.signal.removeEventListener('abort', stop);
      await ended(client);
    }
  }

  /** Nobody listened until now: whatever was sent meanwhile has to be polled. */
  private begin(client: Client): void {
    this.client = client;
    if (this.isLost) this.deps.regained();
    this.isLost = false;
    this.receiveAny();
    void this.flush();
  }

  /** Throws when our own notice does not come back in time, or the connection is over. */
  private async prove(client: Client, over: AbortSignal): Promise<void> {
    const back = new Promise<'back'>((resolve) => (this.proven = () => resolve('back')));
    await this.ask(client, 'SELECT pg_notify($1, $2)', [CHANNEL, `${this.name} ${PROOF} `]);
    const found = await Promise.race([back, pause(ANSWER_MS_MAX, over)]);
    over.throwIfAborted();
    if (found !== 'back') throw new NotificationsUndeliveredError();
  }

  private heard(payload: string): void {
    const [name, topic, key = ''] = payload.split(' ', 3);
    if (name === this.name) {
      if (topic === PROOF) this.proven?.();
      return;
    }
    const known = TOPICS.find((one) => one === topic);
    if (known !== undefined) this.receive(known, key);
  }

  /** Sends what waits, and what comes meanwhile a moment later; what cannot be sent waits for the next connection. */
  private async flush(): Promise<void> {
    if (this.isSending) return;
    this.isSending = true;
    const isSent = await this.sendWaiting().catch(() => false);
    if (isSent) await pause(COALESCED_MS, this.stopping.signal);
    this.isSending = false;
    if (isSent && this.waiting.size > 0) void this.flush();
  }

  /** One statement for all that waits; false: nothing could be sent. */
  private async sendWaiting(): Promise<boolean> {
    if (this.client === undefined || this.waiting.size === 0) return false;
    const sent = [...this.waiting];
    this.waiting.clear();
    try {
      await this.ask(this.client, 'SELECT pg_notify($1, told) FROM unnest($2::text[]) AS told', [
        CHANNEL,
        sent.map((notice) => `${this.name} ${notice}`),
      ]);
    } catch (error) {
      for (const notice of sent) this.waiting.add(notice);
      throw error;
    }
    return true;
  }

  /** One statement after the other: a connection takes no second one while it works on the first. */
  private ask(client: Client, text: string, values: unknown[] = []): Promise<unknown> {
    const answer = this.asked.then(() => client.query(text, values));
    this.asked = answer.catch(() => undefined);
    return answer;
  }
}

/** Ends after this time, or when the signal is given. Keeps no process alive. */
function pause(ms: number, signal: AbortSignal): Promise<undefined> {
  return sleep(ms, undefined, { signal, ref: false }).catch(() => undefined);
}

/** Ends a connection that may be dead: nobody waits for its answer for long. */
async function ended(client: Client): Promise<void> {
  const isOver = await Promise.race([
    client.end().then(
      () => true,
      () => true,
    ),
    sleep(1_000, false, { ref: false }),
  ]);
  if (!isOver) (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * The way on which the processes of one database tell each other of changes. With SQLite there are no others to tell.
 * Through a pooler nobody listens: it may take LISTEN, and bring what was sent on the same of its connections alone.
 */
export function openNotices(
  { databaseUrl, databaseDirectUrl }: Pick<Config, 'databaseUrl' | 'databaseDirectUrl'>,
  isPooled: boolean,
  log: Log,
): Notices {
  if (isPooled) log.warn(NO_NOTICES);
  const url = databaseDirectUrl ?? databaseUrl;
  const line =
    url === undefined || isPooled
      ? undefined
      : new PostgresLine({
          url,
          lost: (fault) =>
            log.warn('notice listener disconnected; changes are found by polling', {
              reason: fault.message,
            }),
          regained: () => log.info('notice listener connected again'),
        });
  return new Notices((fault) => log.fault('notice handling failed', fault), line);
}
