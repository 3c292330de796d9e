/**
 * A node:http server that checks the token or the HMAC of a delivery, stores it with one call, and answers 202: the
 * receiver that people write themselves. Its one argument says, as JSON, what it stores deliveries in.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { Queue } from 'bullmq';
import { Pool } from 'pg';

export interface DurableReceiverOptions {
  port: number;
  store: 'postgres' | 'bullmq';
  /** Of PostgreSQL or Redis. */
  url: string;
  /** By the path that they are for. */
  secrets: Readonly<Record<'token' | 'github', string>>;
}

type Save = (id: string, body: string) => Promise<unknown>;

/** Connections to PostgreSQL. */
const POOL_MAX = 20;

const { port, store, url, secrets } = JSON.parse(process.argv[2] ?? '') as DurableReceiverOptions;
const STORES: Readonly<Record<DurableReceiverOptions['store'], () => Promise<Save>>> = {
  postgres: async () => {
    const pool = new Pool({ connectionString: url, max: POOL_MAX });
    await pool.query(
      'CREATE TABLE delivery (id text PRIMARY KEY, received_at timestamptz NOT NULL, body jsonb NOT NULL)',
    );
    const text = 'INSERT INTO delivery VALUES ($1, now(), $2) ON CONFLICT DO NOTHING';
    return (id, body) => pool.query({ name: 'save', text, values: [id, body] });
  },
  bullmq: async () => {
    const queue = new Queue('deliveries', { connection: { url } });
    await queue.waitUntilReady();
    return (id, body) => queue.add('delivery', { body }, { jobId: id });
  },
};

const save = await STORES[store]();
createServer((request, response) => {
  const answer = (status: number): void => void response.writeHead(status, { 'content-length': 0 }).end();
  receive(request).then(answer, () => answer(500));
}).listen(port, '127.0.0.1');

async function receive(request: IncomingMessage): Promise<number> {
  const body = await buffer(request);
  if (!isProven(request, body)) return 401;
  const id = request.headers['x-millwright-delivery-id'] ?? request.headers['x-github-delivery'];
  if (typeof id !== 'string') return 400;
  const text = body.toString();
  JSON.parse(text);
  await save(id, text);
  return 202;
}

function isProven({ url: path, headers }: IncomingMessage, body: Buffer): boolean {
  const [given, wanted] =
    path === '/token'
      ? [headers.authorization, `Bearer ${secrets.token}`]
      : [headers['x-hub-signature-256'], `sha256=${createHmac('sha256', secrets.github).update(body).digest('hex')}`];
  if (typeof given !== 'string' || given.length !== wanted.length) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}
