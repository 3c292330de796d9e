/** How the queue's two parts reach PostgreSQL or Redis. explanation: Engine. */
import type { Redis, RedisOptions } from 'ioredis';

/** Whoever asks the queue for something waits this long at most. */
export const ANSWER_MS = 5_000;
/** A connection that is lost is tried again this late at most. */
export const RECONNECT_MS = 1_000;
/** What the queue keeps in PostgreSQL is in a schema of its own, which it makes and brings up to date itself. */
const SCHEMA = 'millwright_queue';
/** Connections of each of the two parts: tokens are few and small. */
const CONNECTIONS_MAX = 2;
const STATEMENT_MS = 30_000;

/**
 * Connections to Redis stay ours, also those that BullMQ makes out of them: it closes none that it was given, or cannot
 * reach.
 */
export class RedisConnections {
  /** Each with the one that it was made out of. */
  private readonly clients = new Map<Redis, Redis>();

  open(client: typeof Redis, url: string, more: RedisOptions): Redis {
    const opened = new client(url, { ...more, connectTimeout: ANSWER_MS, retryStrategy: () => RECONNECT_MS });
    return this.track(opened, opened);
  }

  /** Of one that was opened, and of all that were made out of it. */
  drop(opened: Redis | undefined): void {
    for (const [client, first] of this.clients) if (first === opened) this.end(client);
  }

  /** Of all of them, whatever they wait for. */
  disconnect(): void {
    for (const client of this.clients.keys()) this.end(client);
  }

  private end(client: Redis): void {
    this.clients.delete(client);
    client.disconnect();
  }

  private track(client: Redis, first: Redis): Redis {
    this.clients.set(client, first);
    client.on('error', () => undefined); // whoever asks it something gets it
    const duplicate = client.duplicate.bind(client);
    client.duplicate = (more) => this.track(duplicate(more), first);
    return client;
  }
}

/** What BullMQ makes its pool of. A URL's `options` would replace those that name the schema. */
export function postgresConnection(databaseUrl: string) {
  const url = new URL(databaseUrl);
  const options = url.searchParams.get('options') ?? undefined;
  url.searchParams.delete('options');
  return {
    connectionString: options === undefined ? databaseUrl : url.href,
    options,
    schema: SCHEMA,
    migrate: true,
    max: CONNECTIONS_MAX,
    connectionTimeoutMillis: ANSWER_MS,
    statement_timeout: STATEMENT_MS,
  };
}
