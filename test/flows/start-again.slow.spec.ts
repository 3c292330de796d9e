/** Starting again on what an earlier life left behind: keys, leases, secrets. */
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { start } from '../../apps/server/start.ts';
import type { Service } from '../../apps/server/bootstrap.ts';
import { freePort } from '../support/network/ports.ts';

const ROOT_FACTORY = 'examples/factory-repo';

describe('a data folder from an earlier life', () => {
  let folder = '';
  let service: Service | undefined;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millwright-again-'));
  });
  afterEach(async () => {
    await service?.stop();
    service = undefined;
    await rm(folder, { recursive: true, force: true });
  });

  it('a rebuilt database takes the admin key and the example secret that lie there', async () => {
    await begin();
    const key = await readFile(join(folder, 'admin-key'), 'utf8');
    const secret = await readFile(join(folder, 'secrets/ci-events-token'), 'utf8');
    await service?.stop();
    for (const name of ['millwright.sqlite', 'millwright.sqlite-wal', 'millwright.sqlite-shm'])
      await rm(join(folder, name), { force: true });
    await begin();
    expect(await readFile(join(folder, 'admin-key'), 'utf8')).toBe(key);
    expect(await readFile(join(folder, 'secrets/ci-events-token'), 'utf8')).toBe(secret);
    const answer = await fetch(`${service?.config.publicUrl}/api/v1/factory`, {
      headers: { authorization: `Bearer ${key.trim()}` },
    });
    expect(answer.status).toBe(200);
    const [webhook] =
      (await service?.webhooks.list(
        ((await answer.json()) as { factories: { uid: string }[] }).factories[0]?.uid ?? '',
      )) ?? [];
    const delivered = await fetch(`${service?.config.ingressUrl}/webhooks/w/${webhook?.uid}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: '{"status":"ok"}',
    });
    expect(delivered.status).toBe(202);
  });

  it('a lease of a process that was killed in mid-pass holds nobody up', async () => {
    await begin();
    const uid = (await service?.factories.list(1))?.[0]?.uid ?? '';
    await service?.loops.remove(uid);
    expect(await service?.factories.acquireLease(uid, 'a process that is gone', 3_600_000)).toBeDefined();
    await service?.stop();
    await begin();
    const generation = (await service?.loops.ask(uid, 'api')) ?? 0;
    expect(await service?.loops.waitForGeneration(uid, generation, 100_000)).toBeDefined();
  });

  async function begin(): Promise<void> {
    const silent = { write: () => true } as unknown as NodeJS.WritableStream;
    const environment = {
      PATH: process.env['PATH'],
      MILLWRIGHT_DATA_DIR: folder,
      MILLWRIGHT_PORT: String(await freePort()),
      MILLWRIGHT_DISK_RESERVE_MB: '1',
      MILLWRIGHT_LOG_LEVEL: 'error',
    };
    const started = await start(['--factory', ROOT_FACTORY, '--example'], {
      environment,
      cwd: process.cwd(),
      stdout: silent,
      stderr: silent,
    });
    if (typeof started === 'number') throw new Error(`start ended with ${started}`);
    service = started;
    expect(existsSync(join(folder, 'admin-key'))).toBe(true);
  }
});
