/**
 * Deliveries that are cut off at every byte, with every way in which a connection can end: never a 202, never an entry,
 * never a run, and nothing is left of them. contract §5.
 */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { chunk, connectRaw, exchange, LAST_CHUNK, requestHead, type HeaderLines } from '../support/network/raw-http.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const URL_TOKEN = 'url-token-of-the-tests';
const SIGNING_KEY = 'signing-key-of-the-tests';
const BODY = '{"cut":true}';
const AT_ONCE = 24;

let mill: TestService;
let folder: FactoryFolder;
let factory: string;

beforeAll(async () => {
  mill = await bootService({ environment: { MILLWRIGHT_RUN_CONCURRENCY: '0' } });
  await mill.secret('bearer', TOKEN);
  await mill.secret('in-url', URL_TOKEN);
  await mill.secret('signing', SIGNING_KEY);
  folder = await factoryFolder({
    webhooks: {
      plain: { secretName: 'bearer' },
      linked: { authMode: 'url_token', secretName: 'in-url' },
      signed: { authMode: 'signature', signatureScheme: 'github', secretName: 'signing' },
    },
    automations: { all: { webhooks: ['plain', 'linked', 'signed'] } },
  });
  factory = await mill.factory('cut', folder.source);
}, 120_000);

afterAll(async () => {
  await mill?.stop();
  await folder?.remove();
});

const path = (slug: string): string => `/webhooks/w/${mill.webhookUid('cut', slug)}`;
const sized = (target: string, headers: HeaderLines): string =>
  requestHead(mill.url, { target, headers, declared: BODY.length }) + BODY;
const BEARER: HeaderLines = [['Authorization', `Bearer ${TOKEN}`]];
const SIGNED: HeaderLines = [
  ['X-Hub-Signature-256', `sha256=${createHmac('sha256', SIGNING_KEY).update(BODY).digest('hex')}`],
];

/** How a sender leaves. */
const ENDINGS = {
  'says that it is done': (socket) => void socket.end(),
  closes: (socket) => void socket.end(() => socket.destroy()),
  resets: (socket) => void socket.resetAndDestroy(),
} satisfies Record<string, (socket: Awaited<ReturnType<typeof connectRaw>>['socket']) => void>;

/** Sends the first bytes, leaves, and answers everything that came back. */
async function cut(
  bytes: string,
  leave: (socket: Awaited<ReturnType<typeof connectRaw>>['socket']) => void,
): Promise<string> {
  const connection = await connectRaw(mill.url);
  // Written out before it leaves: a reset throws away what still waits.
  await new Promise<void>((resolve) =>
    bytes === '' ? resolve() : connection.socket.write(bytes, 'latin1', () => resolve()),
  );
  leave(connection.socket);
  await connection.closed;
  connection.destroy();
  return connection.pending();
}

async function stored(): Promise<{ entries: number; runs: number }> {
  const counts = await Promise.all(
    ['plain', 'linked', 'signed'].map(
      async (slug) =>
        (
          (await mill.api('GET', `/factory/${factory}/webhooks/${mill.webhookUid('cut', slug)}/deliveries?limit=500`))
            .body['deliveries'] as unknown[]
        ).length,
    ),
  );
  return {
    entries: counts.reduce((sum, count) => sum + count, 0),
    runs: ((await mill.api('GET', '/agent/runs?limit=500')).body['runs'] as unknown[]).length,
  };
}

it.each<{ what: string; bytes: () => string }>([
  { what: 'with a length', bytes: () => sized(path('plain'), BEARER) },
  {
    what: 'in chunks',
    bytes: () =>
      requestHead(mill.url, {
        target: path('plain'),
        headers: [...BEARER, ['X-Millwright-Delivery-Id', 'in-chunks'], ['Transfer-Encoding', 'chunked']],
      }) +
      chunk(BODY.slice(0, 5)) +
      chunk(BODY.slice(5)) +
      LAST_CHUNK,
  },
  { what: 'with its token in the path', bytes: () => sized(`${path('linked')}/${URL_TOKEN}`, []) },
  { what: 'with a signature', bytes: () => sized(path('signed'), SIGNED) },
])(
  'a delivery $what, cut at every byte',
  async ({ bytes }) => {
    const before = await stored();
    const whole = bytes();
    const cuts = Object.entries(ENDINGS).flatMap(([ending, leave]) =>
      Array.from({ length: whole.length }, (_, length) => ({ ending, leave, length })),
    );
    const left = [...cuts];
    const answered: string[] = [];
    const sender = async (): Promise<void> => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) {
        const answer = await cut(whole.slice(0, next.length), next.leave);
        if (/HTTP\/1\.1 (2|5)/.test(answer))
          answered.push(`${next.length} of ${whole.length} bytes, then it ${next.ending}: ${answer.slice(0, 30)}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    expect(answered).toEqual([]);
    expect(await stored()).toEqual(before);
    // The whole of it is a delivery: what was cut was one.
    expect((await exchange(mill.url, whole)).status).toBe(202);
    expect(await stored()).toEqual({ entries: before.entries + 1, runs: before.runs + 1 });
  },
  120_000,
);

it('nothing is left of them: no connection, no complaint', async () => {
  const server = mill.service.app.getHttpServer();
  await eventually(
    'only our own connections are open',
    () =>
      new Promise<true | undefined>((resolve) =>
        server.getConnections((_, count) => resolve(count <= 10 ? true : undefined)),
      ),
  );
  expect(mill.logged.filter((line) => /"level":"(error|warn)"/.test(line))).toEqual([]);
});
