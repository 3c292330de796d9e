/** The whole story once more on PostgreSQL: commit, sync, delivery, run, rotation, deletion. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  automationFile,
  automationPath,
  deliver,
  runIn,
  syncAndGetStatus,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { createRepository } from '../support/git/git-repository.ts';
import { freshDatabase, postgresServer } from '../support/databases/postgres.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const server = await postgresServer();
const suite = server.ok ? describe : describe.skip;

suite(`on PostgreSQL${server.ok ? '' : ` (SKIPPED: ${server.reason})`}`, () => {
  let service: TestService;
  let replica: TestService;
  let root: string;
  let drop: () => Promise<void>;

  beforeAll(async () => {
    if (!server.ok) return;
    const database = await freshDatabase(server.url);
    drop = database.drop;
    root = mkdtempSync(join(tmpdir(), 'millwright-postgres-flow-'));
    const keys = { MILLWRIGHT_MASTER_KEY_FILE: join(root, 'master'), MILLWRIGHT_UID_KEY_FILE: join(root, 'uid') };
    for (const file of Object.values(keys)) writeFileSync(file, Buffer.alloc(32, 7).toString('hex'), { mode: 0o600 });
    const environment = {
      ...keys,
      MILLWRIGHT_DATABASE_URL: database.url,
      MILLWRIGHT_SYNC_INTERVAL: '3600',
      MILLWRIGHT_TRUSTED_PROXIES: '127.0.0.1/32',
    };
    service = await bootService({ environment });
    replica = await bootService({ environment: { ...environment, MILLWRIGHT_ADMIN_KEY: service.adminKey } });
  });

  afterAll(async () => {
    await replica.stop();
    await service.stop();
    await drop();
    rmSync(root, { recursive: true });
  });

  it('an address with U+0000, which it cannot store, is refused before it is asked', async () => {
    for (const path of ['/factory/%00', '/agent/runs/%00', '/secrets/%00'])
      expect({ path, status: (await service.api('GET', path)).status }).toEqual({ path, status: 404 });
    for (const path of [
      '/factory?search=%00',
      '/factory?cursor=%00',
      '/agent/runs?name=%00',
      '/factory?search=a&search=b',
    ])
      expect({ path, status: (await service.api('GET', path)).status }).toEqual({ path, status: 400 });
  });

  it(
    'a commit becomes a webhook on every replica, a delivery becomes a run, a rotation and a deletion work at ' +
      'once',
    async () => {
      await service.secret('hook-token', 'a-token-of-sixteen-or-more');
      const repository = createRepository(root, 'repository');
      repository.commit({
        [webhookPath('orders')]: webhookFile('hook-token'),
        [webhookPath('second')]: webhookFile('hook-token'),
        [automationPath('triage')]: automationFile(['orders'], 'Go.', { payload: '{status: [failed]}' }),
      });
      const uid = await service.factory('main', { kind: 'git', url: `file://${repository.folder}`, branch: 'main' });

      await eventually('every replica serves the commit, also one that nobody delivers to', async () => {
        const { state, replicas } = (await service.api('GET', `/factory/${uid}/revisions/${repository.tip()}`))
          .body as unknown as { state: string; replicas: { serving: boolean }[] };
        return state === 'serving' && replicas.length === 2 && replicas.every(({ serving }) => serving)
          ? true
          : undefined;
      });
      for (const one of [service, replica]) {
        const url = one.ingressUrl('main', 'orders');
        // A replica may believe its memory for a second: only then it looks for what it does not know.
        await eventually('the replica serves it', async () =>
          (await fetch(url, { method: 'POST', body: '{}' })).status === 401 ? true : undefined,
        );
        expect((await deliver(url, 'a-token-of-sixteen-or-more', { status: 'failed', at: one.url })).status).toBe(202);
        expect((await deliver(url, 'a-token-of-sixteen-or-more', { status: 'passed', at: one.url })).status).toBe(202);
        // a duplicate
        expect((await deliver(url, 'a-token-of-sixteen-or-more', { status: 'failed', at: one.url })).status).toBe(202);
      }
      const runs = (await service.api('GET', `/agent/runs?factory_uid=${uid}`)).body['runs'] as { run_id: string }[];
      expect(runs).toHaveLength(2);
      for (const { run_id: runId } of runs)
        expect((await runIn(replica, runId, 'SUCCEEDED', 'FAILED', 'ERROR'))['state']).toBe('SUCCEEDED');

      const from = { 'x-forwarded-for': '2001:db8::1' };
      // asked of one replica, taken over by whoever reconciles
      await replica.secret('hook-token', 'another-token-of-sixteen');
      await service.sync(uid);
      await eventually('both replicas take the new value', async () => {
        const answers = await Promise.all(
          [service, replica].map((one) =>
            deliver(one.ingressUrl('main', 'orders'), 'another-token-of-sixteen', { n: Math.random() }),
          ),
        );
        return answers.every(({ status }) => status === 202) ? true : undefined;
      });
      for (const one of [service, replica])
        expect((await deliver(one.ingressUrl('main', 'orders'), 'a-token-of-sixteen-or-more', {}, from)).status).toBe(
          401,
        );

      repository.commit({ [webhookPath('second')]: null });
      expect((await syncAndGetStatus(service, uid)).inventory.map(({ slug }) => slug).sort()).toEqual([
        'orders',
        'triage',
      ]);
      for (const one of [service, replica])
        expect((await deliver(one.ingressUrl('main', 'second'), 'another-token-of-sixteen')).status).toBe(404);

      // The other replica is told; this one, whose loop was opened before, must not go on without.
      await replica.api('PATCH', `/factory/${uid}`, { sync_policy: { fast_forward_only: true } });
      const tip = repository.tip();
      repository.commit({ [webhookPath('orders')]: webhookFile('hook-token') }, { rewrite: true });
      expect((await syncAndGetStatus(service, uid)).condition).toMatchObject({
        ending: 'blocked',
        reason: 'history-rewritten',
      });
      repository.git('update-ref', 'refs/heads/main', tip);

      repository.commit({ [webhookPath('orders')]: 'nonsense' });
      expect((await syncAndGetStatus(service, uid)).condition).toMatchObject({
        ending: 'blocked',
        reason: 'definitions-invalid',
      });
      for (const one of [service, replica])
        expect(
          (await deliver(one.ingressUrl('main', 'orders'), 'another-token-of-sixteen', { last: one.url })).status,
        ).toBe(202);
      expect((await service.api('DELETE', `/factory/${uid}`)).status).toBe(204);
      for (const one of [service, replica])
        expect((await deliver(one.ingressUrl('main', 'orders'), 'another-token-of-sixteen')).status).toBe(404);
    },
  );
});
