/**
 * When runs start: one after the other by what a delivery says, fair between factories, within bounds, by the clock.
 * contract §8.3 (concurrency), §12.3 (schedule trigger).
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  automationFile,
  automationPath,
  deliver,
  runIn,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { ENDED, logOf, SHELL } from '../support/runs/runs.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'bearer-token-of-the-tests';
const postgres = await postgresServer();

let root: string;
/** Removes a database once nobody uses it. */
let dropping: (() => Promise<void>) | undefined;
let mill: TestService;
let skewMs = 0;
const clock = (): number => Date.now() + skewMs;

beforeEach(async () => {
  skewMs = 0;
  root = await mkdtemp(join(tmpdir(), 'millwright-scheduling-'));
});
afterEach(async () => {
  await mill?.stop();
  await dropping?.();
  dropping = undefined;
  await rm(root, { recursive: true, force: true });
});

async function boot(environment: Record<string, string> = {}, more: { dataDir?: string } = {}): Promise<void> {
  mill = await bootService({
    environment: { ...SHELL, MILLWRIGHT_API_RATE: '0', MILLWRIGHT_DRAIN_SECONDS: '0', ...environment },
    nowMs: clock,
    ...more,
  });
}

/** A factory with one webhook, `events`, and these automations. */
async function factory(slug: string, automations: Record<string, string>): Promise<string> {
  await write(slug, automations);
  await mill.secret('bearer', TOKEN);
  return mill.factory(slug, { kind: 'directory', path: join(root, slug) });
}

async function write(slug: string, automations: Record<string, string>): Promise<void> {
  const files = {
    [webhookPath('events')]: webhookFile('bearer'),
    ...Object.fromEntries(Object.entries(automations).map(([name, text]) => [automationPath(name), text])),
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, slug, path)), { recursive: true });
    await writeFile(join(root, slug, path), text);
  }
}

interface Entry {
  started: { automation_id: string; run_id: string }[];
  skipped: { automation_id: string; reason: string }[];
}

/** Delivers a body; what the log says of it. */
async function sent(slug: string, body: unknown): Promise<Entry> {
  expect((await deliver(mill.ingressUrl(slug, 'events'), TOKEN, body)).status).toBe(202);
  const uid = mill.webhookUid(slug, 'events');
  const { body: found } = await mill.api('GET', `/factory?search=${slug}`);
  const [one] = found['factories'] as { uid: string }[];
  const { body: log } = await mill.api('GET', `/factory/${one?.uid}/webhooks/${uid}/deliveries?limit=1`);
  return (log['deliveries'] as Entry[])[0] as Entry;
}

const startedBy = ({ started }: Entry): string => started[0]?.run_id ?? 'none';
const stateOf = async (runId: string): Promise<string> =>
  String((await mill.api('GET', `/agent/runs/${runId}`)).body['state']);
const runsOf = async (query: string): Promise<Record<string, unknown>[]> =>
  (await mill.api('GET', `/agent/runs?limit=500&${query}`)).body['runs'] as Record<string, unknown>[];
const concurrency = (group: string | undefined, whenBusy: string): string =>
  `concurrency: ${JSON.stringify({ ...(group === undefined ? {} : { group }), whenBusy })}`;

describe('runs of one pull request', () => {
  it('wait for each other, start nothing, or replace each other, as their automation says', async () => {
    await boot({ MILLWRIGHT_RUN_CONCURRENCY: '6' });
    const automation = (whenBusy: string) =>
      automationFile(['events'], 'sleep 600', {
        payload: `{mode: [${whenBusy}]}`,
        lines: [concurrency('/pull_request/number', whenBusy)],
      });
    const uid = await factory('shop', {
      queue: automation('queue'),
      skip: automation('skip'),
      replace: automation('replace'),
    });
    const event = (mode: string, number: unknown) =>
      sent('shop', { mode, pull_request: { number }, at: Math.random() });

    const [first, second, other] = [await event('queue', 7), await event('queue', 7), await event('queue', 8)].map(
      startedBy,
    ) as [string, string, string];
    await runIn(mill, first, 'INPROGRESS');
    await runIn(mill, other, 'INPROGRESS');
    expect(await stateOf(second)).toBe('QUEUED');

    const busy = startedBy(await event('skip', 7));
    await runIn(mill, busy, 'INPROGRESS');
    const skipped = await event('skip', 7);
    expect(skipped).toMatchObject({
      started: [],
      skipped: expect.arrayContaining([{ automation_id: expect.any(String), reason: 'busy' }]),
    });
    expect(skipped.skipped.filter(({ reason }) => reason === 'filter')).toHaveLength(2);
    // Text 7 is not number 7, and without a number there is no group.
    expect((await event('skip', '7')).started).toHaveLength(1);
    expect(
      (await Promise.all([event('skip', undefined), event('skip', { n: 7 })])).every(({ skipped: none }) =>
        none.every(({ reason }) => reason === 'filter'),
      ),
    ).toBe(true);

    // The one that waits goes on when the one before it has ended.
    expect((await mill.api('POST', `/agent/runs/${first}/cancel`)).status).toBe(200);
    await runIn(mill, first, 'CANCELLED');
    await runIn(mill, second, 'INPROGRESS');
    for (const run of await runsOf(`factory_uid=${uid}`))
      await mill.api('POST', `/agent/runs/${String(run['run_id'])}/cancel`);

    const [live, waiting, last] = [await event('replace', 7), await event('replace', 7), await event('replace', 7)].map(
      startedBy,
    ) as [string, string, string];
    await runIn(mill, last, 'INPROGRESS');
    for (const runId of [live, waiting]) {
      expect(await runIn(mill, runId, 'CANCELLED')).toMatchObject({
        status_message: { message: 'replaced by a newer run of its group' },
      });
      expect(JSON.stringify(await logOf(mill, runId))).toContain('replaced by a newer run of its group');
    }
  }, 120_000);
});

describe('a factory with much to do', () => {
  it('does not starve another: with one place they take turns', async () => {
    await boot({ MILLWRIGHT_RUN_CONCURRENCY: '1' });
    const busy = await factory('busy', { act: automationFile(['events'], 'sleep 0.05') });
    await factory('calm', { act: automationFile(['events'], 'true') });
    await Promise.all(Array.from({ length: 50 }, (_, at) => deliver(mill.ingressUrl('busy', 'events'), TOKEN, { at })));
    const calm = await runIn(mill, startedBy(await sent('calm', { at: 1 })), ...ENDED);
    const [asked, began] = [calm['created_at'], calm['started_at']].map((time) => Date.parse(String(time))) as [
      number,
      number,
    ];
    const runs = await runsOf(`factory_uid=${busy}`);
    expect(runs).toHaveLength(50);
    const before = runs
      .map(({ started_at: at }) => (typeof at === 'string' ? Date.parse(at) : Infinity))
      .filter((ms) => ms > asked && ms < began);
    expect(before.length).toBeLessThanOrEqual(1);
    expect(runs.filter(({ state }) => state === 'QUEUED').length).toBeGreaterThan(10);
  }, 120_000);

  it('has no more live runs than the operator allows a factory and an automation', async () => {
    await boot({
      MILLWRIGHT_RUN_CONCURRENCY: '8',
      MILLWRIGHT_RUNS_PER_FACTORY: '3',
      MILLWRIGHT_RUNS_PER_AUTOMATION: '2',
    });
    const [one, two] = [
      await factory('one', { a: automationFile(['events'], 'sleep 600'), b: automationFile(['events'], 'sleep 600') }),
      await factory('two', { a: automationFile(['events'], 'sleep 600') }),
    ];
    for (let at = 0; at < 4; at += 1) for (const slug of ['one', 'two']) await sent(slug, { at });
    const live = async (uid: string) =>
      (await runsOf(`factory_uid=${uid}`)).filter(({ state }) => state === 'INPROGRESS');
    await eventually('all places that may be taken are', async () =>
      (await live(one)).length === 3 && (await live(two)).length === 2 ? true : undefined,
    );
    const [first] = await live(two);
    expect((await mill.api('POST', `/agent/runs/${String(first?.['run_id'])}/cancel`)).status).toBe(200);
    await runIn(mill, String(first?.['run_id']), 'CANCELLED');
    await eventually('the next one starts', async () => ((await live(two)).length === 2 ? true : undefined));
    expect((await live(one)).length).toBe(3);
    expect(new Set((await live(one)).map(({ automation_id: uid }) => uid)).size).toBe(2);
  }, 120_000);
});

interface ScheduleItem {
  schedule_id: string;
  name?: string;
  cron: string;
  next_at: string | null;
  last_fired_at: string | null;
  missed: number;
  last_missed_at: string | null;
}

const scheduled = (cron: string, lines: readonly string[] = [], prompt = 'echo swept'): string =>
  [
    '---',
    ...lines,
    'triggers:',
    `  - {provider: schedule, event: cron_fired, schedule: {name: sweep, cron: "${cron}"}}`,
    '---',
    prompt,
    '',
  ].join('\n');

async function scheduleOf(uid: string): Promise<ScheduleItem & { count: number }> {
  const { body } = await mill.api('GET', `/factory/${uid}/automations`);
  const schedules = (body['automations'] as { schedules?: ScheduleItem[] }[]).flatMap(
    ({ schedules: some = [] }) => some,
  );
  return { ...(schedules[0] as ScheduleItem), count: schedules.length };
}

function setClock(text: string): void {
  skewMs = Date.parse(`2031-03-04T${text}Z`) - Date.now();
}

/** The time, and a look at the schedules then. */
async function at(text: string): Promise<void> {
  setClock(text);
  await mill.service.scheduler.ask();
}

describe('a schedule', () => {
  it('starts one run a tick; what was missed is told and not made up for', async () => {
    setClock('09:58:30');
    await boot();
    const uid = await factory('shop', {
      nightly: scheduled('0 * * * *', ['limits: {minutes: 5}', 'model: some-model']),
    });
    await at('09:58:40');
    expect(await scheduleOf(uid)).toEqual({
      schedule_id: expect.any(String),
      name: 'sweep',
      cron: '0 * * * *',
      next_at: '2031-03-04T10:00:00.000Z',
      last_fired_at: null,
      missed: 0,
      last_missed_at: null,
      count: 1,
    });
    const { schedule_id: id } = await scheduleOf(uid);
    const ran = async () => (await runsOf(`schedule_id=${id}`)).length;
    await at('09:59:59');
    expect(await ran()).toBe(0);
    await at('10:00:03');
    await Promise.all([mill.service.scheduler.ask(), mill.service.scheduler.ask()]);
    const [run] = await runsOf(`schedule_id=${id}`);
    expect(await runIn(mill, String(run?.['run_id']), 'SUCCEEDED')).toMatchObject({
      title: 'nightly · echo swept',
      prompt: 'echo swept',
      source: 'SCHEDULED_AGENT',
      factory_uid: uid,
      creator: { type: 'service_account' },
      agent_config: { model_id: 'some-model' },
      schedule: { schedule_id: id, schedule_name: 'sweep', cron_schedule: '0 * * * *' },
    });
    expect(await mill.service.runs.find(String(run?.['run_id']))).toMatchObject({
      limits: '{"minutes":5}',
      scheduled_at: Date.UTC(2031, 2, 4, 10),
      entry_id: null,
    });
    expect([await ran(), (await scheduleOf(uid)).last_fired_at]).toEqual([1, '2031-03-04T10:00:00.000Z']);

    // Down from ten past ten to two past one: of three ticks the last is young enough.
    await mill.stop({ keepData: true });
    setClock('13:02:00');
    await boot({ MILLWRIGHT_ADMIN_KEY: mill.adminKey }, { dataDir: mill.dataDir });
    expect(await ran()).toBe(2);
    expect(await scheduleOf(uid)).toMatchObject({
      last_fired_at: '2031-03-04T13:00:00.000Z',
      missed: 2,
      last_missed_at: '2031-03-04T12:00:00.000Z',
      next_at: '2031-03-04T14:00:00.000Z',
    });
    expect(mill.logged.filter((line) => line.includes('missed'))).toEqual([
      expect.stringMatching(/"level":"warn".*"factory":"shop","automation":"nightly","schedule":"sweep","missed":2/),
    ]);

    await at('12:30:00'); // set back
    await at('13:00:10');
    expect(await ran()).toBe(2);
    await at('20:30:00');
    expect([await ran(), await scheduleOf(uid)]).toMatchObject([
      2,
      { missed: 9, last_missed_at: '2031-03-04T20:00:00.000Z', next_at: '2031-03-04T21:00:00.000Z' },
    ]);

    // A suspended factory goes on serving.
    expect((await mill.api('POST', `/factory/${uid}/suspend`)).status).toBe(200);
    await at('21:00:00');
    expect(await ran()).toBe(3);
    await mill.api('POST', `/factory/${uid}/resume`);

    // Another expression is another schedule, from now on.
    await at('21:20:05'); // before the change: whoever looks first must see it as new
    await write('shop', { nightly: scheduled('*/10 * * * *') });
    await mill.sync(uid);
    await at('21:20:06');
    expect(await scheduleOf(uid)).toMatchObject({ cron: '*/10 * * * *', missed: 0, last_fired_at: null, count: 1 });
    expect((await scheduleOf(uid)).schedule_id).not.toBe(id);
    await at('21:30:00');
    expect(await runsOf(`schedule_id=${(await scheduleOf(uid)).schedule_id}`)).toHaveLength(1);

    await write('shop', { nightly: scheduled('*/10 * * * *', ['enabled: false']) });
    await mill.sync(uid);
    await at('21:40:00');
    expect(await scheduleOf(uid)).toMatchObject({ next_at: null });
    expect(await runsOf('source=SCHEDULED_AGENT')).toHaveLength(4);

    await write('shop', { nightly: scheduled('*/10 * * * *') });
    await mill.sync(uid);
    await at('21:45:00');
    expect((await mill.api('DELETE', `/factory/${uid}`)).status).toBe(204);
    await at('21:50:00');
    expect(await runsOf('source=SCHEDULED_AGENT')).toHaveLength(4);
  }, 120_000);

  it('skips a tick while the last run is still open, where its automation says so', async () => {
    setClock('09:59:00');
    await boot({ MILLWRIGHT_RUN_CONCURRENCY: '0' });
    const uid = await factory('shop', { nightly: scheduled('* * * * *', [concurrency(undefined, 'skip')]) });
    await at('09:59:30');
    await at('10:00:01');
    await at('10:01:01');
    const [run, ...more] = await runsOf('source=SCHEDULED_AGENT');
    expect([run?.['state'], more]).toEqual(['QUEUED', []]);
    expect(await scheduleOf(uid)).toMatchObject({ missed: 0, last_fired_at: '2031-03-04T10:00:00.000Z' });
    expect(mill.logged.filter((line) => line.includes('concurrency group busy'))).toHaveLength(1);
    await mill.api('POST', `/agent/runs/${String(run?.['run_id'])}/cancel`);
    await at('10:02:01');
    expect(await runsOf('source=SCHEDULED_AGENT')).toHaveLength(2);
  }, 120_000);
});

(postgres.ok ? describe : describe.skip)(
  `a schedule on PostgreSQL${postgres.ok ? '' : ` (SKIPPED: ${postgres.reason})`}`,
  () => {
    it('fires once where two services look at it', async () => {
      const database = await freshDatabase(postgres.ok ? postgres.url : '');
      const keys = { MILLWRIGHT_MASTER_KEY_FILE: join(root, 'master'), MILLWRIGHT_UID_KEY_FILE: join(root, 'uid') };
      for (const file of Object.values(keys))
        await writeFile(file, Buffer.alloc(32, 7).toString('hex'), { mode: 0o600 });
      setClock('09:58:00');
      const environment = {
        ...keys,
        MILLWRIGHT_DATABASE_URL: database.url,
        MILLWRIGHT_SYNC_INTERVAL: '3600',
        MILLWRIGHT_RUN_CONCURRENCY: '0',
      };
      await boot(environment);
      const replica = await bootService({
        environment: { ...environment, MILLWRIGHT_ADMIN_KEY: mill.adminKey },
        nowMs: clock,
      });
      try {
        await factory('shop', {
          one: scheduled('* * * * *'),
          two: scheduled('*/2 * * * *'),
          three: scheduled('@hourly'),
        });
        const look = () => Promise.all([mill, replica, replica, mill].map(({ service }) => service.scheduler.ask()));
        await look();
        for (const minute of ['09:59', '10:00', '10:01', '10:02']) {
          setClock(`${minute}:02`);
          await look();
        }
        const runs = await runsOf('source=SCHEDULED_AGENT');
        expect(runs.map(({ title }) => String(title).split(' ')[0]).toSorted()).toEqual([
          'one',
          'one',
          'one',
          'one',
          'three',
          'two',
          'two',
        ]);
      } finally {
        await replica.stop();
        dropping = database.drop;
      }
    }, 120_000);
  },
);
