/** Outpost's API with its Redis, PostgreSQL and RabbitMQ: an event is published, and waits for its destination. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { freePort } from '../../support/network/ports.ts';
import { answers, listens, type Bench, type Server } from '../bench.ts';
import { postmasterOf } from '../figures/database-usage.ts';
import { NO_REDIS, redisServer } from './durable-receivers.ts';
import { programOf, REQUESTS_MAX, type Found } from './receiver.ts';

const NAME = 'Outpost';
const TENANT = 'bench';
const TOPIC = 'delivery';
/** With what is around it, 1 KiB: see BODY_BYTES of the senders. */
const TEXT_BYTES = 850;
/** Where Debian's package has it; the one on the PATH changes the user. */
const RABBITMQ = '/usr/lib/rabbitmq/bin/rabbitmq-server';

export async function outpost(bench: Bench): Promise<Found> {
  const folder = process.env['BENCH_OUTPOST'] ?? '';
  const [program, migrations] = [join(folder, 'outpost-server'), join(folder, 'outpost')];
  if (![program, migrations].every(existsSync))
    return `${NAME} SKIPPED: BENCH_OUTPOST names no folder of its two programs, outpost and outpost-server`;
  const [redis, rabbit] = [await redisServer(bench), await rabbitServer(bench)];
  if (redis === undefined) return `${NAME} SKIPPED: ${NO_REDIS}`;
  if (rabbit === undefined) return `${NAME} SKIPPED: there is no ${RABBITMQ} (apt-get install rabbitmq-server)`;
  const database = await bench.database('PostgreSQL');
  if (!database.ok || database.url === undefined)
    return `${NAME} SKIPPED: ${database.ok ? 'no PostgreSQL' : database.reason}`;
  const key = randomBytes(24).toString('hex');
  const environment = {
    SERVICE: 'api',
    LOG_LEVEL: 'error',
    GIN_MODE: 'release',
    DISABLE_TELEMETRY: 'true',
    API_KEY: key,
    API_JWT_SECRET: randomBytes(24).toString('hex'),
    AES_ENCRYPTION_SECRET: randomBytes(16).toString('hex'),
    TOPICS: TOPIC,
    REDIS_HOST: '127.0.0.1',
    REDIS_PORT: String(redis.port),
    POSTGRES_URL: `${database.url}?sslmode=disable`,
    RABBITMQ_SERVER_URL: `amqp://guest:guest@127.0.0.1:${rabbit.port}`,
  };
  const migrated = spawnSync(migrations, ['migrate', 'apply', '--yes'], {
    env: { PATH: process.env['PATH'], ...environment },
    encoding: 'utf8',
  });
  if (migrated.status !== 0) return `${NAME} SKIPPED: its migrations failed: ${migrated.stderr.trim().slice(-200)}`;
  const server = await bench.program(program, () => [], answers, {
    environment: (port) => ({ ...environment, API_PORT: String(port) }),
  });
  await makeDestination(server, key);
  return {
    name: NAME,
    server,
    databases: [redis.pid, rabbit.pid, await postmasterOf(database.url)],
    targets: {
      token: [
        {
          path: '/api/v1/publish',
          secret: key,
          members: `"tenant_id":"${TENANT}","topic":"${TOPIC}","data":{"text":"${'x'.repeat(TEXT_BYTES)}"}`,
        },
      ],
    },
    requestsMax: REQUESTS_MAX,
    goesOn: false,
    durable: 'message, id',
    duplicates: '1 hour',
    signatures: 'no: an API key',
    does:
      `its API process alone (SERVICE=api) with Redis ${redis.version} that syncs always, RabbitMQ ${rabbit.version} ` +
      'and PostgreSQL: looks for the destinations of the event, remembers its id and queues a message for each ' +
      '(here one); delivering and logging, which its other processes do, are not measured',
  };
}

/** One that every event is for; nothing is delivered to it, since only the API runs. */
async function makeDestination({ port }: Server, key: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/api/v1/tenants/${TENANT}`;
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const destination = { type: 'webhook', topics: ['*'], config: { url: 'http://127.0.0.1:9/nobody' } };
  for (const [path, method, body] of [
    ['', 'PUT', undefined],
    ['/destinations', 'POST', JSON.stringify(destination)],
  ] as const) {
    const answer = await fetch(`${url}${path}`, { method, headers, ...(body === undefined ? {} : { body }) });
    if (!answer.ok) throw new Error(`${NAME}: ${method} ${path}: ${answer.status} ${await answer.text()}`);
  }
}

/** One node that nobody else knows, with a port mapper of its own, so that none is left running. */
async function rabbitServer(bench: Bench): Promise<(Server & { version: string }) | undefined> {
  const mapper = programOf('BENCH_EPMD', 'epmd');
  if (!existsSync(RABBITMQ) || mapper === undefined) return undefined;
  const [folder, distribution] = [bench.folder('rabbitmq'), await freePort()];
  const mapperPort = (port: number) => ({ ERL_EPMD_ADDRESS: '127.0.0.1', ERL_EPMD_PORT: String(port) });
  const { port: mapped } = await bench.program(mapper, () => [], listens, { environment: mapperPort });
  const server = await bench.program(RABBITMQ, () => [], listens, {
    environment: (port) => ({
      ...mapperPort(mapped),
      HOME: folder,
      RABBITMQ_NODENAME: 'bench@localhost',
      RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
      RABBITMQ_NODE_PORT: String(port),
      RABBITMQ_DIST_PORT: String(distribution),
      RABBITMQ_MNESIA_BASE: join(folder, 'mnesia'),
      RABBITMQ_LOG_BASE: join(folder, 'log'),
      RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'plugins'),
      RABBITMQ_CONFIG_FILE: join(folder, 'none'),
      RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-kernel inet_dist_use_interface {127,0,0,1}',
      RUNNING_UNDER_SYSTEMD: 'true', // the script becomes the server, so that its signals reach it
    }),
  });
  const installed = readdirSync(join(dirname(RABBITMQ), '../lib')).join(' ');
  return { ...server, version: /rabbitmq_server-(\S+)/.exec(installed)?.[1] ?? '' };
}
