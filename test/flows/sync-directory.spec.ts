/** A factory that is a plain directory: followed by itself, never trusted while it changes. contract §9.2. */
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  automationFile,
  automationPath,
  deliver,
  statusOf,
  syncAndGetStatus,
  webhookFile,
  webhookPath,
} from '../support/factories/factory-files.ts';
import { bootService, eventually, type TestService } from '../support/services/service.ts';

const TOKEN = 'a-token-of-sixteen-or-more';
let service: TestService;
let root: string;
let count = 0;

beforeAll(async () => {
  service = await bootService({ environment: { MILLWRIGHT_SYNC_INTERVAL: '3600' } });
  await service.secret('hook-token', TOKEN);
  root = await mkdtemp(join(tmpdir(), 'millwright-directory-'));
});

afterAll(async () => {
  await service.stop();
  await rm(root, { recursive: true, force: true });
});

async function following(): Promise<{
  slug: string;
  uid: string;
  folder: string;
  write: (path: string, text: string) => Promise<void>;
}> {
  const slug = `d${(count += 1)}`;
  const folder = join(root, slug);
  const write = async (path: string, text: string): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await write(webhookPath('orders'), webhookFile('hook-token'));
  await write(automationPath('triage'), automationFile(['orders']));
  const uid = await service.factory(slug, { kind: 'directory', path: folder });
  return { slug, uid, folder, write };
}

describe('a directory', () => {
  it('serves, under a revision that is the digest of its definition files', async () => {
    const { slug, uid, write } = await following();
    const before = await statusOf(service, uid);
    expect(before.revision_applied).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
    await write('notes.txt', 'not a definition');
    expect((await syncAndGetStatus(service, uid)).revision_applied).toBe(before.revision_applied);
  });

  it('is watched: a new file serves and a removed one is gone without anybody asking', async () => {
    const { slug, uid, folder, write } = await following();
    const asked = (await statusOf(service, uid)).generation_requested;
    await write(webhookPath('second'), webhookFile('hook-token'));
    await eventually('the new file serves', async () =>
      (await deliver(service.ingressUrl(slug, 'second'), TOKEN)).status === 202 ? true : undefined,
    );
    await rm(join(folder, webhookPath('second')));
    await eventually('the removed file is gone', async () =>
      (await deliver(service.ingressUrl(slug, 'second'), TOKEN)).status === 404 ? true : undefined,
    );
    expect((await statusOf(service, uid)).generation_requested).toBeGreaterThan(asked);
  });

  it('that is edited into a broken state keeps serving what was', async () => {
    const { slug, uid, write } = await following();
    await write(webhookPath('orders'), 'secretName: [');
    expect((await syncAndGetStatus(service, uid)).condition).toMatchObject({
      ending: 'blocked',
      reason: 'definitions-invalid',
    });
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
  });

  it('that is moved away is not empty: nothing changes, and it is followed again when it is back', async () => {
    const { slug, uid, folder, write } = await following();
    const before = await statusOf(service, uid);
    await rename(folder, `${folder}.away`);
    const gone = await syncAndGetStatus(service, uid);
    expect(gone.condition.ending).toBe('failed');
    expect(gone.inventory).toEqual(before.inventory);
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
    await rename(`${folder}.away`, folder);
    await write(webhookPath('back'), webhookFile('hook-token'));
    await eventually('the factory follows again', async () =>
      (await statusOf(service, uid)).inventory.some(({ slug: name }) => name === 'back') ? true : undefined,
    );
  });

  it('whose webhooks folder is emptied is held', async () => {
    const { slug, uid, folder } = await following();
    await rm(join(folder, 'webhooks'), { recursive: true });
    await rm(join(folder, 'automations'), { recursive: true });
    expect((await syncAndGetStatus(service, uid)).condition.ending).not.toBe('applied');
    expect((await deliver(service.ingressUrl(slug, 'orders'), TOKEN)).status).toBe(202);
  });
});
