/**
 * What a failing database tells: its code, never a value, a statement or a row; and what survives a killed process.
 * contract §5.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { openDatabase } from '../../apps/server/store/open-database.ts';
import { StoreError } from '../../apps/server/store/database/store-errors.ts';
import { change, insert, rows } from '../../apps/server/store/database/transactions.ts';
import { startProgram } from '../support/processes/child-program.ts';
import { count, identityCount, select, onEachBackend, onPostgres, storesOf } from './backends.ts';
import { arrivalAt, newId, runOf, seedServed, sealing, type Served } from './seeds.ts';

const MARKER = 'value-that-nobody-may-see';

function expectDiscreet(error: unknown): void {
  expect(error).toBeInstanceOf(StoreError);
  const everything = [
    inspect(error, { depth: 20, showHidden: true }),
    JSON.stringify(error),
    String((error as Error).stack),
    String((error as Error).cause),
  ];
  for (const text of everything) expect(text).not.toContain(MARKER);
  for (const text of everything) expect(text).not.toMatch(/INSERT|UPDATE|SELECT/);
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

await onEachBackend('faults', (world) => {
  it.each([
    {
      why: 'a key that is taken',
      act: async () => {
        const run = runOf({}, { runId: `${MARKER} ${newId()}`, prompt: MARKER });
        await world.stores.runs.create(run);
        return world.stores.runs.create(run);
      },
      kind: 'conflict',
    },
    {
      why: 'a missing value',
      act: () => world.stores.database.run(() => insert('run', ['run_id', 'title'], [[MARKER, MARKER]])),
    },
    {
      why: 'a reference to nothing',
      act: () =>
        world.stores.database.run(() =>
          insert(
            'execution',
            ['execution_id', 'run_id', 'epoch', 'owner', 'claimed_at'],
            [[MARKER, MARKER, 1, MARKER, 1]],
          ),
        ),
    },
    {
      why: 'a statement that cannot be read',
      act: () => world.stores.database.run(() => change(`UPDATE nowhere SET x = '${MARKER}'`)),
    },
    {
      why: 'a read that cannot be read',
      act: () => world.stores.database.read(() => rows(`SELECT "${MARKER}", x FROM nowhere`)),
    },
    {
      why: 'a payload',
      act: async () => {
        const served = await seedServed(world.stores);
        const taken = newId();
        await world.stores.runs.create(runOf({}, { runId: taken }));
        return world.stores.deliveries.acceptOnce(
          await arrivalAt(world.stores, served, {
            body: Buffer.from(MARKER),
            identity: MARKER,
            runs: [runOf(served, { runId: taken, prompt: MARKER })],
          }),
        );
      },
      kind: 'conflict',
    },
  ])('say nothing of $why', async ({ act, kind }) => {
    const fault = await faultOf(act());
    expectDiscreet(fault);
    if (kind !== undefined) expect(fault).toMatchObject({ kind });
  });

  it('leave nothing of a transaction that failed', async () => {
    const served = await seedServed(world.stores);
    const failing = world.stores.database.run(function* () {
      yield* change('UPDATE factory SET description = ? WHERE uid = ?', MARKER, served.factoryUid);
      throw new Error('changed its mind');
    });
    await expect(failing).rejects.toThrow('changed its mind');
    expect(await count(world.stores, 'factory WHERE description = ?', MARKER)).toBe(0);
  });

  it('of a sealing that throws store no half of a secret', async () => {
    const value = {
      ...sealing('v'),
      seal: () => {
        throw new Error('no key');
      },
    };
    await expect(
      world.stores.secrets.put({ id: newId(), owner: 'team', name: 'half', value }, undefined),
    ).rejects.toThrow('no key');
    expect(await world.stores.secrets.find('team', 'half')).toBeUndefined();
  });
});

await onPostgres('faults of values', (world) => {
  it.each([
    {
      why: 'a text where a number belongs',
      act: () => world.stores.database.run(() => change('UPDATE run SET epoch = ?', MARKER)),
    },
    {
      why: 'a text that PostgreSQL cannot hold',
      act: () => world.stores.runs.create(runOf({}, { prompt: `${MARKER}\0` })),
    },
    { why: 'an id that PostgreSQL cannot hold, through an entity', act: () => world.stores.runs.find(`${MARKER}\0`) },
    {
      why: 'a list',
      act: () =>
        world.stores.runLists.page(
          { exact: { config_name: `${MARKER}\0` } },
          { by: 'updated_at', direction: 'desc' },
          10,
        ),
    },
    { why: 'a log, through an entity', act: () => world.stores.deliveries.list(`${MARKER}\0`, 10) },
    { why: 'a factory, through an entity', act: () => world.stores.factories.findBySlug(`${MARKER}\0`) },
    { why: 'a webhook, through an entity', act: () => world.stores.webhooks.find(`${MARKER}\0`) },
  ])('say nothing of $why', async ({ act }) => expectDiscreet(await faultOf(act())));

  it('name a server that cannot be reached, without its URL', async () => {
    const fault = await faultOf(
      openDatabase({ url: `postgres://user:${MARKER}@127.0.0.1:1/${MARKER}`, dataDir: '', nowMs: Date.now }),
    );
    expectDiscreet(fault);
    expect(fault).toMatchObject({ kind: 'unavailable', code: 'ECONNREFUSED' });
  });

  it('name a database that does not exist, without its name', async () => {
    const url = new URL(world.url ?? '');
    url.pathname = `/${MARKER}`;
    expectDiscreet(await faultOf(openDatabase({ url: url.href, dataDir: '', nowMs: Date.now })));
  });
});

describe('a process killed in mid-burst on SQLite', () => {
  it('keeps every delivery that it had answered, once, with its runs', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'millwright-killed-'));
    for (let round = 1; round <= 2; round += 1) {
      const program = startProgram('test/conformance/programs/accept-until-killed.ts', [dataDir]);
      await program.line(1 + 300 * round + round);
      program.process.kill('SIGKILL');
      expect(await program.ended).toBe('SIGKILL');
      await expectComplete(dataDir, program.lines);
    }
    await rm(dataDir, { recursive: true });
  });

  async function expectComplete(dataDir: string, lines: readonly string[]): Promise<void> {
    const served = JSON.parse(lines[0] as string) as Served;
    const answered = lines.slice(1).map((line) => line.split(' ') as [string, string, string]);
    expect(new Set(answered.map(([kind]) => kind))).toEqual(new Set(['accepted']));
    // Long after: no slot of the burst counts any more.
    const stores = storesOf(await openDatabase({ dataDir, nowMs: () => Date.now() + 10 * 365 * 86_400_000 }));
    const kept = await select<{ entry_id: string; delivery_id: string; runs: number }>(
      stores,
      'SELECT d.entry_id, d.delivery_id, (SELECT count(*) FROM run r WHERE r.entry_id = d.entry_id) AS runs ' +
        'FROM delivery d WHERE d.webhook_uid = ?',
      served.webhookUid,
    );
    expect(kept.filter(({ runs }) => runs !== 2)).toEqual([]);
    expect(await identityCount(stores)).toBe(await count(stores, "delivery WHERE outcome = 'accepted'"));
    expect(new Set(kept.map(({ delivery_id: id }) => id)).size).toBe(kept.length);
    const entries = new Set(kept.map(({ entry_id: id }) => id));
    expect(answered.filter(([, , entryId]) => !entries.has(entryId))).toEqual([]);
    const [, identity] = answered.at(-1) as [string, string, string];
    expect(await stores.deliveries.acceptOnce(await arrivalAt(stores, served, { identity }))).toEqual({
      kind: 'duplicate',
    });
    expect(await select(stores, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
    await stores.database.close();
  }
});
