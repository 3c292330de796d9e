/**
 * PostgreSQL away, restarted, full, read-only, failed over, silent, and cut in mid-commit: 503 meanwhile, everything
 * goes on by itself afterwards, and what was promised is there once. contract §5.8 (Transaction), §3.10 (Errors), §3.3
 * (Idempotency-Key).
 */
import { Client } from 'pg';
import { brokenLedger, storedIn, type Attempt } from '../support/ledger/ledger.ts';
import { canOwnPostgres, ownPostgres, type OwnPostgres } from '../support/databases/own-postgres.ts';
import { exchange, type RawAnswer } from '../support/network/raw-http.ts';
import { sendAll, type Parcel } from '../support/services/retrying-senders.ts';
import { seededRandom } from '../support/seeded-random.ts';
import type { FactoryFolder } from '../support/factories/factory-folder.ts';
import {
  ADMIN_KEY,
  installationOn,
  manyWebhooks,
  TOKEN,
  uidsOfMany,
  type Installation,
} from '../support/services/services-on-postgres.ts';
import { eventually, type TestService } from '../support/services/service.ts';
import { TcpProxy } from '../support/network/tcp-proxy.ts';

const FACTORIES = ['north', 'south', 'east'];
const SENDERS = 16;
const RECOVERS_WITHIN_MS = 120_000;

const possible = await canOwnPostgres();
const suite = possible.ok ? describe : describe.skip;
if (!possible.ok) process.stderr.write(`\nPostgreSQL outages are SKIPPED: ${possible.reason}\n\n`);

suite(`PostgreSQL outages${possible.ok ? '' : ` (SKIPPED: ${possible.reason})`}`, () => {
  let server: OwnPostgres;
  let closeServer: () => Promise<void>;
  let proxy: TcpProxy;
  let installation: Installation;
  let mill: TestService;
  let folder: FactoryFolder;
  let webhooks: string[];
  let factory: string;
  let count = 0;

  beforeAll(async () => {
    ({ server, close: closeServer } = await ownPostgres());
    await server.ask('CREATE DATABASE mill');
    proxy = await TcpProxy.open(server.port);
    installation = installationOn(server.url('mill', proxy.port), { MILLWRIGHT_RUN_CONCURRENCY: '1' });
    mill = await installation.boot();
    await mill.secret('bearer', TOKEN);
    folder = await manyWebhooks();
    for (const slug of FACTORIES) factory = await mill.factory(slug, folder.source);
    webhooks = uidsOfMany(mill, FACTORIES);
  }, 120_000);

  afterEach(async () => {
    proxy.fate = undefined;
    proxy.resume();
    await backAgain();
  }, 120_000);

  afterAll(async () => {
    await installation?.close();
    await proxy?.close();
    await folder?.remove();
    await closeServer?.();
  }, 120_000);

  const anyWebhook = (): string => webhooks[(count += 1) % webhooks.length] as string;
  const send = (body: string, uid = anyWebhook()): Promise<RawAnswer> =>
    exchange(mill.url, { target: `/webhooks/w/${uid}`, headers: [['Authorization', `Bearer ${TOKEN}`]], body });
  const fresh = (): string => JSON.stringify({ n: (count += 1) });

  /** Everything works by itself again: readiness, deliveries, the engine, reconciling. */
  async function backAgain(): Promise<void> {
    await eventually(
      'the service is ready',
      async () => ((await fetch(`${mill.url}/readyz`)).status === 200 ? true : undefined),
      RECOVERS_WITHIN_MS,
    );
    const body = fresh();
    const uid = anyWebhook();
    await eventually(
      'a delivery is accepted',
      async () => ((await send(body, uid)).status === 202 ? true : undefined),
      RECOVERS_WITHIN_MS,
    );
    await eventually(
      'its run is worked on',
      async () => {
        const { runs } = (await mill.api('GET', `/agent/runs?webhook_uid=${uid}&limit=1`)).body as unknown as {
          runs?: { state: string }[];
        };
        return runs?.[0]?.state === 'SUCCEEDED' ? true : undefined;
      },
      RECOVERS_WITHIN_MS,
    );
    await eventually(
      'a pass is made',
      async () => ((await mill.api('POST', `/factory/${factory}/sync?wait=true`)).status === 200 ? true : undefined),
      RECOVERS_WITHIN_MS,
    );
  }

  async function expectAway(): Promise<void> {
    const answer = await send(fresh());
    expect([answer.status, answer.body]).toEqual([503, '{"error": "temporarily unavailable"}']);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const read = await mill.api('GET', '/agent/runs');
    expect([read.status, read.body['retryable'], Number(read.headers.get('retry-after')) >= 1]).toEqual([
      503,
      true,
      true,
    ]);
    const written = await mill.api('POST', '/agent/runs', { prompt: 'x' });
    expect([written.status, written.body['retryable']]).toEqual([503, true]);
    const ready = await fetch(`${mill.url}/readyz`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    expect([ready.status, Number(ready.headers.get('retry-after')) >= 1]).toEqual([503, true]);
    expect((await fetch(`${mill.url}/healthz`)).status).toBe(200);
  }

  function parcels(name: string, howMany: number): Parcel[] {
    return Array.from({ length: howMany }, (_, index) => ({
      webhookUid: webhooks[index % webhooks.length] as string,
      deliveryId: `${name}-${index}`,
      body: JSON.stringify({ name, index }),
      token: TOKEN,
    }));
  }

  /** Sends while something happens, and compares what was answered with what is stored afterwards. */
  async function underLoad(
    name: string,
    howMany: number,
    happens: (attempts: () => number) => Promise<void>,
    place = server.url('mill'),
  ): Promise<Attempt[]> {
    const seen: Attempt[] = [];
    const sending = sendAll(
      parcels(name, howMany),
      {
        random: seededRandom(howMany),
        senders: SENDERS,
        bases: () => [mill.url],
        onAttempt: (attempt) => seen.push(attempt),
      },
      performance.now() + RECOVERS_WITHIN_MS,
    );
    const [attempts] = await Promise.all([sending, happens(() => seen.length)]);
    const stored = await storedIn({ url: place });
    const mine = { ...stored, entries: stored.entries.filter(({ delivery_id: id }) => id.startsWith(`${name}-`)) };
    // Whoever looks afterwards whether the engine goes on does not wait for all of them.
    await forgetWaiting(place);
    const entries = new Set(mine.entries.map(({ entry_id: id }) => id));
    expect(
      brokenLedger(
        { attempts, startsOf: () => ['act'] },
        { ...mine, starts: stored.starts.filter(({ entry_id: id }) => entries.has(id)) },
        { isOver: false },
      ),
    ).toEqual([]);
    expect(new Set(attempts.filter(({ status }) => status === 202).map(({ deliveryId }) => deliveryId)).size).toBe(
      howMany,
    );
    return attempts;
  }

  async function forgetWaiting(place: string): Promise<void> {
    const client = new Client(place);
    await client.connect();
    await client.query("UPDATE run SET state = 'CANCELLED', finished_at = updated_at WHERE state = 'QUEUED'");
    await client.query('TRUNCATE waiting_run');
    await client.end();
  }

  const several = (look: () => number, more: number): Promise<unknown> => {
    const from = look();
    return eventually('the senders go on', () => (look() >= from + more ? true : undefined), RECOVERS_WITHIN_MS);
  };

  it('stopped: 503 with Retry-After for all that needs it, and nothing of that is stored', async () => {
    // whose key it remembers
    expect((await fetch(`${mill.url}/readyz`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } })).status).toBe(200);
    const [body, uid, former] = [fresh(), anyWebhook(), mill.logged.length];
    await server.stop('fast');
    await expectAway();
    expect((await send(body, uid)).status).toBe(503);
    const ready = await fetch(`${mill.url}/readyz`, { headers: { authorization: `Bearer ${ADMIN_KEY}` } });
    expect(((await ready.json()) as { reasons: string[] }).reasons).toEqual(['database']);
    await server.start();
    await eventually(
      'the same delivery is accepted',
      async () => ((await send(body, uid)).status === 202 ? true : undefined),
      RECOVERS_WITHIN_MS,
    );
    const { entries } = await storedIn({ url: server.url('mill') });
    expect(entries.filter(({ webhook_uid: of }) => of === uid).map(({ outcome }) => outcome)).toEqual(['accepted']);
    const told = (): string[] => mill.logged.slice(former);
    await eventually(
      'the log says that it is over',
      () => told().find((line) => line.includes('"database connected again"')),
      RECOVERS_WITHIN_MS,
    );
    expect(told().filter((line) => line.includes('"level":"error"'))).toEqual([
      expect.stringMatching(/"message":"database connection lost","reason":"\w+"\}/),
    ]);
  }, 180_000);

  it('killed and restarted under load: every 202 is there once', async () => {
    const attempts = await underLoad('killed', 600, async (seen) => {
      for (let round = 0; round < 3; round += 1) {
        await several(seen, 60);
        await server.restart('immediate');
      }
    });
    expect(attempts.some(({ status }) => status === 503)).toBe(true);
  }, 240_000);

  it(
    'cut in mid-commit, before and behind it: a delivery that got no 202 is accepted or a duplicate when it comes ' +
      'again',
    async () => {
      const random = seededRandom(11);
      const cuts = { lost: 0, unanswered: 0 };
      const attempts = await underLoad('cut', 500, async (seen) => {
        proxy.fate = (chunk) => {
          // A batch of deliveries is one call and a transaction by itself: no COMMIT is sent behind it.
          if (!chunk.includes('cut-') || random() > 0.25) return 'pass';
          const fate = random() < 0.5 ? 'lost' : 'unanswered';
          cuts[fate] += 1;
          return fate;
        };
        await eventually(
          'both kinds of cut happened often',
          () => (cuts.lost >= 5 && cuts.unanswered >= 5 ? true : seen() >= 5_000 ? true : undefined),
          RECOVERS_WITHIN_MS,
        );
        proxy.fate = undefined;
      });
      expect([cuts.lost >= 5, cuts.unanswered >= 5]).toEqual([true, true]);
      expect(attempts.some(({ status }) => status === 503)).toBe(true);
    },
    240_000,
  );

  it('cut in mid-commit: an Idempotency-Key that is sent until it is answered made one run', async () => {
    const random = seededRandom(23);
    let cuts = 0;
    proxy.fate = (chunk) => {
      // Few: what was claimed and not answered is given free after half a minute.
      if (!chunk.includes('COMMIT') || cuts >= 8 || random() > 0.4) return 'pass';
      cuts += 1;
      return random() < 0.5 ? 'lost' : 'unanswered';
    };
    const create = async (key: string): Promise<unknown> =>
      eventually(
        `${key} is answered`,
        async () => {
          const answer = await fetch(`${mill.url}/api/v1/agent/runs`, {
            method: 'POST',
            body: JSON.stringify({ prompt: 'once', title: key }),
            headers: {
              authorization: `Bearer ${ADMIN_KEY}`,
              'content-type': 'application/json',
              'idempotency-key': key,
            },
          });
          // 409: the first one's lease, of which nobody knows whether it works still
          if (answer.status >= 500 || answer.status === 409) return undefined;
          expect(answer.status).toBe(200);
          return ((await answer.json()) as { run_id: string }).run_id;
        },
        RECOVERS_WITHIN_MS,
      );
    const keys = Array.from({ length: 12 }, (_, index) => `once-${index}`);
    const made = await Promise.all(keys.map(create));
    proxy.fate = undefined;
    expect(cuts).toBe(8);
    const stored = await server.ask<{ run_id: string; title: string }>(
      "SELECT run_id, title FROM every_run WHERE title LIKE 'once-%'",
      'mill',
    );
    expect(stored.map(({ title, run_id: runId }) => `${title} ${runId}`).sort()).toEqual(
      keys.map((key, index) => `${key} ${String(made[index])}`).sort(),
    );
  }, 240_000);

  it('read-only: 503, not ready, and on again when it takes writes', async () => {
    await server.set('default_transaction_read_only', 'on');
    await eventually('no write is taken', async () => ((await send(fresh())).status === 503 ? true : undefined));
    await eventually('not ready', async () => ((await fetch(`${mill.url}/readyz`)).status === 503 ? true : undefined));
    try {
      await expectAway();
    } finally {
      await server.set('default_transaction_read_only', 'off');
    }
  }, 180_000);

  it('out of connections: 503, and on again when there are some', async () => {
    await server.restart('fast', { max_connections: '20' });
    await eventually(
      'it is back',
      async () => ((await send(fresh())).status === 202 ? true : undefined),
      RECOVERS_WITHIN_MS,
    );
    const others: Client[] = [];
    const take = async (): Promise<boolean> => {
      const client = new Client(server.url());
      client.on('error', () => undefined);
      const isTaken = await client.connect().then(
        () => true,
        () => false,
      );
      if (isTaken) others.push(client);
      return isTaken;
    };
    proxy.leadTo(1); // whatever the service has is gone, and it gets none of those that become free
    proxy.cut({ reset: true });
    await eventually(
      'others have all of them',
      async () => {
        while (await take());
        return others.length >= 20 ? true : undefined;
      },
      RECOVERS_WITHIN_MS,
    );
    proxy.leadTo(server.port);
    await expectAway();
    for (const client of others) await client.end();
    await backAgain();
    await server.restart('fast', {});
  }, 240_000);

  it('silent: nobody waits for ever, and on again when it speaks', async () => {
    proxy.stall();
    const waiting = Array.from({ length: 20 }, () => send(fresh()));
    await expectAway(); // answered while nothing has moved yet
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 503));
    proxy.resume();
  }, 180_000);

  it('a lock that somebody else keeps: given up with 503, taken when it is free', async () => {
    const holder = new Client(server.url('mill'));
    await holder.connect();
    await holder.query('BEGIN; LOCK TABLE delivery IN ACCESS EXCLUSIVE MODE');
    const [body, uid] = [fresh(), anyWebhook()];
    expect((await send(body, uid)).status).toBe(503);
    await holder.query('ROLLBACK');
    await holder.end();
    expect((await send(body, uid)).status).toBe(202);
  }, 180_000);

  it('failed over under load: a standby is not used, a promoted one is, and it holds every 202', async () => {
    const standby = await server.standby();
    await eventually(
      'it is back',
      async () => ((await send(fresh())).status === 202 ? true : undefined),
      RECOVERS_WITHIN_MS,
    );
    const old = server;
    await underLoad(
      'failover',
      400,
      async (seen) => {
        await several(seen, 80);
        proxy.leadTo(standby.port);
        await old.stop('immediate');
        // The address leads to the standby before that is the primary: it knows all deliveries, and yet nobody is told
        // of it.
        await eventually(
          'reads are refused by a standby',
          async () => ((await mill.api('GET', '/factory')).status === 503 ? true : undefined),
          RECOVERS_WITHIN_MS,
        );
        await standby.promote();
      },
      standby.url('mill'),
    );
    server = standby;
  }, 240_000);

  it('tells nobody of the URL', () => {
    const told = mill.logged.join('');
    expect(told).not.toContain('postgres://');
    expect(told).not.toMatch(/INSERT INTO|SELECT /);
  });
});
