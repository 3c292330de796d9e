/** The receiver that people write themselves, on PostgreSQL and on a queue in Redis, each synced before the answer. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { answers, listens, type Bench, type Server } from '../bench.ts';
import { postmasterOf } from '../figures/database-usage.ts';
import type { SeededService } from '../seeds/seeded-service.ts';
import type { DurableReceiverOptions } from './durable-receiver.ts';
import { programOf, REQUESTS_MAX, secretsOf, type Found, type Receiver } from './receiver.ts';

const SCRIPT = fileURLToPath(new URL('durable-receiver.js', import.meta.url));

/** One INSERT for each delivery. */
export async function postgresReceiver(bench: Bench, seeded: SeededService): Promise<Found> {
  const name = 'node:http + INSERT';
  const database = await bench.database('PostgreSQL');
  if (!database.ok || database.url === undefined)
    return `${name} SKIPPED: ${database.ok ? 'no PostgreSQL' : database.reason}`;
  return {
    ...(await started(bench, seeded, { store: 'postgres', url: database.url })),
    name,
    databases: [await postmasterOf(database.url)],
    durable: 'row',
    duplicates: 'as long as the row stays',
    does:
      'a node:http server of 60 lines on PostgreSQL: token or HMAC, one INSERT … ON CONFLICT DO NOTHING of id and ' +
      'JSON, synchronous_commit=on; no rate, no filters, no runs, one secret for all',
  };
}

/** One job of BullMQ for each delivery. */
export async function bullmqReceiver(bench: Bench, seeded: SeededService): Promise<Found> {
  const name = 'node:http + BullMQ';
  const redis = await redisServer(bench);
  if (redis === undefined) return `${name} SKIPPED: ${NO_REDIS}`;
  const { targets, ...rest } = await started(bench, seeded, {
    store: 'bullmq',
    url: `redis://127.0.0.1:${redis.port}`,
  });
  return {
    ...rest,
    name,
    targets: { token: targets.token ?? [] },
    databases: [redis.pid],
    durable: 'job',
    duplicates: 'as long as the job stays',
    does:
      `the same on a BullMQ queue, jobs named by the delivery, Redis ${redis.version} with appendfsync always; ` +
      'everything that is stored is in memory too',
  };
}

export const NO_REDIS = 'no program redis-server on the PATH, and no BENCH_REDIS (apt-get install redis-server)';

/** An empty one that syncs its log before it answers; undefined where there is no such program. */
export async function redisServer(bench: Bench): Promise<(Server & { version: string }) | undefined> {
  const program = programOf('BENCH_REDIS', 'redis-server');
  if (program === undefined) return undefined;
  const said = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout;
  const folder = bench.folder('redis');
  const settings = ['--appendonly', 'yes', '--appendfsync', 'always', '--save', '', '--dir', folder];
  const server = await bench.program(
    program,
    (port) => ['--bind', '127.0.0.1', '--port', String(port), ...settings],
    listens,
  );
  return { ...server, version: /v=(\S+)/.exec(said)?.[1] ?? '' };
}

async function started(
  bench: Bench,
  seeded: SeededService,
  options: Pick<DurableReceiverOptions, 'store' | 'url'>,
): Promise<Pick<Receiver, 'server' | 'targets' | 'requestsMax' | 'goesOn' | 'signatures'>> {
  const secrets = secretsOf(seeded);
  const server = await bench.program(
    process.execPath,
    (port) => [SCRIPT, JSON.stringify({ ...options, port, secrets } satisfies DurableReceiverOptions)],
    answers,
  );
  return {
    server,
    targets: {
      token: [{ path: '/token', secret: secrets.token }],
      github: [{ path: '/github', secret: secrets.github }],
    },
    requestsMax: REQUESTS_MAX,
    goesOn: false,
    signatures: 'yes',
  };
}
