/**
 * The whole story through PgBouncer in transaction mode with few connections: with a direct URL beside it, and without
 * one. contract §5, §9.
 */
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { pgbouncerProgram, startPgBouncer, type PgBouncer } from '../support/databases/pgbouncer.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { eventually, type TestService } from '../support/services/service.ts';
import { installationOn, TOKEN, type Installation } from '../support/services/services-on-postgres.ts';
import { database as examineDatabase } from '../../apps/server/doctor/database-check.ts';
import { readConfig } from '../../apps/server/config/config.ts';
import { rows } from '../../apps/server/store/database/transactions.ts';

/** Fewer than one process has of its own: transactions of both take turns on them. */
const POOL_SIZE = 4;
const WAITS_MS = 180_000;
const server = await postgresServer();
const pgbouncer = pgbouncerProgram();
const reason = !server.ok ? server.reason : !pgbouncer.ok ? pgbouncer.reason : undefined;

(reason === undefined ? describe : describe.skip).each([
  { how: 'with a direct URL beside it', isDirect: true },
  { how: 'without a direct URL', isDirect: false },
])(`PgBouncer in transaction mode, $how${reason === undefined ? '' : ` (SKIPPED: ${reason})`}`, ({ isDirect }) => {
  let pooler: PgBouncer;
  let direct: string;
  let drop: (() => Promise<void>) | undefined;
  let installation: Installation;
  let mills: TestService[];
  let folder: FactoryFolder;
  let factory: string;
  let unique = 0;

  beforeAll(async () => {
    if (!server.ok || !pgbouncer.ok) return;
    const fresh = await freshDatabase(server.url);
    [direct, drop] = [fresh.url, fresh.drop];
    pooler = await startPgBouncer(pgbouncer.program, fresh.url, POOL_SIZE);
    installation = installationOn(pooler.url, {
      MILLWRIGHT_RUN_CONCURRENCY: '2',
      MILLWRIGHT_API_RATE: '0',
      ...(isDirect ? { MILLWRIGHT_DATABASE_DIRECT_URL: direct } : {}),
    });
    mills = [await installation.boot(), await installation.boot()];
    await (mills[0] as TestService).secret('bearer', TOKEN);
    folder = await factoryFolder({
      webhooks: { orders: { secretName: 'bearer' }, second: { secretName: 'bearer' } },
      automations: { act: { webhooks: ['orders'] }, alone: { webhooks: ['orders'], payload: { alone: [true] } } },
    });
    await folder.writeFile(
      'automations/alone/automation.md',
      '---\n{"triggers": [{"provider": "webhook", "event": "received", "filter": {"webhooks": ["orders"], ' +
        '"payload": {"alone": [true]}}}], "concurrency": {"group": "/pr", "whenBusy": "queue"}}\n---\nGo.\n',
    );
    factory = await (mills[0] as TestService).factory('shop', folder.source);
    // What is new may be unknown to the other for the second that memory is believed.
    for (const index of [0, 1])
      await eventually('it is served', async () =>
        (await send(index, {}, 'second', 'wrong')) === 404 ? undefined : true,
      );
  }, 240_000);

  afterAll(async () => {
    await installation?.close();
    await pooler?.close();
    await folder?.remove();
    await drop?.();
  }, 240_000);

  const mill = (index: number): TestService => mills[index % 2] as TestService;
  const send = async (index: number, body: unknown, slug = 'orders', token = TOKEN): Promise<number> =>
    (
      await fetch(mill(index).ingressUrl('shop', slug), {
        method: 'POST',
        headers: { authorization: `Bearer ${token}` },
        body: JSON.stringify(body),
      })
    ).status;

  it('takes deliveries, and their runs are worked on', async () => {
    // More at once than there are connections, and groups that are worked on one by one.
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, index) =>
        send(index, { n: (unique += 1), alone: index % 4 === 0, pr: index % 2 }),
      ),
    );
    expect(new Set(answers)).toEqual(new Set([202]));
    await eventually(
      'all have been worked on',
      async () => {
        const { runs } = (await mill(1).api('GET', `/agent/runs?factory_uid=${factory}&limit=500`)).body as unknown as {
          runs?: { state: string }[];
        };
        return runs?.length === 30 && runs.every(({ state }) => state === 'SUCCEEDED') ? true : undefined;
      },
      WAITS_MS,
    );
    const executions = await mill(0).service.database.read(() =>
      rows<{ epoch: number }>('SELECT epoch FROM execution'),
    );
    expect(executions.filter(({ epoch }) => epoch !== 1)).toEqual([]);
  }, 240_000);

  it('knows a deletion at once on every replica', async () => {
    expect(
      await Promise.all([send(0, { n: (unique += 1) }, 'second'), send(1, { n: (unique += 1) }, 'second')]),
    ).toEqual([202, 202]);
    await folder.write({
      webhooks: { orders: { secretName: 'bearer' } },
      automations: { act: { webhooks: ['orders'] } },
    });
    await mill(0).sync(factory);
    expect(await Promise.all([send(0, {}, 'second'), send(1, {}, 'second')])).toEqual([404, 404]);
  }, 240_000);

  it('reads long lists while it takes deliveries', async () => {
    const reads = Array.from({ length: 20 }, (_, index) =>
      mill(index)
        .api('GET', `/statistics/deliveries?factory_uid=${factory}`)
        .then(({ status }) => status),
    );
    const deliveries = Array.from({ length: 10 }, (_, index) => send(index, { n: (unique += 1) }));
    expect(new Set(await Promise.all(deliveries))).toEqual(new Set([202]));
    expect(new Set(await Promise.all(reads))).toEqual(new Set([200]));
  }, 240_000);

  it('hears of what another replica does', async () => {
    const runId = String((await mill(0).api('POST', '/agent/runs', { prompt: 'x' })).body['run_id']);
    await eventually(
      'it is worked on, whoever does',
      async () => ((await mill(1).api('GET', `/agent/runs/${runId}`)).body['state'] === 'SUCCEEDED' ? true : undefined),
      WAITS_MS,
    );
    const isListening = async (): Promise<boolean> =>
      (
        await mill(0).service.database.read(() =>
          rows('SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query ~* ?', 'listen|notify'),
        )
      ).length > 0;
    if (isDirect) await eventually('both listen', async () => ((await isListening()) ? true : undefined), WAITS_MS);
    const warned = (one: TestService): number =>
      one.logged.filter((line) => line.includes('MILLWRIGHT_DATABASE_DIRECT_URL')).length;
    // it would hear now and then, and believe that it hears everything
    if (!isDirect) expect(await isListening()).toBe(false);
    expect(mills.map(warned)).toEqual(isDirect ? [0, 0] : [1, 1]);
  }, 240_000);

  it('is seen by doctor', async () => {
    const config = readConfig({ PATH: process.env['PATH'], ...installation.environment });
    const remarks = await examineDatabase({ config, faulty: new Set(), nowMs: Date.now } as unknown as Parameters<
      typeof examineDatabase
    >[0]);
    expect(remarks.map(({ level }) => level)).toEqual(isDirect ? ['ok', 'ok'] : ['ok', 'ok', 'warning']);
    const queueing = readConfig({
      PATH: process.env['PATH'],
      ...installation.environment,
      MILLWRIGHT_ENGINE: 'bullmq',
    });
    const more = await examineDatabase({
      config: queueing,
      faulty: new Set(),
      nowMs: Date.now,
    } as unknown as Parameters<typeof examineDatabase>[0]);
    expect(more.map(({ level }) => level)).toEqual(isDirect ? ['ok', 'ok'] : ['ok', 'ok', 'warning', 'problem']);
    expect(pooler.logged()).not.toMatch(/unsupported startup parameter|prepared statement/);
  });
});
