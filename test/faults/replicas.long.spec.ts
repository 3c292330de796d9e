/**
 * Three services on one PostgreSQL: what the contract promises is promised by all of them together. contract §3, §4,
 * §5, §9.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeKey } from '../support/services/api-keys.ts';
import { openStream } from '../support/network/event-stream.ts';
import { factoryFolder, type FactoryFolder } from '../support/factories/factory-folder.ts';
import { statusOf, syncsOf } from '../support/factories/factory-files.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { SHELL, startedRun, wroteWord } from '../support/runs/runs.ts';
import { eventually, type ApiAnswer, type TestService } from '../support/services/service.ts';
import { installationOn, TOKEN, type Installation } from '../support/services/services-on-postgres.ts';
import { signIn } from '../support/services/sessions.ts';
import { rows } from '../../apps/server/store/database/transactions.ts';

/** contract §5.2 (step 4). */
const SLOTS_A_MINUTE_MAX = 60;
const WAITS_MS = 60_000;
const server = await postgresServer();

(server.ok ? describe : describe.skip)(
  `Three services on one PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`,
  () => {
    let installation: Installation;
    let mills: TestService[];
    let first: TestService;
    let drop: () => Promise<void>;
    let root: string;
    let unique = 0;
    const folders: FactoryFolder[] = [];

    beforeAll(async () => {
      if (!server.ok) return;
      root = mkdtempSync(join(tmpdir(), 'millwright-replicas-'));
      const database = await freshDatabase(server.url);
      drop = database.drop;
      installation = installationOn(database.url, {
        ...SHELL,
        MILLWRIGHT_RUN_CONCURRENCY: '2',
        MILLWRIGHT_API_RATE: '0',
        MILLWRIGHT_DRAIN_SECONDS: '0',
      });
      mills = [await installation.boot(), await installation.boot(), await installation.boot()];
      first = mills[0] as TestService;
      await first.secret('bearer', TOKEN);
    }, 120_000);

    afterAll(async () => {
      await installation?.close();
      for (const folder of folders) await folder.remove();
      await drop?.();
      if (root !== undefined) rmSync(root, { recursive: true, force: true });
    }, 120_000);

    const other = (index: number): TestService => mills[index % mills.length] as TestService;

    /** A factory whose webhook `orders` starts one automation. */
    async function following(): Promise<{ uid: string; slug: string; webhook: string; folder: FactoryFolder }> {
      const slug = `f${(unique += 1)}`;
      const folder = await factoryFolder({
        webhooks: { orders: { secretName: 'bearer' } },
        automations: { act: { webhooks: ['orders'], prompt: 'true' } },
      });
      folders.push(folder);
      const uid = await first.factory(slug, folder.source);
      const webhook = first.webhookUid(slug, 'orders');
      // What is new may be unknown to the others for the second that memory is believed.
      for (const index of [0, 1, 2])
        await eventually(`replica ${index} serves it`, async () =>
          (await send(other(index), webhook, 'nobody')) === 404 ? undefined : true,
        );
      return { uid, slug, webhook, folder };
    }

    const send = async (
      mill: TestService,
      webhook: string,
      token: string,
      deliveryId = `d${(unique += 1)}`,
    ): Promise<number> =>
      (
        await fetch(`${mill.url}/webhooks/w/${webhook}`, {
          method: 'POST',
          body: '{}',
          headers: { authorization: `Bearer ${token}`, 'x-millwright-delivery-id': deliveryId },
        })
      ).status;

    const stored = <T>(text: string, ...params: string[]): Promise<T[]> =>
      first.service.database.read(() => rows<T>(text, ...params));

    it('accept together exactly what one may accept in a minute', async () => {
      const { webhook } = await following();
      const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => send(other(index), webhook, TOKEN)));
      expect(answers.filter((status) => status === 202)).toHaveLength(SLOTS_A_MINUTE_MAX);
      expect(answers.filter((status) => status === 429)).toHaveLength(200 - SLOTS_A_MINUTE_MAX);
      const entries = await stored<{ outcome: string }>('SELECT outcome FROM delivery WHERE webhook_uid = ?', webhook);
      expect(entries.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(SLOTS_A_MINUTE_MAX);
      // What was throttled is counted in one entry of each process.
      const others = entries
        .map(({ outcome }) => outcome)
        .filter((outcome) => outcome !== 'accepted' && outcome !== 'rejectedAuth'); // asked by `following`
      expect([...new Set(others)]).toEqual(['throttled']);
      expect(others.length).toBeLessThanOrEqual(3);
    }, 120_000);

    it('accept a delivery that comes to all of them at once one time, with its runs', async () => {
      const { webhook } = await following();
      const names = Array.from({ length: 9 }, (_, index) => `same-${index}`);
      const answers = await Promise.all(
        names.flatMap((name) => [0, 1, 2, 3, 4, 5].map((index) => send(other(index), webhook, TOKEN, name))),
      );
      expect(new Set(answers)).toEqual(new Set([202]));
      const entries = await stored<{ delivery_id: string; outcome: string; runs: number }>(
        'SELECT delivery_id, outcome, (SELECT count(*) FROM every_run r WHERE r.entry_id = ' +
          'CAST(d.entry_id AS TEXT)) AS runs FROM delivery d WHERE webhook_uid = ?',
        webhook,
      );
      for (const name of names) {
        const of = entries
          .filter(({ delivery_id: id }) => id === name)
          .map(({ outcome, runs }) => `${outcome} ${runs}`)
          .sort();
        expect([name, of]).toEqual([name, ['accepted 1', ...Array.from({ length: 5 }, () => 'duplicate 0')]]);
      }
    }, 120_000);

    describe('of a webhook that one of them changes', () => {
      let factory: string;
      beforeAll(async () => {
        factory = String(
          (await first.api('POST', '/factory', { slug: 'managed-here', source: { kind: 'dashboard' } })).body['uid'],
        );
      });

      it.each<{ what: string; change(mill: TestService, uid: string): Promise<ApiAnswer>; after: number }>([
        {
          what: 'a disable',
          change: (mill, uid) => mill.api('PATCH', `/factory/${factory}/webhooks/${uid}`, { enabled: false }),
          after: 404,
        },
        {
          what: 'a rotation',
          change: (mill, uid) => mill.api('POST', `/factory/${factory}/webhooks/${uid}/rotate`),
          after: 401,
        },
        {
          what: 'a deletion',
          change: (mill, uid) => mill.api('DELETE', `/factory/${factory}/webhooks/${uid}`),
          after: 404,
        },
      ])(
        '$what holds on all from its answer on, under load',
        async ({ change, after }) => {
          const { uid, secret } = (
            await first.api('POST', `/factory/${factory}/webhooks`, { name: `Hook ${(unique += 1)}` })
          ).body as { uid: string; secret: string };
          // What is new may be unknown to the others for the second that memory is believed.
          for (const mill of mills)
            await eventually('it is served', async () => ((await send(mill, uid, secret)) === 202 ? true : undefined));
          let isAnswered = false;
          const late: number[] = [];
          const early: number[] = [];
          // Each sender goes on until it has sent some that began behind the answer; few enough for a minute of the
          // webhook.
          const senders = mills.map(async (mill) => {
            for (let sent = 0, behind = 0; behind < 3; sent += 1) {
              const isLate = isAnswered;
              const status = sent < 12 || isLate ? await send(mill, uid, secret) : await sleep(5);
              if (status === undefined) continue;
              (isLate ? late : early).push(status);
              if (isLate) behind += 1;
            }
          });
          const answer = await change(other(1), uid);
          isAnswered = true;
          expect(answer.status).toBeLessThan(300);
          await Promise.all(senders);
          expect(late).toEqual(Array.from({ length: 9 }, () => after));
          expect(early.filter((status) => status !== 202 && status !== after)).toEqual([]);
        },
        120_000,
      );
    });

    it('reconcile a factory by one of them at a time, however many are asked', async () => {
      const { uid, folder } = await following();
      const asked = Array.from({ length: 4 }, async (_, round) => {
        await folder.writeFile(`webhooks/more-${round}.yaml`, '{"secretName": "bearer"}\n');
        const answers = await Promise.all(mills.map((mill) => mill.api('POST', `/factory/${uid}/sync?wait=true`)));
        return answers.map(({ status }) => status);
      });
      for (const statuses of await Promise.all(asked)) expect(statuses).toEqual([200, 200, 200]);
      const status = await eventually(
        'everything that was asked for is handled',
        async () => {
          const now = await statusOf(first, uid);
          return now.generation_handled >= now.generation_requested &&
            now.inventory.filter(({ kind }) => kind === 'webhook').length === 5
            ? now
            : undefined;
        },
        WAITS_MS,
      );
      expect(status.condition.ending).toBe('applied');
      // Each definition was made by one pass.
      const created = (await syncsOf(first, uid)).flatMap(({ changes }) =>
        changes.filter(({ action }) => action === 'create').map(({ kind, slug }) => `${kind} ${slug}`),
      );
      expect(created.toSorted()).toEqual([
        'automation act',
        'webhook more-0',
        'webhook more-1',
        'webhook more-2',
        'webhook more-3',
        'webhook orders',
      ]);
    }, 120_000);

    it('let a held deletion go once, whoever is told', async () => {
      const { uid, folder } = await following();
      await folder.write({});
      await folder.writeFile('factory.yaml', 'description: empty\n');
      await first.sync(uid);
      const { last_sync: held } = await statusOf(first, uid);
      expect(held?.held).not.toEqual([]);
      const answers = await Promise.all(
        mills.map((mill) => mill.api('POST', `/factory/${uid}/approve`, { plan: held?.plan })),
      );
      expect(answers.map(({ status }) => status).filter((status) => status === 200).length).toBeGreaterThanOrEqual(1);
      expect(answers.map(({ status }) => status).filter((status) => status !== 200 && status !== 409)).toEqual([]);
      await eventually(
        'it is empty',
        async () => ((await statusOf(first, uid)).inventory.length === 0 ? true : undefined),
        WAITS_MS,
      );
      const deletions = async () =>
        (await syncsOf(first, uid)).flatMap(({ ending, changes }) =>
          ending === 'applied' ? changes.filter(({ action }) => action === 'delete') : [],
        );
      await eventually(
        'its pass is recorded',
        async () => ((await deletions()).length > 0 ? true : undefined),
        WAITS_MS,
      );
      const deleted = await deletions();
      expect(deleted.map(({ kind, slug }) => `${kind} ${slug}`).toSorted()).toEqual([
        'automation act',
        'webhook orders',
      ]);
    }, 120_000);

    it('make one run of an Idempotency-Key that all of them get at once', async () => {
      const create = async (mill: TestService, key: string): Promise<string> =>
        eventually(
          `${key} is answered`,
          async () => {
            const answer = await fetch(`${mill.url}/api/v1/agent/runs`, {
              method: 'POST',
              body: JSON.stringify({ prompt: 'true', title: key }),
              headers: {
                authorization: `Bearer ${mill.adminKey}`,
                'content-type': 'application/json',
                'idempotency-key': key,
              },
            });
            const body = (await answer.json()) as { run_id: string };
            if (answer.status === 409) return undefined;
            expect(answer.status).toBe(200);
            return body.run_id;
          },
          WAITS_MS,
        );
      const keys = Array.from({ length: 6 }, (_, index) => `key-${index}`);
      const made = await Promise.all(
        keys.map(
          async (key) => new Set(await Promise.all([0, 1, 2, 3, 4, 5].map((index) => create(other(index), key)))),
        ),
      );
      expect(made.map(({ size }) => size)).toEqual(keys.map(() => 1));
      expect(
        await stored(
          "SELECT title, count(*) AS runs FROM every_run WHERE title LIKE 'key-%' GROUP BY title ORDER BY title",
        ),
      ).toEqual(keys.map((key) => ({ title: key, runs: 1 })));
    }, 120_000);

    it('know a key no longer that one of them revoked, and nobody who signed out', async () => {
      const key = await makeKey(first, 'viewer');
      const session = await signIn(first);
      const read = (mill: TestService, headers: Record<string, string>): Promise<number> =>
        fetch(`${mill.url}/api/v1/factory`, { headers }).then(({ status }) => status);
      expect(await Promise.all(mills.map((mill) => read(mill, { authorization: `Bearer ${key}` })))).toEqual([
        200, 200, 200,
      ]);
      expect(await Promise.all(mills.map((mill) => read(mill, { cookie: session.cookie })))).toEqual([200, 200, 200]);
      const { api_keys: keys } = (await first.api('GET', '/api-keys')).body as unknown as {
        api_keys: { id: string; role: string }[];
      };
      const id = keys.find(({ role }) => role === 'viewer')?.id;
      expect((await other(2).api('DELETE', `/api-keys/${id}`)).status).toBeLessThan(300);
      expect(await Promise.all(mills.map((mill) => read(mill, { authorization: `Bearer ${key}` })))).toEqual([
        401, 401, 401,
      ]);
      expect((await session.api('DELETE', '/session')).status).toBeLessThan(300);
      expect(await Promise.all(mills.map((mill) => read(mill, { cookie: session.cookie })))).toEqual([401, 401, 401]);
    }, 120_000);

    it('work on every run once, all of them on some', async () => {
      const ids = await Promise.all(Array.from({ length: 36 }, (_, index) => startedRun(other(index), 'echo done')));
      await eventually(
        'all have ended',
        async () => {
          const [left] = await stored<{ n: number }>(
            "SELECT count(*) AS n FROM every_run WHERE state <> 'SUCCEEDED' " +
              `AND run_id IN (${ids.map(() => '?').join(', ')})`,
            ...ids,
          );
          return left?.n === 0 ? true : undefined;
        },
        120_000,
      );
      const executions = await stored<{ run_id: string; epoch: number; owner: string }>(
        `SELECT run_id, epoch, owner FROM execution WHERE run_id IN (${ids.map(() => '?').join(', ')})`,
        ...ids,
      );
      expect(executions.map(({ run_id: runId, epoch }) => `${runId} ${epoch}`).toSorted()).toEqual(
        ids.map((id) => `${id} 1`).toSorted(),
      );
      expect(new Set(executions.map(({ owner }) => owner)).size).toBeGreaterThan(1);
    }, 180_000);

    it('tell a run as it goes on to who watches it elsewhere, and end it when another one is told to', async () => {
      const runId = await startedRun(first, 'echo begun; sleep 600');
      const streams = await Promise.all(mills.map((mill) => openStream(mill, runId)));
      await wroteWord(first, runId, 'begun');
      for (const { events } of streams)
        await eventually(
          'the word is told',
          () => (events.some(({ data }) => JSON.stringify(data).includes('begun')) ? true : undefined),
          WAITS_MS,
        );
      const [{ owner } = { owner: '' }] = await stored<{ owner: string }>(
        'SELECT owner FROM execution WHERE run_id = ?',
        runId,
      );
      const stranger = mills.find(
        ({ service }) => (service.engine as unknown as { deps: { owner: string } }).deps.owner !== owner,
      ) as TestService;
      expect((await stranger.api('POST', `/agent/runs/${runId}/cancel`)).status).toBe(200);
      await eventually(
        'it is cancelled',
        async () =>
          (await stranger.api('GET', `/agent/runs/${runId}`)).body['state'] === 'CANCELLED' ? true : undefined,
        WAITS_MS,
      );
      for (const { ended, events } of streams) {
        await ended;
        expect(events.at(-1)).toMatchObject({ event: 'state', data: { state: 'CANCELLED' } });
      }
    }, 120_000);
  },
);
